"""The airline importer: rows, calls, answers and a user's own limits as events."""

import json
from decimal import Decimal

import pytest

from infra.importers.sources import SourceError
from infra.importers.tau import import_tau, label_tau
from infra.importers.tau_label import Standing
from infra.importers.tau_limits import find_limits, says_yes
from schemas.event import (
    CandidatesProposed,
    CommitmentObserved,
    FormSubmitted,
    Genesis,
    OutcomeObserved,
    PredicateConfirmed,
    PredicateProposed,
    TurnCancelled,
    TurnRequested,
)
from schemas.value import Money
from tests.airline import (
    CANCEL,
    RESERVATION,
    answer,
    book,
    change,
    judge_calls,
    read,
    say,
    verify,
    write_run,
)


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes one run and returns its folder."""
    return lambda *messages, **given: write_run(tmp_path, *messages, **given)


def test_genesis_first(folder):
    """A log begins with a genesis record; the importer may confirm, so the policy gets in."""
    first = next(import_tau(folder()))
    assert isinstance(first.payload, Genesis)
    assert [(right.confirm, right.operate) for right in first.payload.rights] == [(True, True)]


def test_reservation_is_amended(folder):
    """A cancellation amends the reservation that was observed, as that type."""
    source = folder(CANCEL)
    (seen,) = read(source, CommitmentObserved)
    (payload,) = read(source, CandidatesProposed)
    (candidate,) = payload.candidates
    assert candidate.amends.commitment_id == seen.commitment_id == "ABC123"
    assert candidate.commitment_type == seen.commitment_type
    assert [(one.path, one.value) for one in candidate.patch] == [("status", "cancelled")]


def test_changed_reservation_is_observed(folder):
    """What a call changed is observed again as its own commitment, and amended from then on."""
    after = json.dumps({**RESERVATION, "cabin": "business"})
    source = folder(change(), answer("update_reservation_flights", after), CANCEL)
    seen = [payload.commitment_id for payload in read(source, CommitmentObserved)]
    assert seen == ["ABC123", "ABC123/2"]
    last = read(source, CandidatesProposed)[-1].candidates[0]
    assert last.amends.commitment_id == "ABC123/2"
    assert judge_calls(source)[-1] == ()


def test_refusal_by_tool(folder):
    """A tool's error is a failed outcome; the user's next words begin a new attempt."""
    source = folder(
        book(), answer("book_reservation", "Error: not enough seats"), say("user", "Then this.")
    )
    (outcome,) = read(source, OutcomeObserved)
    assert not outcome.succeeded
    labels = list(label_tau(source))
    assert [label.repeat for label in labels] == [False, True]
    assert [payload.turn_id for payload in read(source, TurnCancelled)] == [labels[1].turn_id]


def test_limit_is_only_asserted(folder):
    """A limit that a user states is asserted; without the agent's restatement no more."""
    source = folder(
        say("user", "My budget is $600."), say("assistant", "Noted."), say("user", "yes")
    )
    stated = [s for p in read(source, FormSubmitted) for s in p.statements]
    limit = next(s for s in stated if s.slot == "limit_charge")
    assert limit.value == Money(Decimal(600), "USD")
    assert [] == read(source, PredicateProposed)


@pytest.mark.parametrize(("reply", "confirmed"), [("Yes, please.", 1), ("No, $500.", 0)])
def test_limit_is_confirmed_in_words(folder, reply, confirmed):
    """A restated limit becomes a predicate only by the user's own yes right after it."""
    source = folder(
        say("user", "My budget is $600."),
        say("assistant", "So it must stay within $600. Shall I go on?"),
        say("user", reply),
    )
    (proposed,) = read(source, PredicateProposed)
    assert proposed.predicate.expression == 'slots.charge <= money("600 USD")'
    events = [e for e in import_tau(source) if isinstance(e.payload, PredicateConfirmed)]
    own = [event for event in events if event.principal.kind.value == "user"]
    assert len(own) == confirmed


def test_preference_is_no_limit():
    """What a user only prefers is no limit; a plain yes is told from a no."""
    assert find_limits("I'd prefer a flight that departs after 8 am.") == ()
    (limit,) = find_limits("I don't want to fly before 11 AM EST.")
    assert limit.slot == "limit_departure"
    assert says_yes("Oui, please")
    assert not says_yes("Yesterday I said no")


def test_standing(folder):
    """A call is valid in the state that the corrected task meets, and in no other."""
    cancel = ("cancel_reservation", {"reservation_id": "ABC123"})
    first = ("update_reservation_flights", {"reservation_id": "ABC123", "cabin": "business"})
    gold = [{"name": cancel[0], "kwargs": cancel[1]}]
    found = [
        next(label_tau(folder(CANCEL, actions=gold, verified=verified)))
        for verified in ([verify(cancel)], [verify(first, cancel)], [verify()], [])
    ]
    assert [label.gold for label in found] == [True] * 4
    expected = [Standing.VALID, Standing.OUT_OF_STATE, Standing.OTHER, Standing.UNKNOWN]
    assert [label.standing for label in found] == expected


def test_same_bytes(folder):
    """Importing the same folder twice gives the same events, each id once."""
    source = folder(say("user", "Hello."), CANCEL, answer("cancel_reservation", "{}"))
    first, second = (list(import_tau(source)) for _ in range(2))
    assert first == second
    ids = [event.event_id for event in first]
    assert len(set(ids)) == len(ids)


def test_labels_join_turns(folder):
    """Labels name the turns of the events, in their order."""
    source = folder(CANCEL, answer("cancel_reservation", "{}"))
    asked = [e.event_id for e in import_tau(source) if isinstance(e.payload, TurnRequested)]
    assert asked == [label.turn_id for label in label_tau(source)]


def test_damaged_source(folder):
    """A folder without a table is refused, naming the file."""
    source = folder(CANCEL)
    (source / "flights.json").unlink()
    with pytest.raises(SourceError, match=r"flights\.json"):
        list(import_tau(source))
