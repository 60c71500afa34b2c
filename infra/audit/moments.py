"""One user's recorded history, folded again in memory and stopped before each event.

For questions about a moment: what an auditor asks reads the rows as they were then. Nothing is
compared here (that is replay's) and nothing is kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, TypeVar

from infra.audit.history import History, Recorded
from processors import decision
from processors.compilation.draft import owner_of
from processors.compilation.purging import pass_erased
from processors.view import Changes, Stamp
from schemas.codec import decode
from schemas.event import Event
from schemas.fate import Fate, FateStatus, RejectionReason
from schemas.identity import record_key
from streams.opening import ErasedEventError, Opener

R = TypeVar("R")

CONTROL_KEY = record_key("", "")


@dataclass(frozen=True, slots=True)
class HeldRows:
    """The rows of one user and of the partition in dictionaries: a ``processors.view.View``."""

    tenant: str
    user: str
    tables: dict[type, dict[str, Any]] = field(default_factory=dict)

    def get(self, record: type[R], row_id: str) -> R | None:
        """Return the row of this record class and id, or None."""
        found: R | None = self.tables.get(record, {}).get(row_id)
        return found

    def scan(self, record: type[R], prefix: str = "") -> Sequence[tuple[str, R]]:
        """Return (id, row) of this record class whose id starts with prefix, sorted by id."""
        table = self.tables.get(record, {})
        return sorted(
            (item for item in table.items() if item[0].startswith(prefix)), key=itemgetter(0)
        )

    def apply(self, changes: Changes) -> None:
        """Replace rows; None deletes."""
        for (record, row_id), row in changes.items():
            table = self.tables.setdefault(record, {})
            if row is None:
                table.pop(row_id, None)
            else:
                table[row_id] = row


@dataclass(frozen=True, slots=True)
class Moment:
    """One event of the user that was accepted, and the rows just before it."""

    rows: HeldRows
    recorded: Recorded
    event: Event
    stamp: Stamp
    fate: Fate


def walk_user(history: History, tenant: str, user: str) -> Iterator[Moment]:
    """Yield each accepted event of a user in order; the rows stand before it until the next.

    Behind the last moment its rows hold the user's final state. Erased events are passed over.
    """
    chosen = history.opener
    key = chosen.key_of(tenant, user)
    for partition in history.partitions:
        rows = HeldRows(tenant, user)
        for recorded in history.recorded(partition):
            if recorded.record.key not in {key, CONTROL_KEY}:
                continue
            yield from _fold(rows, recorded, partition, chosen, wanted=recorded.record.key == key)


def _fold(
    rows: HeldRows, recorded: Recorded, partition: int, opener: Opener, *, wanted: bool
) -> Iterator[Moment]:
    fate = decode(Fate, recorded.fate)
    faulted = fate.reason is RejectionReason.CORE_FAULT
    if fate.status is not FateStatus.ACCEPTED and not faulted:
        return
    try:
        event, body, digest = opener.open(recorded.record)
    except ErasedEventError as erased:
        if erased.seq is not None:
            rows.apply(pass_erased(rows, seq=erased.seq, digest=erased.digest))
        return
    if owner_of(event) not in {("", ""), (rows.tenant, rows.user)}:
        return
    record = recorded.record
    key = record.key if opener.hides else None
    stamp = Stamp(digest, record.timestamp_ms, partition, record.offset, len(body), "verified", key)
    if faulted:
        rows.apply(decision.fault(rows, event, stamp, "").changes)
        return
    seen = HeldRows("", "", rows.tables) if owner_of(event) == ("", "") else rows
    if wanted:
        yield Moment(rows, recorded, event, stamp, fate)
    rows.apply(decision.step(seen, event, stamp).changes)
