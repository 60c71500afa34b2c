"""Exactly once on a real broker: workers die at any instant, freeze, join, leave and swap folders.

The default run is short. EXACTLY_ONCE_RUNS and EXACTLY_ONCE_KILLS make it long; the seed of a run
is printed in its test id, so `-k` repeats one.
"""

import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from infra.broker import Broker
from tests.broker.checker import count_committed, read_partition
from tests.broker.fleet import (
    KAFKA_POINTS,
    PARTITIONS,
    Fleet,
    Load,
    build_fleet_on,
    tell_counted,
)
from tests.broker.workers import await_true

RUNS = int(os.environ.get("EXACTLY_ONCE_RUNS", "1"))
KILLS = int(os.environ.get("EXACTLY_ONCE_KILLS", "4"))


@pytest.fixture
def build_fleet(tmp_path: Path, prefix: str) -> Iterator[Callable[[Broker], Fleet]]:
    """Give a function that provisions topics on a broker and returns their fleet."""
    fleets: list[Fleet] = []

    def build(broker: Broker) -> Fleet:
        fleets.append(build_fleet_on(broker, prefix, tmp_path))
        return fleets[-1]

    yield build
    for fleet in fleets:
        fleet.end()


Build = Callable[[Broker], Fleet]


@pytest.mark.parametrize("seed", range(RUNS))
def test_random_kills_lose_and_double_nothing(
    broker: Broker, build_fleet: Build, seed: int
) -> None:
    """Under load, with two workers killed at random and folders swapped, each outcome is once."""
    chance = random.Random(seed)
    fleet = build_fleet(broker)
    load = Load(broker, fleet.prefix, tell_counted(), per_second=400)
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
    load = Load(broker, fleet.prefix, tell_counted(), per_second=300)

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
    load = Load(broker, fleet.prefix, tell_counted(), per_second=400)
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
    load = Load(broker, fleet.prefix, tell_counted(), per_second=1_000)
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
    load = Load(own_broker, fleet.prefix, tell_counted(), per_second=200)
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
