"""What a user's rows and the contract are to one turn: E_t's units and the slots of u_t (spec 3).

What is in E_t for a turn: units inside its scopes, valid at as_of and not replaced; withdrawn
ones have no row any more. Assembling the situation is ``reading``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from processors.authority import rank
from processors.compilation.bearings import Bearing, Key
from processors.compilation.history import list_fixed
from processors.compilation.recollection import Recollection
from processors.compilation.settlement import Lens, PlacedUnit, Stated, list_own
from processors.compilation.slots import is_valid
from schemas.row import PredicateRow, Standing
from schemas.turn import TurnRequested


@dataclass(frozen=True, slots=True)
class Pool:
    """Slots of u_t, what the user ever stated there, preferences, and units in no order.

    ``values`` are asserted and confirmed ones, newest first, also those that were replaced,
    expired or revoked since (spec 5.7). ``fixed`` is what predicates in force state. The order
    of keys hangs on the rows alone.
    """

    recollection: Recollection
    fixed: dict[Key, list[Standing]]
    slots: dict[Key, Standing]
    values: dict[Key, tuple[Standing, ...]]
    preferences: dict[Key, tuple[Standing, int]]
    units: list[PlacedUnit]

    def list_stated(self) -> list[Key]:
        """Return the subjects and slots about which something is stated, sorted."""
        return sorted(dict.fromkeys((*self.recollection.stated, *self.fixed)))

    def find_stated(self, key: Key) -> Stated:
        """Return the statements about one (subject, slot), the contract's behind the others."""
        stated = self.recollection.stated.get(key) or Stated()
        if key not in self.fixed:
            return stated
        return Stated([*stated.bearings, *(Bearing(standing, 0) for standing in self.fixed[key])])


def read_pool(
    recollection: Recollection,
    contract: Sequence[PredicateRow],
    request: TurnRequested,
    as_of_ms: int,
    set_slots: tuple[str, ...],
) -> Pool:
    """Return the pool of a turn inside its scopes at this moment."""
    scopes = frozenset(request.scopes)
    pool = Pool(
        recollection=recollection,
        fixed=_list_fixed([row for row in contract if row.ended_seq is None]),
        slots={},
        values={},
        preferences=_choose_preferences(recollection, as_of_ms),
        units=_list_units(recollection, as_of_ms, scopes),
    )
    lenses = [Lens(as_of_ms, scopes, united) for united in (False, True)]
    for key in pool.list_stated():
        stated = pool.find_stated(key)
        settled = stated.settle(lenses[key[1] in set_slots])
        if settled.standing is not None:
            pool.slots[key] = settled.standing
            pool.units.extend(settled.units)
        if stated.values:
            pool.values[key] = stated.values
    for key, ended in _list_fixed([row for row in contract if row.ended_seq is not None]).items():
        pool.values[key] = list_own([*pool.values.get(key, ()), *ended])
    return pool


def _list_fixed(rows: Sequence[PredicateRow]) -> dict[Key, list[Standing]]:
    """Return what these predicates state about slots, with confirmed authority."""
    fixed: dict[Key, list[Standing]] = {}
    for row in rows:
        for subject, slot, standing in list_fixed(row):
            fixed.setdefault((subject, slot), []).append(standing)
    return fixed


def _choose_preferences(
    recollection: Recollection, as_of_ms: int
) -> dict[Key, tuple[Standing, int]]:
    """Return the preference in force for each slot: the last of the highest authority."""
    chosen: dict[Key, tuple[Standing, int]] = {}
    for key, stated in recollection.preferences.items():
        valid = [item for item in stated if is_valid(item[0], as_of_ms)]
        if valid:
            best = max(rank(standing.authority) for standing, _ in valid)
            chosen[key] = [item for item in valid if rank(item[0].authority) == best][-1]
    return chosen


def _list_units(
    recollection: Recollection, as_of_ms: int, scopes: frozenset[str]
) -> list[PlacedUnit]:
    """Return the units of texts and recorded evidence inside these scopes at this moment."""
    return [
        (seq, place, unit)
        for seq, (place, own, start, end, unit) in recollection.units
        if start <= as_of_ms
        and (end is None or as_of_ms < end)
        and (not own or not scopes.isdisjoint(own))
    ]
