"""The end of a service on SIGTERM or SIGINT, also while its main thread waits inside a client.

Only for services whose restart repeats what was in flight: they may be ended anywhere.
"""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

import structlog

STOP_TIMEOUT_S: Final = 9.0


def stop_in_time(stop: Callable[[], None], *, seconds: float = STOP_TIMEOUT_S) -> None:
    """Call ``stop`` on a signal, and end the process if it is still there after so long.

    Its exit code is then ``os.EX_TEMPFAIL``, as a worker's (``streams.ownership``). Python runs
    handlers in the main thread only, which a flush may hold for a minute; the byte that a signal
    leaves in the wakeup socket is read by a thread of its own.
    """
    near, far = socket.socketpair()
    near.setblocking(False)
    signal.set_wakeup_fd(near.fileno(), warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _hear)

    def end() -> None:
        with near, far:
            far.recv(1)
            stop()
            time.sleep(seconds)
            structlog.get_logger("service").error(
                "not_stopped_in_time",
                seconds=seconds,
                reason="what is in flight is not awaited; the next owner repeats it",
            )
            sys.stdout.flush()
            os._exit(os.EX_TEMPFAIL)

    threading.Thread(target=end, name="stopping", daemon=True).start()


def _hear(*_: object) -> None:
    """Replace the default handler, which would end the process at once."""
