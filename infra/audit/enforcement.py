"""What of a user's statements is enforced, what is evidence only, and what nobody compiled.

The guarantee covers the contract alone; this says how far that reaches for one user (spec 7.3).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from infra.audit.history import History
from infra.audit.moments import HeldRows, walk_user
from processors.compilation.fixing import find_fixed_slot
from processors.compilation.units import build_slot_unit, is_hint, units_of
from processors.situation import Unit
from schemas.row import (
    DerivedRow,
    EventRow,
    PredicateRow,
    ProposalRow,
    StatementRow,
)
from schemas.value import Value


class Status(StrEnum):
    """How far a statement reaches."""

    ENFORCED = "enforced"
    EVIDENCE_ONLY = "evidence_only"
    UNCOMPILED = "uncompiled"


@dataclass(frozen=True, slots=True)
class Statement:
    """One visible fact: where it stands, what it says, how far it reaches and why."""

    name: str
    event_id: str
    text: str
    status: Status
    because: str


@dataclass(frozen=True, slots=True)
class Enforcement:
    """All visible facts of a user, and the share of them that is uncompiled, in millionths."""

    statements: tuple[Statement, ...]
    counts: Mapping[str, int]
    uncompiled_rate: int


def read_enforcement(history: History, tenant: str, user: str) -> Enforcement | None:
    """Return how far each live statement of a user reaches now; None for an unknown user.

    Enforced is a predicate in force, and a statement that one fixes or was derived from.
    Evidence only is what is typed or has dimensions, and proposals not confirmed. A text or a
    note of which nothing was derived is uncompiled: it can be missed.
    """
    rows: HeldRows | None = None
    for moment in walk_user(history, tenant, user):
        rows = moment.rows
    if rows is None:
        return None
    statements = tuple(_list_statements(rows))
    counts = Counter(statement.status.value for statement in statements)
    uncompiled = counts[Status.UNCOMPILED.value]
    return Enforcement(
        statements,
        {status.value: counts[status.value] for status in Status},
        1_000_000 * uncompiled // len(statements) if statements else 0,
    )


@dataclass(frozen=True, slots=True)
class _Contract:
    """What is in force, by the event that confirmed it and by the slot that it fixes."""

    by_event: dict[str, str]
    by_slot: dict[tuple[str, str], tuple[str, Value]]
    derived: dict[str, list[str]]


def _list_statements(rows: HeldRows) -> Iterator[Statement]:
    in_force = [row for _, row in rows.scan(PredicateRow) if row.ended_seq is None]
    contract = _read_contract(rows, in_force)
    for row in in_force:
        predicate = row.predicate
        text = predicate.expression
        if predicate.unless is not None:
            text = f"{text} unless {predicate.unless}"
        name = predicate.predicate_id
        yield Statement(name, row.event_id, text, Status.ENFORCED, "a predicate in force")
    for proposal_id, proposal in rows.scan(ProposalRow):
        if proposal.status == "open":
            text = proposal.predicate.expression
            because = "proposed, not confirmed"
            yield Statement(
                proposal_id[:12], proposal.event_id, text, Status.EVIDENCE_ONLY, because
            )
    for unit in _list_units(rows):
        status, because = _judge(unit, contract)
        yield Statement(unit.unit_id, unit.event_id, unit.content, status, because)


def _read_contract(rows: HeldRows, in_force: list[PredicateRow]) -> _Contract:
    derived: dict[str, list[str]] = {}
    for row_id, link in rows.scan(DerivedRow):
        derived.setdefault(row_id.partition("\0")[0], []).append(link.event_id)
    by_slot = {}
    for row in in_force:
        fixed = find_fixed_slot(row.predicate)
        if fixed is not None:
            subject = "" if row.predicate.subject == rows.user else row.predicate.subject
            by_slot[subject, fixed[0]] = (row.predicate.predicate_id, fixed[1])
    by_event = {row.event_id: row.predicate.predicate_id for row in in_force}
    return _Contract(by_event, by_slot, derived)


def _list_units(rows: HeldRows) -> Iterator[Unit]:
    for row_id, row in rows.scan(EventRow):
        for _, unit in units_of(row, int(row_id)):
            yield unit
    for row_id, statement in rows.scan(StatementRow):
        if not is_hint(statement) and statement.value is not None:
            seq, _, index = row_id.partition("\0")
            yield build_slot_unit(
                int(seq), int(index), statement.event_id, statement.digest, statement,
                statement.authority,
            )  # fmt: skip


def _judge(unit: Unit, contract: _Contract) -> tuple[Status, str]:
    for event_id in _reach(unit.event_id, contract.derived):
        if event_id in contract.by_event:
            return Status.ENFORCED, f"predicate {contract.by_event[event_id]} came of it"
    if unit.slot is not None:
        fixed = contract.by_slot.get((unit.subject, unit.slot))
        if fixed is not None and fixed[1] == unit.value:
            return Status.ENFORCED, f"predicate {fixed[0]} fixes it"
        return Status.EVIDENCE_ONLY, "a typed slot, fixed by no predicate"
    if contract.derived.get(unit.event_id):
        return Status.EVIDENCE_ONLY, "something typed was derived from it"
    if unit.dimensions not in {(), ("text",)}:
        return Status.EVIDENCE_ONLY, f"carries {', '.join(unit.dimensions)}"
    return Status.UNCOMPILED, "nothing typed was derived from it"


def _reach(event_id: str, derived: Mapping[str, list[str]]) -> Iterator[str]:
    found = [event_id]
    for source in found:
        yield source
        found.extend(name for name in derived.get(source, ()) if name not in found)
