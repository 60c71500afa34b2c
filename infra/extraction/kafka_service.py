"""Extraction as a service over Kafka: every partition read in order, proposals produced behind.

A process that takes a partition reads it from its first record, to know catalogue and scenes, and
proposes from the committed offset on. What is proposed twice is a duplicate by its id.
"""

from typing import Any, Final

import structlog
from confluent_kafka import OFFSET_BEGINNING, TopicPartition

from infra.archive.whole_log import read_message
from infra.extraction.extraction import Extractor, extract
from infra.extraction.runs import Reader
from infra.kafka_appending import EventProducer
from infra.kafka_settings import KafkaSettings
from infra.opening import open_topics
from infra.stopping import stop_in_time
from infra.write_right import require_write
from schemas.codec import DecodeError
from schemas.topics import EVENTS, name_topic
from streams.connection import describe_for_ledger
from streams.opening import ErasedEventError
from streams.refusals import raise_member_refused

POLL_S: Final = 0.2
COMMIT_TIMEOUT_S: Final = 10.0

_CONSUMER: Final = {
    "enable.auto.commit": False,
    "isolation.level": "read_committed",
    "auto.offset.reset": "earliest",
    "fetch.wait.max.ms": 50,
}


def serve_extractor(settings: KafkaSettings, extractor: Extractor = extract) -> int:
    """Serve until SIGTERM or SIGINT; return the exit code 0.

    Raises:
        StoreUnavailableError: proposals were not acknowledged; started again, it goes on there.

    """
    service = _Service(settings, extractor)
    stop_in_time(service.stop)
    service.run()
    return 0


class _Service:
    """The partitions of one process: a reader and a first offset to propose from, for each."""

    def __init__(self, settings: KafkaSettings, extractor: Extractor) -> None:
        connection = settings.connect()
        require_write(connection, name_topic(EVENTS, prefix=settings.prefix))
        group = {"group.id": f"{settings.prefix}extractor"}
        self._consumer: Any = connection.clients.consumer(
            describe_for_ledger(connection) | _CONSUMER | group
        )
        self._producer = EventProducer(
            connection, prefix=settings.prefix, partitions=settings.partitions
        )
        self._opener = open_topics(connection, prefix=settings.prefix)
        self._topic = name_topic(EVENTS, prefix=settings.prefix)
        self._extractor = extractor
        self._readers: dict[int, Reader] = {}
        self._resume: dict[int, int] = {}
        self._stopping = False
        self._log = structlog.get_logger("extractor")

    def stop(self, *_: object) -> None:
        """End after the record at hand."""
        self._stopping = True

    def run(self) -> None:
        """Read and propose until stopped."""
        self._consumer.subscribe([self._topic], on_assign=self._begin, on_revoke=self._end)
        self._log.info("extractor_serving", topic=self._topic)
        try:
            while not self._stopping:
                message = self._consumer.poll(POLL_S)
                if message is not None and message.error() is not None:
                    raise_member_refused(message.error(), self._topic)
                elif message is not None:
                    self._take(message)
        finally:
            self._consumer.close()

    def _begin(self, consumer: Any, parts: list[TopicPartition]) -> None:
        for known in consumer.committed(parts, timeout=COMMIT_TIMEOUT_S):
            self._readers[known.partition] = Reader(self._extractor)
            self._resume[known.partition] = max(known.offset, 0)
        begun = [TopicPartition(part.topic, part.partition, OFFSET_BEGINNING) for part in parts]
        consumer.assign(begun)

    def _end(self, _consumer: Any, parts: list[TopicPartition]) -> None:
        for part in parts:
            self._readers.pop(part.partition, None)

    def _take(self, message: Any) -> None:
        partition, offset = message.partition(), message.offset()
        try:
            event = self._opener.open(read_message(message)).event
        except (DecodeError, ErasedEventError):
            return  # The ledger rejects it with a reason; it has no utterance.
        proposals = self._readers[partition].read(event)
        if offset < self._resume[partition]:
            return
        if proposals:
            self._producer.append(proposals)
            self._log.info("proposed", partition=partition, offset=offset, count=len(proposals))
        place = TopicPartition(self._topic, partition, offset + 1)
        self._consumer.commit(offsets=[place], asynchronous=True)
