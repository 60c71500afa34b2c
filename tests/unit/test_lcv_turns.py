"""Whole turns, from question over confirmation to commitment and back (spec 5.6, 5.7, 5.9)."""

from dataclasses import replace

from schemas.agreement import Answer, ClarificationAnswered, PredicateConfirmed
from schemas.candidate import SlotValue
from schemas.catalogue import Catalogue
from schemas.observation import Alternative, FormSubmitted, OutcomeObserved, SlotStatement
from schemas.outcome import Act, Commitment, Reason, RelaxationKind
from schemas.turn import CandidatesProposed, SurfaceProposed
from tests.conversation import GENERATOR, OPERATOR, TOOL, Conversation, genesis
from tests.lcv import amendment, candidate, typed
from tests.situations import predicate, request, scene, slot

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
