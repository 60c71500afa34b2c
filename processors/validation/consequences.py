"""What an outcome changes: consequences, obligations, questions, proposals, the end of a turn.

These changes fold in the step of the outcome itself; they are never separate events (spec 5.6).
Pending turns and their deadlines are rows of ``processors.pending``.
"""

from dataclasses import replace

from processors.compilation.commitments import PENDING
from processors.compilation.findings import list_doubts
from processors.compilation.proposals import CLOSED, OPEN
from processors.compilation.reading import ACTIVATION_ID
from processors.compilation.slots import build_row, build_set_row, list_standings, slot_id
from processors.situation import Situation
from processors.validation.basis import Basis
from processors.validation.clarification import list_open_questions, render_key
from processors.validation.proposing import list_opened
from processors.view import Changes, View
from schemas.candidate import SlotValue
from schemas.catalogue import Authority
from schemas.outcome import Commitment, Reason, RepairAct, TurnFailure
from schemas.row import (
    ActivationRow,
    CommitmentRow,
    ConsequenceRow,
    EpisodeRow,
    ObligationRow,
    ProposalRow,
    QuestionRow,
    SlotRow,
    Standing,
    TouchRow,
    TurnRow,
    render_seq,
)


def fold_outcome(
    view: View,
    situation: Situation,
    basis: Basis,
    outcome: Commitment | RepairAct | TurnFailure,
) -> Changes:
    """Return the rows that an outcome changes; ``view`` shows the event's own changes already.

    Every outcome ends its turn and moves Z* into what was shown last (spec 4.3). A commitment
    becomes part of u_t; a repair act opens its question and proposals; a failure changes
    nothing else.
    """
    changes: Changes = {
        (TurnRow, situation.turn_id): TurnRow(
            outcome=_name_outcome(outcome),
            outcome_id=outcome.outcome_id,
            seq=situation.seq,
            scene=situation.scene.name,
            commitment_id=outcome.commitment_id if isinstance(outcome, Commitment) else None,
        ),
    }
    if outcome.certificate.packet_digest is not None:
        shown = tuple(unit.unit_id for unit in basis.evidence)
        changes[ActivationRow, ACTIVATION_ID] = ActivationRow(shown, situation.activation.last)
    match outcome:
        case Commitment():
            changes |= _fold_commitment(view, situation, basis, outcome)
        case RepairAct():
            changes |= _fold_repair(situation, basis, outcome)
    return changes


def _name_outcome(outcome: Commitment | RepairAct | TurnFailure) -> str:
    match outcome:
        case Commitment():
            return "commitment"
        case RepairAct():
            return outcome.act.value
        case TurnFailure():
            return "failure"


def _fold_commitment(
    view: View, situation: Situation, basis: Basis, commitment: Commitment
) -> Changes:
    event_id = basis.decided_by.event_id
    seq = situation.seq
    changes: Changes = {
        (CommitmentRow, commitment.commitment_id): CommitmentRow(
            scene=commitment.scene,
            commitment_type=commitment.commitment_type,
            slots=commitment.slots,
            version=commitment.version,
            seq=seq,
            event_id=event_id,
            result=PENDING,
            alternatives=(),
        ),
        (ConsequenceRow, render_seq(seq)): ConsequenceRow(
            commitment_id=commitment.commitment_id,
            event_id=event_id,
            effective_ms=situation.effective_ms,
            subject="",
            slots=list_consequences(commitment),
        ),
        # What was asked for this commitment is answered by it; the next one may ask anew.
        (EpisodeRow, situation.scene.name): replace(
            situation.episode,
            questions=0,
            started_seq=seq,
            last_commitment_id=commitment.commitment_id,
            failed_seq=None,
            ambiguous_seq=None,
        ),
    }
    changes |= _close_questions(situation)
    changes |= _fold_slots(view, situation, event_id, commitment)
    return changes | _fold_obligations(situation, event_id, commitment)


def list_consequences(commitment: Commitment) -> tuple[SlotValue, ...]:
    """Return what a commitment makes true: its slots, and what an amendment set to null."""
    if commitment.amends is not None:
        return commitment.slots
    return tuple(slot for slot in commitment.slots if slot.value is not None)


def _close_questions(situation: Situation) -> Changes:
    return {
        (QuestionRow, question_id): replace(row, status=CLOSED)
        for question_id, row in list_open_questions(situation)
        if row.scene == situation.scene.name
    }


def _fold_slots(view: View, situation: Situation, event_id: str, commitment: Commitment) -> Changes:
    """Return u_t's rows with what the commitment made true.

    A generated value is worth ``inferred``, the lowest of its sources (spec 1.10): it never
    stands above what the user or a tool said.
    """
    changes: Changes = {}
    at_ms = situation.effective_ms
    for slot in list_consequences(commitment):
        row_id = slot_id("", slot.name)
        standing = Standing(slot.value, Authority.INFERRED, event_id, situation.seq, at_ms, None)
        standings = (*list_standings(view.get(SlotRow, row_id)), standing)
        build = build_set_row if slot.name in situation.catalogue.set_slots else build_row
        changes[SlotRow, row_id] = build("", slot.name, standings, at_ms)
    return changes


def _fold_obligations(situation: Situation, event_id: str, commitment: Commitment) -> Changes:
    """Return the debts that a commitment opens and settles; those it opens are its own."""
    changes: Changes = {
        (ObligationRow, obligation_id): replace(row, discharged_seq=situation.seq)
        for obligation_id, row in situation.obligations
        if obligation_id in commitment.discharged
    }
    for template in commitment.opened:
        due_ms = template.due_after_ms
        obligation_id = f"{commitment.commitment_id}:{commitment.version}:{template.name}"
        changes[ObligationRow, obligation_id] = ObligationRow(
            dimension=template.dimension,
            due_ms=None if due_ms is None else situation.effective_ms + due_ms,
            blocks=template.blocks,
            event_id=event_id,
            seq=situation.seq,
            discharged_seq=None,
        )
    return changes


def _fold_repair(situation: Situation, basis: Basis, act: RepairAct) -> Changes:
    seq = situation.seq
    changes: Changes = {}
    for row in list_opened(situation, act, basis.decided_by.event_id):
        changes[ProposalRow, row.digest.hex()] = replace(
            row,
            findings=list_doubts(
                row.predicate,
                rows=[item.row for item in situation.contract],
                catalogue=situation.catalogue,
                replaces=row.replaces,
            ),
        )
        changes[TouchRow, f"proposal:{row.digest.hex()}"] = TouchRow(seq)
    if act.question is None:
        return changes
    key = render_key(situation, act.question)
    # A question asked again takes the place of itself; after an unclear answer the one question
    # takes the place of all open ones, whatever their scene.
    changes |= {
        (QuestionRow, question_id): replace(row, status=CLOSED)
        for question_id, row in list_open_questions(situation)
        if row.key == key or act.reason is Reason.AMBIGUOUS_ANSWER
    }
    changes[QuestionRow, act.question.question_id] = QuestionRow(
        key=key,
        scene=situation.scene.name,
        subject=act.question.subject,
        slots=act.question.slots,
        digests=tuple(option.digest for option in act.question.options),
        turn_id=situation.turn_id,
        asked_seq=seq,
        # What no answer can provide waits for none, so that a bare "yes" is not taken for one.
        status=OPEN if act.question.slots or act.question.options else CLOSED,
    )
    # An act that only tells asks nothing, and takes no question of the episode's eight.
    asks = int(bool(act.question.slots or act.question.options))
    changes[EpisodeRow, situation.scene.name] = replace(
        situation.episode, questions=situation.episode.questions + asks, ambiguous_seq=None
    )
    return changes
