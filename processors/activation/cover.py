"""Level one searched exactly, within a bounded number of nodes (result mode).

Greedy covering misses the greatest covered weight in some 3 % of tight instances, and the
user would then be asked for what is held. Where a coverable requirement stays open this
search looks for a better cover, and often proves that there is none.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from processors.activation.instance import Instance
from processors.activation.objective import sum_bits
from processors.activation.placement import Draft, Place, open_draft
from processors.limits import COVER_NODES_MAX


@dataclass(frozen=True, slots=True)
class Cover:
    """What the search found: a better draft or None, and whether it looked at everything.

    With `exhausted` the given draft's covered weight (or the found draft's) is the greatest.
    """

    draft: Draft | None
    exhausted: bool


@dataclass(slots=True)
class _Search:
    """The search's own notes; `lost` is the weight that the best cover so far leaves open.

    With `worth`, the J of that cover, an equally complete cover of more J is better too.
    """

    instance: Instance
    options: dict[int, list[int]]
    ordinary: dict[int, list[int]]
    reserved: dict[int, list[int]]
    lost: int
    worth: int | None = None
    nodes: int = 0
    chosen: list[tuple[int, Place]] = field(default_factory=list)
    best: list[tuple[int, Place]] | None = None


def search_cover(instance: Instance, covered: int) -> Cover:
    """Look for a set that covers more weight of level one than the given bits.

    Branches on the requirement with the fewest units that still fit: each of those units, in
    order of weight per cost, then giving the requirement up. At most COVER_NODES_MAX nodes,
    and as many again for the cover of most J among those found equally complete.
    """
    open_bits = instance.coverable
    lost = sum_bits(open_bits & ~covered, instance.priorities)
    if lost == 0:
        return Cover(None, exhausted=True)
    search = _begin(instance, lost)
    _descend(search, open_bits, main=instance.budget_main, tail=instance.budget_tail, lost=0)
    exhausted = search.nodes <= COVER_NODES_MAX
    if search.best is None:
        return Cover(None, exhausted)
    search.nodes, search.worth = 0, _measure_worth(instance, search.best)
    _descend(search, open_bits, main=instance.budget_main, tail=instance.budget_tail, lost=0)
    draft = open_draft(instance)
    for unit, place in search.best:
        draft.units.append(unit)
        draft.places.append(place)
        draft.covered |= instance.masks[unit]
        if place == "tail":
            draft.tail_left -= instance.cost[unit]
        else:
            draft.main_left -= instance.cost[unit]
    return Cover(draft, exhausted)


def _begin(instance: Instance, lost: int) -> _Search:
    """Keep the cheapest unit per set of bits and per reserve right; list them per requirement."""
    kept: dict[tuple[int, bool], tuple[int, int, str, int]] = {}
    for unit in instance.fitting:
        if bits := instance.masks[unit] & instance.coverable:
            cost, unit_id = instance.cost[unit], instance.unit_ids[unit]
            key = (cost, -instance.linear[unit], unit_id, unit)
            kind = (bits, instance.reserved[unit])
            kept[kind] = min(kept.get(kind, key), key)
    ranked = sorted((-_rate(instance, entry[3]), entry) for entry in kept.values())
    search = _Search(instance, {}, {}, {}, lost)
    for bit in range(instance.coverable.bit_length()):
        if instance.coverable >> bit & 1:
            units = [e[3] for _, e in ranked if instance.masks[e[3]] >> bit & 1]
            search.options[bit] = units
            search.ordinary[bit] = sorted(
                instance.cost[u] for u in units if not instance.reserved[u]
            )
            search.reserved[bit] = sorted(instance.cost[u] for u in units if instance.reserved[u])
    return search


def _rate(instance: Instance, unit: int) -> int:
    weight = sum_bits(instance.masks[unit] & instance.coverable, instance.priorities)
    return weight * instance.scale // max(instance.cost[unit], 1)


def _descend(search: _Search, open_bits: int, *, main: int, tail: int, lost: int) -> None:
    """Try every way to go on from here that can still lose less than the best cover does."""
    search.nodes += 1
    if search.nodes > COVER_NODES_MAX or (search.lost == 0 and search.worth is None):
        return
    instance, widest = search.instance, max(main, tail)
    scan, pick, fewest = open_bits, -1, (0, 0)
    while scan:
        low = scan & -scan
        scan ^= low
        bit = low.bit_length() - 1
        count = bisect_right(search.ordinary[bit], main) + bisect_right(
            search.reserved[bit], widest
        )
        if count == 0:
            lost += instance.priorities[bit]
            open_bits ^= low
            if _is_lost(search, lost):
                return
        elif pick < 0 or (count, -instance.priorities[bit]) < fewest:
            pick, fewest = bit, (count, -instance.priorities[bit])
    if pick < 0:
        worth = _measure_worth(instance, search.chosen)
        if search.worth is None or worth > search.worth or lost < search.lost:
            search.lost, search.best = lost, list(search.chosen)
            search.worth = None if search.worth is None else worth
        return
    for unit in search.options[pick]:
        cost, rest = instance.cost[unit], open_bits & ~instance.masks[unit]
        if instance.reserved[unit] and cost <= tail:
            search.chosen.append((unit, "tail"))
            _descend(search, rest, main=main, tail=tail - cost, lost=lost)
            search.chosen.pop()
        if cost <= main:
            search.chosen.append((unit, "main"))
            _descend(search, rest, main=main - cost, tail=tail, lost=lost)
            search.chosen.pop()
    given_up = lost + instance.priorities[pick]
    if not _is_lost(search, given_up):
        _descend(search, open_bits ^ (1 << pick), main=main, tail=tail, lost=given_up)


def _is_lost(search: _Search, lost: int) -> bool:
    """Say whether a way that gives up this much can no longer lead to a better cover."""
    return lost > search.lost or (lost == search.lost and search.worth is None)


def _measure_worth(instance: Instance, chosen: list[tuple[int, Place]]) -> int:
    covered = worth = 0
    for unit, _ in chosen:
        covered |= instance.masks[unit]
        worth += instance.linear[unit]
    return worth + instance.weigh(covered)[1]
