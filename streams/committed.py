"""One partition of a topic, read committed and to its end as it stands: for restores and checks.

Opened for a purpose and closed; the steady reading of `events` is streams/kafka_log.py.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, Self

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from streams.connection import Connection, describe_for_ledger
from streams.failures import LedgerBrokenError, StoreUnavailableError
from streams.kafka_log import ASK_TIMEOUT_S
from streams.ports import LogBounds
from streams.refusals import raise_refused

READ_MANY: Final = 4_000
READ_TIMEOUT_S: Final = 60.0
TAIL_OFFSETS: Final = 2
"""A record and the marker of its transaction: all that a quiet partition ends with."""


class CommittedPartition:
    """A consumer of one partition from any offset to the last stable one."""

    def __init__(self, connection: Connection, *, topic: str, partition: int) -> None:
        """Connect; close() ends it."""
        self.topic = topic
        self.partition = partition
        settings = describe_for_ledger(connection) | {
            "group.id": "unused",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "queued.max.messages.kbytes": 32768,
            "fetch.wait.max.ms": 50,
        }
        self.clock = connection.clients.clock
        self._consumer = connection.clients.consumer(settings)

    def __enter__(self) -> Self:
        """Return itself; leaving the block disconnects."""
        return self

    def __exit__(self, *_: object) -> None:
        """Disconnect."""
        self._consumer.close()

    def bounds(self) -> LogBounds:
        """Return the first offset and the last stable one."""
        place = TopicPartition(self.topic, self.partition)
        try:
            answer = self._consumer.get_watermark_offsets(place, ASK_TIMEOUT_S)
        except KafkaException as error:
            raise StoreUnavailableError(f"{self.topic}: {error}") from error
        if answer is None:
            raise StoreUnavailableError(f"{self.topic}: the broker does not answer")
        return LogBounds(*answer)

    def read(self, first: int) -> Iterator[Any]:
        """Yield every committed message from an offset to the end as it stands now."""
        end = self.bounds().end
        self._consumer.assign([TopicPartition(self.topic, self.partition, first)])
        try:
            quiet_since = self.clock.steady_ns()
            while self.clock.steady_ns() - quiet_since < READ_TIMEOUT_S * 1e9:
                for message in self._consumer.consume(READ_MANY, 0.2):
                    quiet_since = self.clock.steady_ns()
                    error = message.error()
                    # While others write, the partition is never seen to end.
                    if error is None and message.offset() >= end:
                        return
                    if error is None:
                        yield message
                    elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
                        return
                    elif error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001
                        raise LedgerBrokenError(
                            f"{self.topic}, partition {self.partition}: offset {first} is not "
                            "there although the broker has just named it"
                        )
                    else:
                        raise_refused(error, f"{self.topic}, partition {self.partition}")
            raise StoreUnavailableError(
                f"{self.topic}, partition {self.partition}: nothing was read for "
                f"{READ_TIMEOUT_S:.0f} s"
            )
        finally:
            self._consumer.unassign()

    def read_last(self, wanted: Callable[[Any], bool]) -> Any | None:
        """Return the last committed message that is wanted, reading back from the end."""
        bounds = self.bounds()
        span = TAIL_OFFSETS
        while bounds.end > bounds.start:
            first = max(bounds.start, bounds.end - span)
            found = None
            for message in self.read(first):
                if wanted(message):
                    found = message
            if found is not None or first == bounds.start:
                return found
            span *= 16
        return None
