"""The order of the steps: every turn ends once, and says on what (spec 1.9, 5.1, 5.4, 5.10)."""

import pytest

from processors.limits import OUTPUT_BYTES_MAX
from processors.ruleset import UnknownRuleset
from schemas.agreement import PredicateConfirmed, PredicateProposed
from schemas.candidate import Candidate, SlotValue
from schemas.catalogue import Catalogue
from schemas.codec import digest, encode
from schemas.control import HistoryAttested, RulesetActivated, UserRefolded
from schemas.fate import FateStatus, RejectionReason
from schemas.identity import predicate_digest
from schemas.observation import (
    ErasureRequested,
    EvidenceRecorded,
    FormSubmitted,
    HintKind,
    ObservationWithdrawn,
    Sensitivity,
    SlotStatement,
    UnitDraft,
)
from schemas.outcome import Act, Commitment, Reason, RepairAct, TurnFailure
from schemas.packet import Packet
from schemas.row import DeadlineRow, PendingRow, TurnRow
from schemas.turn import (
    CandidatesProposed,
    FailureKind,
    GenerationFailed,
    SurfaceProposed,
    TurnCancelled,
    TurnExpired,
)
from tests.conversation import CLOCK, GENERATOR, OPERATOR, TOOL, Conversation, genesis
from tests.situations import commitment_type, predicate, request, scene


def kitchen(**changes):
    """Return a catalogue with the scene ``dinner`` and the type ``meal``."""
    meal = commitment_type(required_slots=("dish",), **changes)
    return Catalogue("kitchen", (scene(),), (meal,), (), ())


def started(**changes):
    """Return a conversation after genesis."""
    conversation = Conversation()
    conversation.tell(genesis(kitchen(**changes)), by=OPERATOR)
    return conversation


def meal(dish="soup", evidence_ids=(), **slots):
    """Return a candidate that carries these slots."""
    carried = {"dish": dish, **slots}
    return Candidate(
        commitment_type="meal",
        slots=tuple(SlotValue(name, value) for name, value in sorted(carried.items())),
        amends=None,
        patch=(),
        evidence_ids=tuple(evidence_ids),
        claimed_predicates=(),
        required_slots=(),
        repair_status="",
        surface_text="",
    )


def candidates(*proposed, turn="turn", packet=None):
    """Return an answer to a turn."""
    return CandidatesProposed(turn, packet, proposed, None, None, ())


def failure(kind=FailureKind.TIMEOUT, turn="turn", packet=None):
    """Return a generator's failure."""
    return GenerationFailed(turn, packet, kind, None, None, ())


def form(**slots):
    """Return a form with these values."""
    return FormSubmitted(
        None, tuple(SlotStatement("", name, value, None, None) for name, value in slots.items()), ()
    )


def evidence(*dimensions):
    """Return one unit of evidence with these dimensions."""
    draft = UnitDraft(
        "a note", None, None, None, dimensions, False, Sensitivity.NONE, (), 10, None, None
    )
    return EvidenceRecorded((draft,))


def asked(conversation, **changes):
    """Tell a turn request and return its step."""
    return conversation.tell(request(**changes), event_id="turn")


def packet_of(step):
    """Return the packet that a step put out."""
    (packet,) = step.outputs
    assert isinstance(packet, Packet)
    return packet


def test_a_history_ends_in_a_commitment():
    """Form, proposal, confirmation, turn, candidates: the feasible candidate is committed."""
    given = started()
    given.tell(form(dish="soup"))
    diet = predicate("diet", 'slots.diet == "vegan"')
    given.tell(PredicateProposed(diet, (), HintKind.CONSTRAINT))
    given.tell(PredicateConfirmed(predicate_digest(diet), None, ()))
    packet = packet_of(asked(given))

    step = given.tell(
        candidates(meal(diet="meat"), meal(diet="vegan"), packet=digest(packet)), by=GENERATOR
    )

    (commitment,) = step.outputs
    assert isinstance(commitment, Commitment)
    assert (SlotValue("diet", "vegan"), SlotValue("dish", "soup")) == commitment.slots
    assert digest(packet) == commitment.certificate.packet_digest
    assert [commitment] == given.outcomes()


def test_a_missing_confirmation_is_asked_for_without_generation():
    """Where carried slots must be confirmed and none is, the turn is Clarify at once."""
    given = started(confirm_carried=True)
    given.tell(form(dish="soup"))

    (act,) = asked(given).outputs

    assert isinstance(act, RepairAct)
    assert (Act.CLARIFY, Reason.MISSING_EVIDENCE) == (act.act, act.reason)
    assert act.certificate.packet_digest is None


def test_the_first_decider_wins_and_later_ones_are_ignored():
    """A turn that ended stays ended; what comes later is accepted and said to be ignored."""
    given = started()
    given.tell(form(dish="soup"))
    packet = packet_of(asked(given))
    given.tell(failure(packet=digest(packet)), by=GENERATOR)

    late = [
        given.tell(candidates(meal(), packet=digest(packet)), by=GENERATOR),
        given.tell(failure(), by=GENERATOR),
        given.tell(TurnCancelled("turn")),
        given.tell(TurnExpired("turn"), by=CLOCK),
    ]

    assert ["turn_ended"] * 4 == [step.fate.ignored for step in late]
    assert [FateStatus.ACCEPTED] * 4 == [step.fate.status for step in late]
    assert [FailureKind.TIMEOUT] == [outcome.kind for outcome in given.outcomes()]


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


def test_an_answer_to_another_packet_is_stale():
    """Candidates for a packet digest that is not the turn's current one decide nothing."""
    given = started()
    given.tell(form(dish="soup"))
    asked(given)

    step = given.tell(candidates(meal(), packet=bytes(32)), by=GENERATOR)

    assert ("stale_packet", ()) == (step.fate.ignored, step.outputs)
    assert None is not given.view().get(PendingRow, "turn")


def test_a_caller_without_packet_answers_the_current_one():
    """A null packet digest names no packet, and Z* is still the one that was issued."""
    given = started()
    given.tell(form(dish="soup"))
    packet = packet_of(asked(given))

    (commitment,) = given.tell(candidates(meal()), by=GENERATOR).outputs

    assert isinstance(commitment, Commitment)
    assert digest(packet) == commitment.certificate.packet_digest


def test_a_withdrawn_unit_leads_to_a_second_packet_and_no_third():
    """Z* that lost a unit which E_t can replace is issued anew, at most once (spec 5.4)."""
    given = started()
    for number in range(3):
        given.tell(evidence("allergy"), by=TOOL, event_id=f"note{number}")
    given.tell(form(dish="soup"))
    first = packet_of(asked(given, wanted_dimensions=("allergy",), budget_main=20))
    held = [one.event_id for one in first.units if one.event_id.startswith("note")]
    given.tell(ObservationWithdrawn(tuple(held)))

    second = packet_of(given.tell(candidates(meal(), packet=digest(first)), by=GENERATOR))
    stale = given.tell(candidates(meal(), packet=digest(first)), by=GENERATOR)
    given.tell(
        ObservationWithdrawn(
            tuple(one.event_id for one in second.units if one.event_id.startswith("note"))
        )
    )
    last = given.tell(candidates(meal(), packet=digest(second)), by=GENERATOR)

    assert (1, 2) == (first.round, second.round)
    assert "stale_packet" == stale.fate.ignored
    assert 1 == len(given.outcomes("turn"))
    assert not isinstance(last.outputs[0], Packet)


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

    with pytest.raises(UnknownRuleset, match="ruleset 99"):
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


def test_a_phrasing_of_a_turn_without_commitment_is_ignored():
    """A SurfaceProposed is checked only against a commitment."""
    given = started()
    given.tell(form(dish="soup"))
    asked(given)
    given.tell(TurnCancelled("turn"))

    step = given.tell(SurfaceProposed("turn", "Soup it is.", None), by=GENERATOR)

    assert ("no_commitment", ()) == (step.fate.ignored, step.outputs)


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
