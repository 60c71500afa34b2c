"""Laws of security on a broker with an authorizer: each role can do its work and nothing else.

All three clients take part: kafka-python provisions, Faust's aiokafka owns, confluent-kafka folds.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from infra.outcome_reader import OutcomeReader
from schemas.codec import frame
from schemas.identity import record_key
from streams.connection import Connection, Secret, describe_for_ledger
from streams.failures import StoreUnavailableError
from streams.transactions import ask_cluster_id
from tests.broker.histories import dinner
from tests.broker.secured import PASSWORD, Secured, open_secured
from tests.told_log import begin

COMMAND = (sys.executable, "-m", "infra.cli.main")
SIZE = ("--partitions", "1", "--replication", "1", "--insync-min", "1")


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """Give the guarded broker of this module."""
    with open_secured(tmp_path_factory.mktemp("secured") / "home") as running:
        yield running


def _connect(secured: Secured, role: str, protocol: str) -> Connection:
    ca_path = str(secured.folder / "ca.pem")
    if protocol == "SASL_SSL":
        return Connection(
            bootstrap_servers=secured.passwords, protocol=protocol, mechanism="PLAIN",
            username=role, password=Secret(PASSWORD), ca_path=ca_path,
        )  # fmt: skip
    return Connection(
        bootstrap_servers=secured.certificates, protocol=protocol, ca_path=ca_path,
        certificate_path=str(secured.folder / f"{role}.pem"),
        key_path=str(secured.folder / f"{role}.key"),
    )  # fmt: skip


def _run(secured: Secured, role: str, protocol: str, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [*COMMAND, *arguments], env=os.environ | secured.environment(role, protocol),
        capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def _append(connection: Connection, topic: str, events: list) -> KafkaError | None:
    """Append as a client does and return the error of the last record, if any."""
    found: list[KafkaError | None] = []
    producer = Producer(describe_for_ledger(connection) | {"log_level": 0, "acks": "all"})
    for event in events:
        key = record_key(event.tenant, event.user)
        producer.produce(
            topic, frame(event), key, 0, on_delivery=lambda error, _: found.append(error)
        )
    producer.flush(20)
    return found[-1]


@pytest.mark.parametrize("protocol", ["SASL_SSL", "SSL"])
def test_each_role_does_its_work_and_nothing_else(
    secured: Secured, prefix: str, tmp_path: Path, protocol: str
) -> None:
    """Provisioned, appended, folded and read by four roles; what is not theirs is refused."""
    cluster_id = ask_cluster_id(Connection(bootstrap_servers=secured.broker.bootstrap_servers))
    secured.grant(prefix, cluster_id)
    named = ("--prefix", prefix)
    code, said = _run(secured, "provision", protocol, "provision", *SIZE, *named, "--json")
    assert code == 0, said
    assert "applied" in json.loads(said.splitlines()[-1])
    producer = _connect(secured, "producer", protocol)
    consumer = _connect(secured, "consumer", protocol)
    assert None is _append(producer, f"{prefix}events", [begin(), *dinner("m")])

    log = tmp_path / "worker.log"
    with log.open("wb") as out:
        worker = subprocess.Popen(
            [*COMMAND, "serve", *SIZE, *named, "--folder", str(tmp_path / "rows")],
            env=os.environ | secured.environment("ledger", protocol), stdout=out, stderr=out,
        )  # fmt: skip
    try:
        with OutcomeReader(consumer, group=f"{prefix}consumer-1", prefix=prefix) as reader:
            until = time.monotonic() + 60
            outcome = None
            while outcome is None and time.monotonic() < until:
                outcome = reader.read(1.0)
            assert outcome is not None, log.read_text()
            reader.commit()
    finally:
        worker.terminate()
        assert 0 == worker.wait(15), log.read_text()

    assert "commitments" == outcome.topic
    denied = KafkaError.TOPIC_AUTHORIZATION_FAILED
    for topic in ("commitments", "rows", "ledgers"):
        refusal = _append(producer, f"{prefix}{topic}", [begin()])
        assert refusal is not None
        assert denied == refusal.code()
    for group, topic, why in (("consumer-2", "rows", "Topic"), ("ledger", "repairs", "Group")):
        with (
            OutcomeReader(
                consumer, group=f"{prefix}{group}", prefix=prefix, topics=[topic]
            ) as intruder,
            pytest.raises(StoreUnavailableError, match=f"{why} authorization failed"),
        ):
            _read_until_refused(intruder)
    ledger = AdminClient(describe_for_ledger(_connect(secured, "ledger", protocol)))
    place = TopicPartition(f"{prefix}events", 0, 2)
    cut = ledger.delete_records([place])[place].exception(20)
    gone = ledger.delete_topics([f"{prefix}events"])[f"{prefix}events"].exception(20)
    assert [denied] * 2 == [error.args[0].code() for error in (cut, gone)]


def test_strangers_and_clear_text_learn_nothing(
    secured: Secured, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A known user without a role cannot provision; without certificate or TLS nobody enters."""
    code, said = _run(secured, "stranger", "SSL", "provision", *SIZE, "--prefix", prefix, "--json")
    assert 2 == code, said
    assert "Traceback" not in said

    monkeypatch.setattr("streams.transactions.ASK_TIMEOUT_S", 2.0)
    bare = Connection(bootstrap_servers=secured.certificates)
    with pytest.raises(StoreUnavailableError):
        ask_cluster_id(bare)


def _read_until_refused(reader: OutcomeReader) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        reader.read(0.5)
