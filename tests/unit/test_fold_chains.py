"""Chains of turns: what cancelling one ends, and what makes a question new again."""

from schemas.agreement import PredicateConfirmed
from schemas.observation import FormSubmitted, OutcomeObserved, SlotStatement
from schemas.outcome import Act, Commitment, Reason
from schemas.predicate import PredicateScope
from schemas.row import PendingRow, PredicateRow
from schemas.turn import TurnCancelled
from tests.conversation import GENERATOR, TOOL
from tests.kitchen import candidates, form, meal, started
from tests.situations import predicate, request

SCENE = "dinner"


def ask(given, turn):
    """Ask for a turn of that id and return its one output."""
    (output,) = given.tell(request(), event_id=turn).outputs
    return output


def fail_once():
    """Return a conversation in which a commitment failed and a new contract was asked for."""
    given = started()
    given.tell(form(dish="soup"))
    own = predicate("e1", 'slots.dish == "soup"', scope=PredicateScope.EPISODE, scenes=(SCENE,))
    given.tell(PredicateConfirmed(None, own, ()))
    ask(given, "first")
    (commitment,) = given.tell(candidates(meal(), turn="first"), by=GENERATOR).outputs
    assert isinstance(commitment, Commitment)
    given.tell(OutcomeObserved(SCENE, None, False, (), (), ()), by=TOOL)
    assert ask(given, "second").reason is Reason.COMMITMENT_FAILED
    return given


def in_force(given):
    """Return the ids of the predicates in force."""
    rows = (row for _, row in given.view().scan(PredicateRow))
    return [row.predicate.predicate_id for row in rows if row.ended_seq is None]


def test_a_chain_can_be_cancelled_after_its_last_turn_ended():
    """Cancelling ends the chain of a repair act: its episode lapses, the next turn is new."""
    given = fail_once()

    step = given.tell(TurnCancelled("second"))

    assert () == step.outputs
    assert [] == in_force(given)
    assert not isinstance(ask(given, "third"), Commitment)
    assert ["third"] == [row for row, _ in given.view().scan(PendingRow)]


def test_a_failure_stays_until_the_chain_is_cancelled():
    """What the user states after a failure does not cancel the chain."""
    given = fail_once()
    given.tell(form(dish="stew"))

    assert ["e1"] == in_force(given)
    assert Reason.COMMITMENT_FAILED is ask(given, "third").reason


def test_a_commitment_is_not_cancelled():
    """A turn that ended in a commitment belongs to no chain that could be cancelled."""
    given = fail_once()

    given.tell(TurnCancelled("first"))

    assert ["e1"] == in_force(given)
    assert Reason.COMMITMENT_FAILED is ask(given, "third").reason


def test_an_earlier_chain_is_over():
    """Cancelling a turn of an episode that has ended leaves the running one alone."""
    given = fail_once()
    given.tell(TurnCancelled("second"))
    given.tell(form(dish="soup"))
    own = predicate("e2", 'slots.dish == "soup"', scope=PredicateScope.EPISODE, scenes=(SCENE,))
    given.tell(PredicateConfirmed(None, own, ()))

    given.tell(TurnCancelled("second"))

    assert ["e2"] == in_force(given)


def test_a_form_for_the_scene_answers_there():
    """A question stands once until the user answers in its scene, whatever the answer is."""
    given = started(slots=("diet", "dish"))
    acts = [ask(given, "first"), ask(given, "second")]
    statement = SlotStatement("", "diet", "vegan", None, None)
    given.tell(FormSubmitted(SCENE, (statement,), ()))
    acts.append(ask(given, "third"))
    given.tell(form(diet="none"))
    acts.append(ask(given, "fourth"))

    assert [Act.CLARIFY, Act.ABSTAIN, Act.CLARIFY, Act.ABSTAIN] == [act.act for act in acts]
