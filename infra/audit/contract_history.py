"""The versions of a user's contract: what changed at each, who said so, and when (spec 2.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from infra.audit.history import History
from infra.audit.moments import HeldRows, walk_user
from processors.compilation.contract import digest_contract
from processors.compilation.draft import HEAD_ID
from processors.predicates.applies import contains
from schemas.row import PredicateRow, UserHead

CONFIRMED: Final = "confirmed"


@dataclass(frozen=True, slots=True)
class ContractChange:
    """One predicate that came into force or ended; ``version`` is the contract's behind it."""

    version: int
    seq: int
    at_ms: int
    change: str
    predicate_id: str
    expression: str
    unless: str | None
    by: str
    event_id: str
    digest: str
    replaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContractHistory:
    """All changes in order, and what was in force at the moment asked about."""

    changes: tuple[ContractChange, ...]
    in_force: tuple[PredicateRow, ...]
    contract_digest: bytes


def read_contract_history(
    history: History, tenant: str, user: str, *, as_of_ms: int | None
) -> ContractHistory | None:
    """Return how a user's contract came to be, up to a moment; None for an unknown user.

    At the moment, what was confirmed before it and had not ended is in force; a predicate whose
    own validity does not contain it is none of them.
    """
    versions: dict[int, int] = {}
    senders: dict[str, str] = {}
    rows: HeldRows | None = None
    for moment in walk_user(history, tenant, user):
        rows = moment.rows
        _note_version(rows, versions)
        principal = moment.event.principal
        senders[moment.event.event_id] = f"{principal.kind.value} {principal.id}"
    if rows is None:
        return None
    _note_version(rows, versions)
    until_ms = 2**63 if as_of_ms is None else as_of_ms
    kept = [row for _, row in rows.scan(PredicateRow) if row.effective_ms <= until_ms]
    changes = [change for row in kept for change in _list_changes(row, versions, senders)]
    changes.sort(key=lambda change: (change.seq, change.change == CONFIRMED, change.predicate_id))
    in_force = [row for row in kept if _is_in_force(row, as_of_ms)]
    return ContractHistory(
        tuple(change for change in changes if change.at_ms <= until_ms),
        tuple(in_force),
        digest_contract(in_force),
    )


def _note_version(rows: HeldRows, versions: dict[int, int]) -> None:
    head = rows.get(UserHead, HEAD_ID)
    if head is not None:
        versions[head.seq] = head.contract_version


def _list_changes(
    row: PredicateRow, versions: dict[int, int], senders: dict[str, str]
) -> Sequence[ContractChange]:
    predicate = row.predicate
    shown = (predicate.predicate_id, predicate.expression, predicate.unless)
    changes = [
        ContractChange(
            versions.get(row.seq, 0), row.seq, row.effective_ms, CONFIRMED, *shown,
            f"{row.principal_kind.value} {row.principal_id}", row.event_id, row.digest.hex(),
            row.replaces,
        )
    ]  # fmt: skip
    if row.ended_seq is not None and row.ended_ms is not None:
        why, _, event_id = row.ended_by.partition(":")
        changes.append(
            ContractChange(
                versions.get(row.ended_seq, 0), row.ended_seq, row.ended_ms, why, *shown,
                senders.get(event_id, ""), event_id, row.digest.hex(), (),
            )
        )  # fmt: skip
    return changes


def _is_in_force(row: PredicateRow, as_of_ms: int | None) -> bool:
    if as_of_ms is None:
        return row.ended_seq is None
    ended = row.ended_ms is not None and row.ended_ms <= as_of_ms
    return not ended and contains(row.predicate, as_of_ms)
