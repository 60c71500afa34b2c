"""The gateway over a real broker: the same calls, the same answers as over an embedded log."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from infra.broker import Broker
from infra.cli.gateway import PORT_VARIABLE
from infra.genesis import build_genesis
from infra.kafka_appending import EventProducer
from schemas.codec import unframe
from schemas.event import Event, PrincipalKind
from schemas.observation import HintExtracted
from streams.connection import Connection
from tests.broker.test_commands import SIZE, Deployment, deployment
from tests.broker.workers import await_true
from tests.gateway_calls import CATALOGUE, OFFER, form, turn

__all__ = ["deployment"]


class Client:
    """Calls one gateway."""

    def __init__(self, port: int) -> None:
        self.place = f"http://127.0.0.1:{port}/v1/"

    def call(self, path: str, body: dict | None = None) -> tuple[int, dict]:
        """Send JSON and return status and JSON; (0, {}) while nobody answers."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.place + path, data=data, headers={"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=40) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())
        except OSError:
            return 0, {}


@pytest.fixture
def client(broker: Broker, deployment: Deployment, tmp_path: Path) -> Iterator[Client]:
    """A gateway process beside the ledger, over a log that has begun."""
    prefix = deployment.place[3]
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    EventProducer(connection, prefix=prefix, partitions=2).append([build_genesis(CATALOGUE)])
    port = deployment.port + 1
    extractor = subprocess.Popen(
        [sys.executable, "-m", "infra.cli.main", "serve", "--role", "extractor",
         *deployment.place, *SIZE]
    )  # fmt: skip
    with (tmp_path / "gateway.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "infra.cli.main", "serve", "--role", "gateway",
             *deployment.place, *SIZE],
            stdout=log, stderr=log, env={**os.environ, PORT_VARIABLE: str(port)},
        )  # fmt: skip
    try:
        told = Client(port)
        await_true(lambda: told.call("health")[0] == 200, timeout_s=60, what="the gateway serves")
        yield told
    finally:
        extractor.terminate()
        process.send_signal(signal.SIGINT)
        assert 0 == extractor.wait(30)
        assert 0 == process.wait(15), (tmp_path / "gateway.log").read_text()


def test_the_same_calls_get_the_same_answers_over_kafka(client: Client) -> None:
    """Asked, told, committed, rejected, pending, answered: as over an embedded log."""
    asked = client.call("turns", turn("t1", OFFER))
    told = client.call("events", form(day="Monday"))
    done = client.call("turns", turn("t2", OFFER))
    again = client.call("turns", turn("t2", OFFER))
    wrong = client.call("turns", turn("t3", OFFER, turn={"scene": "nowhere"}))
    status, pending = client.call("turns", turn("t4"))
    answer = {"user": "ada", "candidates": [OFFER], "packet_digest": pending["packet_digest"]}
    decided = client.call("turns/t4/candidates", answer)

    assert (200, "repair") == (asked[0], asked[1]["outcome"])
    assert (200, "accepted") == (told[0], told[1]["events"][0]["status"])
    assert (200, "commitment") == (done[0], done[1]["outcome"])
    assert done == again
    assert (422, 202) == (wrong[0], status)
    assert (200, "commitment") == (decided[0], decided[1]["outcome"])


def test_what_is_said_is_proposed_once_by_the_extractor(
    client: Client, deployment: Deployment
) -> None:
    """An utterance over the gateway comes back as a hint of the extractor, derived from it."""
    said = {
        "user": "ada",
        "event_id": "said",
        "at": "2026-02-27T11:00:00+00:00",
        "payload": {"type": "UtteranceObserved", "text": "for two people"},
    }
    found: list[Event] = []
    consumer = Consumer(
        {"bootstrap.servers": deployment.place[1], "group.id": "test", "enable.auto.commit": False}
    )
    topic = f"{deployment.place[3]}events"
    consumer.assign([TopicPartition(topic, number, 0) for number in range(2)])

    def heard() -> bool:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None:
            event, _ = unframe(Event, message.value())
            found.extend([event] if isinstance(event.payload, HintExtracted) else [])
        return bool(found)

    client.call("events", said)
    await_true(heard, timeout_s=60, what="the extractor has proposed")
    consumer.close()

    (hint,) = found
    assert ("seats", 2, ("said",)) == (hint.payload.slot, hint.payload.value, hint.derived_from)
    assert PrincipalKind.GENERATOR is hint.principal.kind
