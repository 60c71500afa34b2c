"""Exactly once on a real broker: workers die at any instant, freeze, join, leave and swap folders.

The default run is short. EXACTLY_ONCE_RUNS and EXACTLY_ONCE_KILLS make it long; the seed of a run
is printed in its test id, so `-k` repeats one.
"""

import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Producer

from infra.broker import Broker
from infra.provision import TopicSet, apply, plan
from streams.connection import Connection
from tests.broker.checker import assert_exact, count_committed, read_partition
from tests.broker.workers import WorkerProcess, await_true

WORKER = Path(__file__).with_name("counting_worker.py")
PARTITIONS = 4
SESSION_S = 3.0
RUNS = int(os.environ.get("EXACTLY_ONCE_RUNS", "1"))
KILLS = int(os.environ.get("EXACTLY_ONCE_KILLS", "4"))
USERS = 50

KAFKA_POINTS = (
    "fenced",
    "position_read",
    "rows_restored",
    "events_polled",
    "batch_read",
    "batch_folded",
    "transaction_begun",
    "first_produced",
    "last_produced",
    "transaction_committed",
    "rows_written",
    "commit_answered",
)


class Load:
    """A producer that appends events at a steady rate until it is stopped."""

    def __init__(self, broker: Broker, prefix: str, *, per_second: int) -> None:
        self.sent = 0
        self._topic = f"{prefix}events"
        self._pause_s = 10 / per_second
        self._producer = Producer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "partitioner": "murmur2_random",
                "enable.idempotence": True,
                "log_level": 0,
            }
        )
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._append, daemon=True)
        self._thread.start()

    def _append(self) -> None:
        while not self._stopped.is_set():
            for _ in range(10):
                key = b"user %d" % (self.sent * 7919 % USERS)
                self._producer.produce(self._topic, b"event %d" % self.sent, key)
                self.sent += 1
            self._producer.poll(0)
            time.sleep(self._pause_s)

    def stop(self) -> int:
        """Return how many events are on the log."""
        self._stopped.set()
        self._thread.join()
        assert 0 == self._producer.flush(30)
        return self.sent


@dataclass
class Fleet:
    """The workers of one test on one set of topics."""

    broker: Broker
    prefix: str
    home: Path
    started: int = 0
    session_s: float = SESSION_S

    def start(self, folder: str, *, crash_at: str = "", instance: str = "-") -> WorkerProcess:
        """Start a worker on one of the state folders, with a static id or without."""
        self.started += 1
        state = self.home / folder
        arguments = [
            self.broker.bootstrap_servers,
            self.prefix,
            str(PARTITIONS),
            str(state),
            str(self.session_s),
            instance,
        ]
        environment = {"CRASH_AT": crash_at} if crash_at else {}
        log = self.home / f"worker-{self.started}.log"
        worker = WorkerProcess(WORKER, arguments, log=log, environment=environment)
        _LIVE.append(worker)
        return worker

    def await_outputs(self, expected: int, *, timeout_s: float = 60) -> None:
        """Wait until a read_committed reader has seen as many outputs as there were events."""
        topic = f"{self.prefix}commitments"

        def arrived() -> bool:
            time.sleep(0.5)
            count = count_committed(self.broker.bootstrap_servers, topic, PARTITIONS)
            return count >= expected

        await_true(arrived, timeout_s=timeout_s, what=f"{expected} outcomes")

    def stop(self, *workers: WorkerProcess) -> None:
        """Stop workers in order, each of which must end well within the time it promises."""
        for worker in workers:
            await_true(
                lambda w=worker: any("worker_joining" in line for line in w.lines()),
                timeout_s=20,
                what="a worker that listens to signals",
            )
            assert 0 == worker.stop()

    def check(self) -> None:
        """Fail with the checker's counts unless every outcome is there once and exact."""
        assert_exact(self.broker.bootstrap_servers, self.prefix, PARTITIONS)


_LIVE: list[WorkerProcess] = []


@pytest.fixture
def build_fleet(tmp_path: Path, prefix: str) -> Iterator[Callable[[Broker], Fleet]]:
    """Give a function that provisions topics on a broker and returns their fleet."""

    def build(broker: Broker) -> Fleet:
        connection = Connection(bootstrap_servers=broker.bootstrap_servers)
        wanted = TopicSet(prefix=prefix, partitions=PARTITIONS, replication=1, insync_min=1)
        apply(connection, wanted, plan(connection, wanted))
        return Fleet(broker, prefix, tmp_path)

    yield build
    while _LIVE:
        _LIVE.pop().end()


Build = Callable[[Broker], Fleet]


@pytest.mark.parametrize("seed", range(RUNS))
def test_random_kills_lose_and_double_nothing(
    broker: Broker, build_fleet: Build, seed: int
) -> None:
    """Under load, with two workers killed at random and folders swapped, each outcome is once."""
    chance = random.Random(seed)
    fleet = build_fleet(broker)
    load = Load(broker, fleet.prefix, per_second=400)
    workers = [fleet.start("a"), fleet.start("b")]
    time.sleep(4)

    for _ in range(KILLS):
        time.sleep(chance.uniform(0.2, 3.0))
        victim = chance.randrange(2)
        workers[victim].kill()
        folder = f"{'ab'[victim]}"
        if chance.random() < 0.3:
            shutil.rmtree(fleet.home / folder, ignore_errors=True)
        workers[victim] = fleet.start(folder)

    events = load.stop()
    fleet.await_outputs(events)
    fleet.stop(*workers)
    fleet.check()


def test_a_kill_at_each_named_point_loses_and_doubles_nothing(
    broker: Broker, build_fleet: Build
) -> None:
    """A worker that dies at any step between fence and local write is succeeded exactly."""
    fleet = build_fleet(broker)
    load = Load(broker, fleet.prefix, per_second=300)

    for number, point in enumerate(KAFKA_POINTS):
        folder = "a" if number % 3 else f"empty-{number}"
        # A static id joins again at once; without it each start waits for the dead member.
        worker = fleet.start(folder, crash_at=f"{point}:2", instance="only")
        await_true(lambda w=worker: not w.running, timeout_s=30, what=f"a crash at {point}")

    events = load.stop()
    last = fleet.start("a", instance="only")
    fleet.await_outputs(events)
    fleet.stop(last)
    fleet.check()


def test_a_frozen_owner_that_wakes_writes_nothing_accepted(
    broker: Broker, build_fleet: Build
) -> None:
    """A zombie resumed after its partitions were taken is fenced: nothing of it becomes visible."""
    fleet = build_fleet(broker)
    first = fleet.start("a")
    load = Load(broker, fleet.prefix, per_second=400)
    await_true(
        lambda: (
            count_committed(broker.bootstrap_servers, f"{fleet.prefix}commitments", PARTITIONS) > 0
        ),
        timeout_s=30,
        what="a first outcome",
    )

    first.pause()
    second = fleet.start("b")
    await_true(
        lambda: sum("ledger_started" in line for line in second.lines()) == PARTITIONS,
        timeout_s=30,
        what="the second worker has taken over",
    )
    first.resume()
    time.sleep(4)

    events = load.stop()
    fleet.await_outputs(events)
    fleet.stop(first, second)
    fleet.check()


def test_a_restart_from_nothing_and_from_local_rows_agree(
    broker: Broker, build_fleet: Build
) -> None:
    """Rows read anew from the topic, and rows kept and caught up, lead to the same outcomes."""
    fleet = build_fleet(broker)
    load = Load(broker, fleet.prefix, per_second=1_000)
    first = fleet.start("a")
    time.sleep(5)
    first.kill()
    second = fleet.start("empty")
    time.sleep(6)
    second.kill()
    third = fleet.start("a")

    events = load.stop()
    fleet.await_outputs(events)
    fleet.stop(third)
    fleet.check()


def test_an_event_that_the_core_cannot_fold_blocks_nobody(
    broker: Broker, build_fleet: Build
) -> None:
    """The raising event is rejected as core_fault once; those around it have their outcomes."""
    fleet = build_fleet(broker)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    for value in (b"one", b"raise", b"two"):
        producer.produce(f"{fleet.prefix}events", value, b"user", partition=0)
    producer.flush(30)

    worker = fleet.start("a")
    fleet.await_outputs(2)
    fleet.stop(worker)

    servers = broker.bootstrap_servers
    outcomes = read_partition(servers, f"{fleet.prefix}commitments", 0)
    assert [(b"user", b"1 one"), (b"user", b"2 two")] == outcomes
    rejected = read_partition(servers, f"{fleet.prefix}rejections", 0)
    assert [(b"user", b"core_fault")] == rejected


def test_a_killed_and_a_paused_broker_lose_and_double_nothing(
    own_broker: Broker, build_fleet: Build
) -> None:
    """kill -9 and a pause of the broker delay outcomes: none is lost or double, no worker ends."""
    fleet = build_fleet(own_broker)
    fleet.session_s = 10.0
    workers = [fleet.start("a"), fleet.start("b")]
    load = Load(own_broker, fleet.prefix, per_second=200)
    fleet.await_outputs(100)

    own_broker.kill()
    own_broker.restart()
    fleet.await_outputs(load.sent)
    own_broker.pause()
    time.sleep(5)
    own_broker.resume()

    events = load.stop()
    fleet.await_outputs(events)
    fleet.stop(*workers)
    fleet.check()
