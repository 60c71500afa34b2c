"""Bounds and slot differences: consistency by shortest paths, exactly (spec 2.7).

Every slot is a point on a line of whole numbers or of fractions. A set of differences has a
solution unless a cycle of them sums to less than nothing; the distances are a solution.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Final, TypeAlias

from processors.predicates.atoms import NOTHING, Difference, Exact, Unequal

Weight: TypeAlias = tuple[Exact, int]
"""A bound and minus the number of strict steps in it; compared in this order."""

_ZERO: Final[Weight] = (0, 0)


def solve_bounds(
    differences: Sequence[Difference],
    unequals: Sequence[Unequal],
    is_whole: Callable[[str], bool],
) -> Mapping[str, Weight] | None:
    """Return a solution of all bounds, each value with its strict steps; None when there is none.

    ``is_whole`` says which variables take whole numbers only.
    """
    names = _name_all(differences, unequals)
    edges = [_tighten(difference, is_whole) for difference in differences]
    while True:
        distances = _relax(names, edges)
        if distances is None:
            return None
        # A value that must differ from the end of its range shortens the range there.
        peeled = [edge for unequal in unequals for edge in _peel(names, edges, unequal, is_whole)]
        if not peeled:
            return distances
        edges.extend(peeled)


def _name_all(differences: Sequence[Difference], unequals: Sequence[Unequal]) -> tuple[str, ...]:
    names: dict[str, None] = {NOTHING: None}
    ends = [(edge.left, edge.right) for edge in differences]
    ends.extend((unequal.left, unequal.right) for unequal in unequals)
    for left, right in ends:
        names[left] = None
        names[right] = None
    return tuple(names)


def _tighten(difference: Difference, is_whole: Callable[[str], bool]) -> Difference:
    left, right, bound, strict, scale = difference
    whole = all(name == NOTHING or is_whole(name) for name in (left, right))
    if not whole or left == right:
        return difference
    limit = ceil(bound) - 1 if strict else floor(bound)
    return Difference(left, right, limit, False, scale)


def _relax(names: tuple[str, ...], edges: Sequence[Difference]) -> dict[str, Weight] | None:
    """Return values that keep all edges, that of NOTHING being 0; None when there are none."""
    distances: dict[str, Weight] = dict.fromkeys(names, _ZERO)
    for _ in range(len(names) + 1):
        changed = False
        for left, right, bound, strict, _scale in edges:
            start = distances[right]
            reached = (start[0] + bound, start[1] - strict)
            if reached < distances[left]:
                distances[left] = reached
                changed = True
        if not changed:
            origin = distances[NOTHING]
            return {name: (at[0] - origin[0], at[1] - origin[1]) for name, at in distances.items()}
    return None


def _peel(
    names: tuple[str, ...],
    edges: Sequence[Difference],
    unequal: Unequal,
    is_whole: Callable[[str], bool],
) -> list[Difference]:
    left, right, bound, scale = unequal
    found: list[Difference] = []
    if left == right:
        return [Difference(left, right, -1, False, scale)] if bound == 0 else []
    for first, second, limit in ((left, right, bound), (right, left, -bound)):
        if _find_greatest(names, edges, first, second) == (limit, 0):
            found.append(_tighten(Difference(first, second, limit, True, scale), is_whole))
    return found


def _find_greatest(
    names: tuple[str, ...], edges: Sequence[Difference], left: str, right: str
) -> Weight | None:
    """Return the greatest value of left - right that the edges allow; None without bound."""
    distances: dict[str, Weight] = {right: _ZERO}
    for _ in range(len(names)):
        for edge in edges:
            start = distances.get(edge.right)
            if start is None:
                continue
            reached = (start[0] + edge.bound, start[1] - edge.strict)
            if edge.left not in distances or reached < distances[edge.left]:
                distances[edge.left] = reached
    return distances.get(left)


def choose_value(weight: Weight, step: Fraction) -> Exact:
    """Return the number of a solution, every strict step taken as ``step``."""
    return weight[0] + weight[1] * step
