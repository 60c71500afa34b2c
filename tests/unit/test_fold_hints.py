"""Hints: inferred at most, proposals at best, never in the contract (spec 1.10)."""

import pytest

from schemas.observation import HintKind
from schemas.row import PredicateRow, ProposalRow
from tests.given import event, form, given, hint, predicate, said

ABOUT_FLATMATE = predicate(
    'slots.ingredients excludes "shellfish"', "flatmate-shellfish", subject="flatmate"
)


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (("own",), "inferred"),
        (("own", "text"), "hint"),
        (("text",), "hint"),
        (("tool",), "hint"),
        (("form",), "hint"),
        (("unknown",), "hint"),
        ((), "hint"),
    ],
)
def test_a_hint_is_inferred_only_from_the_users_own_words(sources, expected):
    """Text of assistants, tools and documents, and unknown sources, make a hint (spec 1.10)."""
    history = given(
        [
            event(said("I like soup"), event_id="own"),
            event(said("the user likes soup"), by="assistant:a", event_id="text"),
            event(form(x=1), by="tool:t", event_id="tool"),
            event(form(y=1), event_id="form"),
        ]
    )
    history.send(event(hint("dish", "soup", sources=sources), by="generator:g"))

    assert ("soup", expected) == history.slot("dish")


def test_a_constraint_hint_opens_a_proposal_about_its_subject():
    """What is inferred about a flatmate is the flatmate's, and only proposed (report R08)."""
    history = given([event(said("My flatmate can't eat shellfish"), event_id="a")])
    history.send(event(hint(rule=ABOUT_FLATMATE, sources=("a",)), by="generator:g"))
    row = history.scan(ProposalRow)[0][1]

    assert ("open", "constraint", "inferred") == (row.status, row.kind.value, row.authority.value)
    assert ("flatmate", "ingredients", 700_000) == (row.subject, row.slot, row.confidence)
    assert [] == history.scan(PredicateRow)


def test_a_slot_hint_against_an_asserted_slot_is_proposed():
    """The user's word stays; the proposal keeps the hint's confidence."""
    history = given([event(form(dish="rice")), event(said("soup!"), event_id="a")])
    history.send(event(hint("dish", "soup", sources=("a",)), by="generator:g"))

    assert ("rice", "asserted") == history.slot("dish")
    assert 700_000 == history.scan(ProposalRow)[0][1].confidence


def test_preferences_stay_outside_the_slots():
    """The later preference replaces the earlier one; neither is state or contract (report R01)."""
    history = given([event(said("hotpot"), event_id="a"), event(said("no more"), event_id="b")])
    like = hint("hotpot", "like", kind=HintKind.PREFERENCE, sources=("a",))
    dislike = hint("hotpot", "dislike", kind=HintKind.PREFERENCE, sources=("b",))
    history.send(event(like, by="generator:g"), event(dislike, by="generator:g"))
    situation = history.situation()

    assert {} == dict(situation.slots)
    state, confidence = situation.preferences["", "hotpot"]
    assert ("dislike", "inferred", 700_000) == (state.value, state.authority.value, confidence)


def test_a_hint_makes_no_unit():
    """Evidence is what was observed, not what was inferred from it (spec 3.2)."""
    history = given([event(said("soup"), event_id="a")])
    history.send(event(hint("dish", "soup", sources=("a",)), by="generator:g"))

    assert ["1#0"] == [unit.unit_id for unit in history.situation().units]
