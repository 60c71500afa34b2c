"""kill -9 at every named step and at random times: nothing lost, doubled or different."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streams.crash_points import POINTS
from tests.simulation.host import KILLED, Host

EVENTS = 300
SEEDS = int(os.environ.get("SEEDS", "2"))
"""`SEEDS=20` is the full run: every point with twenty histories of calls."""


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    """Return a host of forked processes."""
    host = Host()
    yield host
    host.close()


PREPARED_BY = {"tail_cut": "append_written:3", "store_discarded": "commit_answered:2"}
"""Steps that only a run after another crash passes."""
PASSED_ONCE = {"log_created", "store_discarded", "tail_cut"}


@pytest.mark.parametrize("point", POINTS[: POINTS.index("fold_ended") + 1])
def test_kill_at_every_step(host: Host, tmp_path: Path, point: str) -> None:
    """A process killed at any step leaves a folder on which the next one goes on exactly."""
    for seed in range(SEEDS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        of = {"path": str(folder / "log"), "acks": str(folder / "acks")}
        if point in PREPARED_BY:
            host.run("work", crash_at=PREPARED_BY[point], events=EVENTS, seed=seed, **of)
        if point == "store_discarded":
            (folder / "log" / "rows" / "CURRENT").write_bytes(b"nonsense")
        passing = 1 if point in PASSED_ONCE else 1 + seed * 3 % 5
        killed = host.run("work", crash_at=f"{point}:{passing}", events=EVENTS, seed=seed, **of)
        assert killed in ([KILLED] if passing == 1 else [KILLED, None])
        host.run("check", **of)
        host.run("work", events=EVENTS, seed=seed + 1, **of)
        assert EVENTS == host.run("check", **of)


def test_kill_at_random_times(host: Host, tmp_path: Path) -> None:
    """Processes killed at any moment, many times in one run, change nothing of the result."""
    for seed in range(SEEDS):
        draw = random.Random(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        of = {"path": str(folder / "log"), "acks": str(folder / "acks")}
        for kill in range(12):
            process = host.start("work", events=2 * EVENTS, seed=seed * 100 + kill, **of)
            time.sleep(draw.uniform(0.0, 0.06))
            os.kill(process, signal.SIGKILL)
            host.wait(process)
        host.run("check", **of)
        host.run("work", events=2 * EVENTS, seed=seed, **of)
        assert 2 * EVENTS == host.run("check", **of)


def test_interrupt_at_random_times(host: Host, tmp_path: Path) -> None:
    """Ctrl-C at any moment ends a process soon and costs nothing."""
    draw = random.Random(1)
    of = {"path": str(tmp_path / "log"), "acks": str(tmp_path / "acks")}
    ends = []
    for turn in range(10 * SEEDS):
        process = host.start("work_until_interrupted", events=40 * EVENTS, seed=turn, **of)
        time.sleep(draw.uniform(0.02, 0.08))
        os.kill(process, signal.SIGINT)
        begun = time.monotonic()
        ends.append(host.wait(process))
        assert time.monotonic() - begun < 10
    assert "interrupted" in ends
    assert host.run("check", **of) > 0


def test_environment_arms_a_point(tmp_path: Path) -> None:
    """CRASH_AT kills a process of any program that passes the point."""
    program = "from streams.crash_points import reach; reach('batch_read'); reach('batch_read')"
    killed = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "CRASH_AT": "batch_read:2"},
        check=False,
        timeout=60,
    )
    assert -signal.SIGKILL == killed.returncode
