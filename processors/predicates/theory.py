"""Whether a conjunction of atoms can be true of some commitment, and of which (spec 2.7).

``solve`` answers for types, presence, truth values, bounds, strings and collections together.
It is exact but for what its parts call unknown, and unknown is never a conflict.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from processors.predicates.atoms import (
    DATE,
    DAYS,
    ELAPSED,
    LOCAL,
    MONEY,
    NOTHING,
    NUMBER,
    TIME,
    TIMESTAMP,
    Atom,
    ByKind,
    Contains,
    Difference,
    OneOf,
    Pair,
    Presence,
    Text,
    Truth,
    Unequal,
    Within,
    name_variables,
)
from processors.predicates.bounds import Weight, solve_bounds
from processors.predicates.finite_sets import solve_lists, solve_strings
from processors.predicates.unions import climb, join
from schemas.catalogue import SlotType
from schemas.value import Value

_DAY_MS: Final = 86_400_000
# A slot without declared type may hold a date or local date-time where the contract names an
# instant: it then lies within its day and the largest change of a zone around that instant.
_SLACK_MS: Final = _DAY_MS + 2 * 3_600_000
_WHOLE_SCALES: Final = (DATE, TIMESTAMP, LOCAL, ELAPSED, TIME, DAYS)
_CLASSES: Final = {
    NUMBER: "number", DATE: "temporal", TIMESTAMP: "temporal", LOCAL: "temporal",
    ELAPSED: "elapsed", TIME: "time", DAYS: "period",
}  # fmt: skip
# Bounds have the class of their scale; pairs and presence have none.
_CLASSES_BY_KIND: Final[Mapping[type, str]] = {
    Text: "string", OneOf: "string", Truth: "truth", Contains: "list", Within: "list",
    Pair: "", Presence: "",
}  # fmt: skip
_ORDERED: Final = ("number", "money", "temporal", "elapsed", "time", "period")
# Lines on which a slot without declared type may hold something else than the line says.
_MIXED: Final[Mapping[str | None, SlotType]] = {
    TIMESTAMP: SlotType.TIMESTAMP, LOCAL: SlotType.LOCAL, DATE: SlotType.DATE,
}  # fmt: skip
_DATED: Final = (
    SlotType.DATE, SlotType.TIMESTAMP, SlotType.LOCAL, SlotType.ANY, SlotType.UNKNOWN,
)  # fmt: skip
_ALIKE: Final = (
    SlotType.DATE, SlotType.TIMESTAMP, SlotType.LOCAL, SlotType.TIME, SlotType.ELAPSED,
    SlotType.MONEY,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Solution:
    """Values that meet the atoms: what each variable is, as far as anything is asked of it."""

    numbers: Mapping[str, tuple[Weight, str | None]] = field(default_factory=dict)
    strings: Mapping[str, str] = field(default_factory=dict)
    truths: Mapping[str, bool] = field(default_factory=dict)
    lists: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    present: tuple[str, ...] = ()


def solve(atoms: Sequence[Atom], types: Mapping[str, SlotType]) -> Solution | None:
    """Return values that meet all atoms; None when no values can.

    ``types`` are declared slot types by variable, such as ``slots.nights``.
    """
    by_kind: dict[type, list[Any]] = {}
    for atom in atoms:
        by_kind.setdefault(type(atom), []).append(atom)
    presences: list[Presence] = by_kind.get(Presence, [])
    absent = [atom.name for atom in presences if not atom.positive]
    present = [atom.name for atom in presences if atom.positive]
    for kind, members in by_kind.items():
        if kind is not Presence and absent:
            present.extend(name for atom in members for name in name_variables(atom))
    if absent and not set(absent).isdisjoint(present):
        return None
    truths: dict[str, bool] = {}
    for truth in by_kind.get(Truth, ()):
        if truths.setdefault(truth.name, truth.value) != truth.value:
            return None
    groups = _join_groups(by_kind)
    if groups is None:
        return None
    numbers = _solve_numbers(by_kind, *groups, types)
    strings = solve_strings(by_kind, _find_chained(by_kind, *groups, types))
    lists = solve_lists(by_kind)
    if numbers is None or strings is None or lists is None:
        return None
    return Solution(numbers, strings, truths, lists, tuple(absent), tuple(present))


def _join_groups(by_kind: ByKind) -> tuple[dict[str, str], dict[str, str]] | None:
    """Return groups of variables compared with each other, and the class of each group.

    None when a group would need values of two classes at once.
    """
    parents: dict[str, str] = {}
    for two_sided in (Pair, Difference, Unequal):
        for atom in by_kind.get(two_sided, ()):
            if atom.left and atom.right:
                join(parents, atom.left, atom.right)
    classes: dict[str, str] = {}
    for kind, members in by_kind.items():
        found = _CLASSES_BY_KIND.get(kind)
        for atom in members if found != "" else ():
            needed = found or _classify_line(atom)
            for name in name_variables(atom) if needed else ():
                if classes.setdefault(climb(parents, name), needed) != needed:
                    return None
    return parents, classes


def _find_chained(
    by_kind: ByKind,
    parents: Mapping[str, str],
    classes: Mapping[str, str],
    types: Mapping[str, SlotType],
) -> tuple[str, ...]:
    """Return the paired slots among which equality is a chain: a == b == c means a == c.

    It is none where dates and instants may meet, for they are equal by the day only.
    """
    names = dict.fromkeys(name for pair in by_kind.get(Pair, ()) for name in pair[:2])
    known = dict(classes)
    for name in names:
        if name in types:
            known.setdefault(climb(parents, name), "temporal" if types[name] in _DATED else "other")
    return tuple(
        name for name in names if known.get(climb(parents, name), "temporal") != "temporal"
    )


def _classify_line(atom: Difference | Unequal) -> str:
    """Return the class of values that a bound needs; "" when it needs none in particular."""
    left, right, scale = atom.left, atom.right, atom.scale
    if scale is None or left.startswith("sum(") or right.startswith("sum("):
        return ""
    if left and right and scale in {TIMESTAMP, DATE}:
        return ""  # Two durations may differ by one just as two instants do.
    return "money" if scale.startswith(MONEY) else _CLASSES[scale]


def _solve_numbers(
    by_kind: ByKind,
    parents: Mapping[str, str],
    classes: Mapping[str, str],
    types: Mapping[str, SlotType],
) -> Mapping[str, tuple[Weight, str | None]] | None:
    by_group: dict[str, list[Difference | Unequal]] = {}
    for kind in (Difference, Unequal):
        for atom in by_kind.get(kind, ()):
            by_group.setdefault(climb(parents, atom.left or atom.right), []).append(atom)
    for pair in by_kind.get(Pair, ()):
        group = climb(parents, pair.left)
        if group in by_group or classes.get(group, "") in _ORDERED:
            by_group.setdefault(group, []).extend(_spread_pair(pair))
    found: dict[str, tuple[Weight, str | None]] = {}
    for members in by_group.values():
        scales = {atom.scale for atom in members} - {None}
        if len(scales) > 1:
            continue  # Several currencies, or dates beside instants: no common line.
        scale = next(iter(scales), None)
        solution = _solve_line(members, scale, types)
        if solution is None:
            return None
        found.update({name: (at, scale) for name, at in solution.items() if name != NOTHING})
    return found


def _spread_pair(pair: Pair) -> Iterator[Difference | Unequal]:
    if not pair.positive:
        yield Unequal(pair.left, pair.right, 0, None)
        return
    yield Difference(pair.left, pair.right, 0, False, None)
    yield Difference(pair.right, pair.left, 0, False, None)


def _solve_line(
    members: Sequence[Difference | Unequal], scale: str | None, types: Mapping[str, SlotType]
) -> Mapping[str, Weight] | None:
    differences = [atom for atom in members if isinstance(atom, Difference)]
    unequals = [atom for atom in members if isinstance(atom, Unequal)]
    names = tuple(dict.fromkeys(name for atom in members for name in name_variables(atom)))
    if not _is_declared(names, scale, types):
        differences, unequals = _loosen(differences, unequals, scale)
    for name in names:
        if name.startswith("count("):
            differences.append(Difference(NOTHING, name, 0, False, scale))
        if scale == TIME:
            differences.append(Difference(NOTHING, name, 0, False, scale))
            differences.append(Difference(name, NOTHING, _DAY_MS - 1, False, scale))

    def is_whole(name: str) -> bool:
        if scale in _WHOLE_SCALES or name.startswith("count("):
            return True
        return types.get(name) is SlotType.INT

    solution = solve_bounds(differences, unequals, is_whole)
    if solution is not None or scale is not None or _is_declared(names, scale, types):
        return solution
    return _solve_pairs(differences, unequals, is_whole)


def _is_declared(names: Sequence[str], scale: str | None, types: Mapping[str, SlotType]) -> bool:
    """Return whether the slots are known to lie on this one line, or on one line at all."""
    if scale is not None and scale not in _MIXED:
        return True
    kinds = [SlotType.TIMESTAMP if name == "as_of" else types.get(name) for name in names]
    if scale is None:
        numbers = all(kind in {SlotType.INT, SlotType.DECIMAL} for kind in kinds)
        return numbers or (kinds[0] in _ALIKE and all(kind is kinds[0] for kind in kinds))
    return all(kind is _MIXED[scale] for kind in kinds)


def _loosen(
    differences: list[Difference], unequals: list[Unequal], scale: str | None
) -> tuple[list[Difference], list[Unequal]]:
    """Weaken bounds that dates and instants on one line would meet by the day only."""
    if scale in {TIMESTAMP, LOCAL}:
        return [atom._replace(bound=atom.bound + _SLACK_MS) for atom in differences], []
    if scale == DATE:
        loose = [
            atom._replace(strict=False) if atom.left and atom.right else atom
            for atom in differences
        ]
        return loose, [atom for atom in unequals if not (atom.left and atom.right)]
    return differences, unequals


def _solve_pairs(
    differences: Sequence[Difference],
    unequals: Sequence[Unequal],
    is_whole: Callable[[str], bool],
) -> Mapping[str, Weight] | None:
    """Decide two slots at a time: among dates and instants equality by the day is no chain."""
    pairs = dict.fromkeys(
        tuple(sorted((left, right)))
        for left, right in (
            *((edge.left, edge.right) for edge in differences),
            *((edge.left, edge.right) for edge in unequals),
        )
    )
    for pair in pairs:
        near = [edge for edge in differences if tuple(sorted((edge.left, edge.right))) == pair]
        apart = [edge for edge in unequals if tuple(sorted((edge.left, edge.right))) == pair]
        if solve_bounds(near, apart, is_whole) is None:
            return None
    return {}
