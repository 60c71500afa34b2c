"""Named points at which a process kills itself, so that tests can stop it at every step.

`CRASH_AT=point` or `CRASH_AT=point:n` arms one point (its n-th passing, from 1); unset, `reach` does
nothing. Armed by the environment because the process to kill is a real one, started from outside.
"""

import os
import signal

VARIABLE = "CRASH_AT"

POINTS = (
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
)


class _Armed:
    """The one armed point and how many passings are left."""

    def __init__(self, setting: str) -> None:
        point, _, count = setting.partition(":")
        if point not in POINTS:
            message = f"{VARIABLE}={setting}: no such crash point; known are {', '.join(POINTS)}"
            raise ValueError(message)
        self._point = point
        self._left = int(count or "1")

    def reach(self, point: str) -> None:
        if point != self._point:
            return
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def _pass(point: str) -> None:
    """Do nothing: no point is armed."""


_SETTING = os.environ.get(VARIABLE)

reach = _Armed(_SETTING).reach if _SETTING else _pass
