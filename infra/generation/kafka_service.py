"""Generation as a service over Kafka: packets in, answers behind, several calls in flight.

Read committed; the committed offset stays below the oldest packet without an acknowledged answer,
so that a killed process leaves none unanswered. What is answered twice is late, and ignored.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Final

import structlog
from confluent_kafka import OFFSET_BEGINNING, TopicPartition

from infra.backends.choosing import BackendChoiceError, choose_backend
from infra.backends.openai import Form
from infra.generation.asking import DecodingSettings
from infra.generation.generator import Generator
from infra.kafka_appending import EventProducer
from infra.kafka_settings import KafkaSettings
from infra.opening import open_topics
from infra.settings import GeneratorSettings, Settings
from infra.stopping import stop_in_time
from infra.write_right import require_write
from schemas.catalogue import Catalogue
from schemas.codec import DecodeError, unframe
from schemas.event import CatalogueActivated, Event, Genesis
from schemas.identity import catalogue_digest
from schemas.packet import Packet
from schemas.topics import EVENTS, PACKETS, name_topic
from streams.connection import Connection, describe_for_ledger
from streams.failures import StoreUnavailableError
from streams.refusals import raise_member_refused, raise_refused

POLL_S: Final = 0.1
COMMIT_TIMEOUT_S: Final = 10.0
CATALOGUE_POLLS_MAX: Final = 300  # Of POLL_S each, without a record: the topic's end was reached.
EXIT_CONFIGURE: Final = 78

_CONSUMER: Final = {
    "enable.auto.commit": False,
    "isolation.level": "read_committed",
    "auto.offset.reset": "earliest",
    "fetch.wait.max.ms": 50,
}


def serve_generator(settings: KafkaSettings) -> int:
    """Serve until SIGTERM or SIGINT; return exit code 0, or 78 when there is no such backend."""
    how = GeneratorSettings()
    key = Settings().api_key
    log = structlog.get_logger("generator")
    try:
        backend = choose_backend(
            how.backend,
            model=how.model,
            api_key="" if key is None else key.get_secret_value(),
            form=Form(how.form),
            record=how.record,
        )
    except BackendChoiceError as error:
        log.error("generator_not_configured", reason=str(error))  # noqa: TRY400 - no fault
        return EXIT_CONFIGURE
    decoding = DecodingSettings(
        temperature=round(how.temperature * 1_000_000),
        tokens_max=how.tokens_max,
        retries_max=how.retries_max,
        timeout_ms=how.timeout_s * 1_000,
        seed=how.seed,
        candidates_max=how.candidates_max,
    )
    service = GeneratorService(settings, Generator(backend, decoding), calls=how.calls)
    stop_in_time(service.stop)
    try:
        service.run()
    finally:
        backend.close()
    return 0


class GeneratorService:
    """One process: a consumer, a producer, and the calls in flight by partition and offset."""

    def __init__(self, settings: KafkaSettings, generator: Generator, *, calls: int) -> None:
        """Keep at most ``calls`` calls in flight."""
        connection = settings.connect()
        require_write(connection, name_topic(EVENTS, prefix=settings.prefix))
        group = {
            "group.id": f"{settings.prefix}generator",
            "session.timeout.ms": int(1_000 * settings.session_timeout_s),
        }
        self._consumer: Any = connection.clients.consumer(
            describe_for_ledger(connection) | _CONSUMER | group
        )
        self._producer = EventProducer(
            connection, prefix=settings.prefix, partitions=settings.partitions
        )
        self._opener = open_topics(connection, prefix=settings.prefix)
        self._catalogues = _Catalogues(connection, prefix=settings.prefix)
        self._topic = name_topic(PACKETS, prefix=settings.prefix)
        self._generator = generator
        self._calls = calls
        self._flying: dict[int, dict[int, Future[Event] | None]] = {}
        self._stopping = False
        self._log = structlog.get_logger("generator")

    def stop(self, *_: object) -> None:
        """Take no more packets; what is in flight is asked for again at the next start."""
        self._stopping = True

    def run(self) -> None:
        """Read, ask and append until stopped."""
        self._consumer.subscribe([self._topic], on_revoke=self._end)
        self._log.info("generator_serving", topic=self._topic)
        try:
            while not self._stopping:
                full = sum(map(len, self._flying.values())) >= self._calls
                self._pause(full=full)
                message = self._consumer.poll(POLL_S)
                if message is not None and message.error() is not None:
                    raise_member_refused(message.error(), self._topic)
                elif message is not None:
                    self._take(message)
                self._append_finished()
        finally:
            self._catalogues.close()
            self._consumer.close()

    def _pause(self, *, full: bool) -> None:
        # A paused consumer is still polled, so a long call costs no membership.
        assigned = self._consumer.assignment()
        if assigned:
            (self._consumer.pause if full else self._consumer.resume)(assigned)

    def _end(self, _consumer: Any, parts: Sequence[TopicPartition]) -> None:
        for part in parts:
            self._flying.pop(part.partition, None)

    def _take(self, message: Any) -> None:
        partition, offset = message.partition(), message.offset()
        flying = self._flying.setdefault(partition, {})
        try:
            value = self._opener.unseal(message.value())
            if value is None:
                flying[offset] = None  # Erased: what answers it would come to nobody.
                return
            packet, _ = unframe(Packet, value)
        except DecodeError as error:
            self._log.warning("packet_unreadable", offset=offset, reason=str(error))
            flying[offset] = None
            return
        catalogue = self._catalogues.find(packet.catalogue_digest, partition)
        flying[offset] = self._ask(packet, catalogue)

    def _ask(self, packet: Packet, catalogue: Catalogue) -> Future[Event]:
        answer: Future[Event] = Future()

        def call() -> None:
            try:
                answer.set_result(self._generator.answer(packet, catalogue))
            except BaseException as error:
                answer.set_exception(error)

        # A daemon: a server that stalls must not hold up the end of the process.
        threading.Thread(target=call, name="generator", daemon=True).start()
        return answer

    def _append_finished(self) -> None:
        """Append what has been answered, and commit below the oldest packet that has not."""
        for partition, flying in self._flying.items():
            for offset, call in flying.items():
                if call is not None and call.done():
                    self._producer.append([call.result()])
                    flying[offset] = None
                    self._log.info("answered", partition=partition, offset=offset)
            done = 0
            for offset in sorted(flying):
                if flying[offset] is not None:
                    break
                done = offset + 1
            if done:
                for offset in [one for one in flying if one < done]:
                    del flying[offset]
                place = TopicPartition(self._topic, partition, done)
                self._consumer.commit(offsets=[place], asynchronous=True)


class _Catalogues:
    """Catalogues by digest, read from the control records of ``events`` as far as needed."""

    def __init__(self, connection: Connection, *, prefix: str) -> None:
        self._topic = name_topic(EVENTS, prefix=prefix)
        self._known: dict[bytes, Catalogue] = {}
        self._partition: int | None = None
        group = {"group.id": f"{prefix}generator-catalogues"}
        self._consumer: Any = connection.clients.consumer(
            describe_for_ledger(connection) | _CONSUMER | group
        )

    def find(self, name: bytes, partition: int) -> Catalogue:
        """Return the catalogue of a digest that a packet of this partition names.

        Raises:
            StoreUnavailableError: the partition's events cannot be read.

        """
        if name not in self._known and self._partition is None:
            self._partition = partition
            self._consumer.assign([TopicPartition(self._topic, partition, OFFSET_BEGINNING)])
        silent = 0
        while name not in self._known:
            message = self._consumer.poll(POLL_S)
            if message is not None and message.error() is not None:
                raise_refused(message.error(), self._topic)
            if message is None or message.error() is not None:
                silent += 1
                if silent > CATALOGUE_POLLS_MAX:
                    raise StoreUnavailableError(f"no catalogue {name.hex()} on {self._topic}")
                continue
            silent = 0
            self._read(message.value())
        return self._known[name]

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()

    def _read(self, value: bytes | None) -> None:
        try:
            payload = unframe(Event, value)[0].payload
        except DecodeError:
            return
        if isinstance(payload, Genesis | CatalogueActivated):
            self._known[catalogue_digest(payload.catalogue)] = payload.catalogue
