"""Proposals that an act opens: a slot fixed to a value that the user stated, never a candidate's.

Everything here is derived from the act and the situation alone, so that folding the act finds
the same predicates again (spec 5.6, 5.9).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from processors.applicability import find_fixings
from processors.compilation.proposals import build_episode_predicate, slot_predicate_id
from processors.predicates.expression import Literal
from processors.situation import Situation
from processors.validation.equality import same
from schemas.catalogue import Authority
from schemas.identity import predicate_digest
from schemas.predicate import Predicate
from schemas.row import ProposalRow
from schemas.value import Value


@dataclass(frozen=True, slots=True)
class Stated:
    """A value that stands for a slot now, what it is worth, and since which seq."""

    value: Value
    authority: Authority
    seq: int


def fix_slot(situation: Situation, slot: str, value: Value) -> Predicate | None:
    """Return the predicate that fixes a slot for this scene's episode; None without a literal.

    It lapses when a commitment of the scene succeeds: a booking's time binds that booking.
    """
    return build_episode_predicate(situation.scene.name, "", slot, value)


def find_stated(situation: Situation, slot: str) -> Stated | None:
    """Return what the user now states of a slot: the request's ask, else the slot's state."""
    for ask in situation.request.asks:
        if ask.name == slot and ask.value is not None:
            return Stated(ask.value, Authority.ASSERTED, situation.request_seq)
    for subject in ("", situation.user):
        state = situation.slots.get((subject, slot))
        if state is not None and state.value is not None:
            return Stated(state.value, state.authority, state.seq)
    return None


def list_stated(situation: Situation, slot: str) -> tuple[Value, ...]:
    """Return every value of a slot that the user ever stated, newest first, each once."""
    values = [ask.value for ask in situation.request.asks if ask.name == slot]
    for subject in ("", situation.user):
        values.extend(state.value for state in situation.stated.get((subject, slot), ()))
    found: list[Value] = []
    for value in values:
        if value is not None and not any(same(value, other) for other in found):
            found.append(value)
    return tuple(found)


def list_offered(situation: Situation, slot: str) -> tuple[Value, ...]:
    """Return the values of a slot that a tool offered after the scene's last failure."""
    row = situation.commitments.get(situation.episode.last_commitment_id or "")
    if row is None:
        return ()
    found: list[Value] = []
    for alternative in row.alternatives:
        for offered in alternative.slots:
            if offered.name == slot and not any(same(offered.value, one) for one in found):
                found.append(offered.value)
    return tuple(found)


def is_declined(situation: Situation, predicate: Predicate, stated: Stated) -> bool:
    """Return whether a value was put and declined in this episode, and not stated since."""
    digest = predicate_digest(predicate)
    if any(row.digest == digest for row in situation.proposals):
        return False
    touch = situation.touches.get(f"proposal:{digest.hex()}")
    # It was proposed and is open no more, so it was ended; had it been confirmed in this
    # episode, it would be in force and nobody would ask.
    return touch is not None and touch.seq >= max(stated.seq, situation.episode.started_seq)


def find_proposal(situation: Situation, slot: str, value: Value) -> ProposalRow | None:
    """Return the newest open proposal that fixes a slot to this value.

    One that a weaker statement made by itself would fix the slot in all scenes for ever; that is
    not what a question about this commitment may ask.
    """
    unasked = slot_predicate_id("", slot)
    found = [
        row
        for row in situation.proposals
        if row.status == "open"
        and row.predicate.predicate_id != unasked
        and row.predicate.subject in {"", situation.user}
        and any(same(value, one) for one in _list_fixed(row, slot))
    ]
    return max(found, key=lambda row: (row.seq, row.digest), default=None)


def list_replaced(situation: Situation, predicate: Predicate, slot: str) -> tuple[str, ...]:
    """Return the predicates in force that fix this slot for the scene alone: they would clash."""
    return tuple(
        item.row.predicate.predicate_id
        for item in situation.contract
        if item.row.predicate.predicate_id != predicate.predicate_id
        and item.row.predicate.scenes == predicate.scenes
        and item.row.predicate.subject == predicate.subject
        and find_fixings(item.row.predicate, slot)
    )


def _list_fixed(row: ProposalRow, slot: str) -> Iterator[Value]:
    for comparison in find_fixings(row.predicate, slot):
        for operand in (comparison.left, comparison.right):
            if isinstance(operand, Literal):
                yield operand.value
