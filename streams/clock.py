"""The clock of logs, ledgers and waits, with its simulated twin.

It stamps appends and bounds how long a batch folds; no decision of the core reads it (spec 1.3).
Group membership alone counts by the machine's own (streams/ownership.py).
"""

import time
from typing import Protocol


class Clock(Protocol):
    """Wall time for stamps, steady time for durations, and waiting."""

    def now_ms(self) -> int:
        """Return the wall time in milliseconds since 1970 UTC."""
        ...

    def steady_ns(self) -> int:
        """Return nanoseconds that never go back within a process."""
        ...

    def wait(self, duration_ms: int) -> None:
        """Return after duration_ms."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Return the machine's wall time; it may jump, which is why a log never goes back."""
        return time.time_ns() // 1_000_000

    def steady_ns(self) -> int:
        """Return the machine's monotonic time."""
        return time.monotonic_ns()

    def wait(self, duration_ms: int) -> None:
        """Sleep for duration_ms."""
        time.sleep(duration_ms / 1000)


class SimulatedClock:
    """A clock that moves only when told, or by a fixed step at each reading."""

    def __init__(self, *, start_ms: int = 1_700_000_000_000, step_ms: int = 0) -> None:
        """Start at start_ms and advance by step_ms at every reading."""
        self._now_ms = start_ms
        self._step_ms = step_ms
        self._steady_ms = 0

    def now_ms(self) -> int:
        """Return the simulated wall time, then advance it by one step."""
        now = self._now_ms
        self.advance(self._step_ms)
        return now

    def steady_ns(self) -> int:
        """Return the simulated steady time, then advance it by one step."""
        steady = self._steady_ms
        self.advance(self._step_ms)
        return steady * 1_000_000

    def wait(self, duration_ms: int) -> None:
        """Advance by duration_ms without waiting."""
        self.advance(duration_ms)

    def advance(self, duration_ms: int) -> None:
        """Move both times forward."""
        self._now_ms += duration_ms
        self._steady_ms += duration_ms

    def jump(self, to_ms: int) -> None:
        """Set the wall time alone, as an operator or NTP does; steady time stays."""
        self._now_ms = to_ms
