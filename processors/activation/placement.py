"""A set in the making, and which of the two budgets holds each of its units.

Here live admission (spec 4.2) and the exact re-placement that result mode uses. What is
worth entering is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from processors.activation.instance import Instance
from processors.activation.objective import Value
from processors.limits import RESERVE_EXACT_MAX

Place = Literal["main", "tail"]


@dataclass(slots=True)
class Draft:
    """Units in order of entry with their places, and what the budgets have left.

    Local to one selection; never part of a record.
    """

    main_left: int
    tail_left: int
    covered: int = 0
    units: list[int] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    packed: bool = False  # The reserve is known to be as full as this set allows.

    def copy(self) -> Draft:
        """Give an independent draft with the same units."""
        return Draft(
            self.main_left,
            self.tail_left,
            self.covered,
            list(self.units),
            list(self.places),
            self.packed,
        )


Entry = Callable[[Instance, Draft, int], bool]


def open_draft(instance: Instance) -> Draft:
    """Begin an empty set with both budgets whole."""
    return Draft(main_left=instance.budget_main, tail_left=instance.budget_tail)


def enter(instance: Instance, draft: Draft, unit: int) -> bool:
    """Take a unit in where spec 4.2 puts it: the reserve if it may and fits, else main.

    Returns:
        False when neither budget holds it; it then never will, since what is left only falls.
    """
    cost = instance.cost[unit]
    if instance.reserved[unit] and cost <= draft.tail_left:
        draft.tail_left -= cost
        draft.places.append("tail")
        draft.packed = False
    elif cost <= draft.main_left:
        draft.main_left -= cost
        draft.places.append("main")
    else:
        return False
    draft.units.append(unit)
    draft.covered |= instance.masks[unit]
    return True


def enter_repacked(instance: Instance, draft: Draft, unit: int) -> bool:
    """Take a unit in if any placement of the whole set holds it (result mode)."""
    if enter(instance, draft, unit):
        return True
    cost = instance.cost[unit]
    if cost > draft.main_left + draft.tail_left:
        return False
    if not instance.reserved[unit]:
        if draft.packed:
            return False
        settle(instance, draft)
        return enter(instance, draft, unit)
    packed = pack_reserve(instance, [*draft.units, unit])
    if packed is None:
        return False
    draft.units.append(unit)
    draft.places, draft.main_left, draft.tail_left = packed
    draft.covered |= instance.masks[unit]
    draft.packed = True
    return True


def leave(instance: Instance, draft: Draft, position: int) -> None:
    """Take the unit at a position out again and give its budget back."""
    cost = instance.cost[draft.units[position]]
    if draft.places[position] == "tail":
        draft.tail_left += cost
    else:
        draft.main_left += cost
    if instance.reserved[draft.units[position]]:
        draft.packed = False
    del draft.units[position], draft.places[position]
    draft.covered = 0
    for unit in draft.units:
        draft.covered |= instance.masks[unit]


def settle(instance: Instance, draft: Draft) -> None:
    """Fill the reserve as far as the set allows, so that no unit in main would still fit it."""
    if draft.packed:
        return
    packed = pack_reserve(instance, draft.units)
    draft.packed = True
    if packed is not None:
        draft.places, draft.main_left, draft.tail_left = packed
        return
    for position, unit in enumerate(draft.units):
        cost = instance.cost[unit]
        movable = instance.reserved[unit] and draft.places[position] == "main"
        if movable and cost <= draft.tail_left:
            draft.places[position] = "tail"
            draft.tail_left -= cost
            draft.main_left += cost


def pack_reserve(instance: Instance, units: list[int]) -> tuple[list[Place], int, int] | None:
    """Place a set so that the reserve is as full as it can be.

    Returns:
        Places in the order of units, what main and what tail have left; None when the set fits
        no placement, or when the reserve is too large for exact packing.
    """
    if instance.budget_tail > RESERVE_EXACT_MAX:
        return None
    limit = (2 << instance.budget_tail) - 1
    sums, steps = 1, []
    for position, unit in enumerate(units):
        if instance.reserved[unit] and instance.cost[unit] <= instance.budget_tail:
            steps.append((position, sums))
            sums |= sums << instance.cost[unit] & limit
    filled = sums.bit_length() - 1
    main_left = instance.budget_main + filled - sum([instance.cost[unit] for unit in units])
    if main_left < 0:
        return None
    places: list[Place] = ["main"] * len(units)
    rest = filled
    for position, before in reversed(steps):
        cost = instance.cost[units[position]]
        if cost == 0 or not before >> rest & 1:
            places[position] = "tail"
            rest -= cost
    return places, main_left, instance.budget_tail - filled


class Room(NamedTuple):
    """What the budgets would hold: most in main, the rest of the reserve, its reachable fills.

    Bit k of `sums` is set when some of the set's reserved units cost k together; 0 means that
    the reserve is too large for exact packing and places stay as they are.
    """

    main: int
    tail: int
    sums: int

    def holds(self, instance: Instance, unit: int) -> bool:
        """Say whether some placement of the set and this unit fits."""
        cost = instance.cost[unit]
        if cost <= self.main:
            return True
        if not instance.reserved[unit] or cost > self.main + self.tail:
            return False
        if cost <= self.tail:
            return True
        if not self.sums or cost > instance.budget_tail:
            return False
        sums = self.sums | self.sums << cost & (2 << instance.budget_tail) - 1
        return cost + self.sums.bit_length() - sums.bit_length() <= self.main


def measure_room(instance: Instance, draft: Draft, position: int) -> Room:
    """Say what the budgets would hold once the unit at a position has left."""
    cost = instance.cost[draft.units[position]]
    sums = measure_sums(instance, draft, without=position)
    if sums:
        filled = sums.bit_length() - 1
        left = draft.main_left + draft.tail_left + cost - (instance.budget_tail - filled)
        return Room(left, instance.budget_tail - filled, sums)
    if draft.places[position] == "tail":
        return Room(draft.main_left, draft.tail_left + cost, 0)
    return Room(draft.main_left + cost, draft.tail_left, 0)


def measure_sums(instance: Instance, draft: Draft, *, without: int) -> int:
    """List, as bits, what the draft's reserved units can cost together in the reserve.

    Args:
        instance: the prepared problem.
        draft: the set.
        without: a position to leave out, or -1.
    """
    if instance.budget_tail > RESERVE_EXACT_MAX:
        return 0
    limit = (2 << instance.budget_tail) - 1
    sums = 1
    for position, unit in enumerate(draft.units):
        cost = instance.cost[unit]
        if instance.reserved[unit] and position != without and cost <= instance.budget_tail:
            sums |= sums << cost & limit
    return sums


def value_draft(instance: Instance, draft: Draft) -> Value:
    """Evaluate a draft under the instance's own two levels."""
    weight, value = instance.weigh(draft.covered)
    return Value(weight, value + sum([instance.linear[unit] for unit in draft.units]))
