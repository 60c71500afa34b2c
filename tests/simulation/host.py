"""A host that forks one process per job of a test, cheaply.

It imports everything once and opens no store, so a child starts in milliseconds with clean threads;
it is killed and reaped like any process.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

from streams import crash_points
from tests.simulation.core_jobs import CORE_JOBS
from tests.simulation.erasure_jobs import ERASURE_JOBS
from tests.simulation.jobs import JOBS

KILLED = "killed"
"""What a job that a signal ended returns."""


class Host:
    """A process that forks one child per job."""

    def __init__(self) -> None:
        """Start the host."""
        self._running: set[int] = set()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.simulation.host"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def start(self, job: str, *, crash_at: str | None = None, limits: Any = None, **of: Any) -> int:
        """Fork a child for a job and return its process id."""
        request = {"job": job, "of": of, "crash_at": crash_at, "limits": limits or {}}
        process = int(self._ask(request))
        self._running.add(process)
        return process

    def wait(self, process: int) -> Any:
        """Return the job's result, or KILLED.

        Raises:
            AssertionError: the job raised; its traceback is the message.
        """
        answer = self._ask({"wait": process})
        self._running.discard(process)
        assert "raised" not in answer, answer["raised"]
        return answer.get("result", KILLED)

    def run(self, job: str, **given: Any) -> Any:
        """Start a job and wait for it."""
        return self.wait(self.start(job, **given))

    def close(self) -> None:
        """End the host, and the jobs that a failed test left running."""
        for process in sorted(self._running):
            os.kill(process, signal.SIGKILL)
        self._process.communicate(timeout=10)

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def serve() -> None:
    """Answer requests line by line until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
        result = {"result": (JOBS | CORE_JOBS | ERASURE_JOBS)[request["job"]](**request["of"])}
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
