"""delta and the act that follows: the order of spec 5.7, case by case."""

from dataclasses import replace

import pytest

from processors.activation.coverage import derive_requirements
from processors.validation.consequences import fold_outcome
from processors.validation.validation import repair_early
from schemas.candidate import SlotValue
from schemas.catalogue import SlotType
from schemas.observation import Alternative
from schemas.outcome import Act, Commitment, Reason, RelaxationKind
from schemas.packet import Coverage, Uncovered
from schemas.row import EpisodeRow, QuestionRow
from tests.given import Rows
from tests.lcv import (
    basis,
    candidate,
    commitment,
    decided,
    early,
    over,
    state,
    typed,
)
from tests.situations import predicate, request, scene, slot, unit

MEAL = typed("meal", slot("dish"), slot("guests", slot_type=SlotType.INT))
FAILED = EpisodeRow(0, 0, "c1", 5, 3, None)


def kind(act):
    """Return act and reason."""
    return None if act is None else (act.act.value, act.reason.value)


def test_an_undemanding_turn_has_no_early_act():
    """Nothing missing, nothing failed: candidates may be asked for."""
    assert early(over(types=(MEAL,))) is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"incomplete": True}, ("abstain", "history_incomplete")),
        ({"halted": True}, ("abstain", "user_halted")),
        ({"episode": FAILED}, ("recontract", "commitment_failed")),
    ],
)
def test_early_reasons_need_no_candidates(changes, expected):
    """Reasons (0) and (1) end a turn at its request, and again at its candidates."""
    told = over(types=(MEAL,), **changes)

    assert expected == kind(early(told))
    assert expected == kind(decided(told))


def test_an_incomplete_history_withholds_even_a_feasible_candidate():
    """With a gap in the log nothing is committed, whatever F_t is (spec 1.8)."""
    outcome = decided(over(types=(MEAL,), incomplete=True), candidate(dish="rice"))

    assert Reason.HISTORY_INCOMPLETE is outcome.reason
    assert outcome.certificate.history_incomplete


def test_a_gap_goes_before_a_failed_commitment():
    """The first reason that applies is the reason."""
    told = over(types=(MEAL,), incomplete=True, episode=FAILED)

    assert Reason.HISTORY_INCOMPLETE is early(told).reason


def test_a_failed_commitment_is_recontracted_with_its_alternatives():
    """Reason (1) offers what the tool offered, and a confirmation since then clears it."""
    offered = (Alternative((SlotValue("guests", 5),)),)
    told = over(
        predicate("P1", "slots.guests == 4"),
        types=(MEAL,),
        episode=FAILED,
        commitments={"c1": commitment(alternatives=offered, guests=4)},
    )

    act = early(told)

    assert (offered, (RelaxationKind.ADOPT,)) == (
        act.alternatives, tuple(one.kind for one in act.relaxations)
    )  # fmt: skip
    assert "slots.guests == 5" == act.relaxations[0].expression
    assert early(replace(told, episode=replace(FAILED, confirmed_seq=6))) is None


def test_a_dimension_that_nothing_has_is_asked_for_early():
    """Reason (2): no candidate can cite what E_t does not hold."""
    told = over(types=(MEAL,), in_scene=scene(required_dimensions=("menu",)))

    act = early(told)

    assert (("clarify", "missing_evidence"), ("menu",)) == (kind(act), act.question.slots)
    assert early(replace(told, units=(unit("1#0", ("menu",)),))) is None


def test_a_required_slot_that_nothing_has_is_asked_for_early():
    """Reason (2): u_t, h_t or the request must have it, or the contract bound it."""
    required = scene(required_slots=("dish",))
    told = over(types=(MEAL,), in_scene=required)
    asked = request(asks=(SlotValue("dish", "rice"),))
    bounded = predicate("P1", 'slots.dish in ["rice", "soup"]')

    assert ("clarify", "missing_evidence") == kind(early(told))
    assert early(replace(told, slots={("", "dish"): state("rice")})) is None
    assert early(replace(told, request=asked)) is None
    assert early(over(bounded, types=(MEAL,), in_scene=required)) is None


def test_a_rule_of_another_scene_provides_nothing():
    """What was confirmed for another scene says nothing about this one's slot."""
    elsewhere = predicate("P1", 'slots.dish in ["rice"]', scenes=("lunch",))
    told = over(elsewhere, types=(MEAL,), in_scene=scene(required_slots=("dish",)))

    assert ("clarify", "missing_evidence") == kind(early(told))


def test_a_type_without_the_requirement_leaves_a_way():
    """A requirement that binds one type alone does not stop the others."""
    call = typed("call", slot("number"), required_slots=("number",))

    assert early(over(types=(MEAL, call))) is None
    assert ("clarify", "missing_evidence") == kind(early(over(types=(call,))))


def test_the_user_is_never_asked_for_what_is_held():
    """A candidate that does not cite what is held only lacks it: told, not asked (4.4, 5.7)."""
    told = over(
        types=(MEAL,),
        in_scene=scene(required_dimensions=("menu",)),
        units=(unit("1#0", ("menu",)),),
    )

    act = decided(told, candidate(dish="x"))

    assert ("clarify", "missing_evidence") == kind(act)
    assert ((), (), "What is on file was left out: menu. Please have it included.") == (
        act.question.slots, act.question.options, act.text
    )  # fmt: skip


def test_what_is_held_but_too_large_is_said_and_not_asked_for():
    """R17 A: over budget is missing evidence; the act names unit and budget, and asks nothing."""
    told = over(
        types=(MEAL,),
        in_scene=scene(required_dimensions=("menu",)),
        units=(unit("1#0", ("menu",), cost=2_400),),
    )
    (required,) = derive_requirements(told)
    large = Coverage(required, Uncovered.OVER_BUDGET, ("1#0",), 2_400)

    act = repair_early(told, (required,), basis(coverage=(large,)))

    assert ("clarify", "missing_evidence") == kind(act)
    assert ((), (), (required,)) == (
        act.question.slots, act.question.options, act.question.requirements
    )  # fmt: skip
    assert "dimension menu: over_budget for 1#0" == act.detail
    assert "closed" == next(
        row.status
        for (record, _), row in fold_outcome(Rows().view(), told, basis(), act).items()
        if record is QuestionRow
    )


def test_a_slot_that_the_state_holds_is_not_asked_for():
    """The generator should have carried it; to ask the user for it would be an insult."""
    told = over(
        predicate("P1", "slots.guests <= 4"),
        types=(MEAL,),
        slots={("", "guests"): state(3)},
    )

    act = decided(told, candidate(dish="x"))

    assert ("clarify", "missing_evidence") == kind(act)
    assert ((), ()) == (act.question.slots, act.question.options)


def test_missing_goes_before_contradiction():
    """Reason (3) is asked before (4): one candidate that only lacks something is enough."""
    told = over(
        predicate("P1", "slots.guests <= 4"),
        types=(MEAL,),
        stated={("", "guests"): (state(6),)},
    )

    act = decided(told, candidate(guests=6), candidate(dish="x"))

    assert ("clarify", "missing_evidence") == kind(act)


def test_an_invalid_verdict_is_a_validator_failure():
    """Reason (5): what could not be judged is never called unsupported."""
    told = over(predicate("P1", "slots.dish <= 4"), types=(MEAL,))

    act = decided(told, candidate(dish="x"))

    assert (("abstain", "validator_failure"), "P1: invalid") == (kind(act), act.detail)


def test_a_text_that_is_no_predicate_satisfies_nothing():
    """A contract that this build cannot read lets nothing through, and says so."""
    told = over(predicate("P1", "slots.dish ~~ 4"), types=(MEAL,))

    assert ("abstain", "validator_failure") == kind(decided(told, candidate(dish="x")))


def test_no_candidates_are_unsupported():
    """Reason (6) also covers an empty list."""
    act = decided(over(types=(MEAL,)))

    assert (("abstain", "unsupported"), "no candidates") == (kind(act), act.detail)


def test_a_scene_may_fall_back():
    """Where the scene declares a fallback, (5) and (6) use it, with its own words."""
    told = over(types=(MEAL,), in_scene=scene(fallback="Call {scene} at the desk."))

    act = decided(told)

    assert (Act.FALLBACK, "Call dinner at the desk.") == (act.act, act.text)


def unclear(*rows):
    """Return a situation after a bare "yes" that these open questions could have meant."""
    return over(
        types=(MEAL,),
        questions=tuple(rows),
        episode=EpisodeRow(2, 0, None, None, 0, 6),
    )


def question(question_id, *slots, status="open"):
    """Return an open question about slots."""
    return question_id, QuestionRow(question_id, "dinner", "", slots, (), "t", 4, status)


def test_an_unclear_answer_is_clarified_by_one_question_for_all():
    """After a bare "yes" to several questions the next turn asks which was meant (spec 5.9)."""
    act = early(unclear(question("q1", "dish"), question("q2", "guests")))

    assert (("clarify", "ambiguous_answer"), ("dish", "guests")) == (kind(act), act.question.slots)


def test_an_unclear_answer_to_closed_questions_is_forgotten():
    """Nothing is open any more, so there is nothing to clarify."""
    assert early(unclear(question("q1", "dish", status="answered"))) is None


def test_a_feasible_candidate_is_committed_whatever_else_is_missing():
    """Delta speaks only when F_t is empty."""
    told = over(predicate("P1", "slots.guests <= 4"), types=(MEAL,))

    outcome = decided(told, candidate(dish="x"), candidate(guests=3))

    assert isinstance(outcome, Commitment)
