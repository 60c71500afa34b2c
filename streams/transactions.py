"""Waiting until every transaction on a partition is decided; nothing is written or aborted here."""

from collections.abc import Sequence
from typing import Any, Final

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from streams.connection import Connection, describe_for_ledger
from streams.failures import LedgerBrokenError, StoreUnavailableError
from streams.kafka_log import ASK_TIMEOUT_S

DECIDE_TIMEOUT_S: Final = 65.0
"""Just above transaction.max.timeout.ms: the broker has aborted whatever was abandoned by then."""
ASK_EVERY_MS: Final = 100


def await_decided(connection: Connection, topics: Sequence[str], partition: int) -> None:
    """Return once last stable offset and high watermark agree on the partition of every topic.

    Raises:
        LedgerBrokenError: a transaction stays open; who reads committed would miss what follows.
        StoreUnavailableError: the broker does not answer.
    """
    clock = connection.clients.clock
    admin = _open_admin(connection)
    places = [TopicPartition(topic, partition) for topic in topics]
    gives_up_at = clock.steady_ns() + int(DECIDE_TIMEOUT_S * 1e9)
    while True:
        stable = _ask_ends(admin, places, IsolationLevel.READ_COMMITTED)
        ends = _ask_ends(admin, places, IsolationLevel.READ_UNCOMMITTED)
        open_at = [
            (topic, stable[topic], ends[topic]) for topic in topics if stable[topic] < ends[topic]
        ]
        if not open_at:
            return
        if clock.steady_ns() >= gives_up_at:
            topic, first, end = open_at[0]
            raise LedgerBrokenError(
                f"{topic}, partition {partition}: a transaction of another producer is open from "
                f"offset {first} to {end}. Find it with `kafka-transactions.sh describe-producers "
                f"--topic {topic} --partition {partition}` and end it with `abort --topic {topic} "
                f"--partition {partition} --start-offset {first}`"
            )
        clock.wait(ASK_EVERY_MS)


def ask_cluster_id(connection: Connection) -> str:
    """Return the id of the cluster; StoreUnavailableError if it does not answer."""
    admin = _open_admin(connection)
    try:
        return str(admin.describe_cluster(request_timeout=ASK_TIMEOUT_S).result().cluster_id)
    except KafkaException as error:
        raise StoreUnavailableError(
            f"{connection.bootstrap_servers}: {error}. Is a broker listening there?"
        ) from error


def _open_admin(connection: Connection) -> Any:
    return connection.clients.admin(describe_for_ledger(connection))


def _ask_ends(
    admin: Any, places: Sequence[TopicPartition], isolation: IsolationLevel
) -> dict[str, int]:
    request = {place: OffsetSpec.latest() for place in places}
    try:
        answers = admin.list_offsets(
            request, isolation_level=isolation, request_timeout=ASK_TIMEOUT_S
        )
        return {place.topic: int(future.result().offset) for place, future in answers.items()}
    except KafkaException as error:
        raise StoreUnavailableError(f"the broker names no offsets: {error}") from error
