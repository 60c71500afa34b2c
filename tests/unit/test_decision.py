"""The order of the steps: every turn ends once, and says on what (spec 1.9, 5.1, 5.4, 5.10)."""

from schemas.agreement import PredicateConfirmed, PredicateProposed
from schemas.candidate import SlotValue
from schemas.codec import digest
from schemas.fate import FateStatus, RejectionReason
from schemas.identity import predicate_digest
from schemas.observation import (
    FormSubmitted,
    HintKind,
    ObservationWithdrawn,
    SlotStatement,
)
from schemas.outcome import Act, Commitment, Reason, RepairAct, TurnFailure
from schemas.packet import Packet, RequirementKind, Uncovered
from schemas.row import PendingRow
from schemas.turn import (
    FailureKind,
    SurfaceProposed,
    TurnCancelled,
    TurnExpired,
)
from tests.conversation import CLOCK, GENERATOR, OPERATOR, START_MS, TOOL
from tests.kitchen import asked, candidates, evidence, failure, form, meal, packet_of, started
from tests.situations import predicate, request


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


def test_a_phrasing_of_a_turn_without_commitment_is_ignored():
    """A SurfaceProposed is checked only against a commitment."""
    given = started()
    given.tell(form(dish="soup"))
    asked(given)
    given.tell(TurnCancelled("turn"))

    step = given.tell(SurfaceProposed("turn", "Soup it is.", None), by=GENERATOR)

    assert ("no_commitment", ()) == (step.fate.ignored, step.outputs)


def test_only_an_operator_decides_as_of_another_moment():
    """A user's as_of is refused; an operator's turn reads that moment and says it is historical."""
    given = started()
    given.tell(form(dish="soup"))
    moment = START_MS + 2_500
    given.tell(form(dish="stew"))

    refused = given.tell(request(as_of_ms=moment)).fate
    step = given.tell(request(as_of_ms=moment), by=OPERATOR, event_id="past")
    (outcome,) = given.tell(candidates(meal(), turn="past"), by=GENERATOR).outputs

    assert RejectionReason.NOT_PERMITTED is refused.reason
    assert ["soup"] == [one.value for one in packet_of(step).units if one.slot == "dish"]
    assert (moment, True) == (outcome.certificate.as_of_ms, outcome.certificate.historical)


def test_a_retry_is_a_turn_of_its_own():
    """A failed turn stays failed; another one that names it is asked and decided anew."""
    given = started()
    given.tell(form(dish="soup"))
    asked(given)
    given.tell(failure(), by=GENERATOR)

    given.tell(request(retry_of="turn"), event_id="again")
    given.tell(candidates(meal(), turn="again"), by=GENERATOR)

    assert [TurnFailure] == [type(one) for one in given.outcomes("turn")]
    assert [Commitment] == [type(one) for one in given.outcomes("again")]


def test_evidence_is_about_the_user_or_a_participant():
    """What was said of someone else is in E_t only of a turn in which that one takes part."""
    given = started()
    given.tell(form(dish="soup"))
    given.tell(FormSubmitted(None, (SlotStatement("anna", "diet", "keto", None, None),), ()))

    (alone,) = asked(given, wanted_dimensions=("diet",)).outputs
    both = request(wanted_dimensions=("diet",), participants=("anna",))
    together = packet_of(given.tell(both))

    assert [Uncovered.NO_UNIT] == [
        one.status
        for one in alone.certificate.coverage
        if one.requirement.kind is RequirementKind.DIMENSION
    ]
    assert ["keto"] == [one.value for one in together.units if one.slot == "diet"]
