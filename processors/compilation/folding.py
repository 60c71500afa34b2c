"""fold: what one accepted event does to contract, state and evidence; it never fails.

Dispatch by payload and the user's head stand here; each payload's own rule has its module.
"""

from collections.abc import Callable
from typing import Any, Final

from processors.compilation import (
    answers,
    commitments,
    contract,
    control,
    erasure,
    hints,
    obligations,
    turns,
    withdrawal,
)
from processors.compilation.derivation import find_suppression, note_derivation, own_authority
from processors.compilation.draft import HEAD_ID, Draft, open_draft
from processors.compilation.evidence import keep_event
from processors.compilation.statements import fold_statements
from processors.compilation.units import is_own_text, list_statements
from processors.compilation.utterances import read_filling
from processors.compilation.window import remember
from processors.view import Arrival, View
from schemas.event import (
    CandidatesProposed,
    ClarificationAnswered,
    CommitmentObserved,
    ErasureRequested,
    EvidenceRecorded,
    FormSubmitted,
    GenerationFailed,
    HintExtracted,
    ObligationDischarged,
    ObligationOpened,
    ObservationCorrected,
    ObservationWithdrawn,
    OutcomeObserved,
    PredicateConfirmed,
    PredicateProposed,
    PredicateRevoked,
    ProposalDeclined,
    SurfaceProposed,
    TurnCancelled,
    TurnExpired,
    TurnRequested,
    UtteranceObserved,
    VerdictRecorded,
)
from schemas.identity import extend_chain
from schemas.record import compile_building
from schemas.row import SourceRow, UserHead

Fold = Callable[[Draft, Any], None]

_build_head: Final = compile_building(UserHead)


def fold(view: View, arrival: Arrival) -> Draft:
    """Return what an admitted event changes, the user's head included (spec 1.1).

    The draft's ``changes`` are final; ``ignored`` says why the event had no effect, ``detail``
    what a person should know of it.

    ``view`` is that of ``owner_of`` the event. The same view and arrival always give the same
    changes. Pending turns are opened and closed by ``processors.decision``, which counts them.
    """
    draft = open_draft(view, arrival)
    payload = arrival.event.payload
    if arrival.seq == 0:
        control.fold_control(draft, payload)
        return draft
    note_derivation(draft)
    suppressed = find_suppression(draft)
    if suppressed and type(payload) in _SUPPRESSIBLE:
        draft.ignored = suppressed
    else:
        _FOLDS[type(payload)](draft, payload)
    _fold_head(draft)
    return draft


def _fold_head(draft: Draft) -> None:
    head, arrival = draft.head, draft.arrival
    recent_ids, oldest_order = remember(draft)
    text_block, text_places = read_filling(draft)
    event = arrival.event
    if event.source is not None and event.source_seq is not None:
        draft.changes[SourceRow, event.source] = SourceRow(event.source_seq)
    draft.changes[UserHead, HEAD_ID] = _build_head(
        arrival.seq,
        arrival.effective_ms,
        extend_chain(head.chain, arrival.digest),
        head.contract_version + draft.contract_changes,
        head.predicates + draft.predicates,
        head.pending_turns,
        head.units + draft.units,
        head.texts + draft.texts,
        head.hints + draft.hints,
        draft.oldest_text_seq or head.oldest_text_seq,
        text_block,
        text_places,
        recent_ids,
        oldest_order,
        head.foreseen + draft.foreseen,
        draft.erased_seq or head.erased_seq,
        head.halted,
    )


def _fold_form(draft: Draft, _payload: FormSubmitted) -> None:
    keep_event(draft)
    fold_statements(draft, list_statements(draft.arrival.event), own_authority(draft))


def _fold_outcome(draft: Draft, payload: OutcomeObserved) -> None:
    if payload.statements:
        keep_event(draft)
        fold_statements(draft, list_statements(draft.arrival.event), own_authority(draft))
    commitments.fold_result(draft, payload)


def _fold_utterance(draft: Draft, _payload: UtteranceObserved) -> None:
    if is_own_text(draft.arrival.event):
        keep_event(draft)


def _fold_evidence(draft: Draft, _payload: EvidenceRecorded) -> None:
    keep_event(draft)


def _fold_correction(draft: Draft, payload: ObservationCorrected) -> None:
    if withdrawal.is_superseded(draft, payload.event_ids):
        draft.ignored = "superseded"
        return
    withdrawal.withdraw(draft, payload.event_ids)
    if payload.statements:
        keep_event(draft)
        fold_statements(draft, list_statements(draft.arrival.event), own_authority(draft))


_FOLDS: Final[dict[type, Fold]] = {
    FormSubmitted: _fold_form,
    OutcomeObserved: _fold_outcome,
    UtteranceObserved: _fold_utterance,
    HintExtracted: hints.fold_hint,
    EvidenceRecorded: _fold_evidence,
    ObservationWithdrawn: withdrawal.fold_withdrawn,
    ObservationCorrected: _fold_correction,
    PredicateProposed: contract.fold_proposed,
    PredicateConfirmed: contract.fold_confirmed,
    ProposalDeclined: contract.fold_declined,
    PredicateRevoked: contract.fold_revoked,
    CommitmentObserved: commitments.fold_commitment,
    ObligationOpened: obligations.fold_opened,
    ObligationDischarged: obligations.fold_discharged,
    VerdictRecorded: commitments.fold_verdict,
    TurnRequested: turns.fold_silent,
    CandidatesProposed: turns.fold_silent,
    GenerationFailed: turns.fold_silent,
    ClarificationAnswered: answers.fold_answered,
    SurfaceProposed: turns.fold_silent,
    TurnCancelled: turns.fold_cancelled,
    TurnExpired: turns.fold_silent,
    ErasureRequested: erasure.fold_erasure,
}

_SUPPRESSIBLE: Final = frozenset(
    {
        FormSubmitted,
        OutcomeObserved,
        UtteranceObserved,
        HintExtracted,
        EvidenceRecorded,
        ObservationCorrected,
        PredicateProposed,
    }
)
"""Payloads that bear units, statements or proposals: void when their source is withdrawn."""
