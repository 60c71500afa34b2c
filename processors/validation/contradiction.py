"""Contradictions in h_t, alone or with what the user stated, and the smallest ways out (5.7 (4)).

Cores come from ``processors.activation.conflicts``. A way out changes one predicate: drop it,
go back to its predecessor, or adopt a value that the user stated or a tool offered; never one
of a candidate. Nothing is settled here: a way out counts once the user confirms it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from processors.activation.conflicts import (
    Ground,
    declare_paths,
    find_core,
    list_applicable,
    name_path,
    name_state,
)
from processors.activation.coverage import is_empty
from processors.applicability import applies_to_scene, find_fixings, find_slots
from processors.compilation.proposals import build_slot_predicate
from processors.predicates.conflict import constrain
from processors.predicates.expression import Literal
from processors.predicates.relaxation import KINDS, Change, Offer, find_relaxations
from processors.situation import InForce, Situation
from processors.validation.clarification import render_whole
from processors.validation.equality import same
from processors.validation.fixing import list_offered, list_stated
from schemas.identity import predicate_digest
from schemas.outcome import Relaxation, RelaxationKind
from schemas.predicate import Predicate
from schemas.value import Value

RELAXATIONS_MAX: Final = 32  # Ways out that an act offers.


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An irreducible core of predicates in force, sorted by id, and the ways out of it."""

    core: tuple[InForce, ...]
    relaxations: tuple[Relaxation, ...]


def find_contradiction(situation: Situation, type_name: str) -> Contradiction | None:
    """Return the core of applicable predicates that no candidate of a type can satisfy."""
    ground = _read_ground(situation, type_name, {})
    core = find_core(ground)
    if core is None:
        return None
    offers = {
        slot: (*list_stated(situation, slot), *list_offered(situation, slot))
        for item in core
        for slot in find_slots(item.row.predicate)
    }
    return _conclude(ground, core, offers)


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
    read = dict.fromkeys(slot for predicate in failed for slot in find_slots(predicate))
    agreed = {
        slot: value
        for slot in sorted(read)
        if not is_empty(value := slots.get(slot))
        and any(same(value, stated) for stated in list_stated(situation, slot))
    }
    hit = [one for one in failed if any(slot in agreed for slot in find_slots(one))]
    if not hit:
        return None
    facts = {name_path(slot): value for slot, value in agreed.items()}
    ground = _read_ground(situation, type_name, facts)
    core = find_core(ground)
    offers = {slot: (value, *list_offered(situation, slot)) for slot, value in agreed.items()}
    if core:
        return _conclude(ground, core, offers)
    ids = {predicate.predicate_id for predicate in hit}
    core = tuple(item for item in ground.items if item.row.predicate.predicate_id in ids)
    found = _conclude(ground, core, offers)
    # No conflict can be proven here, so no way out can either; the user's word is one.
    adopted = [
        way
        for slot, value in agreed.items()
        for item in sorted(core, key=_rank_newest)
        if slot in find_slots(item.row.predicate)
        for way in _adopt(item, slot, value)
    ]
    return replace(found, relaxations=_sort([*found.relaxations, *adopted]))


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


def _read_ground(situation: Situation, type_name: str, facts: Mapping[str, Value]) -> Ground:
    items = list_applicable(situation, type_name)
    known = {**_read_states(situation, items), **facts}
    return Ground(items, declare_paths(situation, type_name), known)


def _read_states(situation: Situation, items: tuple[InForce, ...]) -> dict[str, Value]:
    """Return the user's state by path; left out where a predicate is about someone else."""
    if any(item.row.predicate.subject not in {"", situation.user} for item in items):
        return {}
    return {
        name_state(slot): state.value
        for (subject, slot), state in situation.slots.items()
        if subject == ""
    }


def _conclude(
    ground: Ground, core: tuple[InForce, ...], offers: Mapping[str, tuple[Value, ...]]
) -> Contradiction:
    """Return the core with its verified ways out, those that settle everything if any do."""
    members = {item.row.predicate.predicate_id: item for item in core}
    found = find_relaxations(
        tuple(members),
        [constrain(item.row.predicate) for item in ground.items],
        predecessors={
            name: constrain(item.predecessor.predicate)
            for name, item in members.items()
            if item.predecessor is not None
        },
        offers=[
            Offer(name_path(slot), value)
            for slot, values in sorted(offers.items())
            for value in values
        ],
        types=ground.types,
        facts=ground.facts,
    )
    ways = [_describe(members[one.predicate_id], one) for one in found]
    ordered = sorted(core, key=lambda item: item.row.predicate.predicate_id)
    return Contradiction(tuple(ordered), _sort(ways))


def _describe(item: InForce, way: Change) -> Relaxation:
    predicate = item.row.predicate
    if way.kind is RelaxationKind.DROP:
        return Relaxation(
            RelaxationKind.DROP, predicate.predicate_id, render_whole(predicate), None
        )
    if way.kind is RelaxationKind.REVERT:
        assert item.predecessor is not None, "only what has a predecessor goes back to it"
        return _relax(RelaxationKind.REVERT, item, item.predecessor.predicate)
    assert way.expression is not None, "an adoption has a text"
    revision = replace(predicate, expression=way.expression, unless=way.unless)
    return _relax(RelaxationKind.ADOPT, item, revision)


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


def _rank_newest(item: InForce) -> tuple[int, str]:
    return -item.row.seq, item.row.predicate.predicate_id


def _sort(found: list[Relaxation]) -> tuple[Relaxation, ...]:
    unique = {(one.kind, one.predicate_id, one.expression): one for one in found}
    ordered = sorted(
        unique.values(), key=lambda one: (KINDS.index(one.kind), one.predicate_id, one.expression)
    )
    return tuple(ordered[:RELAXATIONS_MAX])
