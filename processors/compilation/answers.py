"""Answers to questions (spec 5.9): to which question one belongs, and what it then does.

Only the edge that holds the user's own channel makes such an event (spec 1.6); a bare "yes"
inside an utterance never comes here.
"""

from dataclasses import replace
from typing import Final

from processors.compilation.commitments import new_episode
from processors.compilation.contract import confirm
from processors.compilation.draft import Draft
from processors.compilation.proposals import DECLINED, OPEN, end_proposal, propose_answer, touch
from processors.compilation.slots import slot_id
from processors.compilation.statements import fold_standing
from processors.view import View
from schemas.catalogue import Authority
from schemas.event import Answer, ClarificationAnswered, HintKind
from schemas.row import (
    EpisodeRow,
    ProposalRow,
    QuestionRow,
    Standing,
    StatementRow,
    render_seq,
)

ANSWERED: Final = "answered"
CLOSED: Final = "closed"

Asked = tuple[str, QuestionRow]
"""Question id and row."""


def list_open_questions(view: View) -> list[Asked]:
    """Return the questions that wait for an answer, sorted by id."""
    return [(row_id, row) for row_id, row in view.scan(QuestionRow) if row.status == OPEN]


def find_question(view: View, payload: ClarificationAnswered) -> Asked | None:
    """Return the open question that an answer belongs to: the one named, else the only one."""
    if payload.question_id is not None:
        row = view.get(QuestionRow, payload.question_id)
        return (payload.question_id, row) if row is not None and row.status == OPEN else None
    questions = list_open_questions(view)
    return questions[0] if len(questions) == 1 else None


def list_confirmed(
    view: View, payload: ClarificationAnswered, question: QuestionRow
) -> list[ProposalRow]:
    """Return the open proposals that an answer picks among those its question offers."""
    picked = payload.digests or question.digests
    rows = [view.get(ProposalRow, digest.hex()) for digest in question.digests if digest in picked]
    return [row for row in rows if row is not None and row.status == OPEN]


def fold_answered(draft: Draft, payload: ClarificationAnswered) -> None:
    """Fold an answer; to a closed or unknown question it is ignored, to several it is unclear."""
    asked = find_question(draft.view, payload)
    if asked is None:
        _fold_without_question(draft, payload)
        return
    question_id, question = asked
    match payload.answer:
        case Answer.CONFIRM:
            status = _confirm(draft, payload, question)
        case Answer.REJECT:
            status = _reject(draft, payload, question)
        case _:
            status = _state(draft, payload, question)
    if status == OPEN:
        draft.ignored = "nothing_to_answer"
        return
    draft.changes[QuestionRow, question_id] = replace(question, status=status)


def _fold_without_question(draft: Draft, payload: ClarificationAnswered) -> None:
    questions = list_open_questions(draft.view)
    if payload.question_id is not None or not questions:
        draft.ignored = "no_open_question"
        return
    draft.ignored = "ambiguous_answer"
    seq = draft.arrival.seq
    for _, question in questions:
        episode = draft.view.get(EpisodeRow, question.scene) or new_episode(seq)
        draft.changes[EpisodeRow, question.scene] = replace(episode, ambiguous_seq=seq)


def _confirm(draft: Draft, payload: ClarificationAnswered, question: QuestionRow) -> str:
    rows = list_confirmed(draft.view, payload, question)
    for row in rows:
        now = draft.view.get(ProposalRow, row.digest.hex())
        if now is not None and now.status == OPEN:  # Another one of its id may have won.
            confirm(draft, row.predicate, row.replaces)
    return ANSWERED if rows else OPEN


def _reject(draft: Draft, payload: ClarificationAnswered, question: QuestionRow) -> str:
    for row in list_confirmed(draft.view, payload, question):
        end_proposal(draft, row, DECLINED)
    return CLOSED


def _state(draft: Draft, payload: ClarificationAnswered, question: QuestionRow) -> str:
    """Set the slots (asserted), and open a proposal for each value instead of those asked."""
    arrival = draft.arrival
    event_id = arrival.event.event_id
    asked = set(question.slots)
    stated = [slot for slot in payload.values if not asked or slot.name in asked]
    if not stated:
        return OPEN
    names = {slot.name for slot in stated}
    for row in list_confirmed(draft.view, replace(payload, digests=()), question):
        if row.slot in names:
            end_proposal(draft, row, DECLINED)
    for index, slot in enumerate(stated):
        draft.changes[StatementRow, f"{render_seq(arrival.seq)}\0{index:04d}"] = StatementRow(
            HintKind.SLOT, question.subject, slot.name, slot.value, Authority.ASSERTED,
            1_000_000, event_id, arrival.digest, arrival.effective_ms,
        )  # fmt: skip
        draft.units += int(slot.value is not None)
        standing = Standing(
            slot.value, Authority.ASSERTED, event_id, arrival.seq, arrival.effective_ms, None
        )
        fold_standing(draft, question.subject, slot.name, standing)
        propose_answer(draft, question.scene, question.subject, slot.name, standing)
        touch(draft, f"slot:{slot_id(question.subject, slot.name)}")
    return ANSWERED
