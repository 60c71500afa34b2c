"""Pending turns as rows: their deadline, their current packet, and their number per user.

Here lives bookkeeping only; when a turn opens, goes on or ends is ``processors.decision``.
"""

from dataclasses import replace

from processors.compilation.draft import HEAD_ID
from processors.limits import DEADLINE_AT_MS_MAX
from processors.view import Arrival, Changes, Stamp, View
from schemas.codec import digest
from schemas.packet import Packet
from schemas.row import DeadlineRow, PendingRow, RegimeRow, UserHead
from schemas.turn import TurnRequested


def open_pending(
    arrival: Arrival, request: TurnRequested, regime: RegimeRow, stamp: Stamp
) -> PendingRow:
    """Return the row of a turn before its first packet.

    Its deadline counts from the append timestamp of the request (spec 5.10), or where the log
    gave none from when it occurred; the fold never reads it, so the same history on another log
    gives the same bodies.
    """
    asked_ms = stamp.append_ms if stamp.append_ms >= 0 else arrival.effective_ms
    after_ms = regime.deadline_ms if request.deadline_ms is None else request.deadline_ms
    return PendingRow(
        request=arrival.event,
        request_digest=arrival.digest,
        seq=arrival.seq,
        effective_ms=arrival.effective_ms,
        deadline_at_ms=max(0, min(asked_ms + after_ms, DEADLINE_AT_MS_MAX)),
        round=0,
        packet_digest=None,
        evidence_ids=(),
        relevance=(),
    )


def mark_issued(pending: PendingRow, packet: Packet) -> PendingRow:
    """Return the row once this packet is the turn's current one."""
    rel = {terms.unit_id: terms.relevance for terms in packet.terms}
    evidence_ids = tuple(unit.unit_id for unit in packet.units)
    return replace(
        pending,
        round=packet.round,
        packet_digest=digest(packet),
        evidence_ids=evidence_ids,
        relevance=tuple(rel[unit_id] for unit_id in evidence_ids),
    )


def keep_pending(view: View, pending: PendingRow) -> Changes:
    """Return the rows that keep a turn pending: itself, its deadline, and the user's count."""
    turn_id = pending.request.event_id
    deadline = DeadlineRow(view.tenant, view.user, turn_id)
    changes: Changes = {
        (PendingRow, turn_id): pending,
        (DeadlineRow, name_deadline(deadline, at_ms=pending.deadline_at_ms)): deadline,
    }
    if view.get(PendingRow, turn_id) is None:
        changes |= _count(view, 1)
    return changes


def release_pending(view: View, turn_id: str) -> Changes:
    """Return the rows that go when a turn ends; none when it never was pending."""
    pending = view.get(PendingRow, turn_id)
    if pending is None:
        return {}
    deadline = DeadlineRow(view.tenant, view.user, turn_id)
    changes: Changes = {
        (PendingRow, turn_id): None,
        (DeadlineRow, name_deadline(deadline, at_ms=pending.deadline_at_ms)): None,
    }
    return changes | _count(view, -1)


def name_deadline(deadline: DeadlineRow, *, at_ms: int) -> str:
    """Return the id of a deadline row; ids sort by deadline, then tenant, user and turn."""
    return f"{at_ms:016d}\0{deadline.tenant}\0{deadline.user}\0{deadline.turn_id}"


def _count(view: View, change: int) -> Changes:
    head = view.get(UserHead, HEAD_ID)
    assert head is not None, "an accepted event has given its user a head"
    pending_turns = head.pending_turns + change
    assert pending_turns >= 0, "each pending turn was counted when it opened"
    return {(UserHead, HEAD_ID): replace(head, pending_turns=pending_turns)}
