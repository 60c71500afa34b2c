"""A process that only owns leases and prints them; test_ownership.py starts and ends it.

Arguments: bootstrap servers, prefix, session time-out in seconds, static id or `-`.
"""

import asyncio
import os
import signal
import sys
import threading

from streams.connection import Connection
from streams.ownership import FaustOwnership, OwnershipSettings


def _exit(code: int, reason: str) -> None:
    print(f"exit {reason}", flush=True)
    os._exit(code)


def _show(ownership: FaustOwnership) -> None:
    while True:
        ownership.wait(0.2)
        held = sorted(ownership.confirmed())
        accepted = [partition for partition in held if ownership.accept(partition)]
        print("accepted", *accepted, flush=True)


async def _hold(bootstrap_servers: str, prefix: str, session_s: str, instance: str) -> None:
    settings = OwnershipSettings(
        connection=Connection(bootstrap_servers=bootstrap_servers),
        prefix=prefix,
        group=f"{prefix}ledger",
        session_timeout_s=float(session_s),
        instance_id=None if instance == "-" else instance,
    )
    ownership = FaustOwnership(settings, exit_process=_exit)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    threading.Thread(target=_show, args=(ownership,), daemon=True).start()
    await ownership.start()
    await stopped.wait()
    await ownership.stop()


if __name__ == "__main__":
    asyncio.run(_hold(*sys.argv[1:5]))
