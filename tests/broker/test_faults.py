"""Faults of the log, its offsets and its partitions: mended, or stopped with the reason."""

import random
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from infra.broker import Broker
from infra.provision import TopicSet, apply, plan
from schemas.partition import partition_of
from schemas.topics import EVENTS, list_settings
from streams.connection import Connection
from streams.lane import Phase
from streams.ledger_bytes import decode_record
from streams.ownership import EXIT_CONFIGURATION
from tests.broker.appending import append_values
from tests.broker.checker import assert_exact, read_partition
from tests.broker.counting import CountingReducer
from tests.broker.threads import running
from tests.broker.workers import await_true


def test_committed_offsets_play_no_part(
    broker: Broker, topics: str, tmp_path: Path, admin: AdminClient
) -> None:
    """Offsets moved ahead by hand, and the group deleted, change no outcome."""
    append_values(broker, f"{topics}events", [b"a"] * 20)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(20)
    append_values(broker, f"{topics}events", [b"b"] * 20)
    ahead = TopicPartition(f"{topics}events", 0, 35)
    group = f"{topics}ledger-progress"
    moved = admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, [ahead])])
    moved[group].result(10)

    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(40)
    admin.delete_consumer_groups([group])[group].result(10)
    append_values(broker, f"{topics}events", [b"c"] * 5)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(45)

    assert_exact(broker.bootstrap_servers, topics)


def test_a_deleted_head_of_the_log_is_recorded_as_a_gap(
    broker: Broker, topics: str, tmp_path: Path, admin: AdminClient
) -> None:
    """Events that were deleted unfolded stand in the ledger as a gap; folding goes on behind it."""
    append_values(broker, f"{topics}events", [b"a"] * 10)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(10)
    append_values(broker, f"{topics}events", [b"b"] * 10)
    place = TopicPartition(f"{topics}events", 0, 15)
    admin.delete_records([place])[place].result(10)

    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(20)

    ledgers = read_partition(broker.bootstrap_servers, f"{topics}ledgers", 0)
    records = [decode_record(value or b"") for _, value in ledgers]
    gaps = [(r.gap_from, r.first_offset) for r in records if r.gap_from < r.first_offset]
    assert [(10, 15)] == gaps
    rows = dict(read_partition(broker.bootstrap_servers, f"{topics}rows", 0))
    assert b"10-15" == rows[b"rgap"]
    outcomes = read_partition(broker.bootstrap_servers, f"{topics}commitments", 0)
    assert 15 == len(outcomes)


def test_garbage_and_tombstones_on_the_input_block_nobody(
    broker: Broker, topics: str, tmp_path: Path
) -> None:
    """Null keys, null values, random bytes and aborted transactions leave every outcome exact."""
    chance = random.Random(1)
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "transactional.id": f"{topics}foreign",
            "log_level": 0,
        }
    )
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(f"{topics}events", b"never", b"user", partition=0)
    producer.flush(20)
    producer.abort_transaction(20)
    producer.begin_transaction()
    producer.produce(f"{topics}events", None, b"user", partition=0)
    producer.produce(f"{topics}events", b"no key", None, partition=0)
    producer.produce(f"{topics}events", chance.randbytes(500_000), b"user", partition=0)
    producer.commit_transaction(20)
    append_values(broker, f"{topics}events", [None, b"", b"last"])

    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(9)

    assert_exact(broker.bootstrap_servers, topics)


def test_a_recreated_log_stops_the_ledger(
    broker: Broker, topics: str, tmp_path: Path, admin: AdminClient
) -> None:
    """`events` deleted and created again is another log: its outcomes rest on events now gone."""
    append_values(broker, f"{topics}events", [b"a"] * 10)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(10)
    admin.delete_topics([f"{topics}events"])[f"{topics}events"].result(20)
    again = NewTopic(f"{topics}events", 1, 1, config=dict(list_settings(EVENTS)))

    def recreated() -> bool:
        return admin.create_topics([again])[f"{topics}events"].exception(10) is None

    await_true(recreated, timeout_s=20, what="the topic created again")
    append_values(broker, f"{topics}events", [b"b"] * 20)

    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        lane = worker.await_phase(Phase.STOPPED)

    assert "deleted and created again" in lane.reason


def test_a_changed_partition_count_stops_the_worker(
    broker: Broker,
    topics: str,
    tmp_path: Path,
    admin: AdminClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Partitions added while it runs move keys: every ledger stops and a person must act."""
    monkeypatch.setattr("streams.worker.COUNT_EVERY_S", 0.2)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_phase(Phase.FOLDING)
        grown = NewPartitions(f"{topics}events", 2)
        admin.create_partitions([grown])[f"{topics}events"].result(20)

        await_true(lambda: worker.exit is not None, timeout_s=20, what="an exit")

    assert worker.exit is not None
    assert EXIT_CONFIGURATION == worker.exit[0]
    assert "2 partitions instead of 1" in worker.exit[1]


def test_producers_and_the_core_agree_on_partitions(broker: Broker, prefix: str) -> None:
    """Keys that a client places by Java's murmur2 are where the core expects them."""
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    wanted = TopicSet(prefix=prefix, partitions=7, replication=1, insync_min=1)
    apply(connection, wanted, plan(connection, wanted))
    keys = [b"%d" % (number * number) * (number % 9 + 1) for number in range(200)]
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "partitioner": "murmur2_random",
            "log_level": 0,
        }
    )
    for key in keys:
        producer.produce(f"{prefix}events", b"", key)
    assert 0 == producer.flush(30)

    placed = {
        key: partition
        for partition in range(7)
        for key, _ in read_partition(broker.bootstrap_servers, f"{prefix}events", partition)
    }

    assert {key: partition_of(key, 7) for key in keys} == placed
