"""The real core under kill -9: the same outcomes, bodies and tables as of a run never killed."""

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulation.host import Host

HISTORIES = int(os.environ.get("SEEDS", "2"))
POINTS = (
    "append_written",
    "append_synced",
    "batch_read",
    "batch_folded",
    "commit_prepared",
    "commit_written",
    "commit_answered",
)


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    """Return a host of forked processes."""
    host = Host()
    yield host
    host.close()


def test_the_core_killed_at_any_step_decides_the_same(host: Host, tmp_path: Path) -> None:
    """However often it dies, the core emits each outcome once, with the bytes of a calm run."""
    for seed in range(HISTORIES):
        draw = random.Random(seed)
        history = str(tmp_path / f"history {seed}")
        calm, killed = str(tmp_path / f"calm {seed}"), str(tmp_path / f"killed {seed}")
        host.run("draw_core", history=history, seed=seed)
        host.run("work_core", path=calm, history=history, seed=seed)
        expected = host.run("check_core", path=calm, history=history)
        assert expected["outputs"]["repairs"]
        for point in POINTS:
            crash_at = f"{point}:{draw.randint(1, 4)}"
            host.run(
                "work_core", crash_at=crash_at, path=killed, history=history, seed=draw.random()
            )
        for _ in range(4):
            process = host.start("work_core", path=killed, history=history, seed=draw.random())
            time.sleep(draw.uniform(0.01, 0.2))
            os.kill(process, signal.SIGKILL)
            host.wait(process)
        host.run("work_core", path=killed, history=history, seed=seed + 1)
        assert expected == host.run("check_core", path=killed, history=history)
