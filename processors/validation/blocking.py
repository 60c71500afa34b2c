"""What blocks a candidate, and which of it an answer of the user could provide.

The user is never asked for what is held (spec 4.4): a unit that a candidate failed to cite, or
a slot that it failed to carry, is ``unused``; a Clarify may name it and asks nothing about it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from processors.activation.coverage import (
    PREDICATE,
    binds,
    is_empty,
    is_held,
    is_known,
    meets,
)
from processors.applicability import applies_to_scene, find_slots
from processors.predicates.text import PredicateTextError, parse
from processors.predicates.walk import Reads, collect_reads
from processors.situation import Situation, Unit
from processors.validation.assessment import Assessed
from processors.validation.clarification import Key, Needs, key_of
from schemas.outcome import PredicateVerdict, Verdict
from schemas.packet import Requirement, RequirementKind
from schemas.predicate import Predicate
from schemas.value import RecordValue, Value

VERDICT: Final = "verdict"

Holds = Callable[[Requirement], bool]
"""Tells whether what a requirement asks for is held; asked once per requirement."""

_READS_MAX: Final = 16_384  # Predicates whose reading is kept: thirty-two full contracts.
_NOTHING_READ: Final = Reads((), (), (), (), ())


@dataclass(frozen=True, slots=True)
class Obstacles:
    """All that blocks one candidate, what of it may be asked for, and what is held unused."""

    blockers: frozenset[Key]
    askable: tuple[Requirement, ...]
    unused: tuple[Requirement, ...]


def find_unreachable(
    situation: Situation, requirements: tuple[Requirement, ...], evidence: tuple[Unit, ...]
) -> tuple[Requirement, ...]:
    """Return the requirements that leave no type of the scene a feasible candidate (5.7 (2)).

    A type without such a requirement leaves a way, and then none is returned. A requirement is
    out of reach when no unit of Z* has its dimension, when neither u_t, h_t nor the request has
    its slot, or when no predicate in force fixes the slot that must be confirmed.
    """
    lost = [one for one in requirements if not is_reachable(situation, one, evidence)]
    names = situation.scene.commitment_types
    if not lost or not names:
        return ()
    bound = {
        name: frozenset(key_of(one) for one in lost if binds(situation, one, name))
        for name in names
    }
    if not all(bound.values()):
        return ()
    return tuple(one for one in lost if any(key_of(one) in keys for keys in bound.values()))


def is_reachable(
    situation: Situation, requirement: Requirement, evidence: tuple[Unit, ...]
) -> bool:
    """Return whether some candidate could meet a requirement with what is at hand now."""
    match requirement.kind:
        case RequirementKind.DIMENSION:
            return any(meets(unit, requirement) for unit in evidence)
        case RequirementKind.SLOT:
            return is_held(situation, requirement) or any(
                # Within what the user confirmed about it, the slot's value is to be proposed.
                requirement.argument in find_slots(item.row.predicate)
                and applies_to_scene(situation, item.row.predicate)
                for item in situation.contract
            )
        case RequirementKind.CONFIRMED:
            return is_known(situation, requirement)
        case _:
            return True


def survey(situation: Situation, supported: tuple[Assessed, ...]) -> tuple[Obstacles, ...]:
    """Return what blocks each supported candidate and what of it an answer could provide."""
    held: dict[Key, bool] = {}

    def holds(requirement: Requirement) -> bool:
        # Candidates lack the same things, and looking for one may pass 20,000 units.
        key = key_of(requirement)
        if key not in held:
            held[key] = is_held(situation, requirement)
        return held[key]

    weights = {one.requirement: one.weight for one in situation.scene.weights}
    return tuple(_find_obstacles(situation, item, holds, weights) for item in supported)


def _find_obstacles(
    situation: Situation, item: Assessed, holds: Holds, weights: Mapping[str, int]
) -> Obstacles:
    askable: dict[Key, Requirement] = {}
    unused: dict[Key, Requirement] = {}
    blockers = {key_of(requirement) for requirement in item.report.unmet}
    for requirement in item.report.unmet:
        if _may_ask_for(requirement, holds):
            askable[key_of(requirement)] = requirement
        else:
            unused[key_of(requirement)] = requirement
    for predicate, verdict in list_violated(item):
        wanted: list[Requirement] = []
        if verdict.verdict is Verdict.MISSING:
            wanted = [
                _require(name, predicate, weights)
                for name in _find_gaps(situation, item, predicate, holds)
            ]
            for name in _find_absent(item, predicate):
                one = _require(name, predicate, weights)
                if holds(one):
                    unused.setdefault(key_of(one), one)
        if not wanted:
            blockers.add((VERDICT, verdict.predicate_id))
        for one in wanted:
            blockers.add(key_of(one))
            askable.setdefault(key_of(one), one)
    return Obstacles(
        frozenset(blockers),
        tuple(askable[key] for key in sorted(askable)),
        tuple(unused[key] for key in sorted(unused)),
    )


def list_violated(item: Assessed) -> tuple[tuple[Predicate, PredicateVerdict], ...]:
    """Return the predicates that a candidate does not satisfy, with their verdicts.

    A report has exactly one verdict per applicable predicate, in the order of the rules.
    """
    return tuple(
        (rule.item.row.predicate, verdict)
        for rule, verdict in zip(item.judged.rules, item.report.verdicts, strict=True)
        if verdict.verdict is not Verdict.HOLDS
    )


def only_lacks(item: Assessed) -> bool:
    """Return whether nothing of a candidate is wrong, only missing (5.7 (3))."""
    return all(
        verdict.verdict in {Verdict.HOLDS, Verdict.MISSING} for verdict in item.report.verdicts
    )


def collect_needs(
    supported: tuple[Assessed, ...],
    obstacles: tuple[Obstacles, ...],
    requirements: Iterable[Requirement],
) -> Needs:
    """Return what may be asked for, weighed by what blocks all supported candidates."""
    wanted = {key_of(one): one for one in requirements}
    carried: dict[str, list[Value]] = {}
    for kind, argument in wanted:
        if kind == RequirementKind.CONFIRMED.value:
            values = (item.judged.merged.slots.get(argument) for item in supported)
            carried[argument] = [value for value in values if not is_empty(value)]
    return Needs(
        tuple(wanted[key] for key in sorted(wanted)),
        tuple(obstacle.blockers for obstacle in obstacles),
        {slot: tuple(values) for slot, values in carried.items()},
    )


def find_uncomputed(item: Assessed) -> tuple[tuple[Predicate, PredicateVerdict], ...]:
    """Return the verdicts that are invalid, not there, or wait for an external check (5.7 (5))."""
    return tuple(
        (predicate, verdict)
        for predicate, verdict in list_violated(item)
        if verdict.verdict in {Verdict.INVALID, Verdict.UNKNOWN}
        or (verdict.verdict is Verdict.MISSING and _lacks_check(item, predicate))
    )


def read_predicate(predicate: Predicate) -> Reads:
    """Return what rule and exception read; a text that is no predicate reads nothing."""
    return _read_texts(predicate.expression, predicate.unless)


@lru_cache(maxsize=_READS_MAX)
def _read_texts(expression: str, unless: str | None) -> Reads:
    texts = [expression] if unless is None else [expression, unless]
    try:
        reads = [collect_reads(parse(text)) for text in texts]
    except PredicateTextError:
        return _NOTHING_READ
    return Reads(
        *(
            tuple(sorted({name for one in reads for name in getattr(one, field)}))
            for field in ("slots", "state", "units", "amended", "checks")
        )
    )


def _may_ask_for(requirement: Requirement, holds: Holds) -> bool:
    match requirement.kind:
        case RequirementKind.DIMENSION | RequirementKind.SLOT:
            return not holds(requirement)
        case RequirementKind.CONFIRMED | RequirementKind.RESOLVE | RequirementKind.NON_EMPTY:
            return True
        case _:
            return False


def _require(name: str, predicate: Predicate, weights: Mapping[str, int]) -> Requirement:
    """Return what the user could state so that a missing verdict becomes one."""
    weight = weights.get(f"{RequirementKind.SLOT.value}:{name}", 1)
    reasons = (PREDICATE + predicate.predicate_id,)
    return Requirement(RequirementKind.SLOT, name, weight, reasons)


def _find_gaps(
    situation: Situation, item: Assessed, predicate: Predicate, holds: Holds
) -> tuple[str, ...]:
    """Return the slots that would give a predicate its missing verdict, if the user stated them."""
    reads = read_predicate(predicate)
    slots = item.judged.merged.slots

    def leave_held(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(
            name for name in names if not holds(Requirement(RequirementKind.SLOT, name, 1, ()))
        )

    absent = _find_absent(item, predicate)
    if absent:
        return leave_held(absent)
    inside = [name for name in reads.slots if isinstance(slots.get(name), RecordValue | tuple)]
    if inside:
        return tuple(inside)
    subjects = ("", situation.user) if not predicate.subject else (predicate.subject,)
    unknown = [
        name
        for name in reads.state
        if all((subject, name) not in situation.slots for subject in subjects)
    ]
    if unknown:
        return tuple(unknown)
    cited = {unit.slot for unit in item.judged.cited}
    uncited = [name for name in reads.units if name not in cited]
    if uncited:
        return leave_held(uncited)
    # What is left is a unit of measure: another currency, or a date without zone.
    return () if reads.checks else reads.slots


def _find_absent(item: Assessed, predicate: Predicate) -> tuple[str, ...]:
    """Return the slots that a predicate reads and a candidate does not carry."""
    slots = item.judged.merged.slots
    return tuple(name for name in read_predicate(predicate).slots if slots.get(name) is None)


def _lacks_check(item: Assessed, predicate: Predicate) -> bool:
    given = item.judged.find_scope(predicate.subject).verdicts
    return any(check not in given for check in read_predicate(predicate).checks)
