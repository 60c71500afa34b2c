"""Worker processes that a test starts, kills, freezes and reads: real signals on real processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

POLL_S = 0.05
END_TIMEOUT_S = 10.0


class WorkerProcess:
    """One Python process of ours with its printed lines; always ended by its own pid."""

    def __init__(
        self,
        script: Path,
        arguments: Sequence[str],
        *,
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the script; its output goes to the log file, which a failed test leaves behind."""
        self.log = log
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-u", str(script), *arguments],
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=dict(os.environ) | dict(environment or {}),
            )

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Return whether the process has not ended."""
        return self._process.poll() is None

    def lines(self) -> list[str]:
        """Return what the process printed so far."""
        return self.log.read_text(errors="replace").splitlines()

    def last(self, start: str) -> str | None:
        """Return the rest of the last line that begins so, or None."""
        found = [line for line in self.lines() if line.startswith(start)]
        return found[-1].removeprefix(start).strip() if found else None

    def kill(self) -> None:
        """End the process at once (SIGKILL)."""
        self._process.kill()
        self._process.wait(END_TIMEOUT_S)

    def stop(self, timeout_s: float = END_TIMEOUT_S) -> int:
        """Ask the process to end (SIGTERM) and return its exit code."""
        self._process.terminate()
        return self.join(timeout_s)

    def join(self, timeout_s: float = END_TIMEOUT_S) -> int:
        """Return the exit code once the process has ended by itself."""
        return self._process.wait(timeout_s)

    def pause(self) -> None:
        """Freeze the process (SIGSTOP)."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a frozen process go on (SIGCONT)."""
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """End the process whatever its state; for the end of a test."""
        if self.running:
            self.resume()
            self.kill()


def await_true(condition: Callable[[], bool], *, timeout_s: float, what: str) -> float:
    """Return after how many seconds the condition held; fail with words when it never does."""
    start = time.monotonic()
    while not condition():
        passed = time.monotonic() - start
        assert passed < timeout_s, f"not within {timeout_s:.0f} s: {what}"
        time.sleep(POLL_S)
    return time.monotonic() - start
