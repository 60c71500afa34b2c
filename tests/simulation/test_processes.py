"""Several processes on one folder at once, and processes that run out of what they need."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streams.clock import SystemClock
from streams.embedded import Embedded
from streams.failures import FoldingElsewhereError, StreamsError
from streams.ports import NewRecord
from tests.simulation.counting import CountingReducer
from tests.simulation.host import Host

EVENTS = 300


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    """Return a host of forked processes."""
    host = Host()
    yield host
    host.close()


def test_many_processes_on_one_folder(host: Host, tmp_path: Path) -> None:
    """Appenders that wait for their outcome, folders and readers at once: one outcome per event."""
    path, calls = str(tmp_path / "log"), 15
    processes = [
        *(host.start("append_own", path=path, name=f"user {n}", calls=calls) for n in range(4)),
        *(host.start("fold_often", path=path, until=4 * calls) for _ in range(2)),
        host.start("read_often", path=path, until=4 * calls),
    ]
    results = [host.wait(process) for process in processes]
    offsets = [offset for result in results[:4] for offset in result]
    assert list(range(4 * calls)) == sorted(offsets)
    assert {"events": 0, "rebuilds": 0} == host.run("fold", path=path)


def test_killed_among_many(host: Host, tmp_path: Path) -> None:
    """Killing folders and appenders beside others that go on loses nothing and doubles nothing."""
    of = {"path": str(tmp_path / "log"), "acks": str(tmp_path / "acks")}
    for kill in range(8):
        beside = host.start("fold_often", path=of["path"], until=10**9)
        victim = host.start("work_beside", events=EVENTS, seed=kill, **of)
        time.sleep(0.05 + 0.01 * kill)
        for process in (victim, beside):
            os.kill(process, signal.SIGKILL)
            host.wait(process)
    host.run("work", events=EVENTS, seed=99, **of)
    assert EVENTS == host.run("check", **of)


def test_a_stopped_folder_is_waited_for_with_a_bound(host: Host, tmp_path: Path) -> None:
    """While a stopped process holds the lock nobody else folds; continued, it changes nothing."""
    of = {"path": str(tmp_path / "log"), "acks": str(tmp_path / "acks")}
    host.run("work", events=50, seed=1, **of)
    enough = tmp_path / "enough"
    stopped = host.start("hold_lock", path=of["path"], until=str(enough))
    deadline = time.monotonic() + 20
    while host.run("try_fold", path=of["path"]) != "elsewhere":
        assert time.monotonic() < deadline
    os.kill(stopped, signal.SIGSTOP)
    host.run("append", path=of["path"], events=60)
    assert "not folded within" in host.run("wait_briefly", path=of["path"], offset=59)
    os.kill(stopped, signal.SIGCONT)
    enough.touch()
    host.wait(stopped)
    host.run("work", events=EVENTS, seed=2, **of)
    assert EVENTS == host.run("check", **of)


@pytest.mark.parametrize("bytes_max", [400, 3_000, 9_000, 20_000, 40_000])
def test_a_process_that_may_write_no_more_stops(host: Host, tmp_path: Path, bytes_max: int) -> None:
    """A limit on file sizes cuts writes short anywhere; the next process ends as without it."""
    of = {"path": str(tmp_path / "log"), "acks": str(tmp_path / "acks")}
    for seed in range(2):
        host.run(
            "work_until_refused", limits={"RLIMIT_FSIZE": bytes_max}, events=EVENTS, seed=seed, **of
        )
        host.run("check", **of)
    host.run("work", events=EVENTS, seed=9, **of)
    assert EVENTS == host.run("check", **of)


@pytest.mark.parametrize("files_max", [8, 12, 16, 24])
def test_a_process_without_file_handles_stops(host: Host, tmp_path: Path, files_max: int) -> None:
    """Out of file handles a process stops with the cause; the row store is not wiped for it."""
    of = {"path": str(tmp_path / "log"), "acks": str(tmp_path / "acks")}
    host.run("work", events=EVENTS - 50, seed=1, **of)
    host.run("work_until_refused", limits={"RLIMIT_NOFILE": files_max}, events=EVENTS, seed=2, **of)
    folded = host.run("fold", path=of["path"])
    assert 0 == folded["rebuilds"]
    assert folded["events"] <= 50
    host.run("work", events=EVENTS, seed=9, **of)
    assert EVENTS == host.run("check", **of)


@pytest.mark.parametrize("mb_max", [60, 120, 250, 400])
def test_a_process_out_of_memory_stops(host: Host, tmp_path: Path, mb_max: int) -> None:
    """Out of memory a process stops or dies; the next one ends as without it."""
    of = {"path": str(tmp_path / "log"), "acks": str(tmp_path / "acks")}
    host.run("work", events=EVENTS - 50, seed=1, **of)
    host.run("work_until_refused", limits={"RLIMIT_AS": mb_max << 20}, events=EVENTS, seed=2, **of)
    host.run("work", events=EVENTS, seed=9, **of)
    assert EVENTS == host.run("check", **of)


def test_a_full_file_system(host: Host, tmp_path: Path) -> None:
    """On a full file system folding and appending stop; with space again nothing is missing.

    Where no small file system can be mounted, a bound on file sizes has to stand for it.
    """
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(small)]
    mounted = subprocess.run(mount, check=False, capture_output=True).returncode == 0
    limits = {} if mounted else {"RLIMIT_FSIZE": 30_000}
    of = {"path": str(small / "log"), "acks": str(tmp_path / "acks")}
    try:
        refused = host.run("work_until_refused", limits=limits, events=3_000, seed=1, **of)
        assert refused is not None
        large = tmp_path / "large"
        shutil.copytree(small / "log", large)
    finally:
        if mounted:
            subprocess.run(["umount", str(small)], check=True)
    of["path"] = str(large)
    held = host.run("check", **of)
    host.run("work", events=held + 100, seed=2, **of)
    assert held + 100 == host.run("check", **of)


def test_one_process_folds(tmp_path: Path) -> None:
    """While one holds the folding lock another is told so at once, and may wait for the outcome."""
    with (
        Embedded(tmp_path / "log", CountingReducer()) as first,
        Embedded(tmp_path / "log", CountingReducer(), clock=SystemClock()) as second,
    ):
        offset = first.append([NewRecord(b"key", b"value")]).start
        met: list[str] = []

        def fold_inside(_: int, __: int) -> None:
            try:
                second.fold_pending()
            except FoldingElsewhereError as error:
                met.append(str(error))
            with pytest.raises(StreamsError, match="not folded within"):
                second.wait_for(offset + 1, timeout_ms=30)

        first.fold_pending(fold_inside)
        assert ["another process is folding"] == [text[:26] for text in met]
        assert offset + 1 == second.wait_for(offset, timeout_ms=10_000).next_offset
