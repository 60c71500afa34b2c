"""Exactly once with the core itself: kills at random times and at every named point, on a broker.

The default run is short. EXACTLY_ONCE_RUNS, _KILLS and _POINTS make it long, as `make soak-kafka`
does; each run takes the next few of the named points, has its seed in its test id and prints its
figures as one line.
"""

import os
import random
import shutil
import time
from pathlib import Path

import pytest

from infra.broker import Broker
from tests.broker.core_checker import check_core, is_folded
from tests.broker.core_load import begin_history
from tests.broker.fleet import KAFKA_POINTS, PARTITIONS, Fleet, Load, build_fleet_on
from tests.broker.workers import WorkerProcess, await_true

SCRIPT = Path(__file__).with_name("core_worker.py")
RUNS = int(os.environ.get("EXACTLY_ONCE_RUNS", "1"))
KILLS = int(os.environ.get("EXACTLY_ONCE_KILLS", "1"))
POINTS_PER_RUN = int(os.environ.get("EXACTLY_ONCE_POINTS", "1"))
FIRST_POINT = KAFKA_POINTS.index("first_produced")
START_POINTS = KAFKA_POINTS[:3]
"""A start passes these once, and a worker may have been given one partition only."""


@pytest.mark.parametrize("seed", range(RUNS))
def test_the_core_says_each_outcome_once_whatever_dies(
    broker: Broker, prefix: str, tmp_path: Path, seed: int
) -> None:
    """Workers die at random and at named points, join, leave and swap folders: all stays exact."""
    chance = random.Random(seed)
    fleet = build_fleet_on(broker, prefix, tmp_path, script=SCRIPT)
    load = Load(broker, prefix, begin_history(broker, prefix, seed=seed), per_second=200)
    points = [(FIRST_POINT + seed * POINTS_PER_RUN + n) for n in range(POINTS_PER_RUN)]
    steps = ["at random"] * KILLS + [KAFKA_POINTS[n % len(KAFKA_POINTS)] for n in points]
    chance.shuffle(steps)
    started = time.monotonic()
    try:
        workers = [fleet.start("a", instance="one"), fleet.start("b", instance="two")]
        kills = 0
        for step in steps:
            kills += _take_step(fleet, workers, step, chance)
        events = load.stop()
        servers = broker.bootstrap_servers
        await_true(
            lambda: is_folded(servers, prefix, PARTITIONS),
            timeout_s=180,
            what=f"{events} events folded",
        )
        fleet.stop(*workers)
    finally:
        fleet.end()

    verdict = check_core(servers, prefix, PARTITIONS)
    seconds = time.monotonic() - started
    print(f"\nseed {seed}: {events} events, {kills} kills in {seconds:.0f} s: {verdict}; {steps}")
    assert verdict.expected > 0
    assert 0 == verdict.faults, verdict


def _take_step(fleet: Fleet, workers: list[WorkerProcess], step: str, chance: random.Random) -> int:
    """Let one of two workers die and come again, perhaps with an empty folder; return the kills."""
    victim = chance.randrange(2)
    folder, instance = "ab"[victim], ("one", "two")[victim]
    time.sleep(chance.uniform(0.2, 2.0))
    kills = 1
    if step == "at random" and chance.random() < 0.2:
        fleet.stop(workers[victim])  # It leaves in order, and joins again below.
        kills = 0
    else:
        workers[victim].kill()
    if chance.random() < 0.4:
        shutil.rmtree(fleet.home / folder, ignore_errors=True)
    if step != "at random":
        passing = 1 if step in START_POINTS else chance.randint(1, 3)
        dying = fleet.start(folder, crash_at=f"{step}:{passing}", instance=instance)
        await_true(lambda: not dying.running, timeout_s=90, what=f"a crash at {step}")
        kills += 1
    workers[victim] = fleet.start(folder, instance=instance)
    return kills
