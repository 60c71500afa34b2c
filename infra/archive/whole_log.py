"""One partition of ``events`` with what was deleted of it: an archive, then the topic behind it.

An InputLog whose beginning comes from an export and whose end from the brokers. Where both hold
a record they must hold the same one; nothing is folded or written here.
"""

from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from typing import Any, Final, Self

from infra.archive.reading import Archive
from infra.archive.writing import ArchiveError
from schemas.topics import EVENTS, name_topic
from streams.committed import CommittedPartition
from streams.connection import Connection
from streams.failures import LogGapError
from streams.ledger_bytes import digest_record
from streams.ports import LogBounds, LogRecord

COMPARED: Final = 100
"""Records compared where archive and topic overlap: another log differs in its first one."""


class WholeLog:
    """The history of one partition, from its first record that is still anywhere."""

    def __init__(
        self,
        connection: Connection,
        *,
        prefix: str,
        topic_id: str,
        partition: int,
        archive: Archive | None = None,
    ) -> None:
        """Connect, and prove that the archive is one of this topic.

        Raises:
            ArchiveError: it is of another log, or differs where both hold an event.
            LogGapError: events between the archive's end and the topic's beginning are gone.
        """
        self.identity = topic_id.encode() + partition.to_bytes(4, "big")
        self.partition = partition
        self._archive = archive
        name = name_topic(EVENTS, prefix=prefix)
        self._topic = CommittedPartition(connection, topic=name, partition=partition)
        self._kept = self._topic.bounds()
        self._records: Iterator[LogRecord] = iter(())
        self._walks: list[Generator[LogRecord, None, None]] = []
        self._next = -1
        if archive is not None:
            _refuse_foreign(archive, topic_id, name)
            self._compare(archive)

    def __enter__(self) -> Self:
        """Return itself; leaving the block disconnects."""
        return self

    def __exit__(self, *_: object) -> None:
        """End every reading, then disconnect."""
        for walk in self._walks:
            walk.close()
        self._topic.__exit__()

    def bounds(self) -> LogBounds:
        """Return the offsets that archive and topic hold together."""
        start = self._kept.start
        if start > 0 and self._archive is not None:
            start = self._archive.log(self.partition).bounds().start
        return LogBounds(start, self._kept.end)

    def read(self, first: int, *, limit: int) -> Sequence[LogRecord]:
        """Return up to limit records from first on; see InputLog."""
        if first != self._next:
            self._records = self.walk(first)
        records = list(islice(self._records, limit))
        self._next = records[-1].offset + 1 if records else -1
        return records

    def walk(self, first: int) -> Iterator[LogRecord]:
        """Return every record from an offset to the end of the topic as it stands now.

        Raises:
            LogGapError: neither holds that offset.
        """
        if first < self.bounds().start:
            raise LogGapError(f"events {first} to {self.bounds().start - 1} are gone")
        walk = self._walk(first)
        self._walks.append(walk)
        return walk

    def _walk(self, first: int) -> Generator[LogRecord, None, None]:
        if first < self._kept.start:
            assert self._archive is not None, "bounds() says what there is"
            for event in self._archive.history(self.partition, first):
                if event.record.offset >= self._kept.start:
                    break
                yield event.record
        for message in self._topic.read(max(first, self._kept.start)):
            yield read_message(message)

    def moved(self) -> int:
        """Return how many offsets the topic has gained since this was opened."""
        return self._topic.bounds().end - self._kept.end

    def _compare(self, archive: Archive) -> None:
        start = self._kept.start
        entry = archive.entry(self.partition)
        where = f"{self._topic.topic}, partition {self.partition}"
        if entry.head.next_offset < start:
            raise LogGapError(
                f"{where}: events {entry.head.next_offset} to {start - 1} are in neither the "
                "archive nor the topic: use a later archive"
            )
        kept = {r.offset: r for r in map(read_message, islice(self._topic.read(start), COMPARED))}
        for event in islice(archive.history(self.partition, start), COMPARED):
            found = kept.get(event.record.offset, event.record)
            if digest_record(found) != digest_record(event.record):
                raise ArchiveError(
                    f"{where}, offset {found.offset}: the archive holds another event there; "
                    "use an archive of this topic"
                )


def read_message(message: Any) -> LogRecord:
    """Return a message of ``events`` as its ledger sees it."""
    headers = tuple((name, part or b"") for name, part in message.headers() or ())
    return LogRecord(
        message.offset(), message.key(), message.value(), message.timestamp()[1], headers
    )


def _refuse_foreign(archive: Archive, topic_id: str, name: str) -> None:
    if archive.manifest.log_identity != topic_id.encode():
        raise ArchiveError(
            f"{archive.folder}: it was exported from another log than {name}; "
            "use an export of this topic"
        )
