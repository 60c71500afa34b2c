"""Events onto the ``events`` topic: partition by Java's murmur2, control records to all of them.

An event is acknowledged only when every in-sync replica has it. Nothing is judged here.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from confluent_kafka import KafkaException

from infra.appending import seal_events
from infra.keys import configured_keys
from infra.opening import open_topics
from schemas.control import Genesis
from schemas.event import CONTROL_PAYLOADS, Event, UserRefolded
from schemas.partition import partition_of
from schemas.topics import EVENTS, name_topic
from streams.connection import Connection, describe_for_ledger
from streams.failures import StoreUnavailableError
from streams.ports import NewRecord

FLUSH_TIMEOUT_S: Final = 60.0
POLL_EVERY: Final = 1_000

_PRODUCER: Final = {
    "enable.idempotence": True,
    "acks": "all",
    "linger.ms": 5,
    "message.max.bytes": 2 * 1024 * 1024,
}


class EventProducer:
    """Appends events to the partitions of their users; used by one thread."""

    def __init__(self, connection: Connection, *, prefix: str, partitions: int) -> None:
        """Connect."""
        self._topic = name_topic(EVENTS, prefix=prefix)
        self._partitions = partitions
        self._producer: Any = connection.clients.producer(
            describe_for_ledger(connection) | _PRODUCER
        )
        self._failed: list[str] = []
        self._keys = configured_keys()
        self._opener = open_topics(connection, prefix=prefix)

    def append(self, events: Iterable[Event], progress: Callable[[int], None] | None = None) -> int:
        """Append events in order and return how many there were, once all are acknowledged.

        Raises:
            StoreUnavailableError: the brokers did not acknowledge all of them; append them again,
                what did arrive is a duplicate by its event id.

        """
        source, count = iter(events), 0
        # Keys of sealed events are made durable together; what is plain goes out at once.
        chunk_max = POLL_EVERY if self._opener.hides else 1
        while chunk := [self._fit(event) for event in islice(source, chunk_max)]:
            for event, record in zip(
                chunk, seal_events(self._opener, chunk, self._keys), strict=True
            ):
                for partition in self.place(event):
                    self._produce(record, partition)
            before, count = count, count + len(chunk)
            if count // POLL_EVERY > before // POLL_EVERY:
                self._producer.poll(0)
                if progress is not None:
                    progress(count)
        left = self._producer.flush(FLUSH_TIMEOUT_S)
        if left or self._failed:
            reason = self._failed[0] if self._failed else "no answer"
            raise StoreUnavailableError(
                f"{self._topic}: {left or len(self._failed)} records: {reason}"
            )
        return count

    def place(self, event: Event) -> Iterable[int]:
        """Return the partitions of an event: its user's, or all for a control record."""
        payload = event.payload
        if isinstance(payload, UserRefolded):
            return (self._find_partition(payload.tenant, payload.user),)
        if isinstance(payload, CONTROL_PAYLOADS):
            return range(self._partitions)
        return (self._find_partition(event.tenant, event.user),)

    def _find_partition(self, tenant: str, user: str) -> int:
        return partition_of(self._opener.key_of(tenant, user), self._partitions)

    def _fit(self, event: Event) -> Event:
        """Return a genesis record with the number of partitions that there really are."""
        if not isinstance(event.payload, Genesis):
            return event
        return replace(event, payload=replace(event.payload, partitions=self._partitions))

    def _produce(self, record: NewRecord, partition: int) -> None:
        while True:
            try:
                self._producer.produce(
                    self._topic, record.value, record.key, partition, self._note,
                    headers=list(record.headers),
                )  # fmt: skip
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as error:
                raise StoreUnavailableError(f"{self._topic}: {error}") from error
            else:
                return

    def _note(self, error: Any, _message: Any) -> None:
        if error is not None:
            self._failed.append(str(error))
