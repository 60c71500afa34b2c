"""Faults of topics, offsets and folders on a real broker: mended, or stopped with the reason."""

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from infra.broker import Broker
from infra.provision import TopicSet, apply, plan
from schemas.topics import EVENTS, list_settings
from streams.connection import Connection
from streams.kafka_rows import CACHE_AGE_MAX_MS, open_cache
from streams.lane import Phase
from streams.ledger_bytes import decode_record
from streams.ownership import EXIT_CONFIGURATION
from tests.broker.checker import check_counting, read_partition
from tests.broker.counting import CountingReducer
from tests.broker.threads import running
from tests.broker.workers import await_true


@pytest.fixture
def topics(broker: Broker, prefix: str) -> str:
    """Give the prefix of a fresh set of topics with one partition."""
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    wanted = TopicSet(prefix=prefix, partitions=1, replication=1, insync_min=1)
    apply(connection, wanted, plan(connection, wanted))
    return prefix


def _append(broker: Broker, topic: str, values: Sequence[bytes | None]) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    for number, value in enumerate(values):
        producer.produce(topic, value, b"user %d" % (number % 5), partition=0)
    assert 0 == producer.flush(30)


@pytest.fixture
def admin(broker: Broker) -> AdminClient:
    """Give an admin client that lives as long as the test waits for its answers."""
    return AdminClient({"bootstrap.servers": broker.bootstrap_servers})


def _assert_exact(broker: Broker, prefix: str) -> None:
    verdict = check_counting(broker.bootstrap_servers, prefix, 1)
    assert 0 == verdict.faults, verdict


def test_committed_offsets_play_no_part(
    broker: Broker, topics: str, tmp_path: Path, admin: AdminClient
) -> None:
    """Offsets moved ahead by hand, and the group deleted, change no outcome."""
    _append(broker, f"{topics}events", [b"a"] * 20)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(20)
    _append(broker, f"{topics}events", [b"b"] * 20)
    ahead = TopicPartition(f"{topics}events", 0, 35)
    group = f"{topics}ledger-progress"
    moved = admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, [ahead])])
    moved[group].result(10)

    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(40)
    admin.delete_consumer_groups([group])[group].result(10)
    _append(broker, f"{topics}events", [b"c"] * 5)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(45)

    _assert_exact(broker, topics)


def test_a_deleted_head_of_the_log_is_recorded_as_a_gap(
    broker: Broker, topics: str, tmp_path: Path, admin: AdminClient
) -> None:
    """Events that were deleted unfolded stand in the ledger as a gap; folding goes on behind it."""
    _append(broker, f"{topics}events", [b"a"] * 10)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(10)
    _append(broker, f"{topics}events", [b"b"] * 10)
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
    _append(broker, f"{topics}events", [None, b"", b"last"])

    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(9)

    _assert_exact(broker, topics)


def test_corrupt_rows_stop_a_ledger_that_restores_from_them(
    broker: Broker, topics: str, tmp_path: Path
) -> None:
    """A row changed behind the ledger is found by the row-set digest; the remedy is named."""
    _append(broker, f"{topics}events", [b"a"] * 10)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(10)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    producer.produce(f"{topics}rows", b"99", b"ruser 1", partition=0)
    producer.flush(20)

    with running(broker, topics, tmp_path / "empty", CountingReducer) as worker:
        lane = worker.await_phase(Phase.STOPPED)

    assert "commitments rebuild" in lane.reason


def test_lost_rows_are_no_first_start(
    broker: Broker, topics: str, tmp_path: Path, admin: AdminClient
) -> None:
    """Empty rows beside a ledger with records stop: folding again would double every outcome."""
    _append(broker, f"{topics}events", [b"a"] * 10)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(10)
    admin.delete_topics([f"{topics}rows"])[f"{topics}rows"].result(20)
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    wanted = TopicSet(prefix=topics, partitions=1, replication=1, insync_min=1)
    apply(connection, wanted, plan(connection, wanted))

    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        lane = worker.await_phase(Phase.STOPPED)

    assert "the rows are lost" in lane.reason


def test_a_recreated_log_stops_the_ledger(
    broker: Broker, topics: str, tmp_path: Path, admin: AdminClient
) -> None:
    """`events` deleted and created again is another log: its outcomes rest on events now gone."""
    _append(broker, f"{topics}events", [b"a"] * 10)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(10)
    admin.delete_topics([f"{topics}events"])[f"{topics}events"].result(20)
    again = NewTopic(f"{topics}events", 1, 1, config=dict(list_settings(EVENTS)))

    def recreated() -> bool:
        return admin.create_topics([again])[f"{topics}events"].exception(10) is None

    await_true(recreated, timeout_s=20, what="the topic created again")
    _append(broker, f"{topics}events", [b"b"] * 20)

    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        lane = worker.await_phase(Phase.STOPPED)

    assert "deleted and created again" in lane.reason


def test_a_foreign_or_damaged_folder_is_never_believed(
    broker: Broker, topics: str, tmp_path: Path
) -> None:
    """Rows of another partition, cut files and rows too old to catch up are wiped and restored."""
    _append(broker, f"{topics}events", [b"a"] * 10)
    home = tmp_path / "s"
    with running(broker, topics, home, CountingReducer) as worker:
        worker.await_folded(10)
    foreign = open_cache(tmp_path / "foreign" / "0")
    foreign.write([(b"ruser 1", b"77")], position=3, stamp_ms=1)
    foreign.close()
    shutil.copytree(home, tmp_path / "cut")
    for file in (tmp_path / "cut" / "0").glob("*.sst"):
        file.write_bytes(file.read_bytes()[:-20])
    old = open_cache(home / "0")
    position = old.position()
    assert position is not None
    stamp_ms = position[1] - CACHE_AGE_MAX_MS - 1
    old.write([(b"rwithdrawn", b"1")], position=position[0], stamp_ms=stamp_ms)
    old.close()

    for number, folder in enumerate((tmp_path / "foreign", tmp_path / "cut", home)):
        _append(broker, f"{topics}events", [b"b"])
        with running(broker, topics, folder, CountingReducer) as worker:
            worker.await_folded(11 + number)

    _assert_exact(broker, topics)


def test_an_outcome_that_no_topic_takes_stops_its_partition_only(
    broker: Broker, topics: str, tmp_path: Path
) -> None:
    """An oversized record aborts its batch down to one event; what came before stands, once."""
    _append(broker, f"{topics}events", [b"a", b"b", b"huge", b"c"])

    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        lane = worker.await_phase(Phase.STOPPED)

    assert "aborted" in lane.reason
    outcomes = read_partition(broker.bootstrap_servers, f"{topics}commitments", 0)
    assert [b"1 a", b"1 b"] == [value for _, value in outcomes]


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


def test_two_owners_never_both_extend_the_history(
    broker: Broker, topics: str, tmp_path: Path
) -> None:
    """A second owner fences the first; they settle by turns, and every outcome is there once."""
    _append(broker, f"{topics}events", [b"a"] * 50)
    with running(broker, topics, tmp_path / "one", CountingReducer) as first:
        first.await_folded(50)
        with running(broker, topics, tmp_path / "two", CountingReducer) as second:
            second.await_phase(Phase.FOLDING)
            _append(broker, f"{topics}events", [b"b"] * 50)
            second.await_folded(100)
            await_true(
                lambda: any(event == "ledger_failed" for event, _ in first.notes),
                timeout_s=20,
                what="the first one noticed that it was fenced",
            )

    _assert_exact(broker, topics)
