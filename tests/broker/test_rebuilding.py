"""Rows built anew and histories written into a new set of topics: the same outcomes, or nothing."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from infra.archive.kafka_source import KafkaSource
from infra.archive.reading import Archive
from infra.archive.whole_log import WholeLog
from infra.broker import Broker
from infra.rebuilding import rebuild
from schemas.outcome import Commitment
from streams.connection import Connection
from streams.failures import LedgerBrokenError, LogGapError
from streams.kafka_log import describe_topic_id
from streams.kafka_store import Place
from streams.lane import Phase
from streams.ports import Folded, LogRecord, OutputRecord, RowReader
from streams.rebuilding import Rebuilt, rebuild_partition
from streams.transactions import ask_cluster_id
from tests.broker.appending import append_values
from tests.broker.checker import assert_exact, check_counting
from tests.broker.counting import CountingReducer
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
from tests.broker.test_commands import COMMAND, Deployment, deployment
from tests.broker.threads import running
from tests.told_log import begin

__all__ = ["deployment"]


class _DiedError(Exception):
    """Ends a command in its middle."""


class _NextCore(CountingReducer):
    """Decides as the core before it, and writes its rows in another form."""

    version = "counting-2"

    def fold(self, rows: RowReader, record: LogRecord) -> Folded:
        """Count in rows that begin with their format."""
        key = record.key or b""
        text = b"%d" % (int((rows.get(key) or b"20")[1:]) + 1)
        output = OutputRecord("commitments", key, b"%b %b" % (text, record.value or b""))
        return Folded(b"", {key: b"2" + text}, (output,))


def _ignore(_done: int, _left: int) -> None:
    """Show no progress."""


def _rebuild_counts(
    connection: Connection, prefix: str, folder: Path, core: type = CountingReducer
) -> Rebuilt:
    topic_id, _ = describe_topic_id(connection, f"{prefix}events")
    place = Place(
        connection=connection,
        cluster_id=ask_cluster_id(connection),
        prefix=prefix,
        partition=0,
        folder=folder,
    )
    with WholeLog(connection, prefix=prefix, topic_id=topic_id, partition=0) as log:
        return rebuild_partition(place, log, lambda _: core(), _ignore)


def _read_rows(broker: Broker, prefix: str) -> dict[bytes, bytes]:
    """Return the rows and the head; the broker marks a transaction after it has answered."""
    rows = dict(read_decided(broker, prefix, "rows"))
    return {key: value for key, value in rows.items() if value is not None}


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


def test_rows_of_another_core_are_rebuilt_where_it_decided_the_same(
    broker: Broker, topics: str, tmp_path: Path
) -> None:
    """A new core stops at the old rows, rebuilds them in its own form, and goes on exactly."""
    append_values(broker, f"{topics}events", [b"a"] * 10)
    with running(broker, topics, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(10)
    with running(broker, topics, tmp_path / "s", _NextCore) as worker:
        refused = worker.await_phase(Phase.STOPPED).reason
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)

    rebuilt = _rebuild_counts(connection, topics, tmp_path / "r", _NextCore)
    append_values(broker, f"{topics}events", [b"b"] * 5)
    with running(broker, topics, tmp_path / "s", _NextCore) as worker:
        worker.await_folded(15)
    rows = _read_rows(broker, topics)
    verdict = check_counting(broker.bootstrap_servers, topics, 1)

    assert "written by core counting-1" in refused
    assert (10, 5) == (rebuilt.events, rebuilt.rows)
    assert {b"23"} == {value for key, value in rows.items() if key != b"h"}
    # Its rows are not those of the checker's fold, by their form alone.
    assert replace(verdict, wrong_states=0).faults == 0


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

    with pytest.raises(LedgerBrokenError, match="folds otherwise than recorded"):
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
    *_, (key, last) = read_decided(broker, topics, "ledgers")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    producer.produce(f"{topics}ledgers", last, key, partition=0)
    assert 0 == producer.flush(20)

    with pytest.raises(LedgerBrokenError, match="does not continue the chain"):
        _rebuild_counts(
            Connection(bootstrap_servers=broker.bootstrap_servers), topics, tmp_path / "r"
        )


def test_lost_rows_behind_a_deleted_head_come_back_from_an_export(
    broker: Broker, prefix: str, tmp_path: Path, admin: AdminClient
) -> None:
    """Events deleted after an export are read from it; the outcomes stand and folding goes on."""
    connection = provision(broker, prefix)
    append_history(broker, prefix, [begin(), *dinner("m"), *dinner("n")])
    fold_core(broker, prefix, tmp_path / "one", 7)
    archive = tmp_path / "archive"
    KafkaSource(connection, prefix=prefix).export(archive)
    outcomes = read_outcomes(broker, prefix)
    lose_topics(admin, broker, prefix, "rows")
    place = TopicPartition(f"{prefix}events", 0, 4)
    admin.delete_records([place])[place].result(10)

    def build(told: Archive | None) -> list[Rebuilt]:
        return rebuild(connection, prefix=prefix, archive=told, partitions=None, progress=_ignore)

    with pytest.raises(LogGapError, match="add --archive"):
        build(None)
    (rebuilt,) = build(Archive(archive))
    assert 7 == rebuilt.events
    assert outcomes == read_outcomes(broker, prefix)
    append_history(broker, prefix, dinner("m", "2"))
    fold_core(broker, prefix, tmp_path / "two", 10)
    assert 3 == len(read_records(broker, prefix, "commitments", Commitment))


def test_a_rebuild_beside_running_workers_is_refused(deployment: Deployment) -> None:
    """While a worker owns partitions nothing is fenced or written; the remedy is to stop it."""
    done = subprocess.run(
        [*COMMAND, "rebuild", *deployment.place, "--json"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert 2 == done.returncode
    assert "1 workers own partitions" in json.loads(done.stderr)["error"]
    assert '"phase": "folding"' in deployment.read("readyz")
