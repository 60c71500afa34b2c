"""All that a user's rows bear, whatever the turn: gone through once, and on from there.

A user has up to 20,000 rows and few of them are new at a turn. What a turn makes of them, at its
moment and inside its scopes, stands in ``pool``; what one row bears, in ``bearings``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from processors.compilation.bearings import Bearing, Borne, Key, TimedUnit, recall_borne
from processors.compilation.history import (
    cap_authority,
    list_consequences,
    list_failed,
    read_statement,
)
from processors.compilation.settlement import Stated
from processors.compilation.units import count_answer_units
from processors.view import Rows, View
from schemas.catalogue import Authority
from schemas.event import HintKind
from schemas.row import ConsequenceRow, EventRow, Standing, StatementRow


class _Derived(NamedTuple):
    """An event with sources, and what it was worth when it was taken."""

    seq: int
    row: EventRow
    worth: Authority


@dataclass(slots=True)
class Recollection:
    """What rows bear: timed units, statements and preferences per slot, in log order.

    ``touched`` and ``scenes`` are the last seqs at which something was said about a dimension
    and at which the user filled in a form of a scene. ``taken`` says how many rows of events,
    statements and consequences are in it, ``failed`` which commitments' consequences are not.
    """

    statements: Sequence[tuple[str, StatementRow]]
    consequences: Sequence[tuple[str, ConsequenceRow]]
    failed: frozenset[str]
    taken: tuple[int, int, int] = (0, 0, 0)
    units: list[tuple[int, TimedUnit]] = field(default_factory=list)
    stated: dict[Key, Stated] = field(default_factory=dict)
    preferences: dict[Key, list[tuple[Standing, int]]] = field(default_factory=dict)
    touched: dict[str, int] = field(default_factory=dict)
    scenes: dict[str, int] = field(default_factory=dict)
    derived: list[_Derived] = field(default_factory=list)


def recollect(view: View) -> Recollection:
    """Return what the view's rows bear, continued from the last time if rows only came since.

    It is kept with the rows of events (``view.Rows``) and good until the view changes.
    """
    events = view.scan(EventRow)
    statements, consequences = view.scan(StatementRow), view.scan(ConsequenceRow)
    failed = list_failed(view, consequences)
    kept: Recollection | None = getattr(events, "derived", None)
    if (
        kept is None
        or kept.statements is not statements
        or kept.consequences is not consequences
        or kept.failed != failed
        or any(cap_authority(view, row, seq) is not worth for seq, row, worth in kept.derived)
    ):
        kept = Recollection(statements, consequences, failed)
    if kept.taken == (len(events), len(statements), len(consequences)):
        return kept
    if isinstance(events, Rows):
        events.derived = None  # What a failure leaves half done is never found again.
    _grow(kept, view, events)
    if isinstance(events, Rows) and isinstance(statements, Rows) and isinstance(consequences, Rows):
        events.derived = kept
    return kept


def _grow(kept: Recollection, view: View, events: Sequence[tuple[str, EventRow]]) -> None:
    """Take the rows behind those that are taken already."""
    of_events, of_statements, of_consequences = kept.taken
    for row_id, row in islice(events, of_events, None):
        borne = recall_borne(view, row, int(row_id))
        _take_event(kept, borne)
        if row.event.derived_from:
            kept.derived.append(_Derived(borne.seq, row, cap_authority(view, row, borne.seq)))
    for row_id, statement in islice(kept.statements, of_statements, None):
        _take_statement(kept, row_id, statement)
    for row_id, consequence in islice(kept.consequences, of_consequences, None):
        if consequence.commitment_id not in kept.failed:
            for subject, slot, standing in list_consequences(row_id, consequence):
                _state(kept, (subject, slot), Bearing(standing, 0))
    kept.taken = (len(events), len(kept.statements), len(kept.consequences))


def _take_event(kept: Recollection, borne: Borne) -> None:
    seq = borne.seq
    for name in borne.touched:
        kept.touched[name] = max(seq, kept.touched.get(name, 0))
    if borne.scene is not None:
        kept.scenes[borne.scene] = seq
    for unit in borne.units:
        kept.units.append((seq, unit))
    for key, bearing in borne.stated:
        _state(kept, key, bearing)


def _take_statement(kept: Recollection, row_id: str, row: StatementRow) -> None:
    seq, _, index = row_id.partition("\0")
    subject, slot, standing = read_statement(row, int(seq))
    key = (subject, slot)
    if row.kind is HintKind.PREFERENCE:
        kept.preferences.setdefault(key, []).append((standing, row.confidence))
        return
    kept.touched[slot] = max(standing.seq, kept.touched.get(slot, 0))
    source = row if count_answer_units(row) else None
    _state(kept, key, Bearing(standing, int(index), source, row.digest))


def _state(kept: Recollection, key: Key, bearing: Bearing) -> None:
    stated = kept.stated.get(key)
    if stated is None:
        stated = kept.stated[key] = Stated()
    stated.add(bearing)
