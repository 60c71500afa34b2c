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
class _Entrants:
    """The units outside the set, best first; and the ordinary ones by rising cost, each step
    of the ladder with the best entrant up to that cost.
    """

    ranked: list[_Entrant]
    reserved: list[_Entrant]
    costs: list[int]
    ladder: list[_Entrant]

    def find_best(self, room: int) -> list[_Entrant]:
        """Give the best ordinary entrant of at most that cost, as a list of one or none."""
        at = bisect_right(self.costs, room)
        return self.ladder[at - 1 : at] if at else []


def improve_by_swaps(instance: Instance, draft: Draft) -> None:
    """Exchange one unit for one as long as the two-level value rises, at most 64 times.

    The set with the entrant must fit some placement in the two budgets; places are then made
    anew where the admission rule alone would not do.
    """
    by_cost = sorted(instance.fitting, key=instance.cost.__getitem__)
    ranked: list[_Entrant] = []
    ranked_for = -1
    for _ in range(SWAPS_MAX):
        settle(instance, draft)
        if ranked_for != draft.covered:
            ranked, ranked_for = _rank_entrants(instance, draft.covered), draft.covered
        swap = _find_best_swap(instance, draft, _list_entrants(instance, draft, ranked, by_cost))
        if swap is None:
            return
        leave(instance, draft, swap[4])
        entered = enter_repacked(instance, draft, swap[5])
        assert entered, "a swap was found for which no placement exists"


def _rank_entrants(instance: Instance, covered: int) -> list[_Entrant]:
    """List the fitting units by what they add beside `covered`: weight, J (negated), then id."""
    linear, ids = instance.linear, instance.unit_ids
    ranked = []
    for unit in instance.fitting:
        if new := instance.masks[unit] & ~covered:
            weight, gain = instance.weigh(new)
            ranked.append((-weight, -gain - linear[unit], ids[unit], unit))
        else:
            ranked.append((0, -linear[unit], ids[unit], unit))
    ranked.sort()
    return ranked


def _list_entrants(
    instance: Instance, draft: Draft, ranked: list[_Entrant], by_cost: list[int]
) -> _Entrants:
    taken = set(draft.units)
    outside = [entry for entry in ranked if entry[3] not in taken]
    entries = {entry[3]: entry for entry in outside if not instance.reserved[entry[3]]}
    climb = [unit for unit in by_cost if unit in entries]
    return _Entrants(
        ranked=outside,
        reserved=[entry for entry in outside if instance.reserved[entry[3]]],
        costs=[instance.cost[unit] for unit in climb],
        ladder=list(accumulate([entries[unit] for unit in climb], min)),
    )


def _find_best_swap(instance: Instance, draft: Draft, entrants: _Entrants) -> _Swap | None:
    """Find the best swap that raises the value, or None; the draft's reserve is settled.

    An entrant can at most win back all the bits that leave, so what it adds beside the full
    set bounds the swap. Leavers that hold no bit alone go first: the best entrant for them is
    looked up, and what they reach spares most of the scans for the others.
    """
    sums = measure_sums(instance, draft, without=-1)
    best: _Swap | None = None
    for leaver in _list_leavers(instance, draft):
        if _is_hopeless(entrants.ranked, leaver, best):
            continue
        unit = draft.units[leaver.position]
        cost = instance.cost[unit]
        if instance.reserved[unit]:
            top = entrants.find_best(draft.main_left + draft.tail_left + cost)
            hopeless = _is_hopeless(top, leaver, best)
            if hopeless and _is_hopeless(entrants.reserved, leaver, best):
                continue
            room = measure_room(instance, draft, leaver.position)
        else:
            room = Room(draft.main_left + cost, draft.tail_left, sums)
        top = entrants.find_best(room.main)
        if leaver.alone and not _is_hopeless(top, leaver, best):
            best = _judge(instance, entrants.ranked, leaver, room, best)
            continue
        best = _judge(instance, top, leaver, room, best)
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
