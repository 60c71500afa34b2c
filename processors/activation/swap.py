"""Result mode's one-swaps: one unit out, one unit in, at most 64 times (spec 4.2).

The best swap goes first, by two-level gain, then the id that leaves, then the id that enters.
Gains are kept negated, so that the least tuple is the best swap.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from processors.activation.instance import Instance
from processors.activation.placement import (
    Draft,
    Room,
    enter_repacked,
    leave,
    measure_room,
    measure_sums,
    settle,
)
from processors.limits import SWAPS_MAX

_Entrant = tuple[int, int, str, int]
_Swap = tuple[int, int, str, str, int, int]


class _Leaver(NamedTuple):
    """A unit that may leave: whether it holds bits alone, its linear part, which bits."""

    holds: bool
    linear: int
    unit_id: str
    position: int
    alone: int


@dataclass(frozen=True, slots=True)
class _Ladder:
    """Entrants by rising cost, each step holding the best entrant up to that cost."""

    costs: list[int]
    steps: list[_Entrant]

    def find_best(self, room: int) -> list[_Entrant]:
        """Give the best entrant of at most that cost, as a list of one or none."""
        at = bisect_right(self.costs, room)
        return self.steps[at - 1 : at] if at else []


@dataclass(frozen=True, slots=True)
class _Entrants:
    """The units outside the set, by row; apart, the ordinary and the reserved ones."""

    entries: dict[int, _Entrant]
    reserved: list[_Entrant]
    ordinary_ladder: _Ladder
    reserved_ladder: _Ladder


class _Holders:
    """The fitting units that cover a bit, listed when first asked for."""

    __slots__ = ("instance", "lists")

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.lists: dict[int, list[int]] = {}

    def list_entrants(self, alone: int, entrants: _Entrants) -> list[_Entrant]:
        """Give the entrants that cover some of the bits, best first."""
        found: dict[int, None] = {}
        while alone:
            low = alone & -alone
            alone ^= low
            units = self.lists.get(low)
            if units is None:
                masks = self.instance.masks
                units = self.lists[low] = [u for u in self.instance.fitting if masks[u] & low]
            found |= dict.fromkeys(units)
        return sorted([entrants.entries[unit] for unit in found if unit in entrants.entries])


def improve_by_swaps(instance: Instance, draft: Draft) -> None:
    """Exchange one unit for one as long as the two-level value rises, at most 64 times.

    The set with the entrant must fit some placement in the two budgets; places are then made
    anew where the admission rule alone would not do.
    """
    by_cost = sorted(instance.fitting, key=instance.cost.__getitem__)
    holders = _Holders(instance)
    ranked: list[_Entrant] = []
    ranked_for = -1
    for _ in range(SWAPS_MAX):
        settle(instance, draft)
        if ranked_for != draft.covered:
            ranked, ranked_for = _rank_entrants(instance, draft.covered), draft.covered
        entrants = _list_entrants(instance, draft, ranked, by_cost)
        swap = _find_best_swap(instance, draft, entrants, holders)
        if swap is None:
            return
        leave(instance, draft, swap[4])
        entered = enter_repacked(instance, draft, swap[5])
        assert entered, "a swap was found for which no placement exists"


def _rank_entrants(instance: Instance, covered: int) -> list[_Entrant]:
    """Say per fitting unit what it adds beside `covered`: weight, J (both negated), id, row."""
    linear, ids, masks, apart = instance.linear, instance.unit_ids, instance.masks, ~covered
    ranked = []
    for unit in instance.fitting:
        if new := masks[unit] & apart:
            weight, gain = instance.weigh(new)
            ranked.append((-weight, -gain - linear[unit], ids[unit], unit))
        else:
            ranked.append((0, -linear[unit], ids[unit], unit))
    return ranked


def _list_entrants(
    instance: Instance, draft: Draft, ranked: list[_Entrant], by_cost: list[int]
) -> _Entrants:
    taken = set(draft.units)
    entries = {entry[3]: entry for entry in ranked if entry[3] not in taken}
    reserved: list[int] = []
    ordinary: list[int] = []
    for unit in by_cost:
        if unit in entries:
            (reserved if instance.reserved[unit] else ordinary).append(unit)
    return _Entrants(
        entries=entries,
        reserved=sorted([entries[unit] for unit in reserved]),
        ordinary_ladder=_build_ladder(instance, ordinary, entries),
        reserved_ladder=_build_ladder(instance, reserved, entries),
    )


def _build_ladder(instance: Instance, units: list[int], entries: dict[int, _Entrant]) -> _Ladder:
    return _Ladder(
        [instance.cost[unit] for unit in units],
        list(accumulate([entries[unit] for unit in units], min)),
    )


def _find_best_swap(
    instance: Instance, draft: Draft, entrants: _Entrants, holders: _Holders
) -> _Swap | None:
    """Find the best swap that raises the value, or None; the draft's reserve is settled.

    An entrant can at most win back all the bits that leave, so what it adds beside the full
    set bounds the swap. Among entrants that win back none, all lose the same, and the best is
    looked up by cost; the few that win back some are judged one by one.
    """
    sums = measure_sums(instance, draft, without=-1)
    ordinary, reserved = entrants.ordinary_ladder, entrants.reserved_ladder
    first = sorted(ordinary.steps[-1:] + entrants.reserved[:1])
    best: _Swap | None = None
    past = {False: False, True: False}
    for leaver in _list_leavers(instance, draft):
        if past[leaver.holds]:
            continue
        if _is_hopeless(first, leaver, best):
            past[leaver.holds] = True  # The others of this kind give up more.
            continue
        unit = draft.units[leaver.position]
        cost = instance.cost[unit]
        widest = draft.main_left + draft.tail_left + cost
        leaves_main = not instance.reserved[unit]
        top = ordinary.find_best(draft.main_left + cost if leaves_main else widest)
        some_ordinary = not _is_hopeless(top, leaver, best)
        some_reserved = not _is_hopeless(reserved.find_best(widest), leaver, best)
        if not some_ordinary and not some_reserved:
            continue
        if leaves_main:
            room = Room(draft.main_left + cost, draft.tail_left, sums)
        else:
            room = measure_room(instance, draft, leaver.position)
        if some_ordinary:
            if leaver.alone:
                winners = holders.list_entrants(leaver.alone, entrants)
                best = _judge(instance, winners, leaver, room, best)
            best = _judge(instance, ordinary.find_best(room.main), leaver, room, best)
        if some_reserved:
            best = _judge(instance, entrants.reserved, leaver, room, best)
    return best


def _list_leavers(instance: Instance, draft: Draft) -> list[_Leaver]:
    """List the draft's units: those that hold no bit alone first, then by linear part, id."""
    once = twice = 0
    for unit in draft.units:
        twice |= once & instance.masks[unit]
        once |= instance.masks[unit]
    lone = once & ~twice
    return sorted(
        _Leaver(alone != 0, instance.linear[unit], instance.unit_ids[unit], position, alone)
        for position, unit in enumerate(draft.units)
        for alone in (instance.masks[unit] & lone,)
    )


def _is_hopeless(top: list[_Entrant], leaver: _Leaver, best: _Swap | None) -> bool:
    """Say whether not even the first of these entrants can better the best swap."""
    if not top:
        return True
    hope = (top[0][0], top[0][1] + leaver.linear)
    return hope >= (0, 0) or (best is not None and hope > best[:2])


def _judge(
    instance: Instance,
    entrants: list[_Entrant],
    leaver: _Leaver,
    room: Room,
    best: _Swap | None,
) -> _Swap | None:
    """Go through ranked entrants while one may still better the best swap; give the better."""
    for weight, gain, entrant_id, entrant in entrants:
        hope = (weight, gain + leaver.linear)
        if hope >= (0, 0) or (best is not None and hope > best[:2]):
            break
        if instance.cost[entrant] > room.main and not room.holds(instance, entrant):
            continue
        if given := leaver.alone & ~instance.masks[entrant]:
            given_weight, given_value = instance.weigh(given)
            hope = (hope[0] + given_weight, hope[1] + given_value)
        swap = (*hope, leaver.unit_id, entrant_id, leaver.position, entrant)
        if hope < (0, 0) and (best is None or swap < best):
            best = swap
    return best
