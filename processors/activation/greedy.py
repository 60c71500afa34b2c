"""Turn mode: greedy activation in two phases, checked against the best single unit.

Phase one buys covered weight, phase two J (spec 4.2). Exchanges after the fact live in
swap.py; explanations in selection.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace

from processors.activation.objective import Instance, Place, Value, admit, sum_bits

_Key = tuple[int, int, int, str, int]


@dataclass(slots=True)
class Draft:
    """A set in the making: units in order of entry with their places, and what is left.

    Local to one selection; never part of a record.
    """

    main_left: int
    tail_left: int
    covered: int = 0
    units: list[int] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)


def select_greedily(instance: Instance) -> Draft:
    """Choose a set by spec 4.2: covered weight per cost, then J per cost, then the single best.

    Ratios compare exactly: over costs up to C two different ratios differ by at least 1/C^2,
    so floor(gain * C^2 / cost) keeps their order and their ties.
    """
    draft = Draft(main_left=instance.budget_main, tail_left=instance.budget_tail)
    fitting = [
        unit
        for unit, cost in enumerate(instance.cost)
        if cost <= instance.budget_main
        or (instance.reserved[unit] and cost <= instance.budget_tail)
    ]
    _buy_coverage(instance, draft, fitting)
    _buy_objective(instance, draft, fitting)
    return _compare_single(instance, draft, fitting)


def _scale(instance: Instance) -> int:
    return max(instance.cost, default=1) ** 2 or 1


def enter(instance: Instance, draft: Draft, unit: int) -> bool:
    """Take the unit in if a budget holds it; a unit that fits nowhere now never will."""
    cost = instance.cost[unit]
    place = admit(
        cost=cost,
        reserved=instance.reserved[unit],
        main_left=draft.main_left,
        tail_left=draft.tail_left,
    )
    if place is None:
        return False
    if place == "tail":
        draft.tail_left -= cost
    else:
        draft.main_left -= cost
    draft.units.append(unit)
    draft.places.append(place)
    draft.covered |= instance.masks[unit]
    return True


def _buy_coverage(instance: Instance, draft: Draft, fitting: list[int]) -> None:
    """Phase one: new weight of level one per cost, ties by J gain, cost, unit id.

    Both parts of the key only fall while the set grows, so a stale key is an upper bound and
    the top of the heap needs re-reading alone.
    """
    priorities, scale = instance.priorities, _scale(instance)
    if not any(priorities):
        return
    infinite = (sum(priorities) + 1) * scale
    wanted = (1 << len(priorities)) - 1
    masks, costs, ids = instance.masks, instance.cost, instance.unit_ids

    def rank(unit: int) -> _Key | None:
        new = masks[unit] & ~draft.covered
        weight = sum_bits(new, priorities)
        if weight == 0:
            return None
        gain = instance.linear[unit] + sum_bits(new, instance.values)
        cost = costs[unit]
        ratio = weight * scale // cost if cost else infinite
        return (-ratio, -gain, cost, ids[unit], unit)

    heap = [key for unit in fitting if masks[unit] & wanted and (key := rank(unit))]
    heapify(heap)
    while heap:
        unit = heap[0][4]
        key = rank(unit)
        if key is None:
            heappop(heap)
        elif key != heap[0]:
            heapreplace(heap, key)
        else:
            heappop(heap)
            enter(instance, draft, unit)


def _buy_objective(instance: Instance, draft: Draft, fitting: list[int]) -> None:
    """Phase two: J gain per cost, ties by J gain, cost, unit id; only gain > 0 enters."""
    scale = _scale(instance)
    masks, costs, ids, linear = instance.masks, instance.cost, instance.unit_ids, instance.linear
    taken = set(draft.units)
    infinite = (max(linear, default=0) + sum(instance.values) + 1) * scale

    def rank(unit: int) -> _Key | None:
        gain = linear[unit]
        new = masks[unit] & ~draft.covered
        if new:
            gain += sum_bits(new, instance.values)
        if gain <= 0:
            return None
        cost = costs[unit]
        return (-(gain * scale // cost if cost else infinite), -gain, cost, ids[unit], unit)

    heap = [key for unit in fitting if unit not in taken and (key := rank(unit))]
    heapify(heap)
    while heap:
        unit = heap[0][4]
        if masks[unit] & ~draft.covered or heap[0][1] != -linear[unit]:
            key = rank(unit)
            if key is None:
                heappop(heap)
                continue
            if key != heap[0]:
                heapreplace(heap, key)
                continue
        heappop(heap)
        enter(instance, draft, unit)


def _compare_single(instance: Instance, draft: Draft, fitting: list[int]) -> Draft:
    """Keep the draft unless one unit alone is worth strictly more under the two-level order."""
    linear, masks = instance.linear, instance.masks
    reached = value_draft(instance, draft)
    best: tuple[int, int, int, str, int] | None = None
    for unit in fitting:
        mask = masks[unit]
        weight = sum_bits(mask, instance.priorities)
        gain = linear[unit] + sum_bits(mask, instance.values)
        if (weight, gain) > (reached.covered_weight, reached.j) and (weight or gain > 0):
            key = (-weight, -gain, instance.cost[unit], instance.unit_ids[unit], unit)
            best = key if best is None else min(best, key)
    if best is None:
        return draft
    single = Draft(main_left=instance.budget_main, tail_left=instance.budget_tail)
    enter(instance, single, best[4])
    return single


def value_draft(instance: Instance, draft: Draft) -> Value:
    """Evaluate a draft under the instance's own two levels."""
    j = sum(instance.linear[unit] for unit in draft.units)
    return Value(
        sum_bits(draft.covered, instance.priorities),
        j + sum_bits(draft.covered, instance.values),
    )
