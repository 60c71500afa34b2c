"""The selectors by name: one dispatch, one shape, problem in and selection out (spec 4.5).

`two_level` is the rule of spec 4; the others are the named alternatives that evaluations
compare with it. What each maximises stands in its function; the answer is always valued,
explained and bounded under the problem's own objective.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from processors.activation.bound import certify
from processors.activation.greedy import select_greedily
from processors.activation.instance import Instance, prepare_instance
from processors.activation.placement import Draft, enter, open_draft
from processors.activation.problem import MILLION, Mode, Problem, ProblemError
from processors.activation.restart import select_covering, select_thoroughly
from processors.activation.selection import Selection, explain_entries, measure_value
from processors.limits import BOUND_STEPS_RESULT, BOUND_STEPS_TURN, BOUND_VISITS_MAX


class _Found(NamedTuple):
    """A draft, the problem whose budgets it obeys, and whether its level one is proven.

    `instance` is that problem prepared under its own weights, where the search had it so.
    """

    draft: Draft
    problem: Problem
    level_proven: bool = False
    instance: Instance | None = None


def select_units(
    problem: Problem, *, selector: str = "two_level", mode: Mode = "turn"
) -> Selection:
    """Choose the evidence of one decision (spec 4), with its terms and a certified bound.

    Args:
        problem: the units, requirements, budgets and weights.
        selector: a name in SELECTORS.
        mode: `turn` is greedy alone; `cover` also searches a better cover where one is open;
            `result` searches on (spec 4.2).

    Raises:
        ProblemError: no selector or mode has that name, or `mmr` lacks tokens.

    """
    choose = SELECTORS.get(selector)
    if choose is None:
        raise ProblemError(f"selector is {selector!r}: one of {', '.join(sorted(SELECTORS))}")
    if mode not in {"turn", "cover", "result"}:
        raise ProblemError(f"mode is {mode!r}: turn, cover or result")
    draft, solved, level_proven, instance = choose(problem, mode)
    if instance is None:
        instance = prepare_instance(solved, priorities=problem.requirement_weights)
    entries, covered, discharged = explain_entries(problem, draft.units, draft.places)
    value = measure_value(problem, entries, covered)
    bound = certify(
        instance,
        value,
        steps=_count_steps(problem, mode),
        level_proven=level_proven,
    )
    return Selection(
        selector=selector,
        units=tuple(draft.units),
        places=tuple(draft.places),
        entries=entries,
        covered=covered,
        discharged=discharged,
        value=value,
        bound=bound,
        budget_main=solved.budget_main,
        budget_tail=solved.budget_tail,
        main_spent=solved.budget_main - draft.main_left,
        tail_spent=solved.budget_tail - draft.tail_left,
    )


def _count_steps(problem: Problem, mode: Mode) -> int:
    """Say how often the certificate may be tightened: less for many units, to stay in time."""
    most = BOUND_STEPS_RESULT if mode == "result" else BOUND_STEPS_TURN
    return min(most, BOUND_VISITS_MAX // max(1, len(problem.unit_ids)))


def _search(instance: Instance, mode: Mode) -> tuple[Draft, bool]:
    if mode == "turn":
        return select_greedily(instance), False
    search = select_covering if mode == "cover" else select_thoroughly
    searched = search(instance)
    return searched.draft, searched.level_proven


def _choose_two_level(problem: Problem, mode: Mode) -> _Found:
    """Covered weight first, then J (spec 4.1)."""
    instance = prepare_instance(problem, priorities=problem.requirement_weights)
    draft, level_proven = _search(instance, mode)
    return _Found(draft, problem, level_proven, instance)


def _choose_paper_j(problem: Problem, mode: Mode) -> _Found:
    """Plain J, without level one: the paper's objective as it stands."""
    instance = prepare_instance(problem, priorities=_ignore_level(problem))
    return _Found(_search(instance, mode)[0], problem)


def _choose_without_coverage(problem: Problem, mode: Mode) -> _Found:
    """J without its coverage term and without level one."""
    blind = replace(problem, weights=replace(problem.weights, coverage=0))
    instance = prepare_instance(blind, priorities=_ignore_level(problem))
    return _Found(_search(instance, mode)[0], problem)


def _choose_without_tail_reserve(problem: Problem, mode: Mode) -> _Found:
    """Two levels under one budget: the reserve is added to main and kept for nobody."""
    merged = _merge_budgets(problem)
    return _choose_two_level(merged, mode)


def _choose_without_debt(problem: Problem, mode: Mode) -> _Found:
    """Two levels, with J without its debt term."""
    blind = replace(problem, weights=replace(problem.weights, debt=0))
    draft, _, level_proven, _ = _choose_two_level(blind, mode)
    return _Found(draft, problem, level_proven)


def _choose_topk(problem: Problem, mode: Mode) -> _Found:  # noqa: ARG001 - one shape for all
    """Relevance alone: greatest rel first, then cost, then id, while the merged budget lasts.

    A unit that does not fit is passed over, never the end of the list.
    """
    merged = _merge_budgets(problem)
    instance = prepare_instance(merged, priorities=_ignore_level(problem))
    draft = open_draft(instance)
    for unit in sorted(
        range(len(problem.unit_ids)),
        key=lambda u: (-problem.rel[u], problem.cost[u], problem.unit_ids[u]),
    ):
        enter(instance, draft, unit)
    return _Found(draft, merged)


def _choose_mmr(problem: Problem, mode: Mode) -> _Found:  # noqa: ARG001 - one shape for all
    """Maximal marginal relevance: rel less the greatest similarity to a unit already chosen.

    Both weigh one half. Similarity is Jaccard's over the units' tokens, in whole millionths
    rounded down; ties go by rel, cost, id. The merged budget ends it, as with `topk`.
    """
    if problem.unit_ids and not problem.tokens:
        raise ProblemError("selector mmr needs tokens: give the folded tokens of every unit")
    merged = _merge_budgets(problem)
    instance = prepare_instance(merged, priorities=_ignore_level(problem))
    draft = open_draft(instance)
    nearest = dict.fromkeys(instance.fitting, 0)
    while nearest:
        unit = min(
            nearest,
            key=lambda u: (
                nearest[u] - problem.rel[u],
                -problem.rel[u],
                problem.cost[u],
                problem.unit_ids[u],
            ),
        )
        del nearest[unit]
        if not enter(instance, draft, unit):
            continue
        for other in nearest:
            alike = _measure_similarity(problem.tokens[unit], problem.tokens[other])
            nearest[other] = max(nearest[other], alike)
    return _Found(draft, merged)


def _measure_similarity(left: frozenset[str], right: frozenset[str]) -> int:
    """Compare two token sets: MILLION * |both| // |either|; two empty sets are unlike."""
    both = len(left & right)
    return MILLION * both // (len(left) + len(right) - both) if both else 0


def _ignore_level(problem: Problem) -> tuple[int, ...]:
    return (0,) * len(problem.requirement_weights)


def _merge_budgets(problem: Problem) -> Problem:
    return replace(problem, budget_main=problem.budget_main + problem.budget_tail, budget_tail=0)


SELECTORS: Final[Mapping[str, Callable[[Problem, Mode], _Found]]] = MappingProxyType(
    {
        "two_level": _choose_two_level,
        "paper_j": _choose_paper_j,
        "topk": _choose_topk,
        "mmr": _choose_mmr,
        "no_coverage": _choose_without_coverage,
        "no_tail_reserve": _choose_without_tail_reserve,
        "no_debt": _choose_without_debt,
    }
)
