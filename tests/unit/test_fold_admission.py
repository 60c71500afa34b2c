"""Admission: every reason of rejection, duplicates, and who may send what (spec 1)."""

from dataclasses import replace

import pytest

from processors.compilation.permissions import SENDERS
from processors.limits import (
    AHEAD_MS_MAX,
    CANDIDATES_MAX,
    EVENT_BYTES_MAX,
    PENDING_TURNS_MAX,
    PREDICATES_MAX,
    UNITS_MAX,
)
from schemas.agreement import (
    CheckVerdict,
    ClarificationAnswered,
    PredicateConfirmed,
    PredicateProposed,
    VerdictRecorded,
)
from schemas.candidate import Candidate
from schemas.control import PrincipalRights
from schemas.event import PrincipalKind
from schemas.fate import FateStatus, RejectionReason
from schemas.identity import predicate_digest
from schemas.observation import HintKind
from schemas.predicate import PredicateScope
from schemas.row import UserHead
from schemas.turn import CandidatesProposed, TurnCancelled, TurnExpired
from tests.given import (
    DAY_MS,
    START_MS,
    control,
    event,
    evidence,
    form,
    genesis,
    given,
    hint,
    predicate,
    said,
    statement,
    turn,
    unit,
    withdrawn,
)


def reason_of(fate):
    """Return the reason of a rejection as text, "" for an event that was not rejected."""
    return "" if fate.reason is None else fate.reason.value


def test_an_accepted_event_takes_the_next_seq():
    """Seqs count the accepted events of a user from 1; rejected ones take none (spec 1.2)."""
    history = given([event(said("one")), event(said("two"), zone="Nowhere/At"), event(said("three"))])

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
    from processors.compilation.admission import admit
    from tests.given import stamp_of

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
    from schemas.agreement import Answer

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
    confirmed = [
        reason_of(history.send(event(PredicateConfirmed(None, predicate(), ()), by=f"operator:{who}")))
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
    other = history.send(genesis(partitions=2))

    assert FateStatus.DUPLICATE == again.status
    assert RejectionReason.NOT_PERMITTED == other.reason
    assert before == history.rows.snapshot()


def test_control_records_are_for_operators():
    """A user cannot write a control record."""
    assert "not_permitted" == reason_of(given().send(control(genesis().payload, by="user:ada")))


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


def test_a_turn_id_is_used_once_even_after_the_window():
    """Turn ids outlive the window of event ids: an outcome must not be shared (spec 6.1)."""
    asked = event(turn(), event_id="t")
    history = given([asked])
    history.open_turn(asked)
    history.rows.table(type(history.get(UserHead)), "acme", "ada")
    from schemas.row import SeenRow

    history.rows.apply("acme", "ada", {(SeenRow, "t"): None})

    assert "event_id_conflict" == reason_of(history.send(event(turn("dinner"), event_id="t")))


def test_the_digest_of_a_closed_proposal_is_stale():
    """Declined or confirmed proposals cannot be confirmed by digest (spec 1.8)."""
    rule = predicate(scope=PredicateScope.STANDING)
    named = PredicateConfirmed(predicate_digest(rule), None, ())
    history = given([event(PredicateProposed(rule, (), HintKind.CONSTRAINT)), event(named)])

    assert "stale_digest" == reason_of(history.send(event(named)))
