"""Slots of u_t: which statements still count and which one wins (spec 1.10, 3.1).

A pure algebra over statements of one (subject, slot). The value as of a moment is that of the
last statement of the highest authority among those valid then; a set-valued slot unites them.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from processors.authority import rank
from schemas.row import SlotRow, Standing
from schemas.value import StringSet, Value

STANDINGS_MAX: Final = 16  # Statements that wait for another one to end; the oldest leave first.


def slot_id(subject: str, slot: str) -> str:
    """Return the row id of a (subject, slot); subject "" is the user."""
    return f"{subject}\0{slot}"


def is_valid(standing: Standing, at_ms: int) -> bool:
    """Return whether a moment lies in the interval [from, to) of a statement."""
    if at_ms < standing.valid_from_ms:
        return False
    return standing.valid_to_ms is None or at_ms < standing.valid_to_ms


def settle(standings: Iterable[Standing], at_ms: int) -> Standing | None:
    """Return the statement in force at a moment; statements come in log order."""
    best: Standing | None = None
    best_rank = 0
    for standing in standings:
        if is_valid(standing, at_ms):
            own = rank(standing.authority)
            if own >= best_rank:
                best, best_rank = standing, own
    return best


def settle_set(standings: Iterable[Standing], at_ms: int) -> Standing | None:
    """Return the union of the statements of highest authority valid at a moment.

    A value that is no set of strings, such as null, starts anew. Provenance is the latest.
    """
    valid = [standing for standing in standings if is_valid(standing, at_ms)]
    if not valid:
        return None
    highest = max(rank(standing.authority) for standing in valid)
    chosen = [standing for standing in valid if rank(standing.authority) == highest]
    last = chosen[-1]
    return Standing(
        unite([standing.value for standing in chosen]),
        last.authority,
        last.event_id,
        last.seq,
        min(standing.valid_from_ms for standing in chosen),
        last.valid_to_ms,
    )


def unite(values: Sequence[Value]) -> Value:
    """Return the set of all strings stated, from the last value on that is no set of strings."""
    items: dict[str, None] | None = None
    other: Value = None
    for value in values:
        stated = _list_strings(value)
        if stated is None:
            items, other = None, value
        else:
            items = items if items is not None else {}
            items.update(dict.fromkeys(stated))
    return other if items is None else StringSet(tuple(sorted(items)))


def _list_strings(value: Value) -> tuple[str, ...] | None:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, StringSet):
        return value.items
    if isinstance(value, tuple) and all(isinstance(item, str) for item in value):
        return value  # type: ignore[return-value]
    return None


def list_standings(row: SlotRow | None) -> tuple[Standing, ...]:
    """Return every statement of a row that may still win, in log order."""
    if row is None:
        return ()
    if row.standings:
        return row.standings
    return (
        Standing(
            row.value,
            row.authority,
            row.event_id,
            row.seq,
            row.valid_from_ms,
            row.valid_to_ms,
        ),
    )


def outranks(other: Standing, new: Standing, at_ms: int) -> bool:
    """Return whether a stronger statement holds at some moment from at_ms on that ``new`` claims.

    Then ``new`` does not overwrite: it opens a proposal (spec 1.10).
    """
    if rank(other.authority) <= rank(new.authority):
        return False
    start = max(at_ms, other.valid_from_ms, new.valid_from_ms)
    return all(end is None or start < end for end in (other.valid_to_ms, new.valid_to_ms))


def build_row(subject: str, slot: str, standings: Sequence[Standing], at_ms: int) -> SlotRow | None:
    """Return the row of a single-valued slot, or None when nothing stands."""
    kept = _prune(standings, at_ms)
    return _to_row(subject, slot, kept, settle(kept, at_ms))


def build_set_row(
    subject: str, slot: str, standings: Sequence[Standing], at_ms: int
) -> SlotRow | None:
    """Return the row of a set-valued slot; statements without end are united into one."""
    kept: list[Standing] = []
    for standing in standings:
        last = kept[-1] if kept else None
        if (
            last is not None
            and last.authority is standing.authority
            and _is_open(last, at_ms)
            and _is_open(standing, at_ms)
        ):
            kept[-1] = Standing(
                unite([last.value, standing.value]),
                standing.authority,
                standing.event_id,
                standing.seq,
                last.valid_from_ms,
                None,
            )
        elif standing.valid_to_ms is None or standing.valid_to_ms > at_ms:
            kept.append(standing)
    highest = max((rank(s.authority) for s in kept if _is_open(s, at_ms)), default=0)
    kept = [s for s in kept if rank(s.authority) >= highest][-STANDINGS_MAX:]
    return _to_row(subject, slot, kept, settle_set(kept, at_ms))


def _is_open(standing: Standing, at_ms: int) -> bool:
    return standing.valid_to_ms is None and standing.valid_from_ms <= at_ms


def _prune(standings: Sequence[Standing], at_ms: int) -> list[Standing]:
    kept: list[Standing] = []
    for standing in standings:
        if standing.valid_to_ms is not None and standing.valid_to_ms <= at_ms:
            continue
        if any(_covers(other, standing, at_ms, equal_wins=False) for other in kept):
            continue
        kept = [o for o in kept if not _covers(standing, o, at_ms, equal_wins=True)]
        kept.append(standing)
    return kept[-STANDINGS_MAX:]


def _covers(winner: Standing, loser: Standing, at_ms: int, *, equal_wins: bool) -> bool:
    """Return whether ``loser`` can never win again beside ``winner``."""
    distance = rank(winner.authority) - rank(loser.authority)
    if distance < 0 or (distance == 0 and not equal_wins):
        return False
    if winner.valid_from_ms > max(at_ms, loser.valid_from_ms):
        return False
    if winner.valid_to_ms is None:
        return True
    return loser.valid_to_ms is not None and winner.valid_to_ms >= loser.valid_to_ms


def _to_row(
    subject: str, slot: str, kept: Sequence[Standing], winner: Standing | None
) -> SlotRow | None:
    if not kept:
        return None
    shown = winner or kept[-1]
    return SlotRow(
        subject,
        slot,
        shown.value,
        shown.authority,
        shown.event_id,
        shown.seq,
        shown.valid_from_ms,
        shown.valid_to_ms,
        tuple(kept) if len(kept) > 1 else (),
    )
