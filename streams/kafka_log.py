"""The `events` topic as input logs: one consumer for all partitions that a process folds.

Positions come from the ledgers only; committed offsets are written for lag tools and never read.
Nothing is decided about a record here.
"""

import struct
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final

from confluent_kafka import (
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
)

from streams.connection import Connection, describe_for_ledger
from streams.crash_points import reach
from streams.failures import LogGapError, LogShortenedError, StoreUnavailableError
from streams.ports import LogBounds, LogRecord
from streams.refusals import raise_member_refused

GATHER_MS: Final = 5
"""After a first record others are likely under way: one commit for all of them is cheaper."""
GATHER_FEW: Final = 200
DRAIN_MAX: Final = 4_000
BUFFERED_MAX: Final = 16_000
"""Records held for ledgers that have not yet taken them; bounds the memory of a backlog."""
SEEK_TIMEOUT_S: Final = 30.0
ASK_TIMEOUT_S: Final = 10.0
"""How long any question to the broker may take."""

_EVENTS_CONSUMER: Final = {
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "isolation.level": "read_committed",
    # An unknown position must stop a ledger, never move it silently.
    "auto.offset.reset": "error",
    "queued.max.messages.kbytes": 8192,
    "fetch.wait.max.ms": 100,
    "fetch.error.backoff.ms": 50,
    "check.crcs": True,
}


class EventReader:
    """Reads the partitions of `events` that are open; used by the thread of the ledgers only."""

    def __init__(self, connection: Connection, *, topic: str, topic_id: str, group: str) -> None:
        """Connect; nothing is read before a log is opened.

        `group` only names the offsets that lag tools read: there is no membership.
        """
        self.topic = topic
        self.topic_id = topic_id
        self._logs: dict[int, KafkaLog] = {}
        settings = describe_for_ledger(connection) | _EVENTS_CONSUMER | {"group.id": group}
        self.clock = connection.clients.clock
        self.consumer = connection.clients.consumer(settings)

    def open(self, partition: int) -> "KafkaLog":
        """Return the log of a partition; it is at no position before its first read."""
        assert partition not in self._logs, f"partition {partition} is open already"
        log = KafkaLog(self, partition)
        self._logs[partition] = log
        return log

    def close_log(self, partition: int) -> None:
        """Read the partition no more."""
        if self._logs.pop(partition, None) is not None:
            self._unassign(partition)

    def pull(self, wait_s: float) -> int:
        """Take what has arrived unless enough is buffered already; as drain()."""
        if sum(log.buffered for log in self._logs.values()) >= BUFFERED_MAX:
            return 0
        return self.drain(wait_s)

    def drain(self, wait_s: float) -> int:
        """Take what has arrived, waiting at most wait_s for a first record; return how many.

        Never waits for a number of records: the wait for more after a first one is fixed.
        """
        messages: list[Message] = self.consumer.consume(DRAIN_MAX, 0)
        if not messages and wait_s > 0:
            first = self.consumer.poll(wait_s)
            messages = [] if first is None else [first]
        if messages and len(messages) < GATHER_FEW:
            self.clock.wait(GATHER_MS)
            messages += self.consumer.consume(DRAIN_MAX, 0)
        for message in messages:
            log = self._logs.get(message.partition())
            if log is not None:
                log.take(message)
            elif message.error() is not None:
                raise_member_refused(message.error(), self.topic)
        if messages:
            reach("events_polled")
        return len(messages)

    def assign(self, partition: int, offset: int) -> None:
        """Read the partition from an offset on."""
        self._unassign(partition)
        self.consumer.incremental_assign([TopicPartition(self.topic, partition, offset)])

    def show_progress(self, positions: Mapping[int, int]) -> None:
        """Commit the next offsets, for lag tools; a failure means nothing."""
        offsets = [
            TopicPartition(self.topic, partition, offset)
            for partition, offset in sorted(positions.items())
        ]
        if offsets:
            self.consumer.commit(offsets=offsets, asynchronous=True)

    def close(self) -> None:
        """Disconnect."""
        self.consumer.close()

    def _unassign(self, partition: int) -> None:
        assigned = [place for place in self.consumer.assignment() if place.partition == partition]
        if assigned:
            self.consumer.incremental_unassign(assigned)


class KafkaLog:
    """One partition of `events` as an InputLog."""

    def __init__(self, reader: EventReader, partition: int) -> None:
        """Bind to the reader; use EventReader.open."""
        self._reader = reader
        self._partition = partition
        self._place = TopicPartition(reader.topic, partition)
        self._records: deque[LogRecord] = deque()
        self._next: int | None = None
        self._at_end = False
        self._lost = False

    @property
    def identity(self) -> bytes:
        """Return topic id and partition: a topic recreated under the same name has another id."""
        return self._reader.topic_id.encode() + struct.pack(">I", self._partition)

    @property
    def buffered(self) -> int:
        """Return how many records wait to be read."""
        return len(self._records)

    @property
    def has_news(self) -> bool:
        """Return whether a read would give records, or say that the position is gone."""
        return self._lost or bool(self._records)

    def bounds(self) -> LogBounds:
        """Return log start and last stable offset, as the broker says now."""
        try:
            answer = self._reader.consumer.get_watermark_offsets(self._place, ASK_TIMEOUT_S)
        except KafkaException as error:
            raise StoreUnavailableError(f"{self._reader.topic}: {error}") from error
        if answer is None:
            raise StoreUnavailableError(f"{self._reader.topic}: the broker does not answer")
        return LogBounds(*answer)

    def read(self, first: int, *, limit: int) -> Sequence[LogRecord]:
        """Return the records at hand from offset first on; wait only after a change of position.

        Raises:
            LogGapError, LogShortenedError: the broker holds this position no longer, or never did.
        """
        if first != self._next:
            self._seek(first)
        if self._lost:
            raise self._describe_loss(first)
        # One step per record: the reader may append meanwhile, from its own thread.
        records = [self._records.popleft() for _ in range(min(limit, len(self._records)))]
        if records:
            self._next = records[-1].offset + 1
        return records

    def take(self, message: Message) -> None:
        """Buffer one message of this partition, or note what it says about the position."""
        error = message.error()
        if error is None:
            key, value = message.key(), message.value()
            _, timestamp_ms = message.timestamp()
            headers = tuple((name, part or b"") for name, part in message.headers() or ())
            self._records.append(LogRecord(message.offset(), key, value, timestamp_ms, headers))
        elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
            self._at_end = True
        elif error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001
            self._lost = True
        else:
            raise_member_refused(error, self._reader.topic)

    def _seek(self, first: int) -> None:
        self._records.clear()
        self._at_end = self._lost = False
        self._reader.assign(self._partition, first)
        self._next = first
        clock = self._reader.clock
        gives_up_at = clock.steady_ns() + int(SEEK_TIMEOUT_S * 1e9)
        while not (self._records or self._at_end or self._lost):
            if clock.steady_ns() >= gives_up_at:
                self._next = None
                raise StoreUnavailableError(
                    f"{self._reader.topic}, partition {self._partition}: nothing was read from "
                    f"offset {first} within {SEEK_TIMEOUT_S:.0f} s"
                )
            # Not pull(): what others have buffered must not hold back this one's first record.
            self._reader.drain(0.1)

    def _describe_loss(self, first: int) -> LogGapError | LogShortenedError:
        self._next = None
        bounds = self.bounds()
        where = f"{self._reader.topic}, partition {self._partition}"
        if first < bounds.start:
            return LogGapError(f"{where}: events {first} to {bounds.start - 1} are gone")
        return LogShortenedError(
            f"{where}: event {first} is next, but the log ends before {bounds.end}: it was cut or "
            "recreated. Restore it; its outcomes rest on events that are gone"
        )


def describe_topic_id(connection: Connection, topic: str) -> tuple[str, int]:
    """Return the id that Kafka gave the topic when it was created, and its partition count.

    Raises:
        StoreUnavailableError: no answer, or no such topic.
    """
    admin = connection.clients.admin(describe_for_ledger(connection))
    try:
        future = admin.describe_topics(TopicCollection([topic]), request_timeout=ASK_TIMEOUT_S)[
            topic
        ]
        description = future.result(2 * ASK_TIMEOUT_S)
    except (KafkaException, TimeoutError) as error:
        raise StoreUnavailableError(
            f"topic {topic}: {error}. Is it there? `commitments provision` creates it"
        ) from error
    return str(description.topic_id), len(description.partitions)


def has_topic(connection: Connection, topic: str) -> bool:
    """Return whether there is such a topic.

    Raises:
        StoreUnavailableError: no answer, or no right to ask.
    """
    admin = connection.clients.admin(describe_for_ledger(connection))
    try:
        future = admin.describe_topics(TopicCollection([topic]), request_timeout=ASK_TIMEOUT_S)
        future[topic].result(2 * ASK_TIMEOUT_S)
    except (KafkaException, TimeoutError) as error:
        cause = error.args[0] if isinstance(error, KafkaException) else None
        if cause is not None and cause.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return False
        raise StoreUnavailableError(f"topic {topic}: {error}") from error
    return True
