"""The loop of questions and answers through whole turns: bounded, exact, never repeated."""

import json

import pytest
from typer.testing import CliRunner

from infra.cli.commands import app
from processors.limits import QUESTIONS_PER_EPISODE_MAX
from schemas.agreement import Answer, ClarificationAnswered, PredicateConfirmed
from schemas.candidate import SlotValue
from schemas.catalogue import Catalogue
from schemas.observation import FormSubmitted, SlotStatement
from schemas.outcome import Act, Commitment, Reason
from schemas.row import PredicateRow
from schemas.turn import CandidatesProposed
from tests.conversation import GENERATOR, OPERATOR, Conversation, genesis
from tests.lcv import candidate, typed
from tests.situations import predicate, request, scene, slot

BOOKING = typed("booking", slot("day"), slot("hour"), required_slots=("day",), confirm_carried=True)
WIDE = typed(
    "wide", *(slot(f"s{n}") for n in range(12)), required_slots=tuple(f"s{n}" for n in range(12))
)


def started(*types):
    """Return a conversation in the scene ``dinner``."""
    names = tuple(one.name for one in types)
    talk = Conversation()
    catalogue = Catalogue("k", (scene(commitment_types=names),), types, (), ())
    talk.tell(genesis(catalogue), by=OPERATOR)
    return talk


def ask(talk, turn_id, *candidates):
    """Request a turn and offer candidates, unless it ended at once; return its outcome."""
    talk.tell(request(), event_id=turn_id)
    if not talk.outcomes(turn_id):
        answer = CandidatesProposed(turn_id, None, candidates, None, None, ())
        talk.tell(answer, by=GENERATOR)
    (outcome,) = talk.outcomes(turn_id)
    return outcome


def say(talk, kind, question=None, digests=(), **values):
    """Answer a question; return why the answer had no effect, or ""."""
    stated = tuple(SlotValue(name, value) for name, value in values.items())
    name = None if question is None else question.question_id
    return talk.tell(ClarificationAnswered(name, kind, digests, stated)).fate.ignored


def in_force(talk):
    """Return the expressions in force."""
    rows = [row for _, row in talk.view().scan(PredicateRow)]
    return [row.predicate.expression for row in rows if row.ended_seq is None]


def state(talk, **values):
    """Fill in a form."""
    statements = tuple(SlotStatement("", name, value, None, None) for name, value in values.items())
    talk.tell(FormSubmitted(None, statements, ()))


def test_a_confirmation_confirms_exactly_the_digests_of_the_question():
    """The options carry digests; a yes puts those into force, and a foreign digest nothing."""
    talk = started(BOOKING)
    state(talk, day="Monday", hour="19:00")
    question = ask(talk, "t1", candidate("booking", day="Monday", hour="19:00")).question

    assert "nothing_to_answer" == say(talk, Answer.CONFIRM, question, (bytes(32),))
    assert "" == say(talk, Answer.CONFIRM, question, (question.options[0].digest,))
    assert [question.options[0].expression] == in_force(talk)


def test_an_answer_without_id_belongs_to_the_only_open_question():
    """With one open question a plain yes is enough."""
    talk = started(BOOKING)
    state(talk, day="Monday")
    ask(talk, "t1", candidate("booking", day="Monday"))

    assert "" == say(talk, Answer.CONFIRM)
    assert isinstance(ask(talk, "t2", candidate("booking", day="Monday")), Commitment)


def test_an_answer_to_several_open_questions_confirms_nothing_and_is_asked_back():
    """Two are open: nothing is confirmed, and the next turn asks which was meant (report R11)."""
    talk = started(BOOKING, typed("visit", slot("day"), slot("host"), required_slots=("host",)))
    first = ask(talk, "t1")
    second = ask(talk, "t2")

    assert (Act.CLARIFY, Act.CLARIFY) == (first.act, second.act)
    assert "ambiguous_answer" == say(talk, Answer.CONFIRM)
    assert [] == in_force(talk)
    assert (Act.CLARIFY, Reason.AMBIGUOUS_ANSWER) == _name(ask(talk, "t3"))


def _name(act):
    return act.act, act.reason


def test_a_rejected_offer_is_asked_for_as_a_value_and_then_confirmed():
    """No to the offer, the value instead, yes to that: three questions, one commitment."""
    talk = started(BOOKING)
    state(talk, day="Monday")
    offered = ask(talk, "t1").question
    say(talk, Answer.REJECT, offered)
    absent = ask(talk, "t2").question
    say(talk, Answer.VALUE, absent, day="Friday")
    again = ask(talk, "t3").question
    say(talk, Answer.CONFIRM, again)
    done = ask(talk, "t4", candidate("booking", day="Friday"))

    assert [(1, ()), (0, ("day",)), (1, ())] == [
        (len(one.options), one.slots) for one in (offered, absent, again)
    ]
    assert isinstance(done, Commitment)


def test_a_question_is_not_repeated_without_new_information():
    """Asked once, the next turn abstains; what touches the slot makes it a question again."""
    talk = started(BOOKING)
    first = ask(talk, "t1")
    silent = ask(talk, "t2")
    say(talk, Answer.VALUE, first.question, day="Monday")
    then = ask(talk, "t3")

    assert (Act.CLARIFY, Act.ABSTAIN, Act.CLARIFY) == (first.act, silent.act, then.act)
    assert first.question.question_id != then.question.question_id


def test_questions_are_bounded_per_episode():
    """However many slots are missing: at most eight questions, then the scene abstains."""
    talk = started(WIDE)
    acts = [ask(talk, f"t{n}") for n in range(12)]

    assert QUESTIONS_PER_EPISODE_MAX == sum(act.act is Act.CLARIFY for act in acts)
    assert Reason.QUESTIONS_EXHAUSTED is acts[-1].reason
    asked = [act.question.slots for act in acts if act.question is not None]
    assert len(asked) == len(set(asked))


def test_the_question_that_unblocks_most_candidates_goes_first():
    """Its effect is counted in the act: candidates it alone blocks, and candidates it blocks."""
    talk = started(typed("one", slot("a"), slot("b")))
    for name in ("a", "b"):
        talk.tell(PredicateConfirmed(None, predicate(name, f'slots.{name} != "q"'), ()))
    offers = (candidate("one", a="x"), candidate("one", b="y"), candidate("one", b="z"))
    act = ask(talk, "t1", *offers)

    assert (("a",), (2, 2)) == (act.question.slots, act.question.unblocks)


@pytest.fixture
def shell(tmp_path):
    """Run a command over a log with the type BOOKING and return its JSON."""
    from infra.event_json import render_record

    catalogue = Catalogue("k", (scene(commitment_types=("booking",)),), (BOOKING,), (), ())
    path = tmp_path / "catalogue.json"
    path.write_text(json.dumps(render_record(catalogue)))
    runner = CliRunner()

    def run(*words, code=0):
        command, *rest = words
        result = runner.invoke(app, [command, "--log", str(tmp_path / "log"), *rest, "--json"])
        assert code == result.exit_code, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]

    run("init", "--catalogue", str(path))
    return run


def test_the_command_answers_as_the_user_and_says_what_is_in_force(shell):
    """Asked, told, asked, confirmed, from the shell; an answer without effect ends with 1."""
    turn = ("turn", "--user", "ada", "--scene", "dinner")
    (asked,) = shell(*turn)
    (listed,) = shell("answer", "--user", "ada")
    shell("answer", "--user", "ada", 'day="Monday"')
    shell(*turn)
    (confirmed,) = shell("answer", "--user", "ada", "confirm")
    (nothing,) = shell("answer", "--user", "ada", "reject", code=1)

    assert asked["record"]["question"]["question_id"] == listed["questions"][0]["id"]
    assert (True, ['slots.day == "Monday"']) == (confirmed["effect"], confirmed["contract"])
    assert (False, "no_open_question") == (nothing["effect"], nothing["why"])


def test_words_that_are_no_answer_are_named(shell):
    """What cannot be read is refused before anything is appended."""
    for words in (("perhaps",), ("day=Monday",), ("=1",), ("confirm", "day=1")):
        shell("answer", "--user", "ada", *words, code=2)
