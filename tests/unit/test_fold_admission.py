"""Admission: every reason of rejection, duplicates, and who may send what (spec 1)."""

import pytest

from processors.compilation.admission import admit
from processors.compilation.permissions import SENDERS
from processors.limits import (
    AHEAD_MS_MAX,
    EVENT_BYTES_MAX,
)
from schemas.agreement import (
    Answer,
    ClarificationAnswered,
    PredicateConfirmed,
    PredicateProposed,
)
from schemas.control import PrincipalRights
from schemas.event import PrincipalKind
from schemas.fate import FateStatus, RejectionReason
from schemas.identity import predicate_digest
from schemas.observation import HintKind
from schemas.predicate import PredicateScope
from schemas.row import SeenRow
from tests.given import (
    DAY_MS,
    START_MS,
    control,
    event,
    evidence,
    form,
    genesis,
    given,
    predicate,
    reason_of,
    said,
    stamp_of,
    turn,
    unit,
)


def test_an_accepted_event_takes_the_next_seq():
    """Seqs count the accepted events of a user from 1; rejected ones take none (spec 1.2)."""
    nowhere = event(said("two"), zone="Nowhere/At")
    history = given([event(said("one")), nowhere, event(said("three"))])

    assert [0, 1, None, 2] == [fate.seq for fate in history.fates]


def test_users_have_seqs_of_their_own():
    """The seq of one user does not depend on others of the partition (spec 1.2)."""
    history = given([event(said("one")), event(said("two"), user="bob"), event(said("three"))])

    assert [1, 1, 2] == [fate.seq for fate in history.fates[1:]]


def test_effective_time_never_goes_back():
    """An event's effective time is at least that of the one before (spec 1.5)."""
    history = given([event(said("late"), at_ms=START_MS + DAY_MS), event(said("early"))])

    assert START_MS + DAY_MS == history.head().effective_ms


def test_the_same_event_is_a_duplicate():
    """The same id with the same body changes nothing and is counted (spec 1.4)."""
    sent = event(form(diet="vegan"))
    history = given([sent])
    before = history.rows.snapshot()

    assert FateStatus.DUPLICATE == history.send(sent).status
    assert before == history.rows.snapshot()


def test_the_same_id_with_another_body_is_a_conflict():
    """An id is that of one body only (spec 1.4)."""
    history = given([event(form(diet="vegan"), event_id="a")])

    assert "event_id_conflict" == reason_of(history.send(event(form(diet="meat"), event_id="a")))


def test_a_source_counts_upwards():
    """Of a source only greater numbers are accepted; others are duplicates (spec 1.4)."""
    history = given()
    fates = [
        history.send(event(said(f"n{number}"), source="crm", source_seq=number))
        for number in (1, 3, 2, 3, 4)
    ]

    expected = ["accepted", "accepted", "duplicate", "duplicate", "accepted"]
    assert expected == [fate.status.value for fate in fates]


def test_a_calendar_threshold_without_zone_cannot_be_confirmed():
    """Relative thresholds are resolved at confirmation, so they need a zone then (spec 2.5)."""
    monthly = predicate('slots.start >= after("P1M")', "notice")
    history = given()

    fate = history.send(event(PredicateConfirmed(None, monthly, ()), zone="Europe/Paris"))
    assert FateStatus.ACCEPTED == fate.status


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"size": EVENT_BYTES_MAX + 1}, "too_large"),
        ({"partition": 1}, "wrong_partition"),
        ({"authentic": "failed"}, "unauthenticated"),
        ({"append_ms": START_MS - AHEAD_MS_MAX - 1}, "time_ahead"),
        ({"append_ms": START_MS - AHEAD_MS_MAX}, ""),
        ({"authentic": "absent"}, ""),
    ],
)
def test_what_the_log_says_of_a_record_counts_too(change, expected):
    """Size, partition, mac and append timestamp come with the record, not in it (spec 1)."""
    history = given()

    assert expected == reason_of(history.send(event(said("x")), **change))


@pytest.mark.parametrize("authentic", ["open", "absent", "failed"])
def test_with_keys_only_a_verified_mac_counts(authentic):
    """In an authenticated log nothing unsigned is accepted (spec 1.6)."""
    history = given(authenticated=True)

    assert "unauthenticated" == reason_of(history.send(event(said("x")), authentic=authentic))
    assert "" == reason_of(history.send(event(said("x")), authentic="verified"))


def test_nothing_is_accepted_before_genesis():
    """The log begins with a genesis record (spec 1.7)."""
    history = given()
    history.rows.tables.clear()

    assert "not_permitted" == reason_of(history.send(event(said("x"))))


def test_an_event_of_another_user_is_refused():
    """The record key equals the body's user (spec 1.4)."""
    history = given()
    sent = event(said("x"), user="bob")

    fate = admit(history.rows.view("acme", "ada"), sent, stamp_of(sent))
    assert "key_user_mismatch" == reason_of(fate)


@pytest.mark.parametrize("payload", sorted(SENDERS, key=lambda record: record.__name__))
def test_models_neither_confirm_nor_answer_nor_revoke(payload):
    """What speaks for the user is never open to generator or assistant (spec 1.8)."""
    speaks = {
        "PredicateConfirmed", "ProposalDeclined", "PredicateRevoked", "ClarificationAnswered",
        "ObservationWithdrawn", "ObservationCorrected", "ErasureRequested", "TurnCancelled",
    }  # fmt: skip
    models = {PrincipalKind.GENERATOR, PrincipalKind.ASSISTANT, PrincipalKind.CLOCK}

    assert payload.__name__ not in speaks or not models & set(SENDERS[payload])


@pytest.mark.parametrize("by", ["assistant:a", "generator:g", "tool:t", "operator:ops"])
def test_only_the_user_fills_in_an_answer(by):
    """ClarificationAnswered comes from the user's own channel (spec 1.6)."""
    answered = ClarificationAnswered(None, Answer.CONFIRM, (), ())

    assert "not_permitted" == reason_of(given().send(event(answered, by=by)))


def test_an_operator_needs_the_right():
    """Confirming needs the right to confirm, everything else the right to operate (spec 1.7)."""
    rights = (
        PrincipalRights("both", confirm=True, operate=True),
        PrincipalRights("runs", confirm=False, operate=True),
        PrincipalRights("none", confirm=False, operate=False),
        PrincipalRights("ops", confirm=False, operate=True),
    )
    history = given(rights=rights)
    confirming = PredicateConfirmed(None, predicate(), ())
    confirmed = [
        reason_of(history.send(event(confirming, by=f"operator:{who}")))
        for who in ("runs", "none", "stranger", "both")
    ]
    recorded = [
        reason_of(history.send(event(evidence(unit()), by=f"operator:{who}")))
        for who in ("none", "stranger", "runs")
    ]

    assert ["not_permitted"] * 3 + [""] == confirmed
    assert ["not_permitted"] * 2 + [""] == recorded


def test_a_second_genesis_changes_nothing():
    """The same genesis again is a duplicate, another one is not permitted (spec 1.7)."""
    history = given()
    before = history.rows.snapshot()
    again = history.send(genesis())
    others = [
        history.send(genesis(**{field: 2}))
        for field in ("partitions", "budget_main", "budget_tail")
    ]

    assert FateStatus.DUPLICATE == again.status
    assert {RejectionReason.NOT_PERMITTED} == {other.reason for other in others}
    assert before == history.rows.snapshot()


def test_control_records_are_for_operators():
    """A user cannot write a control record."""
    assert "not_permitted" == reason_of(given().send(control(genesis().payload, by="user:ada")))


def test_a_turn_id_is_used_once_even_after_the_window():
    """Turn ids outlive the window of event ids: an outcome must not be shared (spec 6.1)."""
    asked = event(turn(), event_id="t")
    history = given([asked])
    history.open_turn(asked)
    history.rows.apply("acme", "ada", {(SeenRow, "t"): None})

    assert "event_id_conflict" == reason_of(history.send(event(turn("dinner"), event_id="t")))


def test_the_digest_of_a_closed_proposal_is_stale():
    """Declined or confirmed proposals cannot be confirmed by digest (spec 1.8)."""
    rule = predicate(scope=PredicateScope.STANDING)
    named = PredicateConfirmed(predicate_digest(rule), None, ())
    history = given([event(PredicateProposed(rule, (), HintKind.CONSTRAINT)), event(named)])

    assert "stale_digest" == reason_of(history.send(event(named)))
