"""Laws of the rights of services and auditors: exactly what acls lists is enough, less is named."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Producer

from infra.cli.gateway import PORT_VARIABLE
from infra.genesis import build_genesis
from infra.provision import TopicSet, apply, plan
from schemas.codec import frame, unframe
from schemas.event import Event
from schemas.identity import record_key
from schemas.observation import HintExtracted
from streams.connection import Connection, Secret, describe_for_ledger
from streams.transactions import ask_cluster_id
from tests.broker.checker import read_partition
from tests.broker.secured import PASSWORD, Secured, open_secured
from tests.broker.test_gateway_kafka import Client
from tests.broker.workers import await_true
from tests.gateway_calls import CATALOGUE, turn

COMMAND = (sys.executable, "-m", "infra.cli.main")
SIZE = ("--partitions", "1", "--replication", "1", "--insync-min", "1")
WORKERS = ("ledger", "gateway", "extractor", "generator")
SAID = {
    "user": "ada", "event_id": "said", "at": "2026-02-27T11:00:00+00:00",
    "payload": {"type": "UtteranceObserved", "text": "for two people"},
}  # fmt: skip
LESS = (
    ("generator", "packets", "Read"),
    ("generator", "events", "Write"),
    ("extractor", "extractor", "Read"),
    ("extractor", "events", "Read"),
    ("extractor", "events", "Write"),
    ("gateway", "ledgers", "Read"),
    ("auditor", "ledgers", "Read"),
    ("auditor", "events", "Read"),
)
"""Role, topic or group, and the one right that is not granted."""


class Guarded:
    """One set of topics on the guarded broker, and commands as its roles type them."""

    def __init__(self, secured: Secured, prefix: str, folder: Path) -> None:
        self.secured, self.prefix, self.folder = secured, prefix, folder
        self.bootstrap = secured.broker.bootstrap_servers
        self.port = 21_000 + os.getpid() % 20_000

    def begin(self, *, without: tuple[str, ...] = ()) -> None:
        """Grant, provision as administrator, and begin the log."""
        connection = Connection(bootstrap_servers=self.bootstrap)
        self.secured.grant(self.prefix, ask_cluster_id(connection), without=without)
        wanted = TopicSet(prefix=self.prefix, partitions=1, replication=1, insync_min=1)
        apply(connection, wanted, plan(connection, wanted))
        assert None is self.append("producer", "events", build_genesis(CATALOGUE))

    def append(self, role: str, topic: str, event: Event) -> KafkaError | None:
        """Append as a role and return the error, if any."""
        found: list[KafkaError | None] = []
        connection = Connection(
            bootstrap_servers=self.secured.passwords, protocol="SASL_SSL", mechanism="PLAIN",
            username=role, password=Secret(PASSWORD), ca_path=str(self.secured.folder / "ca.pem"),
        )  # fmt: skip
        producer = Producer(describe_for_ledger(connection) | {"log_level": 0, "acks": "all"})
        key = record_key(event.tenant, event.user)
        producer.produce(
            f"{self.prefix}{topic}", frame(event), key, 0,
            on_delivery=lambda error, _: found.append(error),
        )  # fmt: skip
        producer.flush(20)
        return found[0]

    def environment(self, role: str) -> dict[str, str]:
        """Return the environment of a process of a role."""
        backend = {"COMMITMENTS_GENERATOR_BACKEND": "simulated", PORT_VARIABLE: str(self.port)}
        return os.environ | self.secured.environment(role, "SASL_SSL") | backend

    def run(self, role: str, *arguments: str) -> tuple[int, str]:
        """Run a command as a role and return its exit code and what it printed."""
        done = subprocess.run(
            [*COMMAND, *arguments, "--prefix", self.prefix], env=self.environment(role),
            capture_output=True, text=True, timeout=90, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    @contextmanager
    def serving(self, role: str) -> Iterator[None]:
        """Serve a role for the length of the block, and end it in order."""
        log = self.folder / f"{role}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*COMMAND, "serve", "--role", role, *SIZE, "--prefix", self.prefix, "--folder",
                 str(self.folder / role)],
                env=self.environment(role), stdout=out, stderr=out,
            )  # fmt: skip
        try:
            yield
        finally:
            process.terminate()
            assert 0 == process.wait(30), log.read_text()


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """Give the guarded broker of this module."""
    with open_secured(tmp_path_factory.mktemp("guarded") / "home") as running:
        yield running


@pytest.fixture
def guarded(secured: Secured, prefix: str, tmp_path: Path) -> Guarded:
    """Give a fresh prefix on it, without any right yet."""
    return Guarded(secured, prefix, tmp_path)


def test_services_and_auditor_do_their_work_and_write_no_outcome(guarded: Guarded) -> None:
    """Told, proposed, asked, answered, decided and audited by five roles with their own rights."""
    guarded.begin()
    client = Client(guarded.port)

    def proposed() -> bool:
        values = read_partition(guarded.bootstrap, f"{guarded.prefix}events", 0)
        payloads = [unframe(Event, value)[0].payload for _, value in values]
        return any(isinstance(payload, HintExtracted) for payload in payloads)

    with ExitStack() as running:
        for role in WORKERS:
            running.enter_context(guarded.serving(role))
        await_true(lambda: client.call("health")[0] == 200, timeout_s=60, what="it serves")
        assert "accepted" == client.call("events", SAID)[1]["events"][0]["status"]
        await_true(proposed, timeout_s=60, what="the extractor has proposed")
        await_true(
            lambda: "outcome" in client.call("turns", turn("t1"))[1],
            timeout_s=60, what="the generator's answer was decided",
        )  # fmt: skip
    archive, place = str(guarded.folder / "archive"), ("--bootstrap", guarded.secured.passwords)
    for arguments in (("export", "--out", archive), ("replay", "--verify")):
        code, said = guarded.run("auditor", *arguments, *place)
        assert code == 0, said

    for role in ("generator", "extractor", "gateway", "auditor"):
        refusal = guarded.append(role, "commitments", build_genesis(CATALOGUE))
        assert refusal is not None
        assert KafkaError.TOPIC_AUTHORIZATION_FAILED == refusal.code()


@pytest.mark.parametrize(("role", "name", "operation"), LESS)
def test_one_right_less_ends_the_role_with_a_message(
    guarded: Guarded, role: str, name: str, operation: str
) -> None:
    """The process ends by itself, names what it may not use, and shows no traceback."""
    guarded.begin(without=(role, f"{guarded.prefix}{name}", operation))
    command = ("serve", "--role", role, *SIZE)
    with ExitStack() as running:
        if role == "auditor":
            running.enter_context(guarded.serving("ledger"))
            ledgers = f"{guarded.prefix}ledgers"
            await_true(
                lambda: bool(read_partition(guarded.bootstrap, ledgers, 0)),
                timeout_s=60, what="something is committed",
            )  # fmt: skip
            place = ("--bootstrap", guarded.secured.passwords)
            command = ("export", *place, "--out", str(guarded.folder / "archive"))
        started = time.monotonic()
        code, said = guarded.run(role, *command)

    assert 2 == code, said
    assert "authorization failed" in said
    assert "Traceback" not in said
    assert time.monotonic() - started < 60
