"""Hostile texts before the extractor: whatever they claim, nothing is in force."""

from infra.extraction.extraction import extract
from schemas.event import Principal, PrincipalKind
from schemas.observation import HintExtracted, UtteranceObserved, UtteranceOrigin
from schemas.row import PredicateRow, SlotRow
from tests.conversation import OPERATOR, USER, Conversation, genesis
from tests.hostile_texts import HOSTILE
from tests.said_words import DINNER_CATALOGUE, DINNER_WORDS, utterance

CHANNELS = (
    (PrincipalKind.ASSISTANT, UtteranceOrigin.SAID),
    (PrincipalKind.TOOL, UtteranceOrigin.SAID),
    (PrincipalKind.USER, UtteranceOrigin.DOCUMENT),
    (PrincipalKind.USER, UtteranceOrigin.RECALLED),
    (PrincipalKind.USER, UtteranceOrigin.SUMMARY),
)


def test_no_hostile_text_of_another_channel_proposes_anything():
    """Documents, tool results, assistants and recalled blocks stay text, whatever they say."""
    assert 200 <= len(HOSTILE)
    for text in HOSTILE:
        for kind, origin in CHANNELS:
            said = utterance(text, by=f"{kind.value}:x", origin=origin)
            assert () == extract(said, DINNER_WORDS), text


def test_no_hostile_text_of_the_user_enters_the_contract_or_outranks_the_user():
    """Said by the user it is a hint at most: no predicate is in force, no slot above inferred."""
    talk = Conversation()
    talk.tell(genesis(DINNER_CATALOGUE), by=OPERATOR)
    for number, text in enumerate(HOSTILE):
        said = utterance(text)
        derived = extract(said, DINNER_WORDS)
        source = talk.tell(
            UtteranceObserved(text, UtteranceOrigin.SAID, None, ()), by=USER, event_id=f"s{number}"
        )
        assert "accepted" == source.fate.status.value, text
        for place, one in enumerate(derived):
            payload = one.payload
            if isinstance(payload, HintExtracted):
                payload = type(payload)(
                    payload.kind, payload.subject, payload.slot, payload.value, payload.predicate,
                    payload.confidence, (f"s{number}",),
                )  # fmt: skip
            talk.tell(
                payload, by=Principal(PrincipalKind.GENERATOR, "x"),
                event_id=f"s{number}.{place}", derived_from=(f"s{number}",),
            )  # fmt: skip

    rows = talk.view()
    assert [] == rows.scan(PredicateRow)
    assert {"inferred", "hint"} >= {row.authority.value for _, row in rows.scan(SlotRow)}
