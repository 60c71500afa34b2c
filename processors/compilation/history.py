"""The statements that the rows of a user hold, in log order: the history behind u_t (spec 3.1).

One pass over events, answers and hints, consequences and the contract. What is withdrawn has no
row any more, so it cannot come back.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from processors.authority import lowest, speak
from processors.compilation.fixing import find_fixed_slot
from processors.compilation.units import list_statements
from processors.view import View
from schemas.catalogue import Authority
from schemas.event import HintKind
from schemas.row import (
    CommitmentRow,
    ConsequenceRow,
    DerivedRow,
    EventRow,
    PredicateRow,
    Standing,
    StatementRow,
    render_seq,
)

FAILED: Final = "failed"

Stated = tuple[str, str, Standing]
"""Subject, slot and statement."""


def list_slot_standings(
    view: View, wanted: Mapping[tuple[str, str], None]
) -> dict[tuple[str, str], list[Standing]]:
    """Return every statement about the wanted slots, in log order."""
    found: dict[tuple[str, str], list[Standing]] = {key: [] for key in wanted}
    for subject, slot, standing in list_stated(view):
        if (subject, slot) in found:
            found[subject, slot].append(standing)
    for standings in found.values():
        standings.sort(key=lambda standing: standing.seq)
    return found


def list_stated(view: View) -> Iterator[Stated]:
    """Yield every statement that stands in rows; those of one source in log order."""
    for row_id, row in view.scan(EventRow):
        if list_statements(row.event):
            yield from list_event_statements(view, row, int(row_id))
    for row_id, statement in view.scan(StatementRow):
        if statement.kind is HintKind.SLOT:
            yield read_statement(statement, int(row_id.partition("\0")[0]))
    consequences = view.scan(ConsequenceRow)
    failed = list_failed(view, consequences)
    for row_id, consequence in consequences:
        if consequence.commitment_id not in failed:
            yield from list_consequences(row_id, consequence)
    for _, predicate in view.scan(PredicateRow):
        if predicate.ended_seq is None:
            yield from list_fixed(predicate)


def list_event_statements(view: View, row: EventRow, seq: int) -> Iterator[Stated]:
    """Yield the statements of one event's row."""
    event = row.event
    worth = cap_authority(view, row, seq)
    effective_ms = row.effective_ms
    for statement in list_statements(event):
        start = statement.valid_from_ms
        yield (
            statement.subject,
            statement.slot,
            Standing(
                statement.value,
                worth,
                event.event_id,
                seq,
                effective_ms if start is None else start,
                statement.valid_to_ms,
            ),
        )


def cap_authority(view: View, row: EventRow, seq: int) -> Authority:
    """Return what an event's statements and units are worth, its sources considered."""
    event = row.event
    worth = speak(event.principal.kind)
    if not event.derived_from:
        return worth
    derived = view.get(DerivedRow, f"{event.derived_from[0]}\0{render_seq(seq)}")
    return Authority.HINT if derived is None else lowest((worth, derived.authority))


def read_statement(row: StatementRow, seq: int) -> Stated:
    """Return the statement of a hint or an answer."""
    return (
        row.subject,
        row.slot,
        Standing(row.value, row.authority, row.event_id, seq, row.effective_ms, None),
    )


def list_failed(view: View, consequences: Iterable[tuple[str, ConsequenceRow]]) -> frozenset[str]:
    """Return the ids of the commitments behind these rows that failed: they made nothing true."""
    failed = []
    for _, row in consequences:
        commitment = view.get(CommitmentRow, row.commitment_id)
        if commitment is not None and commitment.result == FAILED:
            failed.append(row.commitment_id)
    return frozenset(failed)


def list_consequences(row_id: str, row: ConsequenceRow) -> Iterator[Stated]:
    """Yield what a commitment made true, unless it failed (``list_failed``).

    A commitment was generated, so its statements are worth ``inferred``, whoever wrote them.
    """
    seq = int(row_id)
    for slot in row.slots:
        standing = Standing(
            slot.value, Authority.INFERRED, row.event_id, seq, row.effective_ms, None
        )
        yield row.subject, slot.name, standing


def list_fixed(row: PredicateRow) -> Iterator[Stated]:
    """Yield the value that a standing predicate of all scenes fixes, as a confirmed statement."""
    fixed = find_fixed_slot(row.predicate)
    if fixed is None:
        return
    slot, value = fixed
    start = row.predicate.valid_from_ms
    yield (
        row.predicate.subject,
        slot,
        Standing(
            value,
            Authority.CONFIRMED,
            row.event_id,
            row.seq,
            row.effective_ms if start is None else max(start, row.effective_ms),
            row.predicate.valid_to_ms,
        ),
    )
