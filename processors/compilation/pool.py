"""One linear pass over what a user's events bear: E_t and the statements behind u_t (spec 3).

What is in E_t for a turn: units inside its scopes, valid at as_of and not replaced; withdrawn
ones have no row any more. Assembling the situation is ``reading``.
"""

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

from processors.authority import rank
from processors.compilation.bearings import Bearing, Borne, Key, recall_borne
from processors.compilation.history import list_consequences, list_fixed, read_statement
from processors.compilation.slots import is_valid, settle_set
from processors.compilation.units import build_slot_unit, count_answer_units
from processors.situation import Unit
from processors.view import View
from schemas.catalogue import Authority
from schemas.event import HintKind
from schemas.row import ConsequenceRow, EventRow, PredicateRow, Standing, StatementRow

_OWN_WORD: Final = (Authority.ASSERTED, Authority.CONFIRMED)
_BY_PLACE: Final = attrgetter("standing.seq", "place")


@dataclass(slots=True)
class Pool:
    """What the pass has found: units with their index, statements and preferences per slot.

    ``touched`` and ``scenes`` are the last seqs at which something was said about a dimension
    and at which the user filled in a form of a scene.
    """

    as_of_ms: int
    scopes: frozenset[str]
    units: list[tuple[int, int, Unit]] = field(default_factory=list)
    stated: dict[Key, list[Bearing]] = field(default_factory=dict)
    preferences: dict[Key, tuple[Standing, int]] = field(default_factory=dict)
    touched: dict[str, int] = field(default_factory=dict)
    scenes: dict[str, int] = field(default_factory=dict)


def read_pool(view: View, *, as_of_ms: int, scopes: frozenset[str]) -> Pool:
    """Return the pool of a turn with these scopes at this moment."""
    pool = Pool(as_of_ms, scopes)
    for row_id, row in view.scan(EventRow):
        _take_event(pool, recall_borne(view, row, int(row_id)))
    for row_id, statement in view.scan(StatementRow):
        _take_statement(pool, row_id, statement)
    if view.scan(ConsequenceRow):
        for subject, slot, standing in list_consequences(view):
            _state(pool, (subject, slot), Bearing(standing, 0, None, b""))
    return pool


def take_contract(pool: Pool, rows: list[PredicateRow]) -> None:
    """Add what predicates in force state about slots, with confirmed authority."""
    for row in rows:
        for subject, slot, standing in list_fixed(row):
            _state(pool, (subject, slot), Bearing(standing, 0, None, b""))


def settle_pool(pool: Pool, set_slots: tuple[str, ...]) -> dict[Key, Standing]:
    """Return u_t's slots at as_of, and add the units of statements that are not replaced."""
    slots: dict[Key, Standing] = {}
    as_of_ms = pool.as_of_ms
    for key, bearings in pool.stated.items():
        if key[1] in set_slots:
            _settle_set(pool, slots, key)
        elif len(bearings) > 1:
            _settle_many(pool, slots, key)
        elif is_valid(bearings[0].standing, as_of_ms):
            slots[key] = bearings[0].standing
            _take_unit(pool, bearings[0])
    return slots


def _settle_set(pool: Pool, slots: dict[Key, Standing], key: Key) -> None:
    """Unite a set-valued slot; every part of it stays evidence."""
    bearings = pool.stated[key]
    bearings.sort(key=_BY_PLACE)
    winner = settle_set([bearing.standing for bearing in bearings], pool.as_of_ms)
    if winner is not None:
        slots[key] = winner
    for bearing in bearings:
        if is_valid(bearing.standing, pool.as_of_ms):
            _take_unit(pool, bearing)


def _settle_many(pool: Pool, slots: dict[Key, Standing], key: Key) -> None:
    """Find the statement that wins among several, and those that it leaves as evidence.

    A later statement takes the place of an earlier one's unit unless the earlier one is stronger.
    A confirmed predicate, or a commitment, that says the same leaves the evidence for it alone.
    """
    bearings = pool.stated[key]
    bearings.sort(key=_BY_PLACE)
    strongest: Bearing | None = None  # Of the later ones; an earlier one must exceed it.
    highest = -1
    for bearing in reversed(bearings):
        standing = bearing.standing
        if not is_valid(standing, pool.as_of_ms):
            continue
        own = rank(standing.authority)
        if strongest is None or own > highest:
            _take_unit(pool, bearing)
            strongest, highest = bearing, own
        elif strongest.source is None and strongest.standing.value == standing.value:
            _take_unit(pool, bearing)
    if strongest is not None:
        slots[key] = strongest.standing


def _take_event(pool: Pool, borne: Borne) -> None:
    """Add what one event bears: this runs for every event of a user at every turn."""
    seq, as_of_ms, turn = borne.seq, pool.as_of_ms, pool.scopes
    for name in borne.touched:
        pool.touched[name] = seq
    if borne.scene is not None:
        pool.scenes[borne.scene] = seq
    for place, scopes, start, end, unit in borne.units:
        if as_of_ms < start or (end is not None and end <= as_of_ms):
            continue
        if not scopes or not turn.isdisjoint(scopes):
            pool.units.append((seq, place, unit))
    if not borne.stated:
        return
    hidden = borne.scopes and turn.isdisjoint(borne.scopes)
    stated = pool.stated
    for key, bearing in borne.stated:
        shown = bearing._replace(source=None) if hidden else bearing
        bearings = stated.get(key)
        if bearings is None:
            stated[key] = [shown]
        else:
            bearings.append(shown)


def _take_statement(pool: Pool, row_id: str, row: StatementRow) -> None:
    seq, _, index = row_id.partition("\0")
    subject, slot, standing = read_statement(row, int(seq))
    if row.kind is not HintKind.PREFERENCE:
        pool.touched[slot] = max(standing.seq, pool.touched.get(slot, 0))
        source = row if count_answer_units(row) else None
        _state(pool, (subject, slot), Bearing(standing, int(index), source, row.digest))
    elif is_valid(standing, pool.as_of_ms):
        before = pool.preferences.get((subject, slot))
        if before is None or rank(row.authority) >= rank(before[0].authority):
            pool.preferences[subject, slot] = (standing, row.confidence)


def _state(pool: Pool, key: Key, bearing: Bearing) -> None:
    bearings = pool.stated.get(key)
    if bearings is None:
        pool.stated[key] = [bearing]
    else:
        bearings.append(bearing)


def _take_unit(pool: Pool, bearing: Bearing) -> None:
    standing, source = bearing.standing, bearing.source
    if source is None:
        return
    unit = build_slot_unit(
        standing.seq, bearing.place, standing.event_id, bearing.digest, source,
        standing.authority,
    )  # fmt: skip
    pool.units.append((standing.seq, bearing.place, unit))


def list_user_values(pool: Pool, ended: list[PredicateRow]) -> dict[Key, tuple[Standing, ...]]:
    """Return every value that the user ever stated about a slot, newest first (spec 5.7).

    Asserted and confirmed ones, also those that were replaced, expired or revoked since.
    """
    found: dict[Key, list[Standing]] = {}
    for key, bearings in pool.stated.items():
        own = [bearing.standing for bearing in bearings if bearing.standing.authority in _OWN_WORD]
        if own:
            found[key] = own
    for row in ended:
        for subject, slot, standing in list_fixed(row):
            found.setdefault((subject, slot), []).append(standing)
    return {
        key: (own[0],)
        if len(own) == 1
        else tuple(sorted(own, key=lambda standing: standing.seq, reverse=True))
        for key, own in found.items()
    }
