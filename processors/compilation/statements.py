"""Slot statements: equal or higher authority replaces, a weaker one opens a proposal (1.10).

Folding one statement reads and writes the row of its own (subject, slot) and nothing else.
"""

from dataclasses import replace
from typing import Final

from processors.authority import rank
from processors.compilation.draft import Draft, read_catalogue
from processors.compilation.proposals import FULL_CONFIDENCE, propose_value
from processors.compilation.slots import (
    build_row,
    build_set_row,
    list_standings,
    outranks,
    slot_id,
    unite,
)
from schemas.catalogue import Authority
from schemas.event import SlotStatement
from schemas.record import compile_building
from schemas.row import SlotRow, Standing
from schemas.value import Value

_build_slot_row: Final = compile_building(SlotRow)


def fold_statements(
    draft: Draft, statements: tuple[SlotStatement, ...], authority: Authority
) -> None:
    """Fold the slot statements of one event."""
    catalogue = read_catalogue(draft.before)
    set_slots = () if catalogue is None else catalogue.set_slots
    for statement in statements:
        if statement.slot in set_slots or not _replace_plainly(draft, statement, authority):
            standing = build_standing(draft, statement, authority)
            fold_standing(draft, statement.subject, statement.slot, standing)


def _replace_plainly(draft: Draft, statement: SlotStatement, authority: Authority) -> bool:
    """Replace the row of a slot where nothing else can ever win again: the common case."""
    if statement.valid_from_ms is not None or statement.valid_to_ms is not None:
        return False
    row_id = f"{statement.subject}\0{statement.slot}"
    row = draft.view.get(SlotRow, row_id)
    if row is not None and (row.standings or rank(authority) < rank(row.authority)):
        return False
    arrival = draft.arrival
    draft.changes[SlotRow, row_id] = _build_slot_row(
        statement.subject, statement.slot, statement.value, authority,
        arrival.event.event_id, arrival.seq, arrival.effective_ms, None, (),
    )  # fmt: skip
    return True


def build_standing(draft: Draft, statement: SlotStatement, authority: Authority) -> Standing:
    """Return the statement with its provenance; without interval it holds from now on."""
    arrival = draft.arrival
    start = statement.valid_from_ms
    return Standing(
        statement.value,
        authority,
        arrival.event.event_id,
        arrival.seq,
        arrival.effective_ms if start is None else start,
        statement.valid_to_ms,
    )


def fold_standing(
    draft: Draft,
    subject: str,
    slot: str,
    standing: Standing,
    confidence: int = FULL_CONFIDENCE,
) -> None:
    """Fold one statement into its slot's row; a weaker one opens a proposal instead."""
    at_ms = draft.arrival.effective_ms
    row_id = slot_id(subject, slot)
    row = draft.view.get(SlotRow, row_id)
    if is_set_valued(draft, slot):
        _fold_into_set(draft, row, subject, slot, standing, confidence)
        return
    before = list_standings(row)
    stronger = [other for other in before if outranks(other, standing, at_ms)]
    draft.changes[SlotRow, row_id] = build_row(subject, slot, (*before, standing), at_ms)
    if any(_differ(other.value, standing.value) for other in stronger):
        propose_value(draft, subject, slot, standing, confidence)


def is_set_valued(draft: Draft, slot: str) -> bool:
    """Return whether the active catalogue declares the state slot as set-valued."""
    catalogue = read_catalogue(draft.before)
    return catalogue is not None and slot in catalogue.set_slots


def _differ(left: Value, right: Value) -> bool:
    return type(left) is not type(right) or left != right


def _fold_into_set(
    draft: Draft,
    row: SlotRow | None,
    subject: str,
    slot: str,
    standing: Standing,
    confidence: int,
) -> None:
    at_ms = draft.arrival.effective_ms
    if row is not None and _simply_adds(row, standing, at_ms):
        draft.changes[SlotRow, slot_id(subject, slot)] = SlotRow(
            subject, slot, unite([row.value, standing.value]), row.authority,
            standing.event_id, standing.seq, row.valid_from_ms, None, (),
        )  # fmt: skip
        return
    before = list_standings(row)
    stronger = [other for other in before if outranks(other, standing, at_ms)]
    draft.changes[SlotRow, slot_id(subject, slot)] = build_set_row(
        subject, slot, (*before, standing), at_ms
    )
    if not stronger:
        return
    held = unite([other.value for other in stronger])
    united = unite([held, standing.value])
    if united != held:
        proposed = replace(standing, value=united)
        propose_value(draft, subject, slot, proposed, confidence)


def _simply_adds(row: SlotRow, new: Standing, at_ms: int) -> bool:
    # The common case of a set: one statement without end, and another of the same authority.
    if row.standings or row.valid_to_ms is not None or new.valid_to_ms is not None:
        return False
    return row.authority is new.authority and max(row.valid_from_ms, new.valid_from_ms) <= at_ms
