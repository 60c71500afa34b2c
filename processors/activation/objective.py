"""The objective of activation: J, its five terms, and the two-level value.

Here lives the arithmetic of spec 4 over a problem. The search for a good set does not
(greedy.py, swap.py), nor does its certificate (bound.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from processors.activation.problem import MILLION, Problem


class Terms(NamedTuple):
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


class Value(NamedTuple):
    """A two-level value (spec 4.1): covered weight first, then J in millionths."""

    covered_weight: int
    j: int


def measure_terms(problem: Problem, unit: int, *, covered: int, discharged: int) -> Terms:
    """Compute what a unit adds to J beside a set with the given covered bits (spec 4).

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
        weights.relevance * problem.rel[unit],
        weights.coverage * MILLION * new,
        weights.tail * MILLION if mask and problem.tail_witness[unit] else 0,
        weights.debt * MILLION * owed,
        -weights.over * problem.over[unit],
    )


def sum_bits(mask: int, amounts: Sequence[int]) -> int:
    """Sum the amounts whose bits are set in the mask."""
    total = 0
    while mask:
        low = mask & -mask
        total += amounts[low.bit_length() - 1]
        mask ^= low
    return total
