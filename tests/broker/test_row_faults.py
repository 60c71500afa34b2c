"""Faults of rows, folders and transactions: restored, fenced, or stopped with the reason."""

import shutil
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from infra.broker import Broker
from infra.provision import TopicSet, apply, plan
from streams.connection import Connection
from streams.kafka_rows import CACHE_AGE_MAX_MS, open_cache
from streams.lane import Phase
from tests.broker.appending import append_values
from tests.broker.checker import assert_exact, read_partition
from tests.broker.counting import CountingReducer
from tests.broker.threads import running
from tests.broker.workers import await_true


def test_corrupt_rows_stop_a_ledger_that_restores_from_them(
    broker: Broker, topics: str, tmp_path: Path
) -> None:
    """A row changed behind the ledger is found by the row-set digest; the remedy is named."""
    append_values(broker, f"{topics}events", [b"a"] * 10)
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
    append_values(broker, f"{topics}events", [b"a"] * 10)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(10)
    admin.delete_topics([f"{topics}rows"])[f"{topics}rows"].result(20)
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    wanted = TopicSet(prefix=topics, partitions=1, replication=1, insync_min=1)
    apply(connection, wanted, plan(connection, wanted))

    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        lane = worker.await_phase(Phase.STOPPED)

    assert "the rows are lost" in lane.reason


def test_a_foreign_or_damaged_folder_is_never_believed(
    broker: Broker, topics: str, tmp_path: Path
) -> None:
    """Rows of another partition, cut files and rows too old to catch up are wiped and restored."""
    append_values(broker, f"{topics}events", [b"a"] * 10)
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
        append_values(broker, f"{topics}events", [b"b"])
        with running(broker, topics, folder, CountingReducer) as worker:
            worker.await_folded(11 + number)

    assert_exact(broker.bootstrap_servers, topics)


def test_an_outcome_that_no_topic_takes_stops_its_partition_only(
    broker: Broker, topics: str, tmp_path: Path
) -> None:
    """An oversized record aborts its batch down to one event; what came before stands, once."""
    append_values(broker, f"{topics}events", [b"a", b"b", b"huge", b"c"])

    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        lane = worker.await_phase(Phase.STOPPED)

    assert "aborted" in lane.reason
    outcomes = read_partition(broker.bootstrap_servers, f"{topics}commitments", 0)
    assert [b"1 a", b"1 b"] == [value for _, value in outcomes]


def test_two_owners_never_both_extend_the_history(
    broker: Broker, topics: str, tmp_path: Path
) -> None:
    """A second owner fences the first; they settle by turns, and every outcome is there once."""
    append_values(broker, f"{topics}events", [b"a"] * 50)
    with running(broker, topics, tmp_path / "one", CountingReducer) as first:
        first.await_folded(50)
        with running(broker, topics, tmp_path / "two", CountingReducer) as second:
            second.await_phase(Phase.FOLDING)
            append_values(broker, f"{topics}events", [b"b"] * 50)
            second.await_folded(100)
            await_true(
                lambda: any(event == "ledger_failed" for event, _ in first.notes),
                timeout_s=20,
                what="the first one noticed that it was fenced",
            )

    assert_exact(broker.bootstrap_servers, topics)


def test_an_open_transaction_of_another_producer_stops_a_start_with_its_place(
    broker: Broker, topics: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows behind an undecided transaction are not yet known: no ledger starts on them."""
    monkeypatch.setattr("streams.transactions.DECIDE_TIMEOUT_S", 1.0)
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "transactional.id": f"{topics}foreign",
            "log_level": 0,
        }
    )
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(f"{topics}rows", b"1", b"rforeign", partition=0)
    assert 0 == producer.flush(20)

    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        lane = worker.await_phase(Phase.STOPPED)
    producer.abort_transaction(20)

    assert "is open from offset 0" in lane.reason
    assert "kafka-transactions.sh" in lane.reason
