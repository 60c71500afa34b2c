"""Limits per user and per answer: beyond them events are rejected (spec 6.2)."""

from dataclasses import replace

import pytest

from processors.limits import CANDIDATES_MAX, PENDING_TURNS_MAX, PREDICATES_MAX, UNITS_MAX
from schemas.agreement import PredicateConfirmed
from schemas.candidate import Candidate
from schemas.row import UserHead
from schemas.turn import CandidatesProposed
from tests.given import event, evidence, given, predicate, reason_of, said, turn, unit


def limited(**changes):
    """Return a history whose head is moved near a limit."""
    history = given([event(said("x"))])
    head = replace(history.head(), **changes)
    history.rows.apply("acme", "ada", {(UserHead, ""): head})
    return history


@pytest.mark.parametrize(
    ("changes", "payload", "by"),
    [
        ({"units": UNITS_MAX, "texts": 0}, said("one more"), "user:ada"),
        ({"units": UNITS_MAX, "texts": 1}, evidence(unit(), unit()), "user:ada"),
        ({"predicates": PREDICATES_MAX}, PredicateConfirmed(None, predicate(), ()), "user:ada"),
        ({"pending_turns": PENDING_TURNS_MAX}, turn(), "user:ada"),
    ],
)
def test_beyond_a_limit_events_are_rejected(changes, payload, by):
    """Units, predicates in force and pending turns have limits per user (spec 6.2)."""
    assert "limit_exceeded" == reason_of(limited(**changes).send(event(payload, by=by)))


def test_a_replacement_fits_a_full_contract():
    """At the limit a predicate can still be replaced, since the contract does not grow."""
    history = given([event(PredicateConfirmed(None, predicate(), ()))])
    head = replace(history.head(), predicates=PREDICATES_MAX)
    history.rows.apply("acme", "ada", {(UserHead, ""): head})
    other = predicate('slots.diet == "meat"')

    assert "" == reason_of(history.send(event(PredicateConfirmed(None, other, ()))))


def test_equal_candidates_count_once():
    """At most 64 different candidates; equal ones count once (spec 5.2)."""

    def propose(count, text):
        candidates = tuple(
            Candidate("meal", (), None, (), (), (), (), "", text.format(number))
            for number in range(count)
        )
        return CandidatesProposed("t", None, candidates, None, None, ())

    asked = event(turn(), event_id="t")
    history = given([asked])
    history.open_turn(asked)
    many = CANDIDATES_MAX + 1

    assert "limit_exceeded" == reason_of(
        history.send(event(propose(many, "n{}"), by="generator:g"))
    )
    assert "" == reason_of(history.send(event(propose(many, "same"), by="generator:g")))
