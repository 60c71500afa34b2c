"""Which predicates of h_t stand against each other and what the user asserted (spec 3.3).

Here live what a type's predicates stand on, the core of a conflict on it, and the question for
one scene. Cores are found by ``processors.predicates.conflict``; what a conflict means for an
outcome is ``processors.validation``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from processors.applicability import applies_to_type
from processors.predicates.conflict import constrain, find_conflict
from processors.predicates.expression import SLOTS, STATE, Path
from processors.predicates.rendering import render_path
from processors.situation import InForce, Situation
from schemas.catalogue import Authority, SlotType
from schemas.predicate import Predicate
from schemas.value import Value


@dataclass(frozen=True, slots=True)
class Ground:
    """What a type's predicates stand on: themselves, oldest first, slot types and facts."""

    items: tuple[InForce, ...]
    types: Mapping[str, SlotType]
    facts: Mapping[str, Value]


def find_conflicting(situation: Situation) -> tuple[Predicate, ...]:
    """Return the members of the cores when no type of the scene can be satisfied, by id.

    Only members with dimensions count, so a contract without any is not searched.
    """
    if not any(item.row.predicate.dimensions for item in situation.contract):
        return ()
    found: dict[str, Predicate] = {}
    for type_name in situation.scene.commitment_types:
        items = list_applicable(situation, type_name)
        facts = _read_asserted(situation, type_name)
        core = find_core(Ground(items, declare_paths(situation, type_name), facts))
        if not core:
            return ()
        for item in core:
            found[item.row.predicate.predicate_id] = item.row.predicate
    return tuple(found[predicate_id] for predicate_id in sorted(found))


def list_applicable(situation: Situation, type_name: str) -> tuple[InForce, ...]:
    """Return the predicates that apply to candidates of a type, in order of confirmation."""
    items = (
        item
        for item in situation.contract
        if applies_to_type(situation, item.row.predicate, type_name)
    )
    return tuple(sorted(items, key=lambda item: (item.row.seq, item.row.predicate.predicate_id)))


def declare_paths(situation: Situation, type_name: str) -> dict[str, SlotType]:
    """Return the slot types that a type declares, by path."""
    declared = situation.types.get(type_name)
    slots = () if declared is None else declared.slots
    return {name_path(slot.name): slot.slot_type for slot in slots}


def find_core(ground: Ground) -> tuple[InForce, ...] | None:
    """Return the items of an irreducible conflict on this ground; None when there is none."""
    conflict = find_conflict(
        [constrain(item.row.predicate) for item in ground.items],
        types=ground.types,
        facts=ground.facts,
    )
    if conflict is None:
        return None
    return tuple(item for item in ground.items if item.row.predicate.predicate_id in conflict.core)


def name_path(slot: str) -> str:
    """Return the path of a commitment slot as predicates write it."""
    return render_path(Path(SLOTS, (slot,)))


def name_state(slot: str) -> str:
    """Return the path of a slot of the user's state as predicates write it."""
    return render_path(Path(STATE, (slot,)))


def _read_asserted(situation: Situation, type_name: str) -> dict[str, Value]:
    """Return what the user asserted, as state and as the slots that the type would carry."""
    declared = situation.types.get(type_name)
    own = frozenset(slot.name for slot in (() if declared is None else declared.slots))
    facts: dict[str, Value] = {}
    for (subject, name), state in situation.slots.items():
        if subject or state.authority not in {Authority.ASSERTED, Authority.CONFIRMED}:
            continue
        facts[name_state(name)] = state.value
        if name in own and state.value is not None:
            facts[name_path(name)] = state.value
    return facts
