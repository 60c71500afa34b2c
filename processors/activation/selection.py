"""What activation answers: the chosen units with their terms, and the proven gap.

Here live the answer's shape and its terms, both functions of the problem and a set of placed
units alone. How the set was found lives with the selectors, what it leaves open with the packet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from processors.activation.objective import Terms, Value, measure_terms, sum_bits
from processors.activation.placement import Place
from processors.activation.problem import Problem


class Entry(NamedTuple):
    """One chosen unit: which budget holds it and what it added to J when it entered."""

    unit_id: str
    place: Place
    terms: Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The answer of a selector, recomputable from the problem; units in order of entry.

    `units` are rows of the problem and `places` the budgets that hold them; `entries` say the
    same by id, with terms. `covered` and `discharged` are masks over requirements and open
    obligations. `value` is the two-level value under the problem's own objective, whatever the
    selector maximised. `bound` is never below the two-level optimum of the budgets named here,
    which selectors without a reserve have merged into main.
    """

    selector: str
    units: tuple[int, ...]
    places: tuple[Place, ...]
    entries: tuple[Entry, ...]
    covered: int
    discharged: int
    value: Value
    bound: Value
    budget_main: int
    budget_tail: int
    main_spent: int
    tail_spent: int

    @property
    def main_ids(self) -> tuple[str, ...]:
        """Z_main, in order of entry."""
        return tuple(entry.unit_id for entry in self.entries if entry.place == "main")

    @property
    def tail_ids(self) -> tuple[str, ...]:
        """Z_tail, in order of entry."""
        return tuple(entry.unit_id for entry in self.entries if entry.place == "tail")

    @property
    def gap(self) -> Value:
        """The proven gap: bound less value, per level; (0, 0) proves the optimum."""
        return Value(
            self.bound.covered_weight - self.value.covered_weight, self.bound.j - self.value.j
        )


def explain_entries(
    problem: Problem, units: list[int], places: list[Place]
) -> tuple[tuple[Entry, ...], int, int]:
    """Give each unit its terms at its entry; also the covered and the discharged masks."""
    covered = discharged = 0
    entries = []
    for unit, place in zip(units, places, strict=True):
        terms = measure_terms(problem, unit, covered=covered, discharged=discharged)
        entries.append(Entry(problem.unit_ids[unit], place, terms))
        covered |= problem.covers[unit]
        discharged |= problem.debt[unit]
    return tuple(entries), covered, discharged


def measure_value(problem: Problem, entries: tuple[Entry, ...], covered: int) -> Value:
    """Sum the terms of all entries to the two-level value under the problem's objective."""
    return Value(
        sum_bits(covered, problem.requirement_weights),
        sum([sum(entry.terms) for entry in entries]),
    )
