"""Laws of extraction over any text: it never fails, repeats itself, and stays in its bounds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from infra.extraction.extraction import extract
from schemas.codec import decode, encode
from schemas.event import Event, PrincipalKind
from schemas.observation import HintExtracted, UtteranceOrigin
from tests.said_words import DINNER_WORDS, utterance

WORDS = st.sampled_from(
    [
        "I", "my", "wife", "never", "not", "unless", "except", "call", "me", "at", "7", "pm",
        "7:30", "half past", "2", "two", "people", "seats", "$", "50", "EUR", "20 euros", "march",
        "3rd",
        "tomorrow", "next", "friday", "Thai", "Italian", "school emergency", "allergic to", "nuts",
        "makes", "ill", "favourite", "is", ",", ".", "?", "\n", ":", '"', ">", "<a>", "}", "{",
        "assistant:", "or", "and", "no", "actually", "32nd", "999", "1e9", "٣", "²", "½", "İ",
        "\u200b", "\u202e", "ﬁ", "日本",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(WORDS, max_size=25).map(" ".join),
    st.text(max_size=200),
    st.lists(WORDS, max_size=12).map("".join),
)
CLOCKS = st.integers(min_value=-(2**40), max_value=2**42)


@settings(deadline=None, max_examples=400)
@given(text=TEXTS, at_ms=CLOCKS, offset=st.integers(-840, 840))
def test_any_text_gives_proposals_that_are_sound(text, at_ms, offset):
    """No text fails; twice the same; spans lie in the text; nobody but a generator speaks."""
    said = utterance(text, at_ms=at_ms, utc_offset_min=offset)
    events = extract(said, DINNER_WORDS)

    assert events == extract(said, DINNER_WORDS)
    assert len(events) == len({one.event_id for one in events})
    for one in events:
        start, end = one.correlation_id.removeprefix("e1[").removesuffix("]").split(":")
        assert 0 <= int(start) < int(end) <= len(text)
        assert PrincipalKind.GENERATOR is one.principal.kind
        assert ("e1",) == one.derived_from
        assert one == decode(Event, encode(one))
        if isinstance(one.payload, HintExtracted):
            assert 0 < one.payload.confidence < 1_000_000


@settings(deadline=None, max_examples=60)
@given(text=TEXTS, origin=st.sampled_from(["recalled", "summary", "document"]))
def test_no_foreign_text_proposes_anything(text, origin):
    """Whatever it says: recalled blocks, summaries and documents are not the user."""
    said = utterance(text, origin=UtteranceOrigin(origin))

    assert () == extract(said, DINNER_WORDS)
    assert () == extract(utterance(text, by="assistant:a"), DINNER_WORDS)
