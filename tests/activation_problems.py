"""Activation problems for tests: small drawn ones, seeded tight ones, and an obvious judge.

The judge shares no search with processors/activation: it counts by definition and tries all.
"""

from __future__ import annotations

import random
from itertools import product

from hypothesis import strategies as st

from processors.activation.problem import MILLION, Problem, Weights


def make_problem(units: list[dict[str, object]], **rest: object) -> Problem:
    """Build a problem from one dict per unit; what a unit leaves out is 0, False or none."""
    return Problem(
        unit_ids=tuple(str(unit["id"]) for unit in units),
        rel=tuple(unit.get("rel", 0) for unit in units),
        over=tuple(unit.get("over", 0) for unit in units),
        cost=tuple(unit["cost"] for unit in units),
        tail_witness=tuple(unit.get("tail", False) for unit in units),
        covers=tuple(unit.get("covers", 0) for unit in units),
        debt=tuple(unit.get("debt", 0) for unit in units),
        **{"requirement_weights": (), "budget_tail": 0, **rest},
    )


_SMALL_WEIGHTS = {
    name: st.integers(0, 3) for name in ("relevance", "coverage", "tail", "debt", "over")
}


@st.composite
def draw_problems(draw, units_max=7, cost_max=30, requirements_max=5, term_max=MILLION):
    """Draw a problem small enough to try every placement of every set."""
    count = draw(st.integers(0, units_max))
    wide = draw(st.integers(0, requirements_max))
    owed = draw(st.integers(0, 2))

    def column(element):
        return tuple(draw(st.lists(element, min_size=count, max_size=count)))

    masks = st.integers(0, (1 << wide) - 1)
    weights = st.lists(st.integers(1, 4), min_size=wide, max_size=wide)
    return Problem(
        unit_ids=tuple(f"{k + 1}#0" for k in draw(st.permutations(range(count)))),
        rel=column(st.integers(0, term_max)),
        over=column(st.integers(0, term_max) | st.just(0)),
        cost=column(st.integers(0, cost_max)),
        tail_witness=column(st.booleans()),
        covers=column(masks | st.just(0)),
        debt=column(st.integers(0, (1 << owed) - 1)),
        requirement_weights=tuple(draw(weights)),
        obligations=owed,
        budget_main=draw(st.integers(0, 3 * cost_max)),
        budget_tail=draw(st.integers(0, cost_max)),
        weights=draw(st.just(Weights()) | st.builds(Weights, **_SMALL_WEIGHTS)),
        tokens=column(st.frozensets(st.sampled_from("abcd"), max_size=3)),
    )


def draw_seeded(seed: int) -> Problem:
    """Draw the tight instance of a seed: a third of its requirements have one witness.

    20-60 units, 5-20 requirements, costs 20-400 log-uniform, budgets 20-70 % of all costs, a
    fifth of them reserved.
    """
    rng = random.Random(seed)
    count, wide = rng.randint(20, 60), rng.randint(5, 20)
    cost = [round(20 * 20 ** rng.random()) for _ in range(count)]
    single = set(rng.sample(range(wide), max(1, wide // 3)))
    covers, tail = [0] * count, [rng.random() < 0.1 for _ in range(count)]
    for requirement in range(wide):
        holders = 1 if requirement in single else rng.randint(2, max(2, count // 8))
        for unit in rng.sample(range(count), holders):
            covers[unit] |= 1 << requirement
            if requirement in single:
                tail[unit] = rng.random() < 0.7
    owed, debt = rng.randint(0, 3), [0] * count
    for obligation in range(owed):
        for unit in rng.sample(range(count), rng.randint(1, 3)):
            debt[unit] |= 1 << obligation
    budget = int(sum(cost) * rng.uniform(0.2, 0.7))
    penalties = [0, 0, 100_000, 300_000, 400_000, 500_000]
    return Problem(
        unit_ids=tuple(f"{unit + 1}#0" for unit in range(count)),
        rel=tuple(rng.randint(0, MILLION) if rng.random() < 0.7 else 0 for _ in range(count)),
        over=tuple(0 if mask else rng.choice(penalties) for mask in covers),
        cost=tuple(cost),
        tail_witness=tuple(tail),
        covers=tuple(covers),
        debt=tuple(debt),
        requirement_weights=tuple(
            1 if rng.random() < 0.8 else rng.randint(2, 5) for _ in range(wide)
        ),
        obligations=owed,
        budget_main=budget - budget // 5,
        budget_tail=budget // 5,
    )


def judge(problem: Problem, units: tuple[int, ...]) -> tuple[int, int]:
    """Value a set by the definition of spec 4: covered weight, then J."""
    weights = problem.weights
    covered = sum(
        weight
        for requirement, weight in enumerate(problem.requirement_weights)
        if any(problem.covers[unit] >> requirement & 1 for unit in units)
    )
    owed = sum(
        any(problem.debt[unit] >> obligation & 1 for unit in units)
        for obligation in range(problem.obligations)
    )
    tail = sum(problem.tail_witness[unit] and problem.covers[unit] > 0 for unit in units)
    rel = sum(problem.rel[unit] for unit in units)
    over = sum(problem.over[unit] for unit in units)
    return covered, (
        weights.relevance * rel
        + weights.coverage * MILLION * covered
        + weights.tail * MILLION * tail
        + weights.debt * MILLION * owed
        - weights.over * over
    )


def find_optimum(problem: Problem) -> tuple[int, int]:
    """Find the two-level optimum by trying every unit out, in main and in the reserve."""
    best = (0, 0)
    for places in product(("out", "main", "tail"), repeat=len(problem.unit_ids)):
        main = sum(c for c, place in zip(problem.cost, places, strict=True) if place == "main")
        tail = sum(c for c, place in zip(problem.cost, places, strict=True) if place == "tail")
        if main > problem.budget_main or tail > problem.budget_tail:
            continue
        chosen = tuple(unit for unit, place in enumerate(places) if place != "out")
        lawful = all(
            problem.tail_witness[unit] and problem.covers[unit]
            for unit in chosen
            if places[unit] == "tail"
        )
        if lawful:
            best = max(best, judge(problem, chosen))
    return best
