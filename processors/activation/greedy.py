"""Turn mode: greedy activation in two phases, checked against the best single unit.

Phase one buys covered weight, phase two J (spec 4.2). Exchanges after the fact live in
swap.py; explanations in selection.py.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace

from processors.activation.instance import Instance
from processors.activation.placement import Draft, Entry, enter, open_draft, value_draft

_Key = tuple[int, int, int, str, int]

_INFINITE = 1 << 256
"""The ratio of a unit that costs nothing: above every gain times every scale."""


def select_greedily(instance: Instance) -> Draft:
    """Choose a set by spec 4.2: covered weight per cost, then J per cost, then the single best."""
    draft = open_draft(instance)
    buy_coverage(instance, draft, instance.fitting, enter)
    buy_objective(instance, draft, instance.fitting, enter)
    return _compare_single(instance, draft)


def buy_coverage(instance: Instance, draft: Draft, offered: list[int], entry: Entry) -> None:
    """Phase one: new weight of level one per cost, ties by J gain, cost, unit id.

    Both parts of a key only fall while the set grows, so a stale key is an upper bound and
    only the top of the heap needs to be read again.
    """
    priorities, masks = instance.priorities, instance.masks
    wanted = instance.coverable & ~draft.covered
    if not wanted or not any(priorities):
        return
    open_bits = ~draft.covered
    heap = [
        _rank_coverage(instance, unit, masks[unit] & open_bits)
        for unit in offered
        if masks[unit] & wanted
    ]
    heapify(heap)
    while heap:
        top = heap[0]
        new = masks[top[4]] & ~draft.covered
        if not new & wanted:
            heappop(heap)
            continue
        key = _rank_coverage(instance, top[4], new)
        if key != top:
            heapreplace(heap, key)
            continue
        heappop(heap)
        entry(instance, draft, top[4])


def _rank_coverage(instance: Instance, unit: int, new: int) -> _Key:
    """Give the sort key of a unit that newly covers `new`; least is best, cost 0 first of all."""
    weight, value = instance.weigh(new)
    cost = instance.cost[unit]
    ratio = weight * instance.scale // cost if cost else _INFINITE
    return (-ratio, -instance.linear[unit] - value, cost, instance.unit_ids[unit], unit)


def buy_objective(instance: Instance, draft: Draft, offered: list[int], entry: Entry) -> None:
    """Phase two: J gain per cost, ties by J gain, cost, unit id; only gain > 0 enters.

    Units are sorted once. One whose new bits have since been covered is ranked again and
    waits in a heap; gains only fall, so its turn never comes earlier.
    """
    masks, cost, ids, linear = instance.masks, instance.cost, instance.unit_ids, instance.linear
    scale = instance.scale
    taken = set(draft.units)

    def rank(unit: int) -> _Key:
        gain = linear[unit]
        if new := masks[unit] & ~draft.covered:
            gain += instance.weigh(new)[1]
        price = cost[unit]
        ratio = gain * scale // price if price else _INFINITE
        return (-ratio, -gain, price, ids[unit], unit)

    queue = [key for unit in offered if unit not in taken and (key := rank(unit))[1] < 0]
    queue.sort(reverse=True)
    again: list[_Key] = []
    while queue or again:
        key = heappop(again) if again and (not queue or again[0] < queue[-1]) else queue.pop()
        unit = key[4]
        if key[1] != -linear[unit]:
            fresh = rank(unit)
            if fresh != key:
                if fresh[1] < 0:
                    heappush(again, fresh)
                continue
        entry(instance, draft, unit)


def _compare_single(instance: Instance, draft: Draft) -> Draft:
    """Keep the draft unless one unit alone is worth strictly more under the two-level order."""
    reached = value_draft(instance, draft)
    best: tuple[int, int, int, str, int] | None = None
    must = draft.covered & instance.coverable if reached.covered_weight else 0
    for unit in instance.fitting:
        mask = instance.masks[unit]
        if must and not mask & instance.coverable:
            continue
        weight, gain = instance.weigh(mask)
        gain += instance.linear[unit]
        if (weight, gain) > reached and (weight or gain > 0):
            key = (-weight, -gain, instance.cost[unit], instance.unit_ids[unit], unit)
            best = key if best is None else min(best, key)
    if best is None:
        return draft
    single = open_draft(instance)
    enter(instance, single, best[4])
    return single
