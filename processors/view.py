"""What the core reads and writes: the rows of one user as a value, and changes to them.

A ``View`` is a snapshot; nothing here performs input or output. Drivers implement it over
their stores; ``lay_over`` makes a view that shows changes not yet committed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from schemas.event import Event
from schemas.fate import Fate
from schemas.outcome import Commitment, Rejection, RepairAct, Surface, TurnFailure
from schemas.packet import Packet
from schemas.row import Row, UserHead

R = TypeVar("R")

RowId = tuple[type, str]
Changes = dict[RowId, Row | None]
Output = Packet | Commitment | RepairAct | TurnFailure | Surface | Rejection


class Rows(list[tuple[str, R]]):
    """All rows of a class by id, and a place for what was derived from them.

    A driver may hand out the same object again, longer, as long as rows were only added behind
    the last; after any other change it hands out a new one. Nobody else changes it.
    """

    __slots__ = ("derived",)

    derived: Any


class View(Protocol):
    """The rows of one user, and those of the partition, at one moment."""

    @property
    def tenant(self) -> str:
        """The tenant; "" in the view of control records."""
        ...

    @property
    def user(self) -> str:
        """The user; "" in the view of control records."""
        ...

    def get(self, record: type[R], row_id: str) -> R | None:
        """Return the row of this record class and id, or None."""
        ...

    def scan(self, record: type[R], prefix: str = "") -> Sequence[tuple[str, R]]:
        """Return (id, row) of this record class whose id starts with prefix, sorted by id."""
        ...


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the driver knows of a record beside its body.

    ``digest`` is SHA-256 of the body; ``append_ms`` the log's timestamp; ``authentic`` is what
    checking the mac gave: "open" (no keys), "verified", "failed", or "absent". ``key`` is the
    record key, maybe a pseudonym; None stands for that of the event's tenant and user.
    """

    digest: bytes
    append_ms: int
    partition: int
    offset: int
    size: int
    authentic: str
    key: bytes | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What one event does: its fate, the rows it changes, the records it puts out."""

    fate: Fate
    changes: Changes
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Arrival:
    """An accepted event on its way through the fold: its seq and effective time (spec 1.5).

    A control record has seq 0. ``reused_seq`` is the seq of the event that had the same id
    before it left the window of spec 1.4, else 0. ``head`` is the user's before the event.
    """

    event: Event
    seq: int
    effective_ms: int
    digest: bytes
    reused_seq: int = 0
    head: UserHead | None = None


@dataclass(slots=True)
class _Layered:
    """A view under changes that hide what is below."""

    below: View
    changes: Changes

    @property
    def tenant(self) -> str:
        return self.below.tenant

    @property
    def user(self) -> str:
        return self.below.user

    def get(self, record: type[R], row_id: str) -> R | None:
        key = (record, row_id)
        if key in self.changes:
            return self.changes[key]  # type: ignore[return-value]
        return self.below.get(record, row_id)

    def scan(self, record: type[R], prefix: str = "") -> Sequence[tuple[str, R]]:
        above = {
            row_id: row
            for (kind, row_id), row in self.changes.items()
            if kind is record and row_id.startswith(prefix)
        }
        if not above:
            return self.below.scan(record, prefix)
        merged = {**dict(self.below.scan(record, prefix)), **above}
        rows = [(row_id, row) for row_id, row in merged.items() if row is not None]
        return sorted(rows, key=lambda item: item[0])  # type: ignore[arg-type]


def lay_over(view: View, changes: Changes) -> View:
    """Return the view as it is after these changes; later edits of ``changes`` show through."""
    return _Layered(view, changes)
