"""The core on Kafka says the same bytes as the embedded log, at every number of partitions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
from confluent_kafka import Producer

from infra.appending import append_events
from infra.broker import Broker
from infra.importers.sgd import import_sgd
from infra.provision import TopicSet, apply, plan
from schemas.codec import frame, unframe
from schemas.control import Genesis
from schemas.event import Event
from schemas.partition import partition_of
from streams.connection import Connection
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from streams.ports import LogRecord
from tests.broker.checker import read_partition
from tests.broker.threads import running
from tests.broker.workers import await_true

OUTCOMES = ("commitments", "repairs", "failures", "packets", "surfaces", "rejections")
CANDIDATES = frozenset({"gold", "stale", "unconfirmed", "missing", "premature"})

Bodies = Counter[tuple[bytes, bytes | None]]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sequence[LogRecord], dict[str, Bodies]]:
    """Give the records of the shipped dialogues and every outcome of the embedded mode."""
    with Embedded(tmp_path_factory.mktemp("embedded") / "log", CoreReducer()) as embedded:
        with resources.as_file(resources.files("infra") / "sample") as sample:
            append_events(embedded, import_sgd([sample], CANDIDATES))
        embedded.fold_pending()
        records = embedded.log.read(0, limit=1_000_000)
        outcomes = {
            topic: Counter((out.record.key, out.record.value) for out in embedded.outputs(topic))
            for topic in OUTCOMES
        }
    assert outcomes["commitments"]
    assert outcomes["repairs"]
    return records, outcomes


@pytest.mark.parametrize("partitions", [1, 4, 8])
def test_every_outcome_has_the_same_bytes_as_embedded(
    broker: Broker,
    prefix: str,
    tmp_path: Path,
    told: tuple[Sequence[LogRecord], dict[str, Bodies]],
    partitions: int,
) -> None:
    """The same history gives the same ids and bodies, also when its rows are restored midway."""
    records, expected = told
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    wanted = TopicSet(prefix=prefix, partitions=partitions, replication=1, insync_min=1)
    apply(connection, wanted, plan(connection, wanted))
    owned = frozenset(range(partitions))

    for number, half in enumerate((records[: len(records) // 2], records[len(records) // 2 :])):
        appended = _append(broker, f"{prefix}events", half, partitions)
        folder = tmp_path / f"folder-{number}"
        with running(broker, prefix, folder, CoreReducer, partitions=owned) as worker:
            await_true(
                lambda w=worker, n=appended: sum(lane.events for lane in w.worker.lanes()) >= n,
                timeout_s=60,
                what=f"{appended} events folded; {worker.notes[-2:]}",
            )

    servers = broker.bootstrap_servers
    found = {
        topic: Counter(
            body
            for partition in range(partitions)
            for body in read_partition(servers, f"{prefix}{topic}", partition)
        )
        for topic in OUTCOMES
    }
    assert expected == found


def _append(broker: Broker, topic: str, records: Sequence[LogRecord], partitions: int) -> int:
    """Append each record to its key's partition, and control records to every partition."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    appended = 0
    for record in records:
        event = unframe(Event, record.value)[0]
        value = record.value
        if isinstance(event.payload, Genesis):
            value = frame(replace(event, payload=replace(event.payload, partitions=partitions)))
        places = [partition_of(record.key or b"", partitions)] if event.user else range(partitions)
        for place in places:
            producer.produce(topic, value, record.key, place, headers=list(record.headers))
            appended += 1
    assert 0 == producer.flush(30)
    return appended
