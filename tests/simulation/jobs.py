"""What a process of a crash test does, and the host that forks such processes cheaply.

The host imports everything once and opens no store, so a child starts in milliseconds with clean
threads; it is killed and reaped like any process.
"""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streams import crash_points
from streams.embedded import Embedded
from streams.failures import FoldingElsewhere, StoreDamaged
from tests.simulation.counting import CountingReducer
from tests.simulation.history import make_event
from tests.simulation.invariants import check_folder

KILLED = "killed"
"""What a job that a signal ended returns."""
SEGMENT_BYTES = 2_000
"""Small, so that every run passes many segment ends."""


def work(path: str, acks: str, events: int, seed: int) -> None:
    """Append the history in calls of random size, folding now and then; note what was acknowledged."""
    draw = random.Random(seed)
    with (
        Embedded(Path(path), CountingReducer(), segment_bytes=SEGMENT_BYTES) as embedded,
        open(acks, "a", buffering=1) as noted,
    ):
        number = embedded.log.bounds().end
        while number < events:
            until = min(events, number + draw.randint(1, 30))
            number = embedded.append([make_event(n) for n in range(number, until)]).stop
            noted.write(f"{number}\n")
            if draw.random() < 0.3:
                embedded.fold_pending()
        embedded.fold_pending()


def append(path: str, events: int) -> None:
    """Append the rest of the history and fold nothing."""
    with Embedded(Path(path), CountingReducer(), segment_bytes=SEGMENT_BYTES) as embedded:
        end = embedded.log.bounds().end
        embedded.append([make_event(number) for number in range(end, events)])


def check(path: str, acks: str) -> int:
    """Assert every promise over a folder."""
    lines = Path(acks).read_text().split() if Path(acks).exists() else []
    return check_folder(Path(path), acknowledged=int(lines[-1]) if lines else 0)


def fold(path: str) -> dict[str, int]:
    """Fold what is pending."""
    with Embedded(Path(path), CountingReducer()) as embedded:
        counts = embedded.fold_pending()
        return {"events": counts.events, "rebuilds": counts.rebuilds}


def heal(path: str) -> None:
    """Fold, read everything as a user does, and let damage on the way be repaired."""
    with Embedded(Path(path), CountingReducer()) as embedded:
        embedded.fold_pending()
        for topic in ("counts", "rejections"):
            list(embedded.outputs(topic))
        try:
            with embedded.reading() as store:
                assert store is not None
                list(store.records())
        except StoreDamaged:
            embedded.repair()


def append_own(path: str, name: str, calls: int) -> list[int]:
    """Append one event per call under an own name, waiting for each outcome; return the offsets."""
    from streams.ports import NewRecord

    offsets = []
    with Embedded(Path(path), CountingReducer(), segment_bytes=SEGMENT_BYTES) as embedded:
        for call in range(calls):
            offset = embedded.append([NewRecord(name.encode(), b"call %d" % call)]).start
            embedded.wait_for(offset, timeout_ms=60_000)
            places = [(o.offset, o.record.value) for o in embedded.outputs("counts")]
            assert (offset, b"%d call %d" % (call + 1, call)) in places
            offsets.append(offset)
    return offsets


def fold_often(path: str, until: int) -> None:
    """Fold again and again until so many events are folded, leaving it to others when they do."""
    with Embedded(Path(path), CountingReducer()) as embedded:
        while (head := embedded.head()) is None or head.next_offset < until:
            try:
                embedded.fold_pending()
            except FoldingElsewhere:
                continue


def read_often(path: str, until: int) -> None:
    """Read outputs beside the writers until so many are there; what was read once stays so."""
    with Embedded(Path(path), CountingReducer()) as embedded:
        seen: list[Any] = []
        while len(seen) < until:
            now = list(embedded.outputs("counts"))
            assert seen == now[: len(seen)]
            seen = now


JOBS: dict[str, Callable[..., Any]] = {
    job.__name__: job
    for job in (work, append, check, fold, heal, append_own, fold_often, read_often)
}


class Host:
    """A process that forks one child per job."""

    def __init__(self) -> None:
        """Start the host."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.simulation.jobs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def start(self, job: str, *, crash_at: str | None = None, limits: Any = None, **of: Any) -> int:
        """Fork a child for a job and return its process id."""
        return int(self._ask({"job": job, "of": of, "crash_at": crash_at, "limits": limits or {}}))

    def wait(self, process: int) -> Any:
        """Return the job's result, or KILLED.

        Raises:
            AssertionError: the job raised; its traceback is the message.
        """
        answer = self._ask({"wait": process})
        assert "raised" not in answer, answer["raised"]
        return answer.get("result", KILLED)

    def run(self, job: str, **of: Any) -> Any:
        """Start a job and wait for it."""
        return self.wait(self.start(job, **of))

    def close(self) -> None:
        """End the host."""
        self._process.communicate(timeout=10)

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def serve() -> None:
    """Answer requests line by line until the input ends."""
    answers: dict[int, int] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            answer: Any = reap(request["wait"], answers.pop(request["wait"]))
        else:
            answer = fork_child(request, answers)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def fork_child(request: dict[str, Any], answers: dict[int, int]) -> int:
    """Fork a child that does one job and writes its answer to a pipe."""
    answer, child_end = os.pipe()
    process = os.fork()
    if process:
        os.close(child_end)
        answers[process] = answer
        return process
    os.close(answer)
    for name, limit in request["limits"].items():
        resource.setrlimit(getattr(resource, name), (limit, limit))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if request["crash_at"]:
        crash_points.arm(request["crash_at"])
    try:
        result = {"result": JOBS[request["job"]](**request["of"])}
    except BaseException as error:
        result = {"raised": traceback.format_exc(), "type": type(error).__name__}
    os.write(child_end, json.dumps(result).encode())
    os._exit(0)


def reap(process: int, answer: int) -> Any:
    """Return what a child answered, or {} if it was killed first."""
    with os.fdopen(answer, "rb") as pipe:
        content = pipe.read()
    os.waitpid(process, 0)
    return json.loads(content) if content else {}


if __name__ == "__main__":
    serve()
