"""An encrypted log on Kafka: what is sealed, who reads it, and what is left of an erased user."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from infra.broker import Broker
from infra.erasing import erase
from infra.kafka_appending import EventProducer
from infra.kafka_erasing import KafkaErasable
from infra.opening import open_topics
from infra.outcome_reader import OutcomeReader
from infra.provision import TopicSet, apply, plan
from infra.reducers import build_topics_reducer
from schemas.topics import TOPICS
from streams import row_store
from streams.connection import Connection
from streams.core_reducer import CoreReducer
from streams.failures import KeyStoreFailedError
from streams.sealing import ErasedIdReusedError
from tests.broker.checker import read_partition
from tests.broker.histories import await_marks
from tests.broker.threads import ThreadWorker, running_on
from tests.broker.workers import await_true
from tests.canary import CANARY, build_uncompressed, find_canary, make_folder, raw_outputs, told_by
from tests.given import event, form, genesis

PARTITIONS = 2
SIZE = ("--partitions", str(PARTITIONS), "--replication", "1", "--insync-min", "1")
COMMAND = (sys.executable, "-m", "infra.cli.main")
OUTCOMES = ("commitments", "repairs", "failures", "packets", "surfaces", "rejections")


class Sealed:
    """One encrypted set of topics that a worker of this process folds, its rows beside."""

    def __init__(self, broker: Broker, prefix: str, folder: Path) -> None:
        self.broker, self.prefix, self.folder = broker, prefix, folder
        self.connection = Connection(bootstrap_servers=broker.bootstrap_servers)
        self.stop: Callable[[], None] = lambda: None
        self.place = ("--bootstrap", broker.bootstrap_servers, "--prefix", prefix)

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run one command and return what it printed."""
        done = subprocess.run(
            [*COMMAND, *arguments, *self.place], capture_output=True, text=True, timeout=120,
            check=False, env=os.environ,
        )  # fmt: skip
        assert code == done.returncode, done.stderr + done.stdout
        return done.stdout + done.stderr

    def append(self, events) -> None:
        """Append events as every producer does."""
        EventProducer(self.connection, prefix=self.prefix, partitions=PARTITIONS).append(events)

    def erase(self, user: str, *events: str):
        """Erase as operator."""
        log = KafkaErasable(self.connection, prefix=self.prefix, partitions=PARTITIONS)
        try:
            return erase(log, tenant="acme", user=user, event_ids=events, operator="ops")
        finally:
            log.close()

    def records(self, name: str) -> list[tuple[bytes, bytes | None]]:
        """Return all committed records of a topic as they stand there."""
        servers = self.broker.bootstrap_servers
        return [
            record
            for partition in range(PARTITIONS)
            for record in read_partition(servers, f"{self.prefix}{name}", partition)
        ]

    def find_canary(self) -> list[str]:
        """Return the topics that hold the canary in a key or value, read raw."""
        return [
            topic.name
            for topic in TOPICS
            if any(CANARY.encode() in (key or b"") + (value or b"")
                   for key, value in self.records(topic.name))
        ]  # fmt: skip

    @contextmanager
    def working(self, folder: Path) -> Iterator[ThreadWorker]:
        """Run a worker over a folder of rows for the length of the block."""
        opener = open_topics(self.connection, prefix=self.prefix)

        def build(partition: int) -> CoreReducer:
            return build_topics_reducer(partition, opener)

        owned = frozenset(range(PARTITIONS))
        with running_on(self.connection, self.prefix, folder, build, partitions=owned) as worker:
            yield worker

    def tables(self) -> list[tuple[str, bytes, bytes]]:
        """Return what the public tables hold in the end: (topic, key, value)."""
        found: dict[tuple[str, bytes], bytes | None] = {}
        for name in ("contracts", "states"):
            for key, value in self.records(name):
                found[name, key] = value
        return sorted((name, key, value) for (name, key), value in found.items() if value)

    def outputs_of(self, user: str) -> list[tuple[str, bytes, bytes | None]]:
        """Return the outcomes of a user as they stand on the topics, sorted."""
        opener = open_topics(self.connection, prefix=self.prefix)
        key = opener.key_of("acme", user)
        return sorted(
            (name, found, value or b"")
            for name in OUTCOMES
            for found, value in self.records(name)
            if found == key
        )


@pytest.fixture
def sealed(
    broker: Broker, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sealed]:
    """A folded encrypted log of two users; its worker still runs."""
    monkeypatch.setenv("COMMITMENTS_KEY_STORE", str(tmp_path / "keys"))
    monkeypatch.setattr(row_store, "build_options", build_uncompressed)
    told = Sealed(broker, prefix, tmp_path)
    wanted = TopicSet(
        prefix=prefix, partitions=PARTITIONS, replication=1, insync_min=1, encrypted=True
    )
    apply(told.connection, wanted, plan(told.connection, wanted))
    told.append([genesis(), *told_by("ada"), *told_by("bob")])
    with told.working(tmp_path / "rows") as worker:
        worker.await_events(42)
        await_marks(broker, prefix, PARTITIONS, [topic.name for topic in TOPICS])
        told.stop = worker.stop
        yield told


def test_nothing_on_the_topics_or_in_the_copies_is_in_the_clear(sealed: Sealed) -> None:
    """No topic, no file of rows holds a word that a user sent, read raw before any erasure."""
    assert [] == sealed.find_canary()
    assert [] == find_canary(sealed.folder / "rows")
    assert sealed.records("rows")


def test_outcomes_are_those_of_an_embedded_log(
    sealed: Sealed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the same keys both logs put out the same ciphertext, so the same bodies."""
    folder = make_folder(tmp_path, monkeypatch)
    for user in ("ada", "bob"):
        expected, found = (
            # A rejection names its partition, and the embedded log has but one.
            sorted(one for one in outputs if one[0] in OUTCOMES and one[0] != "rejections")
            for outputs in (raw_outputs(folder, user), sealed.outputs_of(user))
        )
        assert len(expected) > 5
        assert expected == found


def test_an_erased_user_is_gone_and_others_are_unchanged(sealed: Sealed, tmp_path: Path) -> None:
    """Ada's words open nowhere and stand nowhere; bob's outcomes are byte for byte as before."""
    bob, ada = sealed.outputs_of("bob"), sealed.outputs_of("ada")
    opener = open_topics(sealed.connection, prefix=sealed.prefix)
    old = [value for key, value in sealed.records("rows") if opener.key_of("acme", "ada") in key]
    report = sealed.erase("ada")

    assert (64, 21) == (len(report.receipt), report.events)  # The request is one of them.
    assert bob == sealed.outputs_of("bob")
    assert all(opener.unseal(value) is None for _, _, value in ada)
    for value in filter(None, old):
        with pytest.raises(KeyStoreFailedError, match="neither the key"):
            opener.unseal(value)
    assert [] == sealed.find_canary() + find_canary(sealed.folder / "rows", tmp_path / "keys")
    assert [] == [one for one in sealed.tables() if one[1].startswith(opener.key_of("acme", "ada"))]
    assert [one for one in sealed.tables() if one[1].startswith(opener.key_of("acme", "bob"))]


def test_an_erased_user_may_say_it_again_and_be_erased_again(sealed: Sealed) -> None:
    """New events of the user fold on; old ids are refused; a second erasure takes the new ones."""
    sealed.erase("ada")
    with pytest.raises(ErasedIdReusedError, match="use a new id"):
        sealed.append([told_by("ada")[0]])
    sealed.append([event(form(diet="vegan"), event_id="again", minute=90)])
    opener = open_topics(sealed.connection, prefix=sealed.prefix)
    again = sealed.erase("ada")

    assert 2 == again.events  # The request is one of them.
    assert [] == [one for one in sealed.tables() if one[1].startswith(opener.key_of("acme", "ada"))]


def test_an_erased_event_leaves_the_rest(sealed: Sealed) -> None:
    """One event goes with what showed it; the user's other rows stand, and no other user's."""
    bob, noted = sealed.outputs_of("bob"), told_by("ada")[4].event_id
    report = sealed.erase("ada", noted)
    opener = open_topics(sealed.connection, prefix=sealed.prefix)

    assert (1, True) == (report.events, report.turns > 0)
    assert bob == sealed.outputs_of("bob")
    assert [one for one in sealed.tables() if one[1].startswith(opener.key_of("acme", "ada"))]


def test_commands_work_on_sealed_topics(sealed: Sealed, tmp_path: Path) -> None:
    """Export, verify, replay and erase take them; nothing that is printed holds a word."""
    archive = str(tmp_path / "archive")
    told = sealed.run("export", "--out", archive)
    told += sealed.run("replay", "--verify")
    told += sealed.run("erase", "--user", "ada", "--tenant", "acme", "--operator", "ops")
    told += sealed.run("replay", "--verify")
    told += sealed.run("init", "--encrypted", "--catalogue", "missing.json", code=2)

    assert "receipt" in told
    assert CANARY not in told
    assert [] == find_canary(tmp_path / "archive")


def test_a_worker_restores_sealed_rows_behind_an_erasure(sealed: Sealed, tmp_path: Path) -> None:
    """A second worker with an empty folder takes the rows off the topic and folds on."""
    sealed.erase("ada")
    sealed.stop()
    opener = open_topics(sealed.connection, prefix=sealed.prefix)
    with sealed.working(tmp_path / "other") as worker:
        sealed.append([event(form(diet="vegan"), user="bob", event_id="later", minute=95)])
        worker.await_events(1)
    states = [one for one in sealed.tables() if one[1].startswith(opener.key_of("acme", "bob"))]

    assert any(b"vegan" in (opener.unseal(value) or b"") for _, _, value in states)


def test_outcomes_are_read_by_whoever_holds_the_keys(sealed: Sealed) -> None:
    """The reader of outcomes opens what it may, and passes over what was erased."""
    sealed.erase("ada")
    found = []
    with OutcomeReader(
        sealed.connection, group=f"{sealed.prefix}g", prefix=sealed.prefix
    ) as reader:
        await_true(
            lambda: len(found) >= 3 or bool(found.extend(filter(None, [reader.read(0.2)]))),
            timeout_s=30, what="three outcomes",
        )  # fmt: skip

    assert {"bob"} == {one.record.user for one in found}


def test_a_log_in_the_clear_never_becomes_an_encrypted_one(
    broker: Broker, topics: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Provisioning refuses the mark where events stand; a worker without keys does not start."""
    monkeypatch.setenv("COMMITMENTS_KEY_STORE", str(tmp_path / "keys"))
    told = Sealed(broker, topics, tmp_path)
    refused = told.run("provision", "--encrypted", *SIZE, code=2)

    assert "stays so" in refused


def test_an_encrypted_log_is_served_with_its_keys_or_not_at_all(
    sealed: Sealed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without COMMITMENTS_KEY_STORE serve and observe stop with the remedy, and write nothing."""
    monkeypatch.delenv("COMMITMENTS_KEY_STORE")
    for command in (("serve", *SIZE), ("observe", "-")):
        assert "COMMITMENTS_KEY_STORE" in sealed.run(*command, code=2)
