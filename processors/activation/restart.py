"""Beyond greedy: cover search, one-swaps, and restarts of greedy from nearby beginnings.

A restart forces one more unit in first, or keeps one more out, and lets greedy complete the
set: it repairs what a swap of one for one cannot, a dear unit in the place of several cheap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from processors.activation.cover import search_cover
from processors.activation.greedy import buy_coverage, buy_objective, select_greedily
from processors.activation.instance import Instance
from processors.activation.placement import (
    Draft,
    enter_repacked,
    leave,
    open_draft,
    settle,
    value_draft,
)
from processors.activation.swap import improve_by_swaps
from processors.limits import RESTART_VISITS_MAX, RESTARTS_MAX, RESTARTS_MIN


@dataclass(frozen=True, slots=True)
class Searched:
    """A result-mode set, and whether its covered weight is proven the greatest."""

    draft: Draft
    level_proven: bool


@dataclass(frozen=True, slots=True)
class _Beginning:
    """What a restart prescribes: units to enter first, units to keep out."""

    forced: tuple[int, ...] = ()
    barred: tuple[int, ...] = ()


def select_thoroughly(instance: Instance) -> Searched:
    """Choose a set in result mode: never worse than turn mode under the two-level order.

    Greedy, or the better cover where one is found, is improved by one-swaps (spec 4.2); then
    at most RESTARTS_MAX restarts climb from it, and the better of the two sets stands.
    """
    first = select_greedily(instance)
    cover = search_cover(instance, first.covered)
    core = cover.draft or open_draft(instance)
    if cover.draft is not None:
        first = _complete(instance, core, _Beginning())
    best = _finish(instance, first.copy())
    for begun in _begin_anew(instance, core, first):
        draft = _finish(instance, begun)
        if value_draft(instance, draft) > value_draft(instance, best):
            best = draft
    return Searched(best, cover.exhausted)


def select_covering(instance: Instance) -> Searched:
    """Choose a set by greedy, then by the better cover where a coverable requirement is open.

    Turn mode of ruleset 2: never worse than greedy under the two-level order, and without the
    swaps and restarts of result mode.
    """
    first = select_greedily(instance)
    cover = search_cover(instance, first.covered)
    if cover.draft is None:
        return Searched(first, cover.exhausted)
    return Searched(_complete(instance, cover.draft, _Beginning()), cover.exhausted)


def _begin_anew(instance: Instance, core: Draft, first: Draft) -> Iterator[Draft]:
    """Give other sets to finish: from a swapped cover, and from the best restart."""
    tries = min(RESTARTS_MAX, RESTART_VISITS_MAX // max(1, len(instance.fitting)))
    if tries < RESTARTS_MIN:
        return
    cover = core.copy()
    buy_coverage(instance, cover, instance.fitting, enter_repacked)
    improve_by_swaps(instance, cover)
    yield _complete(instance, cover, _Beginning())
    climbed = _climb(instance, core, first, tries)
    if climbed is not None:
        yield climbed


def _complete(instance: Instance, core: Draft, beginning: _Beginning) -> Draft:
    """Run greedy from the core and a beginning."""
    draft = core.copy()
    for unit in beginning.barred:
        if unit in draft.units:
            leave(instance, draft, draft.units.index(unit))
    for unit in beginning.forced:
        if unit not in draft.units:
            enter_repacked(instance, draft, unit)
    shut = {*beginning.barred, *draft.units}
    offered = [unit for unit in instance.fitting if unit not in shut] if shut else instance.fitting
    buy_coverage(instance, draft, offered, enter_repacked)
    buy_objective(instance, draft, offered, enter_repacked)
    return draft


def _finish(instance: Instance, draft: Draft) -> Draft:
    """Swap, then spend what the swaps have freed, then fill the reserve."""
    improve_by_swaps(instance, draft)
    left, taken = draft.main_left + draft.tail_left, set(draft.units)
    offered = [u for u in instance.fitting if instance.cost[u] <= left and u not in taken]
    buy_coverage(instance, draft, offered, enter_repacked)
    buy_objective(instance, draft, offered, enter_repacked)
    settle(instance, draft)
    return draft


def _climb(instance: Instance, core: Draft, first: Draft, tries: int) -> Draft | None:
    """Go to the best neighbouring beginning as long as the value rises and tries are left.

    Tries are bounded in number and in units visited: with many units greedy leaves little to
    win, and a decision must stay in its time.
    """
    order = sorted(instance.fitting, key=lambda unit: instance.unit_ids[unit])
    here, current, reached = _Beginning(), first, value_draft(instance, first)
    climbed: Draft | None = None
    while tries > 0:
        best: tuple[Draft, _Beginning] | None = None
        for beginning in _list_neighbours(here, current, order)[:tries]:
            tries -= 1
            draft = _complete(instance, core, beginning)
            value = value_draft(instance, draft)
            if value > reached:
                best, reached = (draft, beginning), value
        if best is None:
            break
        current, here = best
        climbed = current
    return climbed


def _list_neighbours(here: _Beginning, current: Draft, order: list[int]) -> list[_Beginning]:
    """List the beginnings one step away: each unit of the set barred, then each other forced."""
    taken, fixed = set(current.units), {*here.forced, *here.barred}
    outs = [unit for unit in order if unit in taken and unit not in fixed]
    ins = [unit for unit in order if unit not in taken and unit not in fixed]
    return [_Beginning(here.forced, (*here.barred, unit)) for unit in outs] + [
        _Beginning((*here.forced, unit), here.barred) for unit in ins
    ]
