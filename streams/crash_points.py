"""Named points at which a process kills itself, so that tests can stop it at every step.

`CRASH_AT=point` or `CRASH_AT=point:n` arms one point (its n-th passing, from 1); unset, `reach`
does nothing. Armed by the environment because the process to kill is a real one, started from
outside.
"""

import os
import signal
from collections.abc import Callable
from typing import Final

VARIABLE: Final = "CRASH_AT"

POINTS: Final = (
    "log_created",
    "append_locked",
    "append_written",
    "append_synced",
    "append_published",
    "segment_prepared",
    "segment_renamed",
    "tail_cut",
    "store_opened",
    "store_verified",
    "store_discarded",
    "fold_started",
    "batch_read",
    "batch_folded",
    "commit_prepared",
    "commit_written",
    "commit_answered",
    "fold_ended",
    "fenced",
    "position_read",
    "rows_restored",
    "events_polled",
    "transaction_begun",
    "first_produced",
    "last_produced",
    "transaction_committed",
    "rows_written",
    "rows_rebuilt",
    "erasure_requested",
    "keys_erasing",
    "keys_erased",
    "keys_vacuumed",
    "erasure_completed",
    "rows_compacted",
    "keys_wrapping",
    "keys_wrapped",
    "keys_rotated",
)


class _Armed:
    """The one armed point, and how many passings are left."""

    def __init__(self) -> None:
        self.point: str | None = None
        self.left = 0
        self.watch: Callable[[str], None] | None = None


_armed: Final = _Armed()


def arm(setting: str) -> None:
    """Arm one point, given as `point` or `point:n`.

    Raises:
        ValueError: there is no such point.
    """
    point, _, count = setting.partition(":")
    if point not in POINTS:
        raise ValueError(
            f"{VARIABLE}={setting}: no such crash point; known are {', '.join(POINTS)}"
        )
    _armed.point, _armed.left = point, int(count or "1")


def watch(listener: Callable[[str], None] | None) -> None:
    """Tell the listener of each passing; a simulation stops and crashes its workers there."""
    _armed.watch = listener


def reach(point: str) -> None:
    """Die here, as by kill -9, if this point is armed and this is the passing it waits for."""
    if _armed.watch is not None:
        _armed.watch(point)
    if _armed.point != point:
        return
    _armed.left -= 1
    if _armed.left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


if os.environ.get(VARIABLE):
    arm(os.environ[VARIABLE])
