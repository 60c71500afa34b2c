"""Decisions under other settings in the plainest way: copied rows, changed in place, one turn each.

Stands beside infra.backfill for comparison: what it calls flips must be exactly these. For every
turn the rows of its user are copied, the change is written into the copy, and the turn is decided
on it; then the recorded history goes on without the copy.
"""

import hashlib
from dataclasses import replace

from processors import decision
from processors.compilation.draft import owner_of
from processors.view import Stamp
from schemas.codec import unframe
from schemas.event import Event, Principal, PrincipalKind
from schemas.observation import ErasureRequested
from schemas.outcome import Commitment, RepairAct, TurnFailure
from schemas.row import PendingRow, PredicateRow, RegimeRow, SeenRow, TurnRow, UserHead
from schemas.turn import (
    CandidatesProposed,
    GenerationFailed,
    TurnCancelled,
    TurnExpired,
    TurnRequested,
)
from tests.conversation import Rows
from tests.given import event as build_event

ENDS = (CandidatesProposed, GenerationFailed, TurnCancelled, TurnExpired)
OUTCOMES = (Commitment, RepairAct, TurnFailure)
ERASED_AT = 1_000_000
"""An offset behind all others."""


def with_budgets(main, tail):
    """Return the change that puts these budgets in force."""

    def change(rows):
        regime = rows.shared[RegimeRow, ""]
        rows.shared[RegimeRow, ""] = replace(regime, budget_main=main, budget_tail=tail)

    return change


def with_selector(name):
    """Return the change that puts this selector in force."""

    def change(rows):
        rows.shared[RegimeRow, ""] = replace(rows.shared[RegimeRow, ""], selector=name)

    return change


def without(predicate_id):
    """Return the change that takes a predicate out of the contract, whatever its version."""

    def change(rows):
        for key in list(rows.own):
            if key[0] is PredicateRow and key[1].split("\0")[0] == predicate_id:
                del rows.own[key]

    return change


def erased(user, event_id):
    """Return the change that has an event of a user erased, once it was sent."""

    def change(rows):
        if rows.user != user or (SeenRow, event_id) not in rows.own:
            return
        at_ms = rows.own[UserHead, ""].effective_ms
        wish = build_event(ErasureRequested((event_id,)), at_ms=at_ms, event_id="wish")
        sent = replace(
            wish, tenant=rows.tenant, user=user, principal=Principal(PrincipalKind.USER, user)
        )
        step = decision.step(rows, sent, Stamp(bytes(32), at_ms, 0, ERASED_AT, 100, "open"))
        assert step.fate.status.value == "accepted"
        rows.apply(step.changes)

    return change


def recompute(records, change):
    """Return {(user, turn): (recorded ending, ending under the change)} of a log's records."""
    shared, users, turns, open_turns = {}, {}, {}, {}
    for record in records:
        event, body = unframe(Event, record.value)
        owner = owner_of(event)
        rows = users.setdefault(owner, Rows(*owner, {}, shared))
        digest = hashlib.sha256(body).digest()
        stamp = Stamp(digest, record.timestamp_ms, 0, record.offset, len(body), "open")
        copied = Rows(*owner, dict(rows.own), dict(shared))
        step = decision.step(rows, event, stamp)
        rows.apply(step.changes)
        if step.fate.status.value != "accepted":
            continue
        turn = (event.user, read_turn(event))
        if isinstance(event.payload, TurnRequested):
            turns[turn] = ["pending", "pending"]
            change(copied)
            asked = within(event, copied.shared[RegimeRow, ""])
            decide_copy(copied, asked, stamp, turn, turns, open_turns)
        elif answers(event, step, turn, open_turns):
            revive(copied, turn[1], open_turns.pop(turn))
            change(copied)
            decide_copy(copied, unaddressed(event), stamp, turn, turns, open_turns)
        for output in step.outputs:
            if isinstance(output, OUTCOMES):
                turns[turn][0] = tell(output)
    return {turn: tuple(endings) for turn, endings in turns.items()}


def answers(event, step, turn, open_turns):
    """Return whether an event may end a turn that is open under the change."""
    ends = isinstance(event.payload, ENDS) and turn in open_turns
    return ends and step.fate.ignored != "stale_packet"


def list_flips(endings):
    """Return the turns that end otherwise, with both endings."""
    return {turn: pair for turn, pair in endings.items() if pair[0] != pair[1]}


def decide_copy(copied, event, stamp, turn, turns, open_turns):
    """Decide one turn on its copy and note how it ends, or that it waits."""
    step = decision.step(copied, event, stamp)
    copied.apply(step.changes)
    for output in step.outputs:
        if isinstance(output, OUTCOMES):
            turns[turn][1] = tell(output)
    pending = copied.own.get((PendingRow, turn[1]))
    if pending is not None:
        open_turns[turn] = pending


def revive(copied, turn_id, pending):
    """Make the turn pending in the copy, also where it has ended in the history."""
    copied.own[PendingRow, turn_id] = pending
    copied.own.pop((TurnRow, turn_id), None)
    head = copied.own[UserHead, ""]
    copied.own[UserHead, ""] = replace(head, pending_turns=max(1, head.pending_turns))


def unaddressed(event):
    """Return an answer that names no packet."""
    if isinstance(event.payload, CandidatesProposed | GenerationFailed):
        return replace(event, payload=replace(event.payload, packet_digest=None))
    return event


def within(event, regime):
    """Return a request whose own budgets are no larger than those in force."""
    own = {}
    for name in ("budget_main", "budget_tail"):
        named = getattr(event.payload, name)
        own[name] = None if named is None else min(named, getattr(regime, name))
    return replace(event, payload=replace(event.payload, **own))


def read_turn(event):
    """Return the turn an event is about, or None."""
    if isinstance(event.payload, TurnRequested):
        return event.event_id
    return getattr(event.payload, "turn_id", None)


def tell(outcome):
    """Return an ending as one text."""
    match outcome:
        case Commitment():
            return f"commitment {outcome.candidate_digest.hex()}"
        case RepairAct():
            return f"{outcome.act.value} {outcome.reason.value}"
        case TurnFailure():
            return f"failure {outcome.kind.value}"
