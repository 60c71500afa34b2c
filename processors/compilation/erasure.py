"""Erasure (spec 7.5): named events, or all of a user, leave the rows with all that is derived.

Keys and bytes are the drivers' business. Suppression is by event id and source event id, never
by content: the user may say it again.
"""

from collections.abc import Container
from dataclasses import replace
from typing import Final

from processors.compilation.contract import list_fixed_slots, predicate_row_id
from processors.compilation.draft import Draft
from processors.compilation.proposals import touch
from processors.compilation.withdrawal import list_derived, settle_slots, withdraw
from schemas.event import ErasureRequested, TurnRequested
from schemas.row import (
    ActivationRow,
    CommitmentRow,
    ConsequenceRow,
    DerivedRow,
    EpisodeRow,
    EventRow,
    ObligationRow,
    PendingRow,
    PredicateRow,
    ProposalRow,
    QuestionRow,
    SlotRow,
    StatementRow,
    TextsRow,
    TouchRow,
    VerdictRow,
)

_PURGED: Final = (
    EventRow,
    TextsRow,
    SlotRow,
    StatementRow,
    ConsequenceRow,
    DerivedRow,
    PredicateRow,
    ProposalRow,
    ObligationRow,
    QuestionRow,
    TouchRow,
    CommitmentRow,
    EpisodeRow,
    VerdictRow,
    ActivationRow,
)
"""Rows that hold what a user said or what came of it; ids, digests and ended turns stay."""


def fold_erasure(draft: Draft, payload: ErasureRequested) -> None:
    """Erase the named events and all derived from them; without names, all of the user."""
    if payload.event_ids:
        _erase_events(draft, payload.event_ids)
    else:
        _erase_user(draft)


def _redact_pending(draft: Draft, event_ids: Container[str] | None) -> None:
    """Take what the user said out of pending turns; None names all of them.

    The turn itself goes on to its one outcome, or to its deadline.
    """
    for row_id, pending in draft.view.scan(PendingRow):
        payload = pending.request.payload
        assert isinstance(payload, TurnRequested), "a pending turn holds its request"
        if event_ids is None or row_id in event_ids:
            bare = replace(payload, text=None, utterance_ids=(), asks=())
            draft.changes[PendingRow, row_id] = replace(
                pending, request=replace(pending.request, payload=bare)
            )


def _erase_events(draft: Draft, event_ids: tuple[str, ...]) -> None:
    closure = dict.fromkeys(list_derived(draft, event_ids))
    _redact_pending(draft, closure)
    withdraw(draft, event_ids)
    ended: list[PredicateRow] = []
    for _, row in draft.view.scan(PredicateRow):
        if row.event_id in closure:
            draft.changes[PredicateRow, predicate_row_id(row)] = None
            ended.append(row)
            if row.ended_seq is None:
                draft.predicates -= 1
                draft.contract_changes += 1
                touch(draft, f"predicate:{row.predicate.predicate_id}")
    for row_id, proposal in draft.view.scan(ProposalRow):
        if proposal.event_id in closure:
            draft.changes[ProposalRow, row_id] = None
    for row_id, commitment in draft.view.scan(CommitmentRow):
        if commitment.event_id in closure:
            draft.changes[CommitmentRow, row_id] = None
    for row_id, obligation in draft.view.scan(ObligationRow):
        if obligation.event_id in closure:
            draft.changes[ObligationRow, row_id] = None
    settle_slots(draft, list_fixed_slots(ended))


def _erase_user(draft: Draft) -> None:
    head = draft.head
    _redact_pending(draft, None)
    for record in _PURGED:
        for row_id, _ in draft.view.scan(record):
            draft.changes[record, row_id] = None
    draft.units = -head.units
    draft.texts = -head.texts
    draft.hints = -head.hints
    draft.predicates = -head.predicates
    draft.contract_changes += head.predicates
    draft.oldest_text_seq = draft.arrival.seq
    draft.filling = 0, b""
    draft.erased_seq = draft.arrival.seq
