"""What a replay reads: the records of a partition with what their ledger recorded of them.

One shape for every place where a history lives; where it lives is named by a ``Source``, which
travels to other processes. Reads only.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from infra.archive.embedded_source import PARTITION, read_history
from infra.archive.reading import Archive
from infra.archive.writing import PlacedEvent, PlacedOutput
from infra.opening import choose_opener, open_embedded
from infra.records import TABLES
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from streams.failures import LogGapError
from streams.opening import Opener
from streams.ports import LogRecord

_LOOKED_AT: Final = 1_000
"""Records looked at to tell whether an archive is of an encrypted log."""


class Produced(NamedTuple):
    """One output body: its topic, key and value."""

    topic: str
    key: bytes
    value: bytes


class Recorded(NamedTuple):
    """One record of ``events``, its recorded fate, and its outputs sorted by topic."""

    record: LogRecord
    fate: bytes
    outputs: tuple[Produced, ...]


class RowSetStated(NamedTuple):
    """Number and digest of all rows as the ledger's head states them, and the core they are of.

    Rows of another core may be written otherwise, so that only its own can be compared.
    """

    rows: int
    digest: bytes
    core_version: str


class History(Protocol):
    """A recorded history, opened for reading."""

    @property
    def partitions(self) -> tuple[int, ...]:
        """Return the partitions, in order."""
        ...

    @property
    def opener(self) -> Opener:
        """Return what reads its records and its outputs."""
        ...

    def count(self, partition: int) -> int:
        """Return about how many events a partition has, for progress."""
        ...

    def recorded(self, partition: int) -> Iterator[Recorded]:
        """Yield everything that a partition's ledger has folded, in log order.

        Raises:
            LogGapError: the beginning of the history is gone; nothing can be folded again.
        """
        ...

    def table(self, topic: str, partition: int) -> Iterator[tuple[bytes, bytes]] | None:
        """Yield the last (key, value) of a public table in key order; None where not kept."""
        ...

    def row_set(self, partition: int) -> RowSetStated:
        """Return what the head states of the rows."""
        ...


Source = Callable[[], AbstractContextManager[History]]


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """An archive, by its folder."""

    folder: Path

    @contextmanager
    def __call__(self) -> Iterator[History]:
        """Open it."""
        yield ArchivedHistory(Archive(self.folder))


@dataclass(frozen=True, slots=True)
class EmbeddedSource:
    """An embedded log, by its folder."""

    folder: Path

    @contextmanager
    def __call__(self) -> Iterator[History]:
        """Open it."""
        with open_embedded(self.folder) as embedded:
            yield EmbeddedHistory(embedded)


class ArchivedHistory:
    """The history in an archive; it keeps no tables, whose rows the row set covers."""

    def __init__(self, archive: Archive) -> None:
        """Read an open archive."""
        self._archive = archive

    @property
    def partitions(self) -> tuple[int, ...]:
        """Return the partitions, in order."""
        return self._archive.partitions

    @property
    def opener(self) -> Opener:
        """Return what reads it; sealed events need the key store that the environment names."""
        first = (
            recorded.record
            for partition in self.partitions
            for recorded in islice(self._archive.history(partition), _LOOKED_AT)
        )
        return choose_opener(first)

    def count(self, partition: int) -> int:
        """Return the number of events."""
        return self._archive.entry(partition).events

    def recorded(self, partition: int) -> Iterator[Recorded]:
        """Yield everything that was archived of a partition."""
        entry = self._archive.entry(partition)
        if entry.events:
            _refuse_gap(entry.first_offset)
        for event in self._archive.history(partition):
            put_out = event.outputs
            outputs = tuple(Produced(*output) for output in put_out) if put_out else ()
            yield Recorded(event.record, event.fate, outputs)

    def table(self, topic: str, partition: int) -> Iterator[tuple[bytes, bytes]] | None:
        """Return None: tables are not archived."""
        del topic, partition
        return None

    def row_set(self, partition: int) -> RowSetStated:
        """Return what the manifest states of the rows."""
        head = self._archive.entry(partition).head
        return RowSetStated(head.row_count, head.row_set_digest, head.core_version)


class EmbeddedHistory:
    """The history of an embedded log as far as it is folded; its one partition is 0."""

    def __init__(self, embedded: Embedded) -> None:
        """Read an open log, up to where its folding stands now."""
        self._embedded = embedded
        self._head = embedded.head()

    @property
    def partitions(self) -> tuple[int, ...]:
        """Return the one partition."""
        return (PARTITION,)

    @property
    def opener(self) -> Opener:
        """Return what reads the log."""
        return self._embedded.opener

    def count(self, partition: int) -> int:
        """Return the number of folded events."""
        del partition
        return 0 if self._head is None else self._head.next_offset

    def recorded(self, partition: int) -> Iterator[Recorded]:
        """Yield everything that is folded."""
        del partition
        if self._head is None:
            return
        _refuse_gap(self._embedded.log.bounds().start)
        yield from group_records(read_history(self._embedded, self._head))

    def table(self, topic: str, partition: int) -> Iterator[tuple[bytes, bytes]] | None:
        """Yield the last (key, value) of a public table in key order."""
        del partition
        assert topic in TABLES
        return (
            (output.record.key, output.record.value)
            for output in self._embedded.outputs(topic)
            if output.record.value is not None
        )

    def row_set(self, partition: int) -> RowSetStated:
        """Return what the head row states."""
        del partition
        if self._head is None:
            return RowSetStated(0, bytes(32), CoreReducer.version)
        head = self._head
        return RowSetStated(head.row_count, head.row_set_digest, head.core_version)


def group_records(records: Iterable[PlacedEvent | PlacedOutput]) -> Iterator[Recorded]:
    """Yield each event of a partition with its outputs, which follow it sorted by topic."""
    event: PlacedEvent | None = None
    outputs: list[Produced] = []
    for record in records:
        if isinstance(record, PlacedOutput):
            outputs.append(Produced(record.topic, record.key, record.value))
            continue
        if event is not None:
            yield _record(event, outputs)
        event, outputs = record, []
    if event is not None:
        yield _record(event, outputs)


def _record(event: PlacedEvent, outputs: list[Produced]) -> Recorded:
    record = LogRecord(event.offset, event.key, event.value, event.timestamp_ms, event.headers)
    return Recorded(record, event.fate, tuple(outputs))


def _refuse_gap(first_offset: int) -> None:
    if first_offset > 0:
        raise LogGapError(
            f"the history begins at offset {first_offset}: what was decided rests on events that "
            "are gone from it. Replay an archive that begins at offset 0"
        )
