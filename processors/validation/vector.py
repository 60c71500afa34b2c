"""The vector nu: hard violations and unmet requirements of one candidate (spec 5, 3.3).

nu_h counts verdicts that are not ``holds``; nu_c the requirements that bind the candidate's
type and that it does not meet, unweighted. S is ``utility``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from processors.activation.coverage import binds, is_empty
from processors.applicability import find_fixings
from processors.predicates.evaluation import evaluate
from processors.predicates.rendering import render
from processors.predicates.verdict import HOLDS
from processors.situation import Situation, Unit
from processors.validation.verdicts import FindScope, Rule
from schemas.outcome import PredicateVerdict, Verdict
from schemas.packet import Requirement, RequirementKind
from schemas.value import Value


@dataclass(frozen=True, slots=True)
class Fixing:
    """One equality of a predicate in force that fixes a slot, and whom the predicate is about."""

    expression: str
    subject: str


@dataclass(frozen=True, slots=True)
class Binding:
    """The requirements for candidates of one type, and what fixes its slots."""

    requirements: tuple[Requirement, ...]
    fixings: Mapping[str, tuple[Fixing, ...]]


def bind(
    situation: Situation,
    requirements: tuple[Requirement, ...],
    type_name: str,
    rules: tuple[Rule, ...],
) -> Binding:
    """Return the requirements that candidates of a type must meet."""
    bound = tuple(
        requirement for requirement in requirements if binds(situation, requirement, type_name)
    )
    slots = [one.argument for one in bound if one.kind is RequirementKind.CONFIRMED]
    return Binding(bound, {slot: find_fixed(rules, slot) for slot in slots})


def find_fixed(rules: tuple[Rule, ...], slot: str) -> tuple[Fixing, ...]:
    """Return the equalities of applicable predicates that fix a slot's value."""
    return tuple(
        Fixing(render(comparison), rule.item.row.predicate.subject)
        for rule in rules
        for comparison in find_fixings(rule.item.row.predicate, slot)
    )


def count_violations(verdicts: tuple[PredicateVerdict, ...]) -> int:
    """Return nu_h: every verdict other than ``holds`` is a violation."""
    held = Verdict.HOLDS
    return sum([verdict.verdict is not held for verdict in verdicts])


def find_unmet(
    binding: Binding,
    *,
    slots: Mapping[str, Value],
    cited: tuple[Unit, ...],
    verdicts: tuple[PredicateVerdict, ...],
    unresolved: tuple[str, ...],
    find_scope: FindScope,
) -> tuple[Requirement, ...]:
    """Return the requirements that a candidate does not meet, in the order of R_t.

    ``dimension``: it cites a unit with it. ``slot``: it carries the slot, non-null and
    non-empty. ``confirmed``: a predicate in force fixes the value it carries; what it does not
    carry needs no confirmation. ``non_empty``: no quantifier of its own held over that empty
    list. ``resolve``: it satisfies the open proposal.
    """
    dimensions = frozenset(one for unit in cited for one in unit.dimensions)
    empty = frozenset(path for verdict in verdicts for path in verdict.vacuous)
    found = []
    for requirement in binding.requirements:
        argument = requirement.argument
        match requirement.kind:
            case RequirementKind.DIMENSION:
                met = argument in dimensions
            case RequirementKind.SLOT:
                met = not is_empty(slots.get(argument))
            case RequirementKind.CONFIRMED:
                met = is_empty(slots.get(argument)) or _is_fixed(
                    binding.fixings.get(argument, ()), find_scope
                )
            case RequirementKind.NON_EMPTY:
                met = argument not in empty
            case RequirementKind.RESOLVE:
                met = argument not in unresolved
            case _:
                met = False  # A kind from a later version: what is not understood is not met.
        if not met:
            found.append(requirement)
    return tuple(found)


def _is_fixed(fixings: tuple[Fixing, ...], find_scope: FindScope) -> bool:
    return any(
        evaluate(fixing.expression, find_scope(fixing.subject)).verdict is HOLDS
        for fixing in fixings
    )
