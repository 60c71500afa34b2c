"""Rows built anew and histories written into a new set of topics: the same outcomes, or nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from infra.archive.kafka_source import KafkaSource
from infra.archive.reading import Archive
from infra.archive.whole_log import WholeLog
from infra.broker import Broker
from infra.provision import Step, TopicSet, plan
from infra.rebuilding import rebuild
from infra.repartition import RepartitionRefusedError, repartition
from schemas.outcome import Commitment, RepairAct
from streams.connection import Connection
from streams.core_reducer import CoreReducer
from streams.failures import LedgerBroken, LogGap
from streams.kafka_log import describe_topic_id
from streams.kafka_store import Place
from streams.lane import Phase
from streams.rebuilding import Rebuilt, rebuild_partition
from streams.transactions import ask_cluster_id, await_decided
from tests.broker.appending import append_values
from tests.broker.checker import assert_exact, read_partition
from tests.broker.counting import CountingReducer
from tests.broker.histories import (
    append_history,
    dinner,
    provision,
    read_outcomes,
    read_records,
)
from tests.broker.threads import running
from tests.told_log import begin


class _DiedError(Exception):
    """Ends a command in its middle."""


LOST = ("rows", "ledgers", "commitments", "repairs", "failures", "packets", "states", "contracts")


def _ignore(_done: int, _left: int) -> None:
    """Show no progress."""


def _rebuild_counts(connection: Connection, prefix: str, folder: Path) -> Rebuilt:
    topic_id, _ = describe_topic_id(connection, f"{prefix}events")
    place = Place(
        connection=connection,
        cluster_id=ask_cluster_id(connection),
        prefix=prefix,
        partition=0,
        folder=folder,
    )
    with WholeLog(connection, prefix=prefix, topic_id=topic_id, partition=0) as log:
        return rebuild_partition(place, log, lambda _: CountingReducer(), _ignore)


def _read_rows(broker: Broker, prefix: str) -> dict[bytes, bytes]:
    """Return the rows and the head; the broker marks a transaction after it has answered."""
    rows = dict(_read_all(broker, prefix, "rows"))
    return {key: value for key, value in rows.items() if value is not None}


def _lose(admin: AdminClient, broker: Broker, prefix: str, *topics: str) -> None:
    """Delete topics with all they hold and create them anew, empty."""
    for future in admin.delete_topics([f"{prefix}{name}" for name in topics]).values():
        future.result(20)
    provision(broker, prefix)


def _read_all(broker: Broker, prefix: str, name: str) -> list[tuple[bytes, bytes | None]]:
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    await_decided(connection, [f"{prefix}rows", f"{prefix}ledgers"], 0)
    return read_partition(broker.bootstrap_servers, f"{prefix}{name}", 0)


def _restore(
    broker: Broker,
    prefix: str,
    backup: dict[str, list[tuple[bytes, bytes | None]]],
    transactional_id: str,
) -> None:
    """Put rows and ledger back as they were at an earlier time, as a backup would."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    for name, records in backup.items():
        for key, value in records:
            headers = [("transactional.id", transactional_id.encode())] if key == b"h" else []
            producer.produce(f"{prefix}{name}", value, key, 0, headers=headers)
    assert 0 == producer.flush(20)


def _fold(broker: Broker, prefix: str, folder: Path, next_offset: int) -> None:
    with running(broker, prefix, folder, CoreReducer) as worker:
        worker.await_folded(next_offset)


def test_damaged_rows_are_rebuilt_even_after_a_rebuild_that_died(
    broker: Broker, topics: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Altered, foreign and missing rows are replaced; half a rebuild is never taken for a whole."""
    append_values(broker, f"{topics}events", [b"a"] * 20)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(20)
    before = _read_rows(broker, topics)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    for key, value in ((b"ruser 1", b"99"), (b"rforeign", b"1"), (b"ruser 2", None)):
        producer.produce(f"{topics}rows", value, key, partition=0)
    assert 0 == producer.flush(20)
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    monkeypatch.setattr("streams.rebuilding.ROWS_PER_TRANSACTION", 2)

    def die(point: str) -> None:
        raise _DiedError(point)

    with monkeypatch.context() as dying:
        dying.setattr("streams.rebuilding.reach", die)
        with pytest.raises(_DiedError):
            _rebuild_counts(connection, topics, tmp_path / "r")
    with running(broker, topics, tmp_path / "empty", CountingReducer) as worker:
        half = worker.await_phase(Phase.STOPPED)
    rebuilt = _rebuild_counts(connection, topics, tmp_path / "r")
    after = _read_rows(broker, topics)

    assert "commitments rebuild" in half.reason
    assert (20, 5) == (rebuilt.events, rebuilt.rows)
    assert before == after
    append_values(broker, f"{topics}events", [b"b"] * 5)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(25)
    assert_exact(broker.bootstrap_servers, topics)


def test_a_ledger_that_tells_otherwise_leaves_the_rows_alone(
    broker: Broker, topics: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the fold does not come to the recorded outcomes nothing is written."""
    append_values(broker, f"{topics}events", [b"a"] * 5)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(5)
    before = _read_rows(broker, topics)
    fold = CountingReducer.fold
    monkeypatch.setattr(
        CountingReducer,
        "fold",
        lambda self, rows, record: fold(self, rows, record._replace(value=b"other")),
    )

    with pytest.raises(LedgerBroken, match="folds otherwise than recorded"):
        _rebuild_counts(
            Connection(bootstrap_servers=broker.bootstrap_servers), topics, tmp_path / "r"
        )

    assert before == _read_rows(broker, topics)


def test_a_ledger_with_a_record_too_many_or_altered_proves_nothing(
    broker: Broker, topics: str, tmp_path: Path
) -> None:
    """A doubled ledger record breaks the chain: no row is rebuilt from it, its place is named."""
    append_values(broker, f"{topics}events", [b"a"] * 5)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(5)
    *_, (key, last) = _read_all(broker, topics, "ledgers")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    producer.produce(f"{topics}ledgers", last, key, partition=0)
    assert 0 == producer.flush(20)

    with pytest.raises(LedgerBroken, match="does not continue the chain"):
        _rebuild_counts(
            Connection(bootstrap_servers=broker.bootstrap_servers), topics, tmp_path / "r"
        )


def test_lost_rows_behind_a_deleted_head_come_back_from_an_export(
    broker: Broker, prefix: str, tmp_path: Path, admin: AdminClient
) -> None:
    """Events deleted after an export are read from it; the outcomes stand and folding goes on."""
    connection = provision(broker, prefix)
    append_history(broker, prefix, [begin(), *dinner("m"), *dinner("n")])
    _fold(broker, prefix, tmp_path / "one", 7)
    archive = tmp_path / "archive"
    KafkaSource(connection, prefix=prefix).export(archive)
    outcomes = read_outcomes(broker, prefix)
    _lose(admin, broker, prefix, "rows")
    place = TopicPartition(f"{prefix}events", 0, 4)
    admin.delete_records([place])[place].result(10)

    def build(told: Archive | None) -> list[Rebuilt]:
        return rebuild(connection, prefix=prefix, archive=told, partitions=None, progress=_ignore)

    with pytest.raises(LogGap, match="add --archive"):
        build(None)
    (rebuilt,) = build(Archive(archive))
    assert 7 == rebuilt.events
    assert outcomes == read_outcomes(broker, prefix)
    append_history(broker, prefix, dinner("m", "2"))
    _fold(broker, prefix, tmp_path / "two", 10)
    assert 3 == len(read_records(broker, prefix, "commitments", Commitment))


def test_a_gap_is_cleared_by_writing_the_whole_history_into_a_new_set(
    broker: Broker, prefix: str, tmp_path: Path, admin: AdminClient
) -> None:
    """Behind a gap every turn abstains; folded anew from the export the same turns commit."""
    connection = provision(broker, prefix)
    append_history(broker, prefix, [begin()])
    _fold(broker, prefix, tmp_path / "one", 1)
    backup = {name: _read_all(broker, prefix, name) for name in ("rows", "ledgers")}
    append_history(broker, prefix, [*dinner("m"), *dinner("n")])
    _fold(broker, prefix, tmp_path / "one", 7)
    archive = tmp_path / "archive"
    KafkaSource(connection, prefix=prefix).export(archive)
    before = read_outcomes(broker, prefix)
    _lose(admin, broker, prefix, *LOST)
    _restore(broker, prefix, backup, f"{ask_cluster_id(connection)}.{prefix}ledger.0")
    place = TopicPartition(f"{prefix}events", 0, 5)
    admin.delete_records([place])[place].result(10)
    append_history(broker, prefix, [*dinner("m", "2"), *dinner("o")])

    _fold(broker, prefix, tmp_path / "two", 13)
    repairs = read_records(broker, prefix, "repairs", RepairAct)
    commitments = read_records(broker, prefix, "commitments", Commitment)
    with pytest.raises(LedgerBroken, match="--into PREFIX"):
        rebuild(
            connection, prefix=prefix, archive=Archive(archive), partitions=None, progress=_ignore
        )
    done = subprocess.run(
        [sys.executable, "-m", "infra.cli.main", "rebuild", "--archive", str(archive),
         "--into", f"{prefix}new.", "--bootstrap", broker.bootstrap_servers, "--prefix", prefix,
         "--replication", "1", "--insync-min", "1", "--json"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    moved = json.loads(done.stdout or done.stderr)
    _fold(broker, f"{prefix}new.", tmp_path / "three", 13)
    after = read_outcomes(broker, f"{prefix}new.")

    assert [] == commitments
    assert {"history_incomplete"} == {repair.reason for repair in repairs}
    assert 3 == len(repairs)
    assert (13, 0, 0) == (moved["events"], moved["repeated"], moved["misplaced"])
    assert not before - after
    assert 4 == len(read_records(broker, f"{prefix}new.", "commitments", Commitment))
    assert [] == read_records(broker, f"{prefix}new.", "repairs", RepairAct)


def test_a_history_folds_the_same_among_other_partitions(
    broker: Broker, prefix: str, tmp_path: Path
) -> None:
    """Ids and bodies of all outcomes are equal in the new set; the old one is only read."""
    connection = provision(broker, prefix, partitions=3)
    users = [f"user-{number}" for number in range(12)]
    told = [begin(), *(one for user in users for one in dinner(user))]
    appended = append_history(broker, prefix, told, partitions=3)
    three, five = frozenset(range(3)), frozenset(range(5))
    with running(broker, prefix, tmp_path / "a", CoreReducer, partitions=three) as worker:
        worker.await_events(appended)
    wanted = TopicSet(prefix=f"{prefix}v2.", partitions=5, replication=1, insync_min=1)

    def move(target: TopicSet) -> int:
        return repartition(
            connection, source=prefix, wanted=target, archive=None, progress=_ignore
        ).records

    written = move(wanted)
    with running(broker, wanted.prefix, tmp_path / "b", CoreReducer, partitions=five) as worker:
        worker.await_events(written)

    assert appended + 2 == written
    assert () == plan(connection, wanted)
    assert read_outcomes(broker, prefix, partitions=3) == read_outcomes(
        broker, wanted.prefix, partitions=5
    )
    for refused, why in ((wanted, "stands already"), (_in_place(wanted, prefix), "in place")):
        with pytest.raises(RepartitionRefusedError, match=why):
            move(refused)


def test_a_repartition_that_did_not_end_is_never_served(broker: Broker, prefix: str) -> None:
    """An `events` topic with the producers' times is refused by provisioning, and so by workers."""
    connection = provision(broker, prefix)
    half = TopicSet(prefix=f"{prefix}half.", partitions=2, replication=1, insync_min=1)

    def interrupt(_done: int, _left: int) -> None:
        raise _DiedError

    append_history(broker, prefix, [begin(), *dinner("m")] * 400)
    with pytest.raises(_DiedError):
        repartition(connection, source=prefix, wanted=half, archive=None, progress=interrupt)

    (refusal,) = (change for change in plan(connection, half) if change.step is Step.REFUSE)
    assert "did not end" in refusal.reason


def _in_place(wanted: TopicSet, prefix: str) -> TopicSet:
    return TopicSet(prefix=prefix, partitions=wanted.partitions, replication=1, insync_min=1)
