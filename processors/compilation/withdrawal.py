"""Withdrawal: the named events, and transitively what is derived from them, bear nothing more.

For E_t and u_t it is as if they had never been observed (spec 1.8). The log keeps them; the
rows that bore their units and statements go, and one row per event id stays for ever.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from processors.compilation.draft import Draft
from processors.compilation.history import list_slot_standings
from processors.compilation.proposals import CLOSED, OPEN, end_proposal, touch
from processors.compilation.slots import build_row, build_set_row, slot_id
from processors.compilation.statements import is_set_valued
from processors.compilation.units import (
    count_answer_units,
    count_units,
    is_hint,
    is_own_text,
    list_statements,
)
from processors.compilation.utterances import forget_text
from processors.compilation.window import find_seq
from schemas.event import ObservationWithdrawn
from schemas.row import (
    CommitmentRow,
    DerivedRow,
    EpisodeRow,
    EventRow,
    ProposalRow,
    SlotRow,
    StatementRow,
    WithdrawnRow,
    render_seq,
)

PENDING: Final = "pending"


def fold_withdrawn(draft: Draft, payload: ObservationWithdrawn) -> None:
    """Fold a withdrawal; one that changes nothing is noted as ignored."""
    if not withdraw(draft, payload.event_ids):
        draft.ignored = "already_withdrawn"


def is_superseded(draft: Draft, event_ids: Sequence[str]) -> bool:
    """Return whether a correction comes too late: all that it corrects was withdrawn since.

    It is late when it was said before the withdrawal took effect, such as one that waited in a
    dead-letter queue: it must not bring back what the user took away.
    """
    rows = [draft.view.get(WithdrawnRow, event_id) for event_id in event_ids]
    said_ms = draft.arrival.event.occurred_at_ms
    return bool(rows) and all(row is not None and said_ms < row.effective_ms for row in rows)


def withdraw(draft: Draft, event_ids: Iterable[str]) -> bool:
    """Take events and all that is derived from them out of force; return whether any was."""
    closure = list_derived(draft, event_ids)
    slots: dict[tuple[str, str], None] = {}
    taken: dict[str, None] = {}
    for event_id in closure:
        if draft.view.get(WithdrawnRow, event_id) is not None:
            continue
        seq = find_event_seq(draft, event_id)
        draft.changes[WithdrawnRow, event_id] = WithdrawnRow(
            draft.arrival.seq, draft.arrival.effective_ms, seq
        )
        taken[event_id] = None
        if seq is None:
            draft.foreseen += 1
        else:
            slots.update(dict.fromkeys(_remove_rows(draft, seq)))
            _undo_result(draft, seq)
    if taken:
        _close_proposals(draft, taken)
        settle_slots(draft, slots)
    return bool(taken)


def list_derived(draft: Draft, event_ids: Iterable[str]) -> tuple[str, ...]:
    """Return the ids and those of all events derived from them, each once, nearest first.

    The event that takes back is never among them: a correction may name itself, or be derived
    from what it corrects, and still stands.
    """
    own = draft.arrival.event.event_id
    found = {event_id: None for event_id in event_ids if event_id != own}
    queue = list(found)
    for event_id in queue:
        for _, row in draft.view.scan(DerivedRow, f"{event_id}\0"):
            if row.event_id not in found and row.event_id != own:
                found[row.event_id] = None
                queue.append(row.event_id)
    return tuple(found)


def find_event_seq(draft: Draft, event_id: str) -> int | None:
    """Return the seq of an event id, looked up in the window, then among the rows that it left."""
    seq = find_seq(draft.view, draft.head, event_id)
    if seq is not None:
        return seq
    for row_id, row in draft.view.scan(EventRow):
        if row.event.event_id == event_id:
            return int(row_id)
    for row_id, statement in draft.view.scan(StatementRow):
        if statement.event_id == event_id:
            return int(row_id.partition("\0")[0])
    return None


def settle_slots(draft: Draft, slots: Iterable[tuple[str, str]]) -> None:
    """Write the rows of these slots anew from the history that is left."""
    wanted = dict.fromkeys(slots)
    if not wanted:
        return
    standings = list_slot_standings(draft.view, wanted)
    at_ms = draft.arrival.effective_ms
    for subject, slot in wanted:
        build = build_set_row if is_set_valued(draft, slot) else build_row
        row = build(subject, slot, standings[subject, slot], at_ms)
        draft.changes[SlotRow, slot_id(subject, slot)] = row
        touch(draft, f"slot:{slot_id(subject, slot)}")
        if row is not None:
            _close_settled(draft, row)


def _remove_rows(draft: Draft, seq: int) -> list[tuple[str, str]]:
    """Remove what an event left behind; return the (subject, slot) pairs that it stated."""
    view, changes = draft.view, draft.changes
    slots: list[tuple[str, str]] = []
    row = view.get(EventRow, render_seq(seq))
    if row is not None:
        slots += [(s.subject, s.slot) for s in list_statements(row.event)]
        draft.units -= count_units(row.event)
        if is_own_text(row.event):
            draft.texts -= 1
            forget_text(draft, seq)
        changes[EventRow, render_seq(seq)] = None
    for row_id, statement in view.scan(StatementRow, f"{render_seq(seq)}\0"):
        slots.append((statement.subject, statement.slot))
        draft.units -= count_answer_units(statement)
        draft.hints -= int(is_hint(statement))
        changes[StatementRow, row_id] = None
    return slots


def _undo_result(draft: Draft, seq: int) -> None:
    """Take back the failure that an outcome event reported, if it still stands."""
    for scene, episode in draft.view.scan(EpisodeRow):
        if episode.failed_seq != seq:
            continue
        draft.changes[EpisodeRow, scene] = replace(episode, failed_seq=None)
        commitment_id = episode.last_commitment_id or ""
        commitment = draft.view.get(CommitmentRow, commitment_id)
        if commitment is not None:
            draft.changes[CommitmentRow, commitment_id] = replace(
                commitment, result=PENDING, alternatives=()
            )


def _close_proposals(draft: Draft, event_ids: dict[str, None]) -> None:
    for _, row in draft.view.scan(ProposalRow):
        if row.status == OPEN and row.event_id in event_ids:
            end_proposal(draft, row, CLOSED)


def _close_settled(draft: Draft, slot: SlotRow) -> None:
    # A statement that was too weak before may hold now; then nothing is left to confirm.
    for _, row in draft.view.scan(ProposalRow):
        if row.status == OPEN and row.event_id == slot.event_id and row.slot == slot.slot:
            end_proposal(draft, row, CLOSED)
