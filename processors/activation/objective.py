"""The objective of activation: J, its five terms, and the two-level value.

Here live the arithmetic of spec 4 and the admission rule of the tail reserve; the search for
a good set does not (greedy.py, swap.py), nor does its certificate (bound.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from processors.activation.problem import MILLION, Problem

Place = Literal["main", "tail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The five weighted terms one unit adds to J at its entry, in millionths; over is <= 0."""

    relevance: int
    coverage: int
    tail: int
    debt: int
    over: int

    @property
    def gain(self) -> int:
        """The marginal gain in J: the sum of the five terms."""
        return self.relevance + self.coverage + self.tail + self.debt + self.over


@dataclass(frozen=True, slots=True, order=True)
class Value:
    """A two-level value (spec 4.1): covered weight first, then J in millionths."""

    covered_weight: int
    j: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A problem prepared for search: every unit's separable part and one mask over all bits.

    Bits 0 .. R-1 are requirements, bits R .. R+D-1 open obligations. `priorities` are the
    weights of level one per bit (zero for obligations, and everywhere for the selectors that
    have no level one), `values` what a bit adds to J. `reserved` marks the units the tail
    reserve may hold: tail witnesses that cover some requirement.
    """

    unit_ids: tuple[str, ...]
    linear: list[int]
    masks: list[int]
    cost: tuple[int, ...]
    reserved: list[bool]
    priorities: tuple[int, ...]
    values: tuple[int, ...]
    budget_main: int
    budget_tail: int


def prepare_instance(problem: Problem, *, priorities: tuple[int, ...]) -> Instance:
    """Bring a problem into the form the search reads, under the given weights of level one.

    Args:
        problem: the activation problem.
        priorities: one weight of level one per requirement; all zero leaves plain J.
    """
    weights = problem.weights
    width = len(problem.requirement_weights)
    reserved = [t and m != 0 for t, m in zip(problem.tail_witness, problem.covers, strict=True)]
    tail = weights.tail * MILLION
    linear = [
        weights.relevance * rel - weights.over * over + (tail if witness else 0)
        for rel, over, witness in zip(problem.rel, problem.over, reserved, strict=True)
    ]
    masks = list(problem.covers)
    if problem.obligations:
        masks = [m | d << width for m, d in zip(masks, problem.debt, strict=True)]
    coverage = weights.coverage * MILLION
    return Instance(
        unit_ids=problem.unit_ids,
        linear=linear,
        masks=masks,
        cost=problem.cost,
        reserved=reserved,
        priorities=priorities + (0,) * problem.obligations,
        values=tuple(coverage * w for w in problem.requirement_weights)
        + (weights.debt * MILLION,) * problem.obligations,
        budget_main=problem.budget_main,
        budget_tail=problem.budget_tail,
    )


def admit(
    *, cost: int, reserved: bool, main_left: int, tail_left: int
) -> Place | None:
    """Say where a unit enters (spec 4.2): the reserve first for whom it is kept, else main.

    Returns:
        The budget that holds the unit, or None when neither does.
    """
    if reserved and cost <= tail_left:
        return "tail"
    return "main" if cost <= main_left else None


def sum_bits(mask: int, amounts: tuple[int, ...]) -> int:
    """Sum the amounts whose bits are set in the mask."""
    total = 0
    while mask:
        low = mask & -mask
        total += amounts[low.bit_length() - 1]
        mask ^= low
    return total


def measure_terms(problem: Problem, unit: int, *, covered: int, discharged: int) -> Terms:
    """Compute what unit adds to J beside a set that covers `covered` and owes no `discharged`.

    Args:
        problem: the activation problem.
        unit: the unit's row.
        covered: mask of the requirements the set already covers.
        discharged: mask of the obligations the set already covers.
    """
    weights = problem.weights
    mask = problem.covers[unit]
    new = sum_bits(mask & ~covered, problem.requirement_weights)
    owed = (problem.debt[unit] & ~discharged).bit_count()
    return Terms(
        relevance=weights.relevance * problem.rel[unit],
        coverage=weights.coverage * MILLION * new,
        tail=weights.tail * MILLION if problem.tail_witness[unit] and mask else 0,
        debt=weights.debt * MILLION * owed,
        over=-weights.over * problem.over[unit],
    )


def evaluate(problem: Problem, units: tuple[int, ...]) -> Value:
    """Evaluate a set of units: its covered weight and its J, whatever budgets hold it."""
    covered = discharged = j = 0
    for unit in units:
        j += measure_terms(problem, unit, covered=covered, discharged=discharged).gain
        covered |= problem.covers[unit]
        discharged |= problem.debt[unit]
    return Value(sum_bits(covered, problem.requirement_weights), j)
