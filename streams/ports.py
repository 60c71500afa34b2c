"""The small ports that every log and every store share, and the values that pass through them.

Bytes only: what a key, a value or a fate means is the reducer's affair. No I/O and no policy here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from schemas.ledger import BatchRecord, Head

Headers = tuple[tuple[str, bytes], ...]


class NewRecord(NamedTuple):
    """A record that its log has not placed yet: offset and timestamp are the log's to give."""

    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class LogRecord(NamedTuple):
    """One record of the input log at its offset, stamped by the log's clock at the append."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: Headers


class LogBounds(NamedTuple):
    """Offsets [start, end) that the log holds durably; end is the offset of the next record."""

    start: int
    end: int


class OutputRecord(NamedTuple):
    """One record for an output topic; only key and value are compared, never headers (spec 1.2)."""

    topic: str
    key: bytes
    value: bytes | None
    headers: Headers = ()


class PlacedOutput(NamedTuple):
    """An output with its place: the input offset it came from and its place among that event's."""

    offset: int
    place: int
    record: OutputRecord


@dataclass(frozen=True, slots=True)
class Folded:
    """What one event did: an opaque fate for the ledger, changed rows (None deletes), outputs."""

    fate: bytes
    changes: Mapping[bytes, bytes | None]
    outputs: tuple[OutputRecord, ...] = ()


RowChange = tuple[bytes, int | None, int | None, bytes | None]
"""Of a row that changes the key, the digests before and after, and the value; None for no row."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Rows that a reducer held back until the batch closes, and the outputs that copy them.

    The changes lead from the committed rows, each key once; no fold of the batch named these keys.
    """

    changes: Sequence[RowChange]
    outputs: tuple[OutputRecord, ...] = ()

    @property
    def rows(self) -> dict[bytes, bytes | None]:
        """Return the new value of each row that was held back, None where it goes."""
        return {key: value for key, _, _, value in self.changes}


@dataclass(frozen=True, slots=True)
class Batch:
    """One atomic step: every part becomes visible together or none does.

    `changes` holds only rows whose bytes differ from the committed ones. Encoded forms travel
    beside the records, so that two stores of one batch hold the same bytes.
    """

    outputs: tuple[PlacedOutput, ...]
    changes: Mapping[bytes, bytes | None]
    head: Head
    head_bytes: bytes
    record: BatchRecord
    record_bytes: bytes


class RowReader(Protocol):
    """The rows as of one point of the log."""

    def get(self, key: bytes) -> bytes | None:
        """Return the row's value, or None if there is no such row."""
        ...

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield every (key, value) whose key starts with prefix, in ascending key order."""
        ...


class Reducer(Protocol):
    """The pure step from rows and one record to changes; it does no I/O and reads no clock."""

    @property
    def version(self) -> str:
        """Name the core and row format; a store written under another name is rebuilt."""
        ...

    def fold(self, rows: RowReader, record: LogRecord) -> Folded:
        """Fold one record; bad input is a fate, an exception is the core's own fault."""
        ...

    def fault(self, rows: RowReader, record: LogRecord, error: Exception) -> Folded:
        """Reject the record whose fold raised twice as `core_fault` and halt its user."""
        ...

    def finish(self) -> Finished:
        """Hand over the rows held back since the last call; called once before a batch closes."""
        ...

    def reset(self) -> None:
        """Drop every cache: the rows last seen may never be committed."""
        ...


@runtime_checkable
class GapReducer(Protocol):
    """A reducer that can go on behind a gap of the log (spec 1.8)."""

    def gap(self, rows: RowReader, *, missing_from: int, next_offset: int) -> Folded:
        """Mark the partition as history_incomplete: [missing_from, next_offset) is gone."""
        ...


@runtime_checkable
class ForgettingReducer(Protocol):
    """A reducer of an encrypted log, which goes on behind events whose keys were erased."""

    @property
    def met_erased(self) -> bool:
        """Tell whether such an event was folded: what was recorded cannot all come again."""
        ...


class InputLog(Protocol):
    """An ordered log of one partition, read by offset."""

    @property
    def identity(self) -> bytes:
        """Bytes that tell this log from every other, also from a recreated one of the same name."""
        ...

    def bounds(self) -> LogBounds:
        """Return the offsets that are readable now."""
        ...

    def read(self, first: int, *, limit: int) -> Sequence[LogRecord]:
        """Return up to limit records from offset first on, in order; [] at the end.

        No record is left out. An offset that never held one (Kafka's transaction markers and
        aborted records) has none to return, so offsets may skip.

        Raises:
            LogGapError: first lies before the log's start.
            LogDamagedError: acknowledged bytes no longer check.
        """
        ...


class AppendLog(InputLog, Protocol):
    """A log that this process may append to."""

    def append(self, records: Sequence[NewRecord]) -> range:
        """Append all records in order and return their offsets once they are durable."""
        ...


class Store(RowReader, Protocol):
    """Rows, outputs, ledger records and position, committed together."""

    def head(self) -> Head | None:
        """Return the head row, or None for a store that never committed."""
        ...

    def verify(self, head: Head | None) -> None:
        """Raise StoreDamagedError unless row count and row-set digest equal the head's."""
        ...

    def commit(self, batch: Batch) -> None:
        """Commit the batch durably and atomically.

        Raises:
            CommitAbortedError: certainly nothing was committed; the batch may be tried again.
            Exception: unknown result; the store must be opened again before the next commit.
        """
        ...
