"""Answers: bound to a question, confirming by digest, never by a bare yes (spec 5.9)."""

from schemas.agreement import Answer, ClarificationAnswered, PredicateProposed, ProposalDeclined
from schemas.candidate import SlotValue
from schemas.identity import predicate_digest
from schemas.observation import HintKind
from schemas.row import EpisodeRow, PredicateRow, ProposalRow, QuestionRow
from tests.given import event, given, predicate, said

NO_PORK = predicate('slots.dish != "pork"', "no-pork")
NO_BEEF = predicate('slots.dish != "beef"', "no-beef")


def asked(*rules, slots=("dish",), questions=1):
    """Return a history with open questions; the first offers these rules."""
    proposals = [
        event(PredicateProposed(rule, (), HintKind.CONSTRAINT), by="assistant:a") for rule in rules
    ]
    history = given([event(said("hello")), *proposals])
    digests = tuple(predicate_digest(rule) for rule in rules)
    rows = {
        (QuestionRow, f"q{number}"): QuestionRow(
            f"key{number}", "dinner", "", slots, digests, "t", 1, "open"
        )
        for number in range(1, questions + 1)
    }
    history.rows.apply("acme", "ada", rows)
    return history


def answer(kind, question_id=None, digests=(), **values):
    """Return an answer of the user."""
    stated = tuple(SlotValue(name, value) for name, value in values.items())
    return event(ClarificationAnswered(question_id, kind, digests, stated))


def in_force(history):
    """Return the ids of the predicates in force."""
    return [
        row.predicate.predicate_id for _, row in history.scan(PredicateRow) if row.ended_seq is None
    ]


def test_confirm_puts_the_offered_proposals_into_force():
    """Confirming confirms every digest that the question offers (report R11, case A)."""
    history = asked(NO_PORK, NO_BEEF)
    history.send(answer(Answer.CONFIRM, "q1"))

    assert ["no-beef", "no-pork"] == in_force(history)
    assert "answered" == history.get(QuestionRow, "q1").status


def test_confirm_may_pick_digests():
    """Naming digests confirms those of them that the question offers, no others."""
    history = asked(NO_PORK, NO_BEEF)
    history.send(answer(Answer.CONFIRM, "q1", (predicate_digest(NO_BEEF), bytes(32))))

    assert ["no-beef"] == in_force(history)


def test_reject_declines_and_closes():
    """What was offered is declined; the question is closed."""
    history = asked(NO_PORK)
    history.send(answer(Answer.REJECT))

    assert ([], "closed") == (in_force(history), history.get(QuestionRow, "q1").status)
    assert ["declined"] == [row.status for _, row in history.scan(ProposalRow)]


def test_a_value_sets_the_slot_and_opens_a_proposal():
    """The slot is asserted, and what would confirm it is proposed (spec 5.9)."""
    history = asked()
    history.send(answer(Answer.VALUE, "q1", dish="rice"))
    row = history.scan(ProposalRow)[0][1]
    unit = history.situation().units[1]

    assert ("rice", "asserted") == history.slot("dish")
    assert 'slots.dish == "rice"' == row.predicate.expression
    assert ("open", "asserted") == (row.status, row.authority.value)
    assert ("2#0", ("dish",), "rice") == (unit.unit_id, unit.dimensions, unit.value)
    assert "answered" == history.get(QuestionRow, "q1").status
    assert 2 == history.head().units


def test_a_value_for_another_slot_is_no_answer():
    """An answer states only what was asked; the question stays open."""
    history = asked()
    fate = history.send(answer(Answer.VALUE, "q1", colour="red"))

    assert ("nothing_to_answer", None) == (fate.ignored, history.slot("colour"))
    assert "open" == history.get(QuestionRow, "q1").status


def test_without_id_an_answer_binds_to_the_only_open_question():
    """One open question needs no id (spec 5.9)."""
    history = asked(NO_PORK)
    history.send(answer(Answer.CONFIRM))

    assert ["no-pork"] == in_force(history)


def test_with_several_open_questions_an_answer_confirms_nothing():
    """The answer is unclear; the scene is marked so that the next turn asks (report R11, B)."""
    history = asked(NO_PORK, questions=2)
    fate = history.send(answer(Answer.CONFIRM))

    assert ("ambiguous_answer", []) == (fate.ignored, in_force(history))
    assert 3 == history.get(EpisodeRow, "dinner").ambiguous_seq


def test_an_answer_to_a_closed_or_unknown_question_is_ignored():
    """What is no longer asked cannot be answered."""
    history = asked(NO_PORK)
    history.send(answer(Answer.REJECT, "q1"))
    fates = [history.send(answer(Answer.CONFIRM, name)).ignored for name in ("q1", "q9", None)]

    assert ["no_open_question"] * 3 == fates
    assert [] == in_force(history)


def test_a_confirmed_answer_cannot_revive_a_declined_proposal():
    """A proposal that was closed since is not confirmed by an old question."""
    history = asked(NO_PORK)
    history.send(event(ProposalDeclined(predicate_digest(NO_PORK))))
    fate = history.send(answer(Answer.CONFIRM, "q1"))

    assert ("nothing_to_answer", []) == (fate.ignored, in_force(history))


def test_a_bare_yes_is_only_text():
    """An utterance never confirms, whatever it says (spec 1.6, report R10)."""
    history = asked(NO_PORK)
    history.send(event(said("Yes, please keep that.")))

    assert [] == in_force(history)
    assert "open" == history.get(QuestionRow, "q1").status
