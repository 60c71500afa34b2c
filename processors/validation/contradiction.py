"""Contradictions in h_t, alone or with what the user stated, and the smallest ways out (5.7 (4)).

Cores come from ``processors.predicates.conflict``. A way out changes one predicate: drop it,
go back to its predecessor, or adopt a value that the user stated or a tool offered; never one
of a candidate. Nothing is settled here: a way out counts once the user confirms it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from processors.activation.coverage import is_empty
from processors.applicability import applies_to_scene, find_fixings, find_slots
from processors.compilation.proposals import build_slot_predicate
from processors.predicates.applies import applies
from processors.predicates.conflict import Constraint, find_conflict
from processors.predicates.expression import SLOTS, STATE, Literal, Path
from processors.predicates.rendering import render_path
from processors.situation import InForce, Situation
from processors.validation.clarification import render_whole
from processors.validation.equality import same
from processors.validation.fixing import list_offered, list_stated
from processors.validation.verdicts import name_occasion
from schemas.catalogue import SlotType
from schemas.identity import predicate_digest
from schemas.outcome import Relaxation, RelaxationKind
from schemas.predicate import Predicate
from schemas.value import Value

RELAXATIONS_MAX: Final = 32  # Ways out that an act offers.

_KINDS: Final = (RelaxationKind.DROP, RelaxationKind.REVERT, RelaxationKind.ADOPT)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An irreducible core of predicates in force, sorted by id, and the ways out of it."""

    core: tuple[InForce, ...]
    relaxations: tuple[Relaxation, ...]


@dataclass(frozen=True, slots=True)
class _Ground:
    """What a type's predicates stand on: themselves, oldest first, slot types and facts."""

    items: tuple[InForce, ...]
    types: Mapping[str, SlotType]
    facts: Mapping[str, Value]


def find_contradiction(situation: Situation, type_name: str) -> Contradiction | None:
    """Return the core of applicable predicates that no candidate of a type can satisfy."""
    ground = _read_ground(situation, type_name, {})
    core = _find_core(ground, ground.items)
    if core is None:
        return None
    values = {
        slot: (*list_stated(situation, slot), *list_offered(situation, slot))
        for item in core
        for slot in find_slots(item.row.predicate)
    }
    return _conclude(ground, core, values)


def contradict_stated(
    situation: Situation,
    type_name: str,
    *,
    slots: Mapping[str, Value],
    failed: tuple[Predicate, ...],
) -> Contradiction | None:
    """Return what stands against values that the user stated and a candidate carries.

    None when no failed predicate reads such a slot: then the candidate is at fault, not h_t.
    Outside the fragment of conflicts the failed predicates themselves are the core.
    """
    agreed = {
        slot: value
        for predicate in failed
        for slot in find_slots(predicate)
        if not is_empty(value := slots.get(slot))
        and any(same(value, stated) for stated in list_stated(situation, slot))
    }
    hit = [one for one in failed if any(slot in agreed for slot in find_slots(one))]
    if not hit:
        return None
    facts = {render_path(Path(SLOTS, (slot,))): value for slot, value in agreed.items()}
    ground = _read_ground(situation, type_name, facts)
    core = _find_core(ground, ground.items)
    if not core:
        ids = {predicate.predicate_id for predicate in hit}
        core = tuple(item for item in ground.items if item.row.predicate.predicate_id in ids)
    values = {
        slot: (value, *list_offered(situation, slot)) for slot, value in sorted(agreed.items())
    }
    return _conclude(ground, core, values)


def adopt_alternatives(situation: Situation) -> tuple[Relaxation, ...]:
    """Return how the contract could follow what a tool offered after a failure (5.7 (1))."""
    found = []
    for item in situation.contract:
        if not applies_to_scene(situation, item.row.predicate):
            continue
        for slot in find_slots(item.row.predicate):
            fixed = [
                operand.value
                for comparison in find_fixings(item.row.predicate, slot)
                for operand in (comparison.left, comparison.right)
                if isinstance(operand, Literal)
            ]
            for value in list_offered(situation, slot) if fixed else ():
                if not any(same(value, one) for one in fixed):
                    found.extend(_adopt(item, slot, value))
    return _sort(found)


def list_revisions(item: InForce, slot: str, value: Value) -> Iterator[Predicate]:
    """Yield the revision of a predicate that fixes one of its slots to a value, if any.

    It keeps id, scenes, subject and scope, so it is a new version of the same promise, and the
    old one stays its predecessor.
    """
    fixed = build_slot_predicate(item.row.predicate.subject, slot, value)
    if fixed is not None:
        yield replace(item.row.predicate, expression=fixed.expression, unless=None)


def _read_ground(situation: Situation, type_name: str, facts: Mapping[str, Value]) -> _Ground:
    occasion = name_occasion(situation)
    items = tuple(
        sorted(
            (
                item
                for item in situation.contract
                if applies(item.row.predicate, commitment_type=type_name, occasion=occasion)
            ),
            key=lambda item: (item.row.seq, item.row.predicate.predicate_id),
        )
    )
    declared = situation.types.get(type_name)
    types = {
        render_path(Path(SLOTS, (slot.name,))): slot.slot_type
        for slot in (() if declared is None else declared.slots)
    }
    return _Ground(items, types, {**_read_states(situation, items), **facts})


def _read_states(situation: Situation, items: tuple[InForce, ...]) -> dict[str, Value]:
    """Return the user's state by path; left out where a predicate is about someone else."""
    if any(item.row.predicate.subject not in {"", situation.user} for item in items):
        return {}
    return {
        render_path(Path(STATE, (slot,))): state.value
        for (subject, slot), state in situation.slots.items()
        if subject == ""
    }


def _find_core(ground: _Ground, items: tuple[InForce, ...]) -> tuple[InForce, ...] | None:
    predicates = [item.row.predicate for item in items]
    constraints = [Constraint(one.predicate_id, one.expression, one.unless) for one in predicates]
    conflict = find_conflict(constraints, types=ground.types, facts=ground.facts)
    if conflict is None:
        return None
    return tuple(item for item in items if item.row.predicate.predicate_id in conflict.core)


def _conclude(
    ground: _Ground, core: tuple[InForce, ...], values: Mapping[str, tuple[Value, ...]]
) -> Contradiction:
    drops = [item for item in core if _resolves(ground, item, None)]
    found = [
        Relaxation(
            RelaxationKind.DROP, item.row.predicate.predicate_id,
            render_whole(item.row.predicate), None,
        )
        for item in drops or core
    ]  # fmt: skip
    for item in core:
        before = None if item.predecessor is None else item.predecessor.predicate
        if before is not None and _resolves(ground, item, before):
            found.append(_relax(RelaxationKind.REVERT, item, before))
    newest_first = sorted(core, key=lambda item: (-item.row.seq, item.row.predicate.predicate_id))
    for slot, stated in sorted(values.items()):
        for value in stated:
            found.extend(_find_adoption(ground, newest_first, slot, value))
    ordered = sorted(core, key=lambda item: item.row.predicate.predicate_id)
    return Contradiction(tuple(ordered), _sort(found))


def _find_adoption(
    ground: _Ground, members: list[InForce], slot: str, value: Value
) -> list[Relaxation]:
    """Return the adoption of a value by the newest member that may give way to it."""
    for item in members:
        if slot not in find_slots(item.row.predicate):
            continue
        for revision in list_revisions(item, slot, value):
            if _resolves(ground, item, revision):
                return _adopt(item, slot, value)
    return []


def _adopt(item: InForce, slot: str, value: Value) -> list[Relaxation]:
    return [
        _relax(RelaxationKind.ADOPT, item, revision)
        for revision in list_revisions(item, slot, value)
        if revision.expression != item.row.predicate.expression
    ]


def _relax(kind: RelaxationKind, item: InForce, revision: Predicate) -> Relaxation:
    return Relaxation(
        kind, item.row.predicate.predicate_id, render_whole(revision), predicate_digest(revision)
    )


def _resolves(ground: _Ground, item: InForce, revision: Predicate | None) -> bool:
    """Return whether the contract with this one change is no longer contradictory."""
    constraints = [
        Constraint(one.predicate_id, one.expression, one.unless)
        for one in (revision if other is item else other.row.predicate for other in ground.items)
        if one is not None
    ]
    return find_conflict(constraints, types=ground.types, facts=ground.facts) is None


def _sort(found: list[Relaxation]) -> tuple[Relaxation, ...]:
    unique = {(one.kind, one.predicate_id, one.expression): one for one in found}
    ordered = sorted(
        unique.values(), key=lambda one: (_KINDS.index(one.kind), one.predicate_id, one.expression)
    )
    return tuple(ordered[:RELAXATIONS_MAX])
