"""A model that points: what it quotes is read by rules, what it invents is nothing."""

import json

import pytest

from infra.backends.port import BackendError, Reply
from infra.extraction.extraction import extract
from infra.extraction.pointing import PointingExtractor
from infra.extraction.runs import extract_log
from schemas.observation import HintExtracted, UtteranceOrigin
from tests.said_words import DINNER_WORDS, utterance

TEXT = "Put it under Fifty Years of Ada, in March, for my wife and me. Not the garden."


class Pointing:
    """A backend that says one thing, and remembers what it was asked."""

    kind = "test"
    model = "m1"
    server_version = ""

    def __init__(self, said, reason="stop"):
        self.said = said
        self.reason = reason
        self.calls = []

    def answer(self, call):
        """Return what it always says."""
        self.calls.append(call)
        if isinstance(self.said, Exception):
            raise self.said
        return Reply(text=self.said, finish_reason=self.reason)

    def close(self):
        """Hold nothing."""


def found(said, text=TEXT, reason="stop", **envelope):
    """Return the slots that a model's answer adds to those of the rules."""
    events = PointingExtractor(Pointing(said, reason))(utterance(text, **envelope), DINNER_WORDS)
    added = [one for one in events if one.principal.id == "extractor:m1"]
    return {one.payload.slot: one.payload.value for one in added}


def quoting(**quotes):
    """Return an answer in form."""
    return json.dumps({"found": [{"slot": k, "quote": v} for k, v in quotes.items()]})


def test_a_quote_is_a_value_as_the_user_wrote_it():
    """Free text is taken by its span, at a lower confidence, from the user's utterance alone."""
    model = Pointing(quoting(party_name="fifty years of ada"))
    events = PointingExtractor(model)(utterance(TEXT), DINNER_WORDS)
    (one,) = [one for one in events if isinstance(one.payload, HintExtracted)]

    assert ("party_name", "Fifty Years of Ada", 500_000) == (
        one.payload.slot, one.payload.value, one.payload.confidence
    )  # fmt: skip
    assert (("e1",), "e1[13:31]") == (one.derived_from, one.correlation_id)
    assert events == PointingExtractor(model)(utterance(TEXT), DINNER_WORDS)


@pytest.mark.parametrize(
    "said",
    [
        quoting(party_name="Sixty Years of Ada"),
        quoting(hidden="Fifty Years of Ada"),
        quoting(seats="Fifty Years of Ada"),
        quoting(kitchen="March"),
        quoting(party_name="the garden"),
        quoting(party_name=""),
        quoting(party_name="a"),
        '{"found": [{"slot": "party_name", "quote": "March", "value": "April"}]}',
        '{"found": [{"slot": "party_name"}]}',
        '{"found": {}}',
        '{"found": [], "found": [{"slot": "party_name", "quote": "March"}]}',
        "[" * 50_000,
        "I think it is March.",
        BackendError("gone", again=False),
    ],
)
def test_what_is_not_quoted_exactly_is_nothing(said):
    """Invented words, unknown slots, wrong types, denials and broken answers add nothing."""
    assert {} == found(said)


def test_a_cut_answer_and_two_values_for_a_slot_add_nothing():
    """An answer that did not end is not read; two quotes for one slot contradict each other."""
    twice = {"found": [{"slot": "party_name", "quote": q} for q in ("March", "Fifty Years of Ada")]}

    assert {} == found(quoting(party_name="March"), reason="length")
    assert {} == found(json.dumps(twice))


def test_no_other_text_reaches_the_model():
    """Quotations and other people's texts are blank in what it is asked; foreign texts are not."""
    model = Pointing(quoting())
    said = utterance('Mail says "book the palace". Ada')
    PointingExtractor(model)(said, DINNER_WORDS)
    recalled = utterance("Ada", origin=UtteranceOrigin.RECALLED)

    assert "palace" not in model.calls[0].messages[1].content
    assert () == PointingExtractor(model)(recalled, DINNER_WORDS)
    assert 1 == len(model.calls)


def test_it_stands_behind_the_same_port_as_the_rules():
    """Both are called alike, and the rules' findings come first and unchanged."""
    said = utterance("A table for two")
    ruled = extract(said, DINNER_WORDS)

    assert ruled == PointingExtractor(Pointing(quoting(seats="two")))(said, DINNER_WORDS)
    assert extract_log.__annotations__["extractor"]
