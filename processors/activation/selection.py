"""What activation answers: the chosen units with their terms, what stays open, the proven gap.

Here live the answer's shape and its explanation, both functions of the problem and a set of
placed units alone. How the set was found lives with the selectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from processors.activation.objective import Terms, Value, measure_terms, sum_bits
from processors.activation.placement import Place
from processors.activation.problem import Problem

Reason = Literal["no_unit", "over_budget", "crowded_out"]


class Entry(NamedTuple):
    """One chosen unit: which budget holds it and what it added to J when it entered."""

    unit_id: str
    place: Place
    terms: Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncovered:
    """A requirement that no chosen unit covers, and why (spec 4.4).

    `no_unit`: none on file covers it. `over_budget`: the units that do (ids in `unit_ids`,
    cheapest first) fit neither empty budget. `crowded_out`: one would fit alone, but not
    beside what was chosen. `main_needed` and `tail_needed` are the budgets that would do: each
    alone holds the cheapest such unit beside the chosen units of that budget which cover some
    requirement, so a set that covers this one too fits. None where no unit could use it.
    """

    requirement: int
    reason: Reason
    unit_ids: tuple[str, ...] = ()
    main_needed: int | None = None
    tail_needed: int | None = None


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
    uncovered: tuple[Uncovered, ...]
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


def explain_left_out(problem: Problem, selection: Selection) -> tuple[tuple[str, Terms], ...]:
    """Give each unit left out the terms it would add beside the whole selection (spec 4.5).

    Returns:
        Pairs of unit id and terms: greatest gain first, then unit id.
    """
    taken = {entry.unit_id for entry in selection.entries}
    pairs = [
        (
            unit_id,
            measure_terms(
                problem, unit, covered=selection.covered, discharged=selection.discharged
            ),
        )
        for unit, unit_id in enumerate(problem.unit_ids)
        if unit_id not in taken
    ]
    return tuple(sorted(pairs, key=lambda pair: (-pair[1].gain, pair[0])))


def explain_uncovered(
    problem: Problem, units: list[int], places: list[Place], covered: int
) -> tuple[Uncovered, ...]:
    """Say of each requirement left uncovered why, and what would do (spec 4.4)."""
    missing = [r for r in range(len(problem.requirement_weights)) if not covered >> r & 1]
    if not missing:
        return ()
    held = {"main": 0, "tail": 0}
    for unit, place in zip(units, places, strict=True):
        if problem.covers[unit]:
            held[place] += problem.cost[unit]
    return tuple(
        _explain_requirement(problem, requirement, main=held["main"], tail=held["tail"])
        for requirement in missing
    )


def _explain_requirement(problem: Problem, requirement: int, *, main: int, tail: int) -> Uncovered:
    cost, ids = problem.cost, problem.unit_ids
    meeting = [u for u, mask in enumerate(problem.covers) if mask >> requirement & 1]
    if not meeting:
        return Uncovered(requirement=requirement, reason="no_unit")
    meeting.sort(key=lambda unit: (cost[unit], ids[unit]))
    witnesses = [unit for unit in meeting if problem.tail_witness[unit]]
    fits = cost[meeting[0]] <= problem.budget_main or (
        bool(witnesses) and cost[witnesses[0]] <= problem.budget_tail
    )
    return Uncovered(
        requirement=requirement,
        reason="crowded_out" if fits else "over_budget",
        unit_ids=tuple(ids[unit] for unit in meeting),
        main_needed=main + cost[meeting[0]],
        tail_needed=tail + cost[witnesses[0]] if witnesses else None,
    )


def measure_value(problem: Problem, entries: tuple[Entry, ...], covered: int) -> Value:
    """Sum the terms of all entries to the two-level value under the problem's objective."""
    return Value(
        sum_bits(covered, problem.requirement_weights),
        sum([sum(entry.terms) for entry in entries]),
    )
