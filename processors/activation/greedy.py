"""Turn mode: greedy activation in two phases, checked against the best single unit.

Phase one buys covered weight, phase two J (spec 4.2). Exchanges after the fact live in
swap.py; explanations in selection.py.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from typing import Final

from processors.activation.instance import Instance
from processors.activation.placement import Draft, Entry, enter, open_draft, value_draft

_Key = tuple[int, int, int, str, int]

_INFINITE: Final = 1 << 256
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
    scale, weigh = instance.scale, instance.weigh
    taken, apart = set(draft.units), ~draft.covered
    gains = [
        (linear[unit] + weigh(new)[1] if (new := masks[unit] & apart) else linear[unit], unit)
        for unit in offered
    ]
    queue: list[_Key] = [
        (
            -(gain * scale // price) if (price := cost[unit]) else -_INFINITE,
            -gain,
            price,
            ids[unit],
            unit,
        )
        for gain, unit in gains
        if gain > 0 and unit not in taken
    ]
    queue.sort(reverse=True)
    again: list[_Key] = []
    least = min([key[2] for key in queue], default=0)
    while (queue or again) and least <= draft.main_left + draft.tail_left:
        key = heappop(again) if again and (not queue or again[0] < queue[-1]) else queue.pop()
        unit = key[4]
        if key[1] != -linear[unit]:
            new = masks[unit] & ~draft.covered
            gain = linear[unit] + weigh(new)[1]
            if gain != -key[1]:
                if gain > 0:
                    price = cost[unit]
                    ratio = gain * scale // price if price else _INFINITE
                    heappush(again, (-ratio, -gain, price, ids[unit], unit))
                continue
        entry(instance, draft, unit)


def _compare_single(instance: Instance, draft: Draft) -> Draft:
    """Keep the draft unless one unit alone is worth strictly more under the two-level order."""
    heaviest = max((weight for weight, _ in instance.sums.values()), default=0)
    reached = value_draft(instance, draft)
    must = reached.covered_weight > 0
    if heaviest < reached.covered_weight:  # Phase one has weighed every unit's bits.
        return draft
    best: tuple[int, int, int, str, int] | None = None
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
