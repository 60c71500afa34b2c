"""Histories written into a new set of topics: without their gap, or among other partitions."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from infra.archive.kafka_source import KafkaSource
from infra.archive.reading import Archive
from infra.broker import Broker
from infra.provision import Step, TopicSet, plan
from infra.rebuilding import rebuild
from infra.repartition import RepartitionRefusedError, repartition
from schemas.outcome import Commitment, RepairAct
from streams.core_reducer import CoreReducer
from streams.failures import LedgerBrokenError
from streams.transactions import ask_cluster_id
from tests.broker.histories import (
    append_history,
    dinner,
    fold_core,
    lose_topics,
    provision,
    read_decided,
    read_outcomes,
    read_records,
)
from tests.broker.threads import running
from tests.told_log import begin

LOST = ("rows", "ledgers", "commitments", "repairs", "failures", "packets", "states", "contracts")


class _DiedError(Exception):
    """Ends a command in its middle."""


def _ignore(_done: int, _left: int) -> None:
    """Show no progress."""


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


def test_a_gap_is_cleared_by_writing_the_whole_history_into_a_new_set(
    broker: Broker, prefix: str, tmp_path: Path, admin: AdminClient
) -> None:
    """Behind a gap every turn abstains; folded anew from the export the same turns commit."""
    connection = provision(broker, prefix)
    append_history(broker, prefix, [begin()])
    fold_core(broker, prefix, tmp_path / "one", 1)
    backup = {name: read_decided(broker, prefix, name) for name in ("rows", "ledgers")}
    append_history(broker, prefix, [*dinner("m"), *dinner("n")])
    fold_core(broker, prefix, tmp_path / "one", 7)
    archive = tmp_path / "archive"
    KafkaSource(connection, prefix=prefix).export(archive)
    before = read_outcomes(broker, prefix)
    lose_topics(admin, broker, prefix, *LOST)
    _restore(broker, prefix, backup, f"{ask_cluster_id(connection)}.{prefix}ledger.0")
    place = TopicPartition(f"{prefix}events", 0, 5)
    admin.delete_records([place])[place].result(10)
    append_history(broker, prefix, [*dinner("m", "2"), *dinner("o")])

    fold_core(broker, prefix, tmp_path / "two", 13)
    repairs = read_records(broker, prefix, "repairs", RepairAct)
    commitments = read_records(broker, prefix, "commitments", Commitment)
    with pytest.raises(LedgerBrokenError, match="--into PREFIX"):
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
    fold_core(broker, f"{prefix}new.", tmp_path / "three", 13)
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
