"""Turns in trouble: gaps, faults, deadlines, erasure, too much (spec 1.8, 5.10, 6.2)."""

import pytest

from processors.limits import OUTPUT_BYTES_MAX
from processors.ruleset import UnknownRulesetError
from schemas.agreement import PredicateConfirmed
from schemas.candidate import SlotValue
from schemas.codec import digest, encode
from schemas.control import HistoryAttested, RulesetActivated, UserRefolded
from schemas.fate import FateStatus, RejectionReason
from schemas.observation import (
    ErasureRequested,
)
from schemas.outcome import Act, Reason, TurnFailure
from schemas.packet import Packet
from schemas.row import DeadlineRow, PendingRow, TurnRow
from schemas.turn import (
    FailureKind,
    TurnCancelled,
    TurnExpired,
)
from tests.conversation import CLOCK, GENERATOR, OPERATOR
from tests.kitchen import asked, candidates, failure, form, meal, packet_of, started
from tests.situations import predicate, request


@pytest.mark.parametrize(
    ("payload", "by", "kind"),
    [
        (failure(FailureKind.BLANK_OUTPUT), GENERATOR, FailureKind.BLANK_OUTPUT),
        (TurnCancelled("turn"), OPERATOR, FailureKind.CANCELLED),
        (TurnExpired("turn"), CLOCK, FailureKind.EXPIRED),
    ],
)
def test_a_turn_without_candidates_fails_and_leaves_no_row_behind(payload, by, kind):
    """A failure, a cancellation and an expiry each end the turn as a TurnFailure of that kind."""
    given = started()
    given.tell(form(dish="soup"))
    asked(given)
    assert 1 == given.head().pending_turns

    (outcome,) = given.tell(payload, by=by).outputs

    assert isinstance(outcome, TurnFailure)
    assert kind is outcome.kind
    assert None is given.view().get(PendingRow, "turn")
    assert [] == given.view().scan(DeadlineRow)
    assert 0 == given.head().pending_turns
    assert outcome.outcome_id == given.view().get(TurnRow, "turn").outcome_id


def test_a_user_whose_history_has_a_gap_gets_no_commitment_until_it_is_attested():
    """Turns of every user of the partition Abstain after a gap, also of users seen later."""
    given = started()
    given.tell(form(dish="soup"))
    given.lose()

    (act,) = asked(given).outputs
    given.tell(HistoryAttested(None, None), by=OPERATOR)
    later = given.tell(request(), event_id="later")

    assert (Act.ABSTAIN, Reason.HISTORY_INCOMPLETE) == (act.act, act.reason)
    assert act.certificate.history_incomplete
    assert isinstance(later.outputs[0], Packet)


def test_a_core_fault_halts_its_user_until_an_operator_refolds():
    """The raising event is rejected, turns Abstain, and UserRefolded ends it."""
    given = started()
    given.tell(form(dish="soup"))

    fault = given.break_at(form(dish="stew"))
    (act,) = asked(given).outputs
    given.tell(UserRefolded("t", "u"), by=OPERATOR)
    later = given.tell(request(), event_id="later")

    assert (FateStatus.REJECTED, RejectionReason.CORE_FAULT) == (
        fault.fate.status,
        fault.fate.reason,
    )
    assert (Act.ABSTAIN, Reason.USER_HALTED) == (act.act, act.reason)
    assert isinstance(later.outputs[0], Packet)


def test_a_halted_user_s_rows_are_not_rested_on():
    """A pending turn of a halted user Abstains on its answer, and cites nothing of the history."""
    given = started()
    given.tell(form(dish="soup"))
    given.tell(PredicateConfirmed(None, predicate(), ()))
    packet = packet_of(asked(given))
    given.break_at(form(dish="stew"))

    (act,) = given.tell(candidates(meal(diet="vegan"), packet=digest(packet)), by=GENERATOR).outputs

    assert (Act.ABSTAIN, Reason.USER_HALTED) == (act.act, act.reason)
    assert ((), (), True) == (
        act.certificate.candidates,
        act.certificate.evidence_ids,
        act.certificate.without_predicates,
    )
    assert 0 == given.head().pending_turns


def test_an_unknown_ruleset_stops_the_fold():
    """A build without the ruleset that a record activates folds nothing of it."""
    given = started()

    with pytest.raises(UnknownRulesetError, match="ruleset 99"):
        given.tell(RulesetActivated(99), by=OPERATOR)


def test_a_deadline_is_a_row_that_sorts_by_time():
    """A pending turn has one deadline row, whose id starts with its instant."""
    given = started()
    given.tell(form(dish="soup"))
    asked(given, deadline_ms=5_000)

    pending = given.view().get(PendingRow, "turn")
    ((row_id, row),) = given.view().scan(DeadlineRow)

    assert f"{pending.deadline_at_ms:016d}\0t\0u\0turn" == row_id
    assert "turn" == row.turn_id


def test_an_erasure_takes_the_words_out_of_a_pending_turn():
    """The request's text is gone with the user's events; the turn still ends once."""
    given = started()
    given.tell(form(dish="soup"))
    asked(given, text="soup for my ulcer", asks=(SlotValue("dish", "soup"),))

    given.tell(ErasureRequested(()))
    kept = given.view().get(PendingRow, "turn").request.payload
    given.tell(TurnExpired("turn"), by=CLOCK)

    assert (None, ()) == (kept.text, kept.asks)
    assert 1 == len(given.outcomes("turn"))


def test_an_outcome_too_large_becomes_an_abstention():
    """No outcome body exceeds 900,000 bytes; the turn abstains and says so (spec 6.2)."""
    given = started()
    given.tell(form(dish="soup"))
    for number in range(60):
        rule = predicate(f"{number}" + "p" * 300, f'slots.diet != "x{number}"')
        given.tell(PredicateConfirmed(None, rule, ()))
    asked(given)

    (act,) = given.tell(
        candidates(*(meal(diet=f"x{number}") for number in range(64))), by=GENERATOR
    ).outputs

    assert (Act.ABSTAIN, Reason.OUTCOME_TOO_LARGE) == (act.act, act.reason)
    assert len(encode(act)) < OUTPUT_BYTES_MAX
