"""Histories of the core on a broker: appended as its clients append them, read back as bodies."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from infra.broker import Broker
from infra.provision import TopicSet, apply, plan
from schemas.codec import frame, unframe
from schemas.control import Genesis
from schemas.event import Event
from schemas.identity import record_key
from schemas.partition import partition_of
from streams.connection import Connection
from streams.core_reducer import CoreReducer
from streams.transactions import await_decided
from tests.broker.checker import read_partition
from tests.broker.threads import running
from tests.conversation import GENERATOR
from tests.kitchen import meal
from tests.situations import request
from tests.talk import answer, form
from tests.told_log import event

OUTCOMES = ("commitments", "repairs", "failures", "packets")


def provision(broker: Broker, prefix: str, *, partitions: int = 1) -> Connection:
    """Create a set of topics and return the connection to them."""
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    wanted = TopicSet(prefix=prefix, partitions=partitions, replication=1, insync_min=1)
    apply(connection, wanted, plan(connection, wanted))
    return connection


def dinner(user: str, mark: str = "") -> list[Event]:
    """Return what one user says and asks: one turn that ends in a commitment."""
    told = (
        event(form(dish="soup"), f"e{mark}"),
        event(request(), f"t{mark}"),
        event(answer(f"t{mark}", meal("soup")), f"c{mark}", principal=GENERATOR),
    )
    return [replace(one, user=user) for one in told]


def append_history(
    broker: Broker, prefix: str, events: Sequence[Event], *, partitions: int = 1
) -> int:
    """Append each event to its user's partition, and control records to every one."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    appended = 0
    for one in events:
        told = one
        if isinstance(one.payload, Genesis):
            told = replace(one, payload=replace(one.payload, partitions=partitions))
        key = record_key(told.tenant, told.user)
        places = [partition_of(key, partitions)] if told.user else range(partitions)
        for place in places:
            producer.produce(f"{prefix}events", frame(told), key, place)
            appended += 1
    assert 0 == producer.flush(30)
    return appended


def await_marks(broker: Broker, prefix: str, partitions: int, topics: Sequence[str]) -> None:
    """Wait until all is decided: the broker marks a transaction after it has answered."""
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    for partition in range(partitions):
        await_decided(connection, [f"{prefix}{name}" for name in topics], partition)


def read_outcomes(
    broker: Broker, prefix: str, *, partitions: int = 1, topics: Sequence[str] = OUTCOMES
) -> Counter[tuple[str, bytes, bytes | None]]:
    """Return every committed outcome of a set of topics with its key."""
    await_marks(broker, prefix, partitions, topics)
    return Counter(
        (topic, key, value)
        for topic in topics
        for partition in range(partitions)
        for key, value in read_partition(broker.bootstrap_servers, f"{prefix}{topic}", partition)
    )


def read_records(broker: Broker, prefix: str, topic: str, record: type) -> list:
    """Return the records of one topic's first partition."""
    await_marks(broker, prefix, 1, [topic])
    found = read_partition(broker.bootstrap_servers, f"{prefix}{topic}", 0)
    return [unframe(record, value)[0] for _, value in found]


def lose_topics(admin: AdminClient, broker: Broker, prefix: str, *topics: str) -> None:
    """Delete topics with all they hold and create them anew, empty."""
    for future in admin.delete_topics([f"{prefix}{name}" for name in topics]).values():
        future.result(20)
    provision(broker, prefix)


def read_decided(broker: Broker, prefix: str, name: str) -> list[tuple[bytes, bytes | None]]:
    """Return all records of a partition once no transaction on rows and ledgers is open."""
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    await_decided(connection, [f"{prefix}rows", f"{prefix}ledgers"], 0)
    return read_partition(broker.bootstrap_servers, f"{prefix}{name}", 0)


def fold_core(broker: Broker, prefix: str, folder: Path, next_offset: int) -> None:
    """Fold the first partition with the core up to an offset."""
    with running(broker, prefix, folder, CoreReducer) as worker:
        worker.await_folded(next_offset)
