"""Units of evidence: what an event bears, as z, d, rho, tau, kappa (spec 3.2).

Only the shape of units stands here; which of them are in E_t for a turn is ``reading``.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from processors.authority import speak
from processors.situation import Unit
from schemas.catalogue import Authority
from schemas.event import (
    Event,
    EvidenceRecorded,
    FormSubmitted,
    ObservationCorrected,
    OutcomeObserved,
    PrincipalKind,
    Sensitivity,
    SlotStatement,
    UnitDraft,
    UtteranceObserved,
    UtteranceOrigin,
)
from schemas.record import compile_building
from schemas.row import EventRow, PredicateRow, StatementRow
from schemas.value import Value
from schemas.value_json import render_json

_build_unit: Final = compile_building(Unit)

TEXT: Final = "text"
"""The dimension of what a user said."""

STATING: Final = (FormSubmitted, OutcomeObserved, ObservationCorrected)
"""Payloads of slot statements; isinstance takes a tuple five times faster than a union."""


def is_own_text(event: Event) -> bool:
    """Return whether an event is the user's own utterance, the only text that makes a unit."""
    payload = event.payload
    return (
        isinstance(payload, UtteranceObserved)
        and event.principal.kind is PrincipalKind.USER
        and payload.origin is UtteranceOrigin.SAID
    )


def count_units(event: Event) -> int:
    """Return how many units the event's row bears."""
    payload = event.payload
    if isinstance(payload, EvidenceRecorded):
        return len(payload.units)
    if isinstance(payload, STATING):
        return len([1 for statement in payload.statements if statement.value is not None])
    return int(is_own_text(event))


def count_answer_units(statement: StatementRow) -> int:
    """Return how many units a statement without an event row bears: an answer one, a hint none."""
    return int(not is_hint(statement) and statement.value is not None)


def is_hint(statement: StatementRow) -> bool:
    """Return whether a statement without an event row is a hint, and no answer of the user."""
    return statement.authority is not Authority.ASSERTED


def list_statements(event: Event) -> tuple[SlotStatement, ...]:
    """Return the slot statements of an event; subject "" is the user, also when named by id."""
    payload = event.payload
    if not isinstance(payload, STATING):
        return ()
    user = event.user
    for statement in payload.statements:
        if statement.subject == user:
            return tuple(
                replace(one, subject="") if one.subject == user else one
                for one in payload.statements
            )
    return payload.statements


def units_of(
    row: EventRow, seq: int, authority: Authority | None = None
) -> Iterator[tuple[int, Unit]]:
    """Yield (index, unit) for each unit of an event row, in order.

    ``authority`` is the most that a derived event can be worth; None for one that is not.
    """
    event = row.event
    payload = event.payload
    worth = speak(event.principal.kind) if authority is None else authority
    if isinstance(payload, STATING):
        for index, statement in enumerate(list_statements(event)):
            if statement.value is not None:
                yield (
                    index,
                    build_slot_unit(seq, index, event.event_id, row.digest, statement, worth),
                )
    elif isinstance(payload, EvidenceRecorded):
        for index, draft in enumerate(payload.units):
            yield index, build_unit(row, seq, index, draft, worth)
    elif isinstance(payload, UtteranceObserved):
        yield 0, build_text_unit(row, seq, payload.text, worth)


def build_unit(row: EventRow, seq: int, index: int, draft: UnitDraft, worth: Authority) -> Unit:
    """Return the unit of one draft; without a cost it costs its UTF-8 bytes."""
    content = draft.content
    return _build_unit(
        f"{seq}#{index}", row.event.event_id, row.digest, seq, content, draft.reference, "",
        draft.slot, draft.value, draft.dimensions, worth, draft.tail_witness, draft.sensitivity,
        len(content.encode()) if draft.cost is None else draft.cost, None,
    )  # fmt: skip


def build_text_unit(row: EventRow, seq: int, text: str, worth: Authority) -> Unit:
    """Return the unit of a user's utterance."""
    return _build_unit(
        f"{seq}#0", row.event.event_id, row.digest, seq, text, None, "", None, None, (TEXT,),
        worth, False, Sensitivity.NONE, len(text.encode()), None,
    )  # fmt: skip


def build_slot_unit(
    seq: int,
    index: int,
    event_id: str,
    digest: bytes,
    statement: SlotStatement | StatementRow,
    authority: Authority,
) -> Unit:
    """Return the unit of one slot statement; its dimension is the slot's name."""
    content = _write(statement.subject, statement.slot, statement.value)
    return _build_unit(
        f"{seq}#{index}", event_id, digest, seq, content, None, statement.subject,
        statement.slot, statement.value, (statement.slot,), authority, False,
        Sensitivity.NONE, len(content.encode()), None,
    )  # fmt: skip


def build_predicate_unit(
    row: PredicateRow, *, slots: tuple[str, ...], fixed: tuple[str, Value] | None
) -> Unit:
    """Return the unit of a predicate in force: its dimensions and the slots that it reads.

    One with an exception is a tail witness. A predicate that fixes a slot carries the value.
    """
    predicate = row.predicate
    content = predicate.expression
    if predicate.unless is not None:
        content = f"({content}) unless ({predicate.unless})"
    dimensions = tuple(sorted({*predicate.dimensions, *slots}))
    slot, value = fixed if fixed is not None else (slots[0] if len(slots) == 1 else None, None)
    return Unit(
        f"{row.seq}#p:{predicate.predicate_id}", row.event_id, row.event_digest, row.seq,
        content, None, predicate.subject, slot, value, dimensions,
        Authority.CONFIRMED, has_exception(row), Sensitivity.NONE, len(content.encode()),
        predicate.predicate_id,
    )  # fmt: skip


def has_exception(row: PredicateRow) -> bool:
    """Return whether the rule has an exception, in its own field or inside its text."""
    return row.predicate.unless is not None or " unless " in row.predicate.expression


def _write(subject: str, slot: str, value: Value) -> str:
    text = value if type(value) is str else render_json(value)
    return f"{subject}.{slot}: {text}" if subject else f"{slot}: {text}"
