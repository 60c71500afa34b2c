"""The generator over a real broker: recorded answers, a kill, and the same outcomes as embedded."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from infra.appending import append_events
from infra.backends.recorded import Recorder
from infra.backends.simulated import SimulatedBackend
from infra.broker import Broker
from infra.cli.console import open_log
from infra.event_json import parse_event
from infra.generation.generator import Generator
from infra.generation.pending import PendingTurns
from infra.genesis import build_genesis
from infra.kafka_appending import EventProducer
from infra.records import OUTCOME_TOPICS, read_output
from schemas.event import Event
from streams.connection import Connection
from tests.broker.test_commands import SIZE, Deployment, deployment
from tests.broker.workers import await_true
from tests.chat_server import STALL, chat_server
from tests.kitchen import kitchen

__all__ = ["deployment"]

USERS = tuple(f"user-{number:02}" for number in range(12))
TURNS = 1  # Answers to several turns of one user may overtake each other and decide otherwise.


def tell() -> list[Event]:
    """Return a history of several users, each with turns that wait for candidates."""
    lines = []
    for user in USERS:
        stated = '{"type":"FormSubmitted","statements":[{"slot":"dish","value":"soup"}]}'
        payloads = [stated] + ['{"type":"TurnRequested","scene":"dinner"}'] * TURNS
        lines += [
            f'{{"event_id":"{user}-{n}","user":"{user}","at":"2026-03-01T18:{n:02}:00Z",'
            f'"payload":{payload}}}'
            for n, payload in enumerate(payloads)
        ]
    return [build_genesis(kitchen()), *(parse_event(line) for line in lines)]


def record(path: Path, folder: Path) -> dict[Any, Any]:
    """Answer the history over an embedded log, keep every reply, and return the outcomes."""
    recorder = Recorder(SimulatedBackend(2, broken_percent=50), path)
    with open_log(folder, must_exist=False) as embedded:
        append_events(embedded, tell())
        list(PendingTurns(embedded, Generator(recorder)).answer())
        found = [
            (topic, read_output(topic, output.record.value or b""))
            for topic in OUTCOME_TOPICS
            for output in embedded.outputs(topic)
        ]
    recorder.close()
    return {record.turn_id: (topic, record) for topic, record in found}


def start(deployment: Deployment, backend: str, log: Path) -> subprocess.Popen[bytes]:
    """Start a generator with this backend."""
    with log.open("ab") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "infra.cli.main", "serve", "--role", "generator",
             *deployment.place, *SIZE],
            stdout=out, stderr=out,
            env={**os.environ, "COMMITMENTS_GENERATOR_BACKEND": backend},
        )  # fmt: skip


def follow(
    deployment: Deployment,
) -> tuple[Callable[[], int], dict[Any, Any], Callable[[], None]]:
    """Return what reads outcomes and counts the turns that ended, the outcomes, and the end."""
    consumer = Consumer(
        {
            "bootstrap.servers": deployment.place[1],
            "group.id": "test",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    prefix = deployment.place[3]
    consumer.assign(
        [TopicPartition(prefix + topic, n, 0) for topic in OUTCOME_TOPICS for n in range(2)]
    )
    ended: dict[Any, Any] = {}

    def count() -> int:
        while (message := consumer.poll(0.3)) is not None:
            if message.error() is None:
                topic = message.topic().removeprefix(prefix)
                outcome = read_output(topic, message.value())
                assert outcome.turn_id not in ended
                ended[outcome.turn_id] = (topic, outcome)
        return len(ended)

    return count, ended, consumer.close


def test_recorded_answers_end_every_turn_over_kafka_as_embedded(
    broker: Broker, deployment: Deployment, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A generator that is killed leaves no turn unanswered, and none is answered otherwise."""
    replies = tmp_path / "replies.jsonl"
    expected = record(replies, tmp_path / "embedded")
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    producer = EventProducer(connection, prefix=deployment.place[3], partitions=2)
    producer.append(tell())
    count, ended, leave = follow(deployment)
    request.addfinalizer(leave)
    log = tmp_path / "generator.log"

    with chat_server(STALL) as (url, requests, _):
        first = start(deployment, f"openai:{url}", log)
        try:
            await_true(lambda: len(requests) > 1, timeout_s=60, what="a model is asked")
        finally:
            first.kill()
            first.wait()
    assert count() == 0
    second = start(deployment, f"recorded:{replies}", log)
    try:
        await_true(lambda: count() == len(expected), timeout_s=90, what="all turns have ended")
    finally:
        second.terminate()
        assert 0 == second.wait(15), log.read_text()

    assert len(USERS) * TURNS == len(expected)
    assert expected == ended


def test_dialogues_played_over_kafka_end_as_they_did_embedded(
    deployment: Deployment, tmp_path: Path
) -> None:
    """Many turns a user: each outcome is the embedded one, ids and certificates included."""
    replies, log = tmp_path / "replies.jsonl", tmp_path / "played"
    command = [sys.executable, "-m", "infra.cli.main", "play", "--dialogues", "3", "--json"]
    backend = ["--backend", "simulated:2", "--record", str(replies), "--log", str(log)]
    embedded = subprocess.run([*command, *backend], capture_output=True, check=True, timeout=120)
    said = json.loads(embedded.stdout)
    generator = start(deployment, f"recorded:{replies}", tmp_path / "generator.log")
    try:
        played = deployment.run("play", "--dialogues", "3", "--same-as", str(log), "--wait-s", "60")
    finally:
        generator.terminate()
        assert 0 == generator.wait(15), (tmp_path / "generator.log").read_text()

    assert said["turns"] == said["turns_with_one_outcome"] > said["packets"] > 0
    assert said["outcomes"] == played["outcomes"]
    for count in ("turns_with_one_outcome", "expected_turns", "turns_as_expected"):
        assert said["turns"] == played[count]
