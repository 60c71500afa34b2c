"""Result mode: at most 64 one-swaps after the greedy set (spec 4.2).

One swap takes one unit out and one unit in; nothing else moves. The best swap goes first,
by two-level gain, then the id that leaves, then the id that enters.
"""

from __future__ import annotations

from processors.activation.greedy import Draft, enter
from processors.activation.objective import Instance, admit, sum_bits

SWAPS_MAX = 64
"""Most swaps in one selection (spec 4.2); each strictly raises the two-level value."""

_Swap = tuple[int, int, str, str, int, int]


def improve_by_swaps(instance: Instance, draft: Draft) -> Draft:
    """Exchange one unit for one as long as the two-level value rises, at most 64 times.

    The unit that enters obeys the admission rule against the budgets as they stand once the
    other has left. The given draft is changed and returned.
    """
    ranked: list[tuple[int, int, str, int]] = []
    ranked_for = -1
    for _ in range(SWAPS_MAX):
        if ranked_for != draft.covered:
            ranked, ranked_for = _rank_entrants(instance, draft.covered), draft.covered
        taken = set(draft.units)
        outside = [entry for entry in ranked if entry[3] not in taken]
        swap = _find_best_swap(instance, draft, outside)
        if swap is None:
            break
        _exchange(instance, draft, leaving=swap[4], entering=swap[5])
    return draft


def _rank_entrants(instance: Instance, covered: int) -> list[tuple[int, int, str, int]]:
    """List all units by what they add beside `covered`: weight and J falling, then id."""
    ranked = []
    for unit, mask in enumerate(instance.masks):
        new, gain, weight = mask & ~covered, instance.linear[unit], 0
        if new:
            gain += sum_bits(new, instance.values)
            weight = sum_bits(new, instance.priorities)
        ranked.append((-weight, -gain, instance.unit_ids[unit], unit))
    ranked.sort()
    return ranked


def _find_best_swap(
    instance: Instance, draft: Draft, outside: list[tuple[int, int, str, int]]
) -> _Swap | None:
    """Find the best swap that raises the value, or None.

    A unit that leaves gives up its own linear part and the bits that it alone holds. The
    entrant can at most win all those bits back, so the entrants' order beside the full set
    bounds what is still to come and the scan stops early.
    """
    best: _Swap | None = None
    sole = _find_sole_bits(instance, draft)
    leavers = sorted(
        (instance.linear[unit], instance.unit_ids[unit], position)
        for position, unit in enumerate(draft.units)
    )
    for linear, unit_id, position in leavers:
        alone = sole[position]
        held_weight, held_value = (
            (sum_bits(alone, instance.priorities), sum_bits(alone, instance.values))
            if alone
            else (0, 0)
        )
        main, tail = draft.main_left, draft.tail_left
        if draft.places[position] == "tail":
            tail += instance.cost[draft.units[position]]
        else:
            main += instance.cost[draft.units[position]]
        widest = max(main, tail)
        for weight, gain, entrant_id, entrant in outside:
            hope = (weight, gain + linear)
            if hope >= (0, 0) or (best is not None and hope > best[:2]):
                break
            cost = instance.cost[entrant]
            if cost > widest:
                continue
            reserved = instance.reserved[entrant]
            if admit(cost=cost, reserved=reserved, main_left=main, tail_left=tail) is None:
                continue
            if alone:
                kept = instance.masks[entrant] & alone
                if kept != alone:
                    weight += held_weight
                    gain += held_value
                    if kept:
                        weight -= sum_bits(kept, instance.priorities)
                        gain -= sum_bits(kept, instance.values)
            swap = (weight, gain + linear, unit_id, entrant_id, position, entrant)
            if swap[:2] < (0, 0) and (best is None or swap < best):
                best = swap
    return best


def _find_sole_bits(instance: Instance, draft: Draft) -> list[int]:
    """Give, per position of the draft, the bits that no other unit of it covers."""
    once = twice = 0
    for unit in draft.units:
        mask = instance.masks[unit]
        twice |= once & mask
        once |= mask
    lone = once & ~twice
    return [instance.masks[unit] & lone for unit in draft.units]


def _exchange(instance: Instance, draft: Draft, *, leaving: int, entering: int) -> None:
    """Carry one swap out: the position leaves, the unit enters at the end."""
    cost = instance.cost[draft.units[leaving]]
    if draft.places[leaving] == "tail":
        draft.tail_left += cost
    else:
        draft.main_left += cost
    del draft.units[leaving], draft.places[leaving]
    draft.covered = 0
    for unit in draft.units:
        draft.covered |= instance.masks[unit]
    enter(instance, draft, entering)
