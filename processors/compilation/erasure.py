"""Erasure (spec 7.5): named events, or all of a user, leave the rows with all that is derived.

Keys and bytes are the drivers' business. Suppression is by event id and source event id, never
by content: the user may say it again.
"""

from typing import Final

from processors.compilation.contract import list_fixed_slots, predicate_row_id
from processors.compilation.draft import Draft
from processors.compilation.proposals import touch
from processors.compilation.withdrawal import list_derived, settle_slots, withdraw
from schemas.event import ErasureRequested
from schemas.row import (
    ActivationRow,
    CommitmentRow,
    ConsequenceRow,
    DerivedRow,
    EpisodeRow,
    EventRow,
    ObligationRow,
    PredicateRow,
    ProposalRow,
    QuestionRow,
    SlotRow,
    StatementRow,
    TouchRow,
    VerdictRow,
)

_PURGED: Final = (
    EventRow,
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


def _erase_events(draft: Draft, event_ids: tuple[str, ...]) -> None:
    closure = dict.fromkeys(list_derived(draft, event_ids))
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
    for record in _PURGED:
        for row_id, _ in draft.view.scan(record):
            draft.changes[record, row_id] = None
    draft.units = -head.units
    draft.texts = -head.texts
    draft.predicates = -head.predicates
    draft.contract_changes += head.predicates
    draft.oldest_text_seq = draft.arrival.seq
    draft.erased_seq = draft.arrival.seq
