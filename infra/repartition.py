"""A history written into a new set of topics: another number of partitions, or one without a gap.

Bytes, keys, headers and times of every event are kept, so that a fold of the new set gives the same
outcomes under the same ids. The old set is only read. Folding is the workers' affair.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from confluent_kafka import KafkaException
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewTopic

from infra.archive.reading import Archive
from infra.archive.whole_log import WholeLog, read_message
from infra.keys import configured_keys, sign_event
from infra.placement import Left, Placed, fit_genesis, place_records, refit
from infra.provision import STAMPED, TopicSet, apply, plan, settle
from schemas.topics import EVENTS, SEALED, TOPICS, name_topic
from streams.authentication import KeyRing
from streams.committed import CommittedPartition
from streams.connection import Connection, describe_for_admin, describe_for_ledger
from streams.failures import KeysMissingError, LogGapError, StoreUnavailableError
from streams.kafka_log import describe_topic_id, has_topic
from streams.ledger_bytes import digest_record
from streams.ports import LogRecord

FLUSH_TIMEOUT_S: Final = 120.0
SHOW_EVERY: Final = 1_000

_PRODUCER: Final = {
    "enable.idempotence": True,
    "acks": "all",
    "linger.ms": 20,
    "message.max.bytes": 2 * 1024 * 1024,
}

Progress = Callable[[int, int], None]


class RepartitionRefusedError(Exception):
    """The history cannot be written there, or not whole; the message names the remedy."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What was written, and what had no place in the new set."""

    events: int
    records: int
    partitions: int
    repeated: int
    misplaced: int


@dataclass(slots=True)
class _Written:
    """What one partition must hold afterwards."""

    count: int = 0
    digest: Any = field(default_factory=hashlib.sha256)


def repartition(
    connection: Connection,
    *,
    source: str,
    wanted: TopicSet,
    archive: Archive | None,
    progress: Progress,
) -> Moved:
    """Write the whole history of the topics under a prefix into those of another.

    Its ``events`` get the producer's times until all is written and read back; only then is the
    set provisioned, so that no worker serves a part. Producers must be stopped before.

    Raises:
        RepartitionRefusedError: the target stands already, or events arrived meanwhile.
        ControlOrderError, LogGapError, ArchiveError, StoreUnavailableError: the history cannot be
            had whole.
    """
    name_topic(EVENTS, prefix=wanted.prefix)  # A prefix that cannot be is said before anything.
    if wanted.prefix == source:
        raise RepartitionRefusedError(
            f"prefix {source!r}: a set of topics is never repartitioned in place; "
            "name another one with --into"
        )
    if has_topic(connection, name_topic(SEALED, prefix=source)):
        raise RepartitionRefusedError(
            f"prefix {source!r} is an encrypted log, whose records name no user: it keeps its "
            "number of partitions"
        )
    topic_id, partitions = describe_topic_id(connection, name_topic(EVENTS, prefix=source))
    with ExitStack() as stack:
        logs = [
            stack.enter_context(
                WholeLog(
                    connection, prefix=source, topic_id=topic_id, partition=number, archive=archive
                )
            )
            for number in range(partitions)
        ]
        _refuse_beginning(logs)
        _create_events(connection, wanted)
        left = Left()
        placed = place_records([log.walk(0) for log in logs], partitions=wanted.partitions,
                               left=left)  # fmt: skip
        total = sum(log.bounds().end - log.bounds().start for log in logs)
        written, events = _write(connection, wanted, placed, progress, total)
        _read_back(connection, wanted, written)
        moved = [log.partition for log in logs if log.moved()]
    if moved:
        raise RepartitionRefusedError(
            f"events were appended to partitions {moved} meanwhile: stop producers, gateways, "
            "generators and workers, delete the topics just written, and run this again"
        )
    _stamp_on_append(connection, wanted)
    apply(connection, wanted, plan(connection, wanted))
    records = sum(part.count for part in written)
    return Moved(events, records, wanted.partitions, left.repeated, left.misplaced)


def _refuse_beginning(logs: Sequence[WholeLog]) -> None:
    for log in logs:
        start = log.bounds().start
        if start:
            raise LogGapError(
                f"partition {log.partition}: events 0 to {start - 1} are gone: add --archive with "
                "an export that begins with the log"
            )


def _create_events(connection: Connection, wanted: TopicSet) -> None:
    admin = KafkaAdminClient(**describe_for_admin(connection))
    try:
        names = {name_topic(topic, prefix=wanted.prefix) for topic in TOPICS}
        standing = sorted(names & set(admin.list_topics()))
        if standing:
            raise RepartitionRefusedError(
                f"{standing[0]} stands already: name a prefix that no topic has yet with --into"
            )
        settings = dict(settle(EVENTS, wanted)) | {STAMPED: "CreateTime"}
        name = name_topic(EVENTS, prefix=wanted.prefix)
        topic = NewTopic(name, wanted.partitions, wanted.replication, topic_configs=settings)
        admin.create_topics([topic], wait_for_metadata=True)
    finally:
        admin.close()


def _stamp_on_append(connection: Connection, wanted: TopicSet) -> None:
    admin = KafkaAdminClient(**describe_for_admin(connection))
    try:
        name = name_topic(EVENTS, prefix=wanted.prefix)
        settings = {STAMPED: "LogAppendTime"}
        resource = ConfigResource(ConfigResourceType.TOPIC, name, settings)
        admin.alter_configs([resource], incremental=True)
    finally:
        admin.close()


def _write(
    connection: Connection,
    wanted: TopicSet,
    placed: Iterator[Placed],
    progress: Progress,
    total: int,
) -> tuple[list[_Written], int]:
    """Append every record with its own time; return what each partition must now hold."""
    producer = connection.clients.producer(describe_for_ledger(connection) | _PRODUCER)
    topic, keys = name_topic(EVENTS, prefix=wanted.prefix), configured_keys()
    written = [_Written() for _ in range(wanted.partitions)]
    failed: list[str] = []
    events = 0
    for record, partitions in placed:
        fitted = _fit(record, wanted.partitions, keys)
        for partition in partitions:
            _append(producer, topic, partition, fitted, failed)
            part = written[partition]
            part.digest.update(digest_record(fitted._replace(offset=part.count)))
            part.count += 1
        events += 1
        if events % SHOW_EVERY == 0:
            producer.poll(0)
            progress(events, max(0, total - events))
    left = producer.flush(FLUSH_TIMEOUT_S)
    if left or failed:
        raise StoreUnavailableError(
            f"{topic}: {failed[0] if failed else f'{left} records unanswered'}"
        )
    return written, events


def _append(
    producer: Any, topic: str, partition: int, record: LogRecord, failed: list[str]
) -> None:
    def note(error: Any, _message: Any) -> None:
        if error is not None:
            failed.append(str(error))

    while True:
        try:
            producer.produce(
                topic, record.value, record.key, partition, note,
                timestamp=record.timestamp_ms, headers=list(record.headers),
            )  # fmt: skip
        except BufferError:
            producer.poll(0.1)
        except KafkaException as error:
            raise StoreUnavailableError(f"{topic}: {error}") from error
        else:
            return


def _fit(record: LogRecord, partitions: int, keys: KeyRing | None) -> LogRecord:
    """Return the record as it goes on: all but genesis, which names the partitions, unchanged."""
    event = fit_genesis(record, partitions=partitions)
    if event is None:
        return record
    if event.payload.authenticated and keys is None:  # type: ignore[union-attr]
        raise KeysMissingError(
            "the log is authenticated and its genesis record must be signed anew: set "
            "COMMITMENTS_KEYS_FILE to the key file"
        )
    return refit(record, sign_event(event, keys))


def _read_back(connection: Connection, wanted: TopicSet, written: Sequence[_Written]) -> None:
    name = name_topic(EVENTS, prefix=wanted.prefix)
    for partition, expected in enumerate(written):
        found = _Written()
        with CommittedPartition(connection, topic=name, partition=partition) as topic:
            for record in map(read_message, islice(topic.read(0), expected.count + 1)):
                found.digest.update(digest_record(record._replace(offset=found.count)))
                found.count += 1
        if (found.count, found.digest.digest()) != (expected.count, expected.digest.digest()):
            raise RepartitionRefusedError(
                f"{name}, partition {partition}: it does not hold what was written; somebody "
                "else wrote there. Name another prefix with --into"
            )
