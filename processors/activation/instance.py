"""A problem prepared for search: separable parts, one mask per unit, what fits at all.

Here lives the translation from terms to bits and sums, nothing that chooses.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from processors.activation.objective import sum_bits
from processors.activation.problem import MILLION, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """What the search reads of a problem; rows are the problem's rows.

    Bits 0 .. R-1 of a mask are requirements, bits R .. R+D-1 open obligations. `priorities`
    are the weights of level one per bit (zero for obligations, and everywhere for selectors
    that have no level one), `values` what a bit adds to J in millionths. `reserved` marks the
    units that the tail reserve may hold: tail witnesses that cover some requirement (spec 4).
    `fitting` lists the units that some empty budget holds, `coverable` the requirement bits
    that those units cover, `scale` makes ratios of gain to cost exact integers.
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
    fitting: list[int]
    coverable: int
    scale: int
    sums: dict[int, tuple[int, int]] = field(default_factory=dict)

    def weigh(self, mask: int) -> tuple[int, int]:
        """Sum a mask's weights of level one and its values; few masks recur, so it remembers."""
        found = self.sums.get(mask)
        if found is None:
            found = self.sums[mask] = (
                sum_bits(mask, self.priorities),
                sum_bits(mask, self.values),
            )
        return found


def prepare_instance(problem: Problem, *, priorities: tuple[int, ...]) -> Instance:
    """Bring a problem into the form the search reads, under the given weights of level one.

    Over costs up to C two different ratios a/b differ by at least 1/C^2, so
    floor(a * C^2 / b) keeps the order of ratios and their ties: `scale` is that C^2.

    Args:
        problem: the activation problem.
        priorities: one weight of level one per requirement; all zero leaves plain J.
    """
    weights = problem.weights
    width = len(problem.requirement_weights)
    reserved = [t and m != 0 for t, m in zip(problem.tail_witness, problem.covers, strict=True)]
    tail = weights.tail * MILLION
    by_rel, by_over = weights.relevance, weights.over
    linear = [
        by_rel * rel - by_over * over + tail if witness else by_rel * rel - by_over * over
        for rel, over, witness in zip(problem.rel, problem.over, reserved, strict=True)
    ]
    masks = list(problem.covers)
    if problem.obligations:
        masks = [m | d << width for m, d in zip(masks, problem.debt, strict=True)]
    coverage = weights.coverage * MILLION
    fitting, coverable = _find_fitting(problem, reserved)
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
        fitting=fitting,
        coverable=coverable,
        scale=max(problem.cost, default=1) ** 2 or 1,
    )


def _find_fitting(problem: Problem, reserved: list[bool]) -> tuple[list[int], int]:
    main, tail = problem.budget_main, problem.budget_tail
    cost = problem.cost
    if max(cost, default=0) <= main:
        fitting = list(range(len(cost)))
    else:
        fitting = [
            unit for unit, c in enumerate(cost) if c <= main or (reserved[unit] and c <= tail)
        ]
    coverable = 0
    for unit in fitting:
        coverable |= problem.covers[unit]
    return fitting, coverable
