"""What an outcome changes, and whole turns from question to commitment (spec 5.6, 5.9)."""

from dataclasses import replace

from processors.validation.consequences import fold_outcome
from processors.validation.validation import check_surface
from schemas.agreement import Answer, ClarificationAnswered, PredicateConfirmed
from schemas.candidate import SlotValue
from schemas.catalogue import Authority, Catalogue, ObligationTemplate
from schemas.observation import Alternative, FormSubmitted, OutcomeObserved, SlotStatement
from schemas.outcome import Act, Commitment, Reason, RelaxationKind
from schemas.row import (
    ActivationRow,
    CommitmentRow,
    ConsequenceRow,
    EpisodeRow,
    ObligationRow,
    QuestionRow,
    SlotRow,
    TurnRow,
)
from schemas.turn import CandidatesProposed, SurfaceProposed
from tests.conversation import GENERATOR, OPERATOR, TOOL, Conversation, genesis
from tests.given import Rows
from tests.lcv import amendment, basis, candidate, commitment, decided, early, over, state, typed
from tests.situations import predicate, request, scene, slot, unit

MEAL = typed(
    "meal",
    slot("dish"),
    slot("note"),
    opens=(ObligationTemplate("bill", "payment", 60_000, ("dinner",)),),
    discharges=("allergy",),
)


def changed(told, outcome, *kinds):
    """Return the changed rows of these records by id."""
    changes = fold_outcome(Rows().view(), told, basis(told.units), outcome)
    return {row_id: row for (kind, row_id), row in changes.items() if kind in kinds}


def test_a_commitment_becomes_state_in_its_own_step():
    """Its slots are statements worth ``inferred``; null slots make nothing true."""
    told = over(types=(MEAL,))
    outcome = decided(told, candidate(dish="rice", note=None))

    (row,) = changed(told, outcome, SlotRow).values()
    (made,) = changed(told, outcome, ConsequenceRow).values()

    assert ("dish", "rice", Authority.INFERRED, 9) == (
        row.slot, row.value, row.authority, row.seq
    )  # fmt: skip
    assert (outcome.commitment_id, "answer", 1_000) == (
        made.commitment_id, made.event_id, made.effective_ms
    )  # fmt: skip


def test_a_commitment_opens_and_settles_debt():
    """What its type opens is due from its effective time; what it settles is discharged."""
    told = over(
        types=(MEAL,),
        obligations=(
            ("o1", ObligationRow("allergy", None, (), "e1", 1, None)),
            ("o2", ObligationRow("other", None, (), "e1", 1, None)),
        ),
    )
    outcome = decided(told, candidate(dish="rice"))

    rows = changed(told, outcome, ObligationRow)
    opened = rows.pop(f"{outcome.commitment_id}:1:bill")

    assert ("payment", 61_000, ("dinner",), None) == (
        opened.dimension, opened.due_ms, opened.blocks, opened.discharged_seq
    )  # fmt: skip
    assert {"o1": 9} == {row_id: row.discharged_seq for row_id, row in rows.items()}
    assert ("o1",) == outcome.discharged


def test_an_amendment_makes_the_next_version():
    """The commitment keeps its id, its other slots, and gets version and result anew."""
    told = over(
        types=(MEAL,), commitments={"c1": commitment(dish="rice", note="quiet", result="succeeded")}
    )
    outcome = decided(told, amendment(dish="soup"))

    row = changed(told, outcome, CommitmentRow)["c1"]

    assert (2, "pending", {"dish": "soup", "note": "quiet"}) == (
        row.version, row.result, {slot.name: slot.value for slot in row.slots}
    )  # fmt: skip


def test_every_outcome_ends_its_turn_and_moves_what_was_shown():
    """Z* of the last two turns is remembered, also when nothing was committed."""
    told = over(types=(MEAL,), units=(unit("1#0"),), activation=ActivationRow(("old",), ("older",)))
    for outcome, name in (
        (decided(told, candidate(dish="x")), "commitment"),
        (decided(told), "abstain"),
    ):
        assert name == changed(told, outcome, TurnRow)["turn"].outcome
        assert ActivationRow(("1#0",), ("old",)) == changed(told, outcome, ActivationRow)[""]


def test_a_commitment_closes_the_questions_of_its_scene():
    """What was asked for it is answered by it, and questions count anew."""
    mine = QuestionRow("k", "dinner", "", ("dish",), (), "t", 4, "open")
    other = replace(mine, scene="lunch")
    told = over(
        types=(MEAL,),
        questions=(("q1", mine), ("q2", other)),
        episode=EpisodeRow(5, 0, None, 4, 3, None),
    )
    outcome = decided(told, candidate(dish="rice"))

    assert {"q1": "closed"} == {
        row_id: row.status for row_id, row in changed(told, outcome, QuestionRow).items()
    }
    assert (
        EpisodeRow(0, 9, outcome.commitment_id, None, 3, None)
        == (changed(told, outcome, EpisodeRow)["dinner"])
    )


def test_a_question_is_counted_and_kept():
    """Its key, slots and position stay, so that it is not asked twice for nothing."""
    told = over(types=(MEAL,), in_scene=scene(required_slots=("dish",)))
    act = early(told)

    row = changed(told, act, QuestionRow)[act.question.question_id]

    assert (("dish",), 9, "open", "dinner") == (row.slots, row.asked_seq, row.status, row.scene)
    assert 1 == changed(told, act, EpisodeRow)["dinner"].questions


def test_an_unclear_answer_leaves_one_question_open():
    """The question that joins all others takes their place."""
    told = over(
        types=(MEAL,),
        questions=tuple(
            (name, QuestionRow(name, "dinner", "", (name,), (), "t", 4, "open"))
            for name in ("dish", "note")
        ),
        episode=EpisodeRow(2, 0, None, None, 0, 6),
    )
    act = early(told)

    rows = changed(told, act, QuestionRow)

    assert {"dish": "closed", "note": "closed", act.question.question_id: "open"} == {
        row_id: row.status for row_id, row in rows.items()
    }
    assert changed(told, act, EpisodeRow)["dinner"].ambiguous_seq is None


BOOKING = typed("booking", slot("day"), slot("hour"), required_slots=("day",), confirm_carried=True)


def started(*types, **scene_changes):
    """Return a conversation after genesis, in the scene ``dinner``."""
    names = tuple(one.name for one in types)
    catalogue = Catalogue("k", (scene(commitment_types=names, **scene_changes),), types, (), ())
    conversation = Conversation()
    conversation.tell(genesis(catalogue), by=OPERATOR)
    return conversation


def ask(conversation, turn_id, *candidates, **changes):
    """Request a turn and answer it, unless it ended at once; return its outcome."""
    conversation.tell(request(**changes), event_id=turn_id)
    if not conversation.outcomes(turn_id):
        answer = CandidatesProposed(turn_id, None, candidates, None, None, ())
        conversation.tell(answer, by=GENERATOR)
    (outcome,) = conversation.outcomes(turn_id)
    return outcome


def answered(question, answer, **values):
    """Return an answer to a question."""
    return ClarificationAnswered(
        question.question_id, answer, (),
        tuple(SlotValue(name, value) for name, value in values.items()),
    )  # fmt: skip


def test_a_booking_goes_from_question_to_confirmation_to_commitment():
    """Absent: asked; stated: confirmed by its digest; confirmed: committed; then it lapses."""
    talk = started(BOOKING)

    absent = ask(talk, "t1")
    talk.tell(answered(absent.question, Answer.VALUE, day="Monday"))
    unconfirmed = ask(talk, "t2")
    talk.tell(answered(unconfirmed.question, Answer.CONFIRM))
    done = ask(talk, "t3", candidate("booking", day="Monday"))
    talk.tell(OutcomeObserved("dinner", None, True, (), (), ()), by=TOOL)
    next_one = ask(talk, "t4")

    assert (("day",), ()) == (absent.question.slots, absent.question.options)
    assert ['slots.day == "Monday"'] == [o.expression for o in unconfirmed.question.options]
    assert isinstance(done, Commitment)
    assert [1] == [len(one.verdicts) for one in done.certificate.candidates]
    assert (Act.CLARIFY, ['slots.day == "Monday"']) == (
        next_one.act, [one.expression for one in next_one.question.options]
    )  # fmt: skip


def test_a_declined_value_is_asked_for_anew():
    """No to the offered value: the next question asks for the slot itself."""
    talk = started(BOOKING)
    talk.tell(FormSubmitted(None, (SlotStatement("", "day", "Monday", None, None),), ()))

    offered = ask(talk, "t1")
    talk.tell(answered(offered.question, Answer.REJECT))
    again = ask(talk, "t2")

    assert 1 == len(offered.question.options)
    assert (("day",), ()) == (again.question.slots, again.question.options)


def test_the_same_question_waits_for_an_answer():
    """Asked and not answered: the next turn does nothing rather than ask again."""
    talk = started(BOOKING)

    assert Act.CLARIFY is ask(talk, "t1").act
    assert Reason.QUESTIONS_EXHAUSTED is ask(talk, "t2").reason


def test_a_failed_commitment_comes_back_with_what_the_tool_offers():
    """Failure, Recontract with alternatives, adoption by digest, and a commitment again."""
    talk = started(replace(BOOKING, required_slots=()))
    talk.tell(PredicateConfirmed(None, predicate("P1", 'slots.day == "Monday"'), ()))
    ask(talk, "t1", candidate("booking", day="Monday"))
    offered = Alternative((SlotValue("day", "Friday"),))
    talk.tell(OutcomeObserved("dinner", None, False, (), (offered,), ()), by=TOOL)

    act = ask(talk, "t2")
    (adopt,) = act.relaxations
    talk.tell(PredicateConfirmed(adopt.digest, None, ()))
    done = ask(talk, "t3", candidate("booking", day="Friday"))

    assert (Act.RECONTRACT, (offered,), RelaxationKind.ADOPT) == (
        act.act, act.alternatives, adopt.kind
    )  # fmt: skip
    assert isinstance(done, Commitment)


def test_a_promise_in_the_way_is_changed_by_what_was_stated():
    """The user's new word against an old promise: the offered change settles it."""
    talk = started(replace(BOOKING, required_slots=(), confirm_carried=False))
    talk.tell(PredicateConfirmed(None, predicate("P1", 'slots.day == "Monday"'), ()))
    friday = candidate("booking", day="Friday")
    asks = (SlotValue("day", "Friday"),)

    act = ask(talk, "t1", friday, asks=asks)
    adopt = next(one for one in act.relaxations if one.kind is RelaxationKind.ADOPT)
    talk.tell(PredicateConfirmed(adopt.digest, None, ()))
    done = ask(talk, "t2", friday, asks=asks)

    assert Reason.CONTRACT_CONFLICT is act.reason
    assert isinstance(done, Commitment)


def test_a_later_phrasing_is_checked_and_changes_nothing():
    """It is accepted or not by the same check; once amended there is nothing to phrase."""
    talk = started(replace(BOOKING, required_slots=(), confirm_carried=False))
    done = ask(talk, "t1", candidate("booking", day="Monday"))
    talk.tell(SurfaceProposed("t1", "Booked for Monday", "en"), by=GENERATOR)
    talk.tell(SurfaceProposed("t1", "Booked for Friday", "en"), by=GENERATOR)
    amended = amendment(done.commitment_id, 1, "booking", day="Friday")
    ask(talk, "t2", amended)
    talk.tell(SurfaceProposed("t1", "Booked for Monday", "en"), by=GENERATOR)

    surfaces = [one for one in talk.outputs if type(one).__name__ == "Surface"]

    assert [True, False, False] == [one.accepted for one in surfaces]
    assert ("date:Friday",) == surfaces[1].mismatches
    assert ("amended:",) == surfaces[2].mismatches


def test_there_is_no_phrasing_without_a_commitment():
    """A turn that ended in a repair act has nothing to phrase."""
    view = Rows().view()
    told = over(types=(MEAL,))
    view.rows.apply(*("acme", "ada"), fold_outcome(view, told, basis(), decided(told)))

    assert check_surface(view, turn_id="turn", seq=10, text="x", catalogue=told.catalogue) is None
    assert check_surface(view, turn_id="none", seq=10, text="x", catalogue=told.catalogue) is None


def test_what_is_stated_and_true_needs_no_state():
    """A commitment's value below the user's own statement does not overwrite it."""
    told = over(types=(MEAL,), slots={("", "dish"): state("rice")})
    view = Rows().view()
    mine = SlotRow("", "dish", "rice", Authority.ASSERTED, "e1", 1, 0, None, ())
    view.rows.apply("acme", "ada", {(SlotRow, "\0dish"): mine})

    changes = fold_outcome(view, told, basis(), decided(told, candidate(dish="soup")))

    assert ("rice", Authority.ASSERTED) == (
        changes[SlotRow, "\0dish"].value, changes[SlotRow, "\0dish"].authority
    )  # fmt: skip
