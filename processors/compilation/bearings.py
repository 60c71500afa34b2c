"""What one event's row bears, whatever the turn: statements, units, and what it touches.

Derived once in a row's life and kept with it. What all rows bear together is ``recollection``.
"""

from typing import Final, NamedTuple

from processors.compilation.history import cap_authority
from processors.compilation.units import (
    STATING,
    TEXT,
    build_text_unit,
    build_unit,
    list_statements,
)
from processors.situation import Unit
from processors.view import View
from schemas.catalogue import Authority
from schemas.event import (
    EvidenceRecorded,
    FormSubmitted,
    ObservationCorrected,
    PrincipalKind,
    SlotStatement,
    UtteranceObserved,
)
from schemas.record import compile_building
from schemas.row import EventRow, Standing, StatementRow

Key = tuple[str, str]
"""Subject and slot."""

_build_standing: Final = compile_building(Standing)


class Bearing(NamedTuple):
    """A statement, and what its unit is made of; ``source`` None when it makes none.

    Outside ``scopes`` the statement counts all the same, and makes no unit.
    """

    standing: Standing
    place: int
    source: SlotStatement | StatementRow | None = None
    digest: bytes = b""
    scopes: tuple[str, ...] = ()


class TimedUnit(NamedTuple):
    """A unit at its place in the event, seen inside these scopes from ``start`` to ``end``.

    One without scopes is seen anywhere, one with scopes only where the turn shares one (spec 3.2).
    """

    place: int
    scopes: tuple[str, ...]
    start_ms: int
    end_ms: int | None
    unit: Unit


class Borne(NamedTuple):
    """What an event's row bears.

    ``touched`` are the dimensions that it says something about, ``scene`` that of the form that
    the user filled in.
    """

    seq: int
    touched: tuple[str, ...]
    scene: str | None = None
    units: tuple[TimedUnit, ...] = ()
    stated: tuple[tuple[Key, Bearing], ...] = ()


def recall_borne(view: View, row: EventRow, seq: int) -> Borne:
    """Return what the row at this seq bears; a row without sources keeps it (``Remembering``).

    A user has up to 20,000 rows and every turn reads them all. What a derived event is worth
    hangs on its sources, so that is found anew.
    """
    try:
        kept: Borne = row.derived
    except AttributeError:
        pass
    else:
        if kept.seq == seq:
            return kept
    borne = _derive(row, seq, cap_authority(view, row, seq))
    if not row.event.derived_from:
        object.__setattr__(row, "derived", borne)
    return borne


def _derive(row: EventRow, seq: int, worth: Authority) -> Borne:
    payload = row.event.payload
    if isinstance(payload, UtteranceObserved):
        unit = build_text_unit(row, seq, payload.text, worth)
        return Borne(
            seq, (TEXT,), units=(TimedUnit(0, payload.scopes, row.effective_ms, None, unit),)
        )
    if isinstance(payload, EvidenceRecorded):
        return _derive_evidence(row, seq, worth, payload)
    if isinstance(payload, STATING):
        return _derive_statements(row, seq, worth)
    return Borne(seq, ())


def _derive_evidence(row: EventRow, seq: int, worth: Authority, payload: EvidenceRecorded) -> Borne:
    units = tuple(
        TimedUnit(
            index,
            draft.scopes,
            row.effective_ms if draft.valid_from_ms is None else draft.valid_from_ms,
            draft.valid_to_ms,
            build_unit(row, seq, index, draft, worth),
        )
        for index, draft in enumerate(payload.units)
    )
    touched = dict.fromkeys(name for draft in payload.units for name in draft.dimensions)
    return Borne(seq, tuple(touched), units=units)


def _derive_statements(row: EventRow, seq: int, worth: Authority) -> Borne:
    event = row.event
    payload = event.payload
    assert isinstance(payload, STATING), "only these events state"
    scene = None
    if isinstance(payload, FormSubmitted) and event.principal.kind is PrincipalKind.USER:
        scene = payload.scene or ""
    scopes = () if isinstance(payload, ObservationCorrected) else payload.scopes
    stated = []
    for index, statement in enumerate(list_statements(event)):
        start = statement.valid_from_ms
        standing = _build_standing(
            statement.value, worth, event.event_id, seq,
            row.effective_ms if start is None else start, statement.valid_to_ms,
        )  # fmt: skip
        source = None if statement.value is None else statement
        key = (statement.subject, statement.slot)
        stated.append((key, Bearing(standing, index, source, row.digest, scopes)))
    return Borne(
        seq,
        tuple(dict.fromkeys(slot for (_, slot), _ in stated)),
        scene=scene,
        stated=tuple(stated),
    )
