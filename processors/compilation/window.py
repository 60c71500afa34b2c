"""The window in which an event id is unique (spec 1.4): SeenRows, dropped by OrderRow blocks.

Each event writes its SeenRow; every ``ORDER_BLOCK`` events one block is written and at most two
old ones leave, so the cost of an event does not depend on how many came before.
"""

from typing import Final

from processors.compilation.draft import Draft
from processors.limits import ORDER_BLOCK, SEEN_EVENTS_MAX, SEEN_EVENTS_MIN, SEEN_WINDOW_MS
from processors.view import View
from schemas.record import compile_building
from schemas.row import OrderRow, SeenRow, UserHead, render_seq

_build_seen: Final = compile_building(SeenRow)
_BLOCKS_DROPPED_MAX: Final = 2  # More than the one that is written, so that a backlog drains.


def is_in_window(seen: SeenRow, *, last_seq: int, effective_ms: int) -> bool:
    """Return whether an id seen there still is the id of that event and of no other."""
    age = last_seq - seen.seq
    if age >= SEEN_EVENTS_MAX:
        return False
    return age < SEEN_EVENTS_MIN or seen.effective_ms >= effective_ms - SEEN_WINDOW_MS


def find_seq(view: View, head: UserHead, event_id: str) -> int | None:
    """Return the seq of an event id inside the window, None when it is not known there."""
    seen = view.get(SeenRow, event_id)
    if seen is None or not is_in_window(seen, last_seq=head.seq, effective_ms=head.effective_ms):
        return None
    return seen.seq


def remember(draft: Draft) -> tuple[str, int]:
    """Write the event's SeenRow; return the head's new ``recent_ids`` and ``oldest_order``."""
    arrival, head, changes = draft.arrival, draft.head, draft.changes
    event_id = arrival.event.event_id
    if arrival.reused_seq:
        _release(draft, event_id, arrival.reused_seq)
    changes[SeenRow, event_id] = _build_seen(arrival.digest, arrival.seq, arrival.effective_ms)
    recent = extend_recent(head.recent_ids, event_id, arrival.seq)
    if arrival.seq % ORDER_BLOCK:
        return recent, head.oldest_order
    first = arrival.seq - ORDER_BLOCK + 1
    changes[OrderRow, render_seq(first)] = OrderRow(split_recent(recent), arrival.effective_ms)
    return "", _drop_blocks(draft)


def extend_recent(recent: str, event_id: str, seq: int) -> str:
    """Return the ids of a block up to this seq; NUL, which no id holds, stands between them."""
    return event_id if (seq - 1) % ORDER_BLOCK == 0 else f"{recent}\0{event_id}"


def split_recent(recent: str) -> tuple[str, ...]:
    """Return the ids of a whole block."""
    return tuple(recent.split("\0"))


def _release(draft: Draft, event_id: str, seq: int) -> None:
    # The old block must not take the new event's SeenRow with it when it leaves.
    first = (seq - 1) // ORDER_BLOCK * ORDER_BLOCK + 1
    block = draft.view.get(OrderRow, render_seq(first))
    if block is not None:
        ids = tuple("" if held == event_id else held for held in block.event_ids)
        draft.changes[OrderRow, render_seq(first)] = OrderRow(ids, block.effective_ms)


def _drop_blocks(draft: Draft) -> int:
    arrival, changes = draft.arrival, draft.changes
    oldest = draft.head.oldest_order
    for _ in range(_BLOCKS_DROPPED_MAX):
        block = draft.view.get(OrderRow, render_seq(oldest))
        last = oldest + ORDER_BLOCK - 1
        if block is None or is_in_window(
            SeenRow(b"", last, block.effective_ms),
            last_seq=arrival.seq,
            effective_ms=arrival.effective_ms,
        ):
            break
        for event_id in block.event_ids:
            if event_id:
                changes[SeenRow, event_id] = None
        changes[OrderRow, render_seq(oldest)] = None
        oldest += ORDER_BLOCK
    return oldest
