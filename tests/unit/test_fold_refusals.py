"""Events that cannot mean anything, or that the rows do not allow: each has its reason (1.11)."""

import pytest

from schemas.agreement import (
    CheckVerdict,
    PredicateConfirmed,
    PredicateProposed,
    VerdictRecorded,
)
from schemas.observation import HintKind
from schemas.turn import CandidatesProposed, TurnCancelled, TurnExpired
from tests.given import (
    START_MS,
    event,
    evidence,
    form,
    given,
    hint,
    predicate,
    reason_of,
    said,
    statement,
    turn,
    unit,
    withdrawn,
)

BROKEN = {
    "no zone": (event(said("x"), utc_offset_min=None), "time_without_zone"),
    "unknown zone": (event(said("x"), zone="Mars/Base"), "time_without_zone"),
    "time before 1970": (event(said("x"), at_ms=-1), "schema_violation"),
    "offset": (event(said("x"), utc_offset_min=2_000), "schema_violation"),
    "blank id": (event(said("x"), event_id=" "), "schema_violation"),
    "NUL in id": (event(said("x"), event_id="a\0b"), "schema_violation"),
    "long id": (event(said("x"), event_id="a" * 513), "schema_violation"),
    "blank slot": (event(form(statement(" ", 1))), "schema_violation"),
    "NUL in slot": (event(form(statement("a\0b", 1))), "schema_violation"),
    "empty interval": (
        event(form(statement("a", 1, start_ms=5, end_ms=5))),
        "schema_violation",
    ),
    "source without number": (event(said("x"), source="crm"), "schema_violation"),
    "negative cost": (event(evidence(unit(cost=-1))), "schema_violation"),
    "withdrawal of nothing": (event(withdrawn()), "schema_violation"),
    "confidence": (
        event(hint("a", 1, confidence=1_000_001), by="generator:g"),
        "schema_violation",
    ),
    "constraint without predicate": (
        event(hint(kind=HintKind.CONSTRAINT), by="generator:g"),
        "schema_violation",
    ),
    "unknown kind": (
        event(hint("a", 1, kind=HintKind.UNKNOWN), by="generator:g"),
        "unknown_operation",
    ),
    "unknown verdict": (
        event(VerdictRecorded("c", bytes(32), CheckVerdict.UNKNOWN, ""), by="tool:t"),
        "unknown_operation",
    ),
    "unknown principal": (event(said("x"), by="unknown:x"), "unknown_operation"),
    "confirmation of nothing": (event(PredicateConfirmed(None, None, ())), "schema_violation"),
    "unknown digest": (event(PredicateConfirmed(bytes(32), None, ())), "stale_digest"),
    "digest of another": (
        event(PredicateConfirmed(bytes(32), predicate(), ())),
        "stale_digest",
    ),
    "unknown turn": (
        event(CandidatesProposed("t", None, (), None, None, ()), by="generator:g"),
        "unknown_turn",
    ),
    "cancelling an unknown turn": (event(TurnCancelled("t")), "unknown_turn"),
    "expiry of an unknown turn": (event(TurnExpired("t"), by="clock:c"), "unknown_turn"),
    "retry of an unknown turn": (event(turn(retry_of="t")), "unknown_turn"),
    "unknown scene": (event(turn("moon")), "schema_violation"),
    "greater budget": (event(turn(budget_main=8_001)), "limit_exceeded"),
    "negative budget": (event(turn(budget_tail=-1)), "schema_violation"),
    "another catalogue": (event(turn(catalogue_digest=bytes(32))), "stale_digest"),
    "ruleset by a user": (event(turn(ruleset=1)), "not_permitted"),
    "as_of by a user": (event(turn(as_of_ms=START_MS - 1)), "not_permitted"),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_event_is_rejected_with_its_reason(name):
    """Each fault has its reason, words for a person, and no effect (spec 1.11)."""
    broken, expected = BROKEN[name]
    history = given()
    before = history.rows.snapshot()
    fate = history.send(broken)

    assert expected == reason_of(fate)
    assert fate.detail
    assert before == history.rows.snapshot()


def test_a_predicate_that_cannot_be_read_is_rejected_with_its_position():
    """A text that is not read whole can be neither proposed nor confirmed (spec 2.3)."""
    broken = predicate("slots.diet == ")
    history = given()
    proposed = history.send(event(PredicateProposed(broken, (), HintKind.CONSTRAINT)))
    confirmed = history.send(event(PredicateConfirmed(None, broken, ())))
    hinted = history.send(event(hint(rule=broken), by="generator:g"))

    for fate in (proposed, confirmed, hinted):
        assert "schema_violation" == reason_of(fate)
        assert "predicate.expression at character 14" in fate.detail
