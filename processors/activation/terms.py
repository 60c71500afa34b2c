"""The terms of J for each unit: at its entry into Z*, and beside Z* as if it entered last.

They explain a choice (spec 4.4); nothing is chosen here. Of a user's thousands of units few are
spelled out, so the others stay numbers until they are digested.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from processors.activation.objective import measure_terms, sum_bits
from processors.activation.problem import MILLION, Problem
from processors.activation.selection import Selection
from schemas.identity import prefix_lengths
from schemas.packet import UnitTerms
from schemas.record import compile_building

_build_terms: Final = compile_building(UnitTerms)


class _Added(NamedTuple):
    """What a unit adds beside a set but for relevance and over: unweighted terms, their gain."""

    coverage: int
    tail: int
    debt: int
    gain: int


@dataclass(frozen=True, slots=True)
class Rest:
    """The units beside Z*, greatest gain first, then by id: -gain, id, row, and what it adds."""

    problem: Problem
    ranked: list[tuple[int, str, int, _Added]]

    def describe(self, count: int) -> tuple[UnitTerms, ...]:
        """Return the terms of the first ``count`` units."""
        return tuple(
            _describe_terms(self.problem, row, added) for _, _, row, added in self.ranked[:count]
        )

    def digest(self, first: int) -> bytes:
        """Return the digest of the terms from place ``first`` on, in their order."""
        cost, rel, over = self.problem.cost, self.problem.rel, self.problem.over
        lines = [
            f"{unit_id}\0{cost[row]} {rel[row]} {added.coverage} {added.tail} {added.debt} "
            f"{over[row]} {-minus_gain}"
            for minus_gain, unit_id, row, added in self.ranked[first:]
        ]
        return hashlib.sha256(prefix_lengths(*map(str.encode, lines))).digest()


def rank_rest(problem: Problem, selection: Selection) -> Rest:
    """Return every unit beside Z* as if it entered last."""
    taken = frozenset(selection.units)
    by_rel, by_over = problem.weights.relevance, problem.weights.over
    kinds: dict[tuple[int, int, bool], _Added] = {}  # Of 20,000 units there are few.
    ranked = []
    for row, (unit_id, rel, over, kind) in enumerate(
        zip(
            problem.unit_ids,
            problem.rel,
            problem.over,
            zip(problem.covers, problem.debt, problem.tail_witness, strict=True),
            strict=True,
        )
    ):
        if row in taken:
            continue
        added = kinds.get(kind)
        if added is None:
            added = kinds[kind] = _measure_added(
                problem, row, covered=selection.covered, discharged=selection.discharged
            )
        ranked.append((by_over * over - by_rel * rel - added.gain, unit_id, row, added))
    ranked.sort()
    return Rest(problem, ranked)


def describe_entries(problem: Problem, rows: Sequence[int]) -> tuple[UnitTerms, ...]:
    """Return the terms of each unit at its entry, in the order of entry."""
    entries = []
    covered = discharged = 0
    for row in rows:
        added = _measure_added(problem, row, covered=covered, discharged=discharged)
        entries.append(_describe_terms(problem, row, added))
        covered |= problem.covers[row]
        discharged |= problem.debt[row]
    return tuple(entries)


def _measure_added(problem: Problem, row: int, *, covered: int, discharged: int) -> _Added:
    mask = problem.covers[row]
    gained = measure_terms(problem, row, covered=covered, discharged=discharged)
    return _Added(
        coverage=MILLION * sum_bits(mask & ~covered, problem.requirement_weights),
        tail=MILLION if problem.tail_witness[row] and mask != 0 else 0,
        debt=MILLION * (problem.debt[row] & ~discharged).bit_count(),
        gain=gained.coverage + gained.tail + gained.debt,
    )


def _describe_terms(problem: Problem, row: int, added: _Added) -> UnitTerms:
    """Return one unit's unweighted terms beside a set, and its weighted gain."""
    rel, over, weights = problem.rel[row], problem.over[row], problem.weights
    gain = added.gain + weights.relevance * rel - weights.over * over
    return _build_terms(
        problem.unit_ids[row], problem.cost[row], rel, added.coverage, added.tail, added.debt,
        over, gain,
    )  # fmt: skip
