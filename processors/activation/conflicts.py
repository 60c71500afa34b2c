"""Which predicates of h_t stand against each other and what the user asserted (spec 3.3).

Here lives the question for one scene; cores are found by ``processors.predicates.conflict``,
and what a conflict means for an outcome is ``processors.validation``.
"""

from processors.applicability import applies_to_type
from processors.predicates.conflict import Constraint, find_conflict
from processors.predicates.expression import SLOTS, STATE, Path
from processors.predicates.rendering import render_path
from processors.situation import Situation
from schemas.catalogue import Authority
from schemas.predicate import Predicate
from schemas.value import Value


def find_conflicting(situation: Situation) -> tuple[Predicate, ...]:
    """Return the members of the cores when no type of the scene can be satisfied, by id.

    Only members with dimensions count, so a contract without any is not searched.
    """
    if not any(item.row.predicate.dimensions for item in situation.contract):
        return ()
    found: dict[str, Predicate] = {}
    for type_name in situation.scene.commitment_types:
        core = _find_core(situation, type_name)
        if not core:
            return ()
        found.update((predicate.predicate_id, predicate) for predicate in core)
    return tuple(found[predicate_id] for predicate_id in sorted(found))


def _find_core(situation: Situation, type_name: str) -> tuple[Predicate, ...]:
    items = sorted(
        (
            item.row
            for item in situation.contract
            if applies_to_type(situation, item.row.predicate, type_name)
        ),
        key=lambda row: (row.seq, row.predicate.predicate_id),
    )
    declared = situation.types.get(type_name)
    conflict = find_conflict(
        [
            Constraint(row.predicate.predicate_id, row.predicate.expression, row.predicate.unless)
            for row in items
        ],
        types={
            render_path(Path(SLOTS, (slot.name,))): slot.slot_type
            for slot in (() if declared is None else declared.slots)
        },
        facts=_read_asserted(situation, type_name),
    )
    if conflict is None:
        return ()
    return tuple(row.predicate for row in items if row.predicate.predicate_id in conflict.core)


def _read_asserted(situation: Situation, type_name: str) -> dict[str, Value]:
    """Return what the user asserted, as state and as the slots that the type would carry."""
    declared = situation.types.get(type_name)
    own = frozenset(slot.name for slot in (() if declared is None else declared.slots))
    facts: dict[str, Value] = {}
    for (subject, name), state in situation.slots.items():
        if subject or state.authority not in {Authority.ASSERTED, Authority.CONFIRMED}:
            continue
        facts[render_path(Path(STATE, (name,)))] = state.value
        if name in own and state.value is not None:
            facts[render_path(Path(SLOTS, (name,)))] = state.value
    return facts
