"""Limits per user and per answer: beyond them events are rejected (spec 6.2)."""

from dataclasses import replace

import pytest

from processors.compilation import conditions, proposals
from processors.limits import (
    CANDIDATES_MAX,
    HINTS_MAX,
    PENDING_TURNS_MAX,
    PREDICATES_MAX,
    UNITS_MAX,
)
from schemas.agreement import PredicateConfirmed, PredicateProposed
from schemas.candidate import Candidate
from schemas.observation import HintKind
from schemas.row import ProposalRow, UserHead
from schemas.turn import CandidatesProposed
from tests.given import (
    event,
    evidence,
    form,
    given,
    hint,
    predicate,
    reason_of,
    said,
    turn,
    unit,
)


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
        ({"hints": HINTS_MAX}, hint("dish", "soup"), "generator:g"),
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


def test_open_proposals_have_a_limit(monkeypatch):
    """Beyond it nothing more is proposed; what is observed is kept all the same."""
    for module in (conditions, proposals):
        monkeypatch.setattr(module, "PROPOSALS_MAX", 1)
    history = given([event(form(diet="vegan")), event(form(diet="meat"), by="tool:t")])
    more = event(PredicateProposed(predicate(), (), HintKind.CONSTRAINT), by="assistant:a")

    assert "limit_exceeded" == reason_of(history.send(more))
    assert "limit_exceeded" == reason_of(
        history.send(event(hint(rule=predicate()), by="generator:g"))
    )
    assert "" == reason_of(history.send(event(form(diet="fish"), by="tool:t")))
    assert 1 == len(history.scan(ProposalRow))
    assert 3 == history.head().units
