"""Clients of the simulated broker, with the answers and failures of librdkafka."""

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from confluent_kafka import IsolationLevel, KafkaError, TopicPartition

from tests.simulation.scheduler import Scheduler
from tests.simulation.twin_broker import Entry, TwinBroker
from tests.simulation.twin_producer import TwinProducer


class TwinMessage:
    """One consumed message, or an event about the position."""

    def __init__(self, place: tuple[str, int], entry: Entry | None, code: int = 0) -> None:
        self._place, self._entry, self._code = place, entry, code

    def error(self) -> KafkaError | None:
        """Return what is told of the position instead of a record."""
        return KafkaError(self._code) if self._code else None

    def offset(self) -> int:
        """Return the offset."""
        return self._entry.offset if self._entry else -1

    def partition(self) -> int:
        """Return the partition."""
        return self._place[1]

    def key(self) -> bytes | None:
        """Return the key."""
        return self._entry.key if self._entry else None

    def value(self) -> bytes | None:
        """Return the value."""
        return self._entry.value if self._entry else None

    def timestamp(self) -> tuple[int, int]:
        """Return the broker's stamp."""
        return 2, self._entry.stamp_ms if self._entry else 0

    def headers(self) -> list[tuple[str, bytes]] | None:
        """Return the headers."""
        return list(self._entry.headers) if self._entry else None


class TwinConsumer:
    """A read_committed consumer that is given a little at a time."""

    def __init__(self, broker: TwinBroker, scheduler: Scheduler) -> None:
        self._broker, self._scheduler = broker, scheduler
        self._positions: dict[tuple[str, int], int] = {}
        self._told_end: dict[tuple[str, int], int] = {}

    def assign(self, places: list[TopicPartition]) -> None:
        """Read these partitions and no other."""
        self._positions.clear()
        self.incremental_assign(places)

    def incremental_assign(self, places: list[TopicPartition]) -> None:
        """Read these partitions too."""
        for place in places:
            self._positions[place.topic, place.partition] = place.offset
            self._told_end.pop((place.topic, place.partition), None)

    def incremental_unassign(self, places: list[TopicPartition]) -> None:
        """Read these partitions no more."""
        for place in places:
            self._positions.pop((place.topic, place.partition), None)

    def unassign(self) -> None:
        """Read nothing."""
        self._positions.clear()

    def assignment(self) -> list[TopicPartition]:
        """Return what is read."""
        return [TopicPartition(*place) for place in self._positions]

    def get_watermark_offsets(self, place: TopicPartition, timeout_s: float) -> tuple[int, int]:
        """Return log start and last stable offset."""
        self._scheduler.step("watermarks")
        where = (place.topic, place.partition)
        return self._broker.logs[where].start, self._end(where)

    def poll(self, timeout_s: float) -> TwinMessage | None:
        """Return one message, or None after the time-out."""
        found = self._take(1)
        if not found:
            self._scheduler.step("poll", wait_ms=max(1, int(timeout_s * 1000)))
            found = self._take(1)
        return found[0] if found else None

    def consume(self, number: int, timeout_s: float) -> list[TwinMessage]:
        """Return some of what has arrived."""
        self._scheduler.step("consume")
        found = self._take(self._scheduler.chance.choice((1, 5, number)))
        if not found and timeout_s > 0:
            self._scheduler.step("consume nothing", wait_ms=int(timeout_s * 1000))
        return found

    def commit(self, offsets: Any, **_: Any) -> None:
        """Take the progress for lag tools; nobody reads it."""

    def close(self) -> None:
        """Read nothing more."""
        self._positions.clear()

    def _take(self, number: int) -> list[TwinMessage]:
        found: list[TwinMessage] = []
        for place, first in self._positions.items():
            log = self._broker.logs[place]
            if first > log.end or first < log.start:
                found.append(TwinMessage(place, None, KafkaError._AUTO_OFFSET_RESET))
                continue
            for entry in self._committed(place, first):
                if len(found) >= number:
                    return found
                found.append(TwinMessage(place, entry))
                self._positions[place] = entry.offset + 1
            end = self._end(place)
            if len(found) < number and self._told_end.get(place) != end:
                self._told_end[place] = end
                self._positions[place] = max(self._positions[place], end)
                found.append(TwinMessage(place, None, KafkaError._PARTITION_EOF))
        return found

    def _committed(self, place: tuple[str, int], first: int) -> Iterator[Entry]:
        return self._broker.logs[place].committed(first)

    def _end(self, place: tuple[str, int]) -> int:
        return self._broker.logs[place].stable


class TwinAdmin:
    """The few questions that a ledger asks an administrator."""

    def __init__(self, broker: TwinBroker, scheduler: Scheduler) -> None:
        self._broker, self._scheduler = broker, scheduler

    def describe_cluster(self, request_timeout: float) -> Any:
        """Return the cluster's id."""
        self._scheduler.step("describe cluster")
        return _Done(SimpleNamespace(cluster_id="twin"))

    def describe_topics(self, topics: Any, request_timeout: float) -> dict[str, Any]:
        """Return id and partitions of topics."""
        self._scheduler.step("describe topics")
        partitions = [None] * self._broker.partitions
        return {
            name: _Done(SimpleNamespace(topic_id=self._identify(name), partitions=partitions))
            for name in topics.topic_names
        }

    def _identify(self, topic: str) -> str:
        return self._broker.topic_ids[topic]

    def list_offsets(
        self, request: Any, isolation_level: IsolationLevel, request_timeout: float
    ) -> dict[TopicPartition, Any]:
        """Return last stable offsets, or ends."""
        self._scheduler.step("list offsets")
        answers = {}
        for place in request:
            log = self._broker.logs[place.topic, place.partition]
            committed = isolation_level == IsolationLevel.READ_COMMITTED
            offset = log.stable if committed else log.end
            answers[place] = _Done(SimpleNamespace(offset=offset))
        return answers


class TwinClients:
    """The clients of one simulated process."""

    PRODUCER: type[TwinProducer] = TwinProducer
    CONSUMER: type[TwinConsumer] = TwinConsumer
    ADMIN: type[TwinAdmin] = TwinAdmin

    def __init__(self, broker: TwinBroker, scheduler: Scheduler) -> None:
        self._broker, self._scheduler = broker, scheduler

    @property
    def clock(self) -> Any:
        """Return the simulation's clock."""
        return self._scheduler.clock

    def producer(self, settings: Mapping[str, object]) -> Any:
        """Return a producer of the transactional id."""
        return self.PRODUCER(self._broker, self._scheduler, str(settings["transactional.id"]))

    def consumer(self, settings: Mapping[str, object]) -> Any:
        """Return a consumer."""
        assert settings["isolation.level"] == "read_committed"
        return self.CONSUMER(self._broker, self._scheduler)

    def admin(self, settings: Mapping[str, object]) -> Any:
        """Return an administrator."""
        return self.ADMIN(self._broker, self._scheduler)


class _Done:
    """A future with its answer."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def result(self, timeout_s: float | None = None) -> Any:
        """Return the answer."""
        return self._answer
