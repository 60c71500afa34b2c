"""Kafka topics as the source of an archive: what every partition's ledger has committed.

``ledgers`` is read first and every other topic is cut at its counts, so an export beside running
workers is as consistent as one of a stopped log.
"""

from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from pathlib import Path
from typing import Any, Final

from infra.archive.manifest import Manifest, PartitionHead
from infra.archive.writing import (
    SEGMENT_BYTES,
    ArchiveError,
    PlacedEvent,
    PlacedOutput,
    interleave,
    write_archive,
)
from infra.records import OUTPUT_RECORDS
from schemas.codec import unframe
from schemas.ledger import BatchRecord
from schemas.outcome import Rejection
from schemas.topics import EVENTS, LEDGERS, TOPICS, name_topic
from streams.committed import CommittedPartition
from streams.connection import Connection
from streams.kafka_log import describe_topic_id
from streams.ledger_bytes import decode_record

OFFSET_HEADER: Final = "offset"

Progress = Callable[[int, int], None]


class KafkaSource:
    """One set of topics, read committed."""

    def __init__(self, connection: Connection, *, prefix: str) -> None:
        """Name the topics; nothing is connected yet."""
        self._connection = connection
        self._names = {topic.name: name_topic(topic, prefix=prefix) for topic in TOPICS}

    def export(
        self, folder: Path, progress: Progress | None = None, *, segment_bytes: int = SEGMENT_BYTES
    ) -> Manifest:
        """Write everything committed into a new archive.

        Raises:
            ArchiveError: nothing is committed yet, or the folder exists.
            StoreUnavailableError: the brokers do not answer.

        """
        identity, partitions = describe_topic_id(self._connection, self._names[EVENTS.name])
        ledgers = [self._read_ledger(partition) for partition in range(partitions)]
        if not any(ledgers):
            raise ArchiveError("no ledger has committed anything yet: commitments serve")
        total = sum(ledger[-1].next_offset for ledger in ledgers if ledger)

        def read() -> Iterator[PlacedEvent | PlacedOutput]:
            done = 0
            for partition, ledger in enumerate(ledgers):
                for record in self._read_partition(partition, ledger):
                    if isinstance(record, PlacedEvent):
                        done += 1
                        if progress is not None and done % 1_000 == 0:
                            progress(done, max(0, total - done))
                    yield record

        heads = [_describe(partition, ledger) for partition, ledger in enumerate(ledgers)]
        return write_archive(
            folder, read(), heads, log_identity=identity.encode(), segment_bytes=segment_bytes
        )

    def read(self, partition: int) -> Iterator[PlacedEvent | PlacedOutput]:
        """Yield what one partition's ledger has committed, each event before its outputs."""
        return self._read_partition(partition, self._read_ledger(partition))

    def _read_ledger(self, partition: int) -> list[BatchRecord]:
        with self._open(LEDGERS.name, partition) as topic:
            return [decode_record(m.value()) for m in topic.read(topic.bounds().start)]

    def _read_partition(
        self, partition: int, ledger: Sequence[BatchRecord]
    ) -> Iterator[PlacedEvent | PlacedOutput]:
        if not ledger:
            return
        first = next((b.first_offset for b in ledger if b.fates), 0)
        outputs = merge(
            *(self._read_outputs(t, partition, ledger) for t in sorted(OUTPUT_RECORDS)),
            key=lambda output: output.offset,
        )
        yield from interleave(
            self._read_events(partition, ledger),
            (output for output in outputs if output.offset >= first),
        )

    def _read_events(self, partition: int, ledger: Sequence[BatchRecord]) -> Iterator[PlacedEvent]:
        waiting: list[Any] = []
        batches = iter([batch for batch in ledger if batch.first_offset < batch.next_offset])
        batch = next(batches, None)
        with self._open(EVENTS.name, partition) as topic:
            for message in topic.read(topic.bounds().start):
                while batch is not None and message.offset() >= batch.next_offset:
                    yield from _join(partition, waiting, batch.fates)
                    waiting, batch = [], next(batches, None)
                if batch is None:
                    return
                if message.offset() >= batch.first_offset:
                    waiting.append(message)
            if batch is not None:
                yield from _join(partition, waiting, batch.fates)

    def _read_outputs(
        self, name: str, partition: int, ledger: Sequence[BatchRecord]
    ) -> Iterator[PlacedOutput]:
        left = sum(t.count for batch in ledger for t in batch.outputs if t.topic == name)
        if not left:
            return
        with self._open(name, partition) as topic:
            for message in topic.read(topic.bounds().start):
                value = message.value() or b""
                offset = _find_offset(message, value)
                yield PlacedOutput(partition, offset, name, message.key() or b"", value)
                left -= 1
                if not left:
                    return

    def _open(self, name: str, partition: int) -> CommittedPartition:
        return CommittedPartition(self._connection, topic=self._names[name], partition=partition)


def _find_offset(message: Any, value: bytes) -> int:
    """Return the offset of the event that caused an output; a rejection names it itself."""
    header = dict(message.headers() or ()).get(OFFSET_HEADER)
    return unframe(Rejection, value)[0].offset if header is None else int(header)


def _join(partition: int, messages: Sequence[Any], fates: Sequence[bytes]) -> Iterator[PlacedEvent]:
    """Yield a batch's events with their fates, those that are left of it when its head is gone.

    Counted from the end: offsets may skip, where a transaction of the producer was aborted.
    """
    for message, fate in zip(messages, fates[len(fates) - len(messages) :], strict=True):
        yield PlacedEvent(
            partition, message.offset(), message.timestamp()[1], message.key(), message.value(),
            tuple(message.headers() or ()), fate,
        )  # fmt: skip


def _describe(partition: int, ledger: Sequence[BatchRecord]) -> PartitionHead:
    if not ledger:
        return PartitionHead(
            partition=partition, next_offset=0, batches=0, chain=bytes(32), row_count=0,
            row_set_digest=bytes(32), core_version="",
        )  # fmt: skip
    last: Any = ledger[-1]
    return PartitionHead(
        partition=partition,
        next_offset=last.next_offset,
        batches=last.batch + 1,
        chain=last.chain,
        row_count=last.row_count,
        row_set_digest=last.row_set_digest,
        core_version=last.core_version,
    )
