"""Conflicts of a contract: predicates that no commitment can satisfy together (spec 2.7).

A conflict is named by an irreducible core: without any one of its members the rest could be
satisfied. Cores are found by deletion, newest confirmation first, so that the oldest promises
that still conflict are named. Outside the fragment nothing is a conflict.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from processors.predicates.atoms import (
    UNKNOWN,
    Contains,
    Difference,
    Formula,
    Presence,
    Text,
    Truth,
    Within,
    require_every,
)
from processors.predicates.expression import Match
from processors.predicates.fragment import translate_text
from processors.predicates.linear import measure
from processors.predicates.satisfiability import contradict, group_formulas
from processors.predicates.text import PredicateTextError
from schemas.catalogue import SlotType
from schemas.predicate import Predicate
from schemas.value import StringSet, Value

_NO_TYPES: Final[Mapping[str, SlotType]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Constraint:
    """One predicate of a contract: its id, rule and exception in text form."""

    predicate_id: str
    expression: str
    unless: str | None = None


def constrain(predicate: Predicate) -> Constraint:
    """Return a predicate as a constraint; for whom and when it applies is left to the caller."""
    return Constraint(predicate.predicate_id, predicate.expression, predicate.unless)


@dataclass(frozen=True, slots=True)
class Conflict:
    """The ids of an irreducible core, in the order of confirmation."""

    core: tuple[str, ...]


def find_conflict(
    constraints: Sequence[Constraint],
    *,
    types: Mapping[str, SlotType] = _NO_TYPES,
    facts: Mapping[str, Value] | None = None,
) -> Conflict | None:
    """Return the core of a conflict among constraints in order of confirmation, oldest first.

    ``types`` are declared slot types by path (``slots.nights``); ``facts`` are values that are
    known and no member of a core, by path (``state.home_city``, ``amended.cabin``).
    """
    known = [fix_value(path, value) for path, value in sorted((facts or {}).items())]
    formulas = [translate_constraint(constraint) for constraint in constraints]
    if not contradict([*known, *formulas], types):
        return None
    places = _find_conflicting(formulas, known, types)
    core = _reduce(places, formulas, known, types)
    return Conflict(tuple(constraints[n].predicate_id for n in core))


def translate_constraint(constraint: Constraint) -> Formula:
    """Return what a constraint requires; a text that cannot be read is outside the fragment."""
    try:
        return translate_text(constraint.expression, constraint.unless)
    except PredicateTextError:
        return UNKNOWN


def fix_value(path: str, value: Value) -> Formula:
    """Return the formula that a path has this very value, or none when it is null."""
    if value is None:
        return Presence(path, False)
    if isinstance(value, bool):
        return Truth(path, value)
    if isinstance(value, str):
        return Text(path, Match.EXACT, value, True)
    if isinstance(value, StringSet | tuple):
        items = value.items if isinstance(value, StringSet) else value
        wanted: list[Formula] = [Contains(path, Match.EXACT, item, True) for item in items]
        return require_every([Within(path, Match.EXACT, items), *wanted])
    place = measure(value)
    if place is None:
        return Presence(path, True)
    at, scale = place
    return require_every(
        [Difference(path, "", at, False, scale), Difference("", path, -at, False, scale)]
    )


def _find_conflicting(
    formulas: Sequence[Formula], known: Sequence[Formula], types: Mapping[str, SlotType]
) -> list[int]:
    """Return the places of all formulas of groups that contradict themselves."""
    inside = [
        id(formula)
        for group in group_formulas([*known, *formulas])
        if contradict(group, types)
        for formula in group
    ]
    return [at for at, formula in enumerate(formulas) if id(formula) in inside]


def _reduce(
    places: list[int],
    formulas: Sequence[Formula],
    known: Sequence[Formula],
    types: Mapping[str, SlotType],
) -> list[int]:
    """Return what is left when members are deleted, newest first, while a conflict stays.

    The newest member that cannot go is the end of the shortest conflicting beginning, so
    halving finds it; then the search goes on before it. The result is that of trying each.
    """

    def conflicts(members: Sequence[int]) -> bool:
        return contradict([*known, *(formulas[n] for n in members)], types)

    kept: list[int] = []
    rest = list(places)
    while rest and not conflicts(kept):
        low, high = 0, len(rest) - 1
        while low < high:
            middle = (low + high) // 2
            if conflicts([*rest[: middle + 1], *kept]):
                high = middle
            else:
                low = middle + 1
        kept = [rest[low], *kept]
        rest = rest[:low]
    return _delete_each(kept, conflicts)


def _delete_each(core: list[int], conflicts: Callable[[Sequence[int]], bool]) -> list[int]:
    # The bound of the search can hide a conflict from halving; this makes the promise good.
    for member in sorted(core, reverse=True):
        smaller = [n for n in core if n != member]
        if conflicts(smaller):
            core = smaller
    return core
