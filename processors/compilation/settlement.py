"""How the statements about one slot settle at a moment: who wins, and what stays as evidence.

A settlement is kept until another statement comes, a statement begins or ends, or the turn's
scopes show other units. The order among statements is that of the log.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

from processors.authority import rank
from processors.compilation.bearings import Bearing
from processors.compilation.slots import settle_set
from processors.compilation.units import build_slot_unit
from processors.situation import Unit
from schemas.catalogue import Authority
from schemas.row import Standing

_OWN_WORD: Final = (Authority.ASSERTED, Authority.CONFIRMED)
_BY_PLACE: Final = attrgetter("standing.seq", "place")

PlacedUnit = tuple[int, int, Unit]
"""Seq and index of a unit, which order E_t, and the unit."""


class Lens(NamedTuple):
    """What a settlement hangs on beside the statements; ``united`` for a set-valued slot."""

    as_of_ms: int
    scopes: frozenset[str]
    united: bool


class Settled(NamedTuple):
    """The statement that wins and those that stay as evidence, newest first, with their units.

    It is so from ``start_ms`` until ``end_ms``. ``scopes`` is None where no statement is bound
    to any.
    """

    standing: Standing | None
    evidence: Sequence[Bearing]
    units: tuple[PlacedUnit, ...]
    start_ms: int | None
    end_ms: int | None
    scopes: frozenset[str] | None
    united: bool

    def holds(self, lens: Lens) -> bool:
        """Return whether it is what the same statements would settle to under this lens."""
        return (
            (self.start_ms is None or self.start_ms <= lens.as_of_ms)
            and (self.end_ms is None or lens.as_of_ms < self.end_ms)
            and (self.scopes is None or self.scopes == lens.scopes)
            and self.united == lens.united
        )


@dataclass(slots=True)
class Stated:
    """Every statement about one (subject, slot), in log order once they have settled.

    ``values`` are then what the user stated, asserted or confirmed, newest first (spec 5.7), and
    ``taken`` says how many statements are in them and in ``settled``.
    """

    bearings: list[Bearing] = field(default_factory=list)
    values: tuple[Standing, ...] = ()
    settled: Settled | None = None
    taken: int = 0
    ordered: bool = False

    def add(self, bearing: Bearing) -> None:
        """Take one more statement."""
        bearings = self.bearings
        self.ordered = not bearings or (
            self.ordered and _BY_PLACE(bearings[-1]) <= _BY_PLACE(bearing)
        )
        bearings.append(bearing)

    def settle(self, lens: Lens) -> Settled:
        """Return how the statements settle under this lens."""
        if not self.ordered:
            self.bearings.sort(key=_BY_PLACE)
            self.values, self.settled, self.taken, self.ordered = (), None, 0, True
        known = self.settled if self.settled is not None and self.settled.holds(lens) else None
        fresh = self.bearings[self.taken :]
        if known is None or fresh:
            self.values = (*list_own([bearing.standing for bearing in fresh]), *self.values)
            self.taken = len(self.bearings)
            known = self.settled = (
                settle_bearings(self.bearings, lens)
                if known is None or not all(_makes_unit(item, lens.scopes) for item in fresh)
                else settle_on(known, fresh, lens)
            )
        return known


def list_own(standings: Sequence[Standing]) -> tuple[Standing, ...]:
    """Return those that are the user's own word, newest first."""
    own = [standing for standing in standings if standing.authority in _OWN_WORD]
    return tuple(sorted(own, key=attrgetter("seq"), reverse=True))


def settle_bearings(bearings: Sequence[Bearing], lens: Lens) -> Settled:
    """Return how statements in log order settle under a lens."""
    valid, start, end = _find_valid(bearings, lens.as_of_ms)
    if lens.united:
        standing = settle_set([bearing.standing for bearing in valid], lens.as_of_ms)
        evidence: Sequence[Bearing] = valid[::-1]
    else:
        standing, evidence = _settle_one(valid, lens.scopes)
    return Settled(
        standing,
        evidence,
        tuple([_place_unit(item) for item in evidence if _makes_unit(item, lens.scopes)]),
        start,
        end,
        lens.scopes if any(bearing.scopes for bearing in bearings) else None,
        lens.united,
    )


def settle_on(known: Settled, fresh: Sequence[Bearing], lens: Lens) -> Settled:
    """Return how statements settle that were settled but for the last, which all make units.

    One that was weaker than a later one, or no evidence beside it, is so beside still later ones.
    """
    found = settle_bearings([*reversed(known.evidence), *fresh], lens)
    starts = [moment for moment in (known.start_ms, found.start_ms) if moment is not None]
    ends = [moment for moment in (known.end_ms, found.end_ms) if moment is not None]
    return found._replace(start_ms=max(starts, default=None), end_ms=min(ends, default=None))


def _find_valid(
    bearings: Sequence[Bearing], as_of_ms: int
) -> tuple[list[Bearing], int | None, int | None]:
    """Return those valid at as_of, and between which two moments exactly these are valid.

    A user states one slot hundreds of times, so this is one plain pass.
    """
    valid = []
    past: list[int] = []
    coming: list[int] = []
    for bearing in bearings:
        start, end = bearing.standing.valid_from_ms, bearing.standing.valid_to_ms
        if as_of_ms < start:
            coming.append(start)
            continue
        past.append(start)
        if end is None:
            valid.append(bearing)
        elif as_of_ms < end:
            coming.append(end)
            valid.append(bearing)
        else:
            past.append(end)
    return valid, max(past, default=None), min(coming, default=None)


def _settle_one(
    valid: Sequence[Bearing], scopes: frozenset[str]
) -> tuple[Standing | None, list[Bearing]]:
    """Find the statement that wins among several, and those that it leaves as evidence.

    A later statement takes the place of an earlier one's unit unless the earlier one is stronger.
    A confirmed predicate, or a commitment, that says the same leaves the evidence for it alone.
    """
    strongest: Bearing | None = None  # Of the later ones; an earlier one must exceed it.
    highest = -1
    evidence = []
    for bearing in reversed(valid):
        own = rank(bearing.standing.authority)
        if strongest is None or own > highest:
            evidence.append(bearing)
            strongest, highest = bearing, own
        elif strongest.standing.value == bearing.standing.value and not _makes_unit(
            strongest, scopes
        ):
            evidence.append(bearing)
    return (None if strongest is None else strongest.standing), evidence


def _makes_unit(bearing: Bearing, scopes: frozenset[str]) -> bool:
    """Return whether a statement makes a unit for a turn: outside of its scopes it does not."""
    if bearing.source is None:
        return False
    return not bearing.scopes or not scopes.isdisjoint(bearing.scopes)


def _place_unit(bearing: Bearing) -> PlacedUnit:
    standing = bearing.standing
    assert bearing.source is not None, "only a statement with a source makes a unit"
    return (
        standing.seq,
        bearing.place,
        build_slot_unit(
            standing.seq, bearing.place, standing.event_id, bearing.digest, bearing.source,
            standing.authority,
        ),
    )  # fmt: skip
