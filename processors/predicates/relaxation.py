"""The smallest changes that resolve a conflict (spec 5.7): one predicate at a time.

Drop one, revert it to its predecessor, or adopt a value that the user stated or a tool offered;
never a value of a candidate, so callers pass none. Every relaxation returned is verified.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from processors.predicates.conflict import Constraint, find_conflict, translate_constraint
from processors.predicates.rendering import render_literal
from processors.predicates.satisfiability import contradict
from schemas.catalogue import SlotType
from schemas.outcome import RelaxationKind
from schemas.value import RecordValue, Value

_NO_TYPES: Final[Mapping[str, SlotType]] = MappingProxyType({})
_NO_FACTS: Final[Mapping[str, Value]] = MappingProxyType({})

KINDS: Final = (RelaxationKind.DROP, RelaxationKind.REVERT, RelaxationKind.ADOPT)
"""How a predicate may change, in the order in which relaxations are listed."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A value that the user stated or a tool offered for a slot path."""

    path: str
    value: Value


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one predicate; ``expression`` and ``unless`` are its new text, if any.

    ``resolves_all`` is false when other conflicts of the contract remain after it.
    """

    kind: RelaxationKind
    predicate_id: str
    expression: str | None
    unless: str | None
    resolves_all: bool


def find_relaxations(
    core: Sequence[str],
    constraints: Sequence[Constraint],
    *,
    predecessors: Mapping[str, Constraint],
    offers: Sequence[Offer] = (),
    types: Mapping[str, SlotType] = _NO_TYPES,
    facts: Mapping[str, Value] = _NO_FACTS,
) -> tuple[Change, ...]:
    """Return the verified relaxations of a core, those that resolve every conflict if any do.

    ``predecessors`` holds, by id, what each predicate replaced. Sorted by kind, place in the
    core and new text.
    """
    members = {constraint.predicate_id: constraint for constraint in constraints}
    proposals: list[tuple[RelaxationKind, str, Constraint | None]] = []
    for name in core:
        proposals.append((RelaxationKind.DROP, name, None))
        if name in predecessors:
            proposals.append((RelaxationKind.REVERT, name, predecessors[name]))
        proposals.extend(
            (RelaxationKind.ADOPT, name, replacement)
            for offer in offers
            for replacement in _adopt(members[name], offer, types)
        )
    found: list[Change] = []
    for kind, name, replacement in proposals:
        inner = _replace([members[member] for member in core], name, replacement)
        if find_conflict(inner, types=types, facts=facts) is not None:
            continue
        whole = find_conflict(_replace(constraints, name, replacement), types=types, facts=facts)
        text = replacement.expression if replacement else None
        unless = replacement.unless if replacement else None
        found.append(Change(kind, name, text, unless, whole is None))
    if any(change.resolves_all for change in found):
        found = [change for change in found if change.resolves_all]
    order = {name: place for place, name in enumerate(core)}
    found.sort(
        key=lambda one: (
            KINDS.index(one.kind),
            order[one.predicate_id],
            one.expression or "",
            one.unless or "",
        )
    )
    return tuple(found)


def _adopt(
    constraint: Constraint, offer: Offer, types: Mapping[str, SlotType]
) -> tuple[Constraint, ...]:
    """Return the predicate that fixes the offered value instead, if this one forbids it."""
    if offer.value is None or isinstance(offer.value, RecordValue):
        return ()
    text = f"{offer.path} == {render_literal(offer.value)}"
    fixed = Constraint(constraint.predicate_id, text)
    formulas = [translate_constraint(constraint), translate_constraint(fixed)]
    return (fixed,) if contradict(formulas, types) else ()


def _replace(
    constraints: Sequence[Constraint], name: str, replacement: Constraint | None
) -> list[Constraint]:
    changed: list[Constraint] = []
    for constraint in constraints:
        if constraint.predicate_id != name:
            changed.append(constraint)
        elif replacement is not None:
            changed.append(Constraint(name, replacement.expression, replacement.unless))
    return changed
