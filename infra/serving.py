"""Runs one ledger worker: Faust's membership in the event loop, the ledgers in a thread beside it.

Says at start what it serves and how durable that is; ends within ten seconds of being asked to.
"""

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

import structlog
from aiohttp import web

from infra.appending import seal_events
from infra.authority import CHECKED_MODE, OPEN_MODE
from infra.keys import configured_keys
from infra.opening import ENCRYPTED_MODE, PLAIN_MODE
from infra.operations import start_endpoints
from infra.provision import TopicSet, describe_durability, plan
from schemas.event import Event
from schemas.topics import EVENTS, PARTITIONS_DEFAULT, name_topic
from streams.clock import SystemClock
from streams.connection import Connection
from streams.expiry import Expirer
from streams.lane import Phase, describe
from streams.opening import Opener, PlainOpener
from streams.ownership import EXIT_RESTART, FaustOwnership, OwnershipSettings
from streams.ports import NewRecord, Reducer
from streams.sealed_rows import open_rows
from streams.starting import WorkerSettings
from streams.worker import Worker

STOP_TIMEOUT_S: Final = 10.0
"""From the signal to the end of the process, whatever the broker does."""
SILENCE_MAX_S: Final = 45.0
"""A ledger thread that has not gone round for so long is blocked: let another worker take over."""
WATCH_EVERY_S: Final = 1.0


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """One worker process: where the cluster is, which topics, where the local rows stand."""

    connection: Connection
    folder: Path
    prefix: str = ""
    partitions: int = PARTITIONS_DEFAULT
    replication: int = 3
    insync_min: int = 2
    session_timeout_s: float = 10.0
    instance_id: str | None = None
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    opener: Opener = field(default_factory=PlainOpener)


class NotProvisionedError(Exception):
    """The topics are not as they should be; the message names the differences and the remedy."""


def serve(settings: ServeSettings, *, build_reducer: Callable[[int], Reducer]) -> int:
    """Serve until SIGTERM or SIGINT; return the exit code 0, or exit 75 or 78 with a reason.

    75 means start again (another worker takes over meanwhile), 78 that a person must change
    a setting first.

    Raises:
        NotProvisionedError: before anything is started.
    """
    wanted = TopicSet(
        prefix=settings.prefix,
        partitions=settings.partitions,
        replication=settings.replication,
        insync_min=settings.insync_min,
    )
    differences = plan(settings.connection, wanted)
    if differences:
        shown = "\n".join(str(change) for change in differences)
        raise NotProvisionedError(f"what is there is not as configured; provision would:\n{shown}")
    for name in ("aiokafka", "faust", "mode"):
        # They repeat every lost connection many times a second; a lost membership is said once.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    log = structlog.get_logger("ledger")
    log.info(
        "worker_starting",
        durability=describe_durability(wanted),
        topic=f"{settings.prefix}events",
        partitions=settings.partitions,
        authority=OPEN_MODE if configured_keys() is None else CHECKED_MODE,
        mode=ENCRYPTED_MODE if settings.opener.hides else PLAIN_MODE,
    )
    return asyncio.run(_Service(settings, build_reducer, log).run())


class _Service:
    """The event loop's side of a worker."""

    def __init__(
        self,
        settings: ServeSettings,
        build_reducer: Callable[[int], Reducer],
        log: structlog.stdlib.BoundLogger,
    ) -> None:
        self._log = log
        self._settings = settings
        group = f"{settings.prefix}ledger"
        self._ownership = FaustOwnership(
            OwnershipSettings(
                connection=settings.connection,
                prefix=settings.prefix,
                group=group,
                session_timeout_s=settings.session_timeout_s,
                instance_id=settings.instance_id,
            ),
            exit_process=self._exit,
        )
        self._worker = Worker(
            WorkerSettings(
                connection=settings.connection,
                prefix=settings.prefix,
                folder=settings.folder,
                group=group,
            ),
            ownership=self._ownership,
            build_reducer=build_reducer,
            exit_process=self._exit,
            clock=SystemClock(),
            note=log.info,
            expirer=Expirer(
                settings.connection,
                topic=name_topic(EVENTS, prefix=settings.prefix),
                seal=self._seal,
                open_rows=partial(open_rows, settings.opener),
            ),
        )
        self._thread = threading.Thread(target=self._fold, name="ledgers", daemon=True)

    def _seal(self, event: Event) -> NewRecord:
        (record,) = seal_events(self._settings.opener, [event], configured_keys())
        return record

    async def run(self) -> int:
        asked = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, asked.set)
        self._log.info("worker_joining")
        self._thread.start()
        endpoints = await self._open_endpoints()
        await self._ownership.start()
        while not asked.is_set():
            try:
                await asyncio.wait_for(asked.wait(), WATCH_EVERY_S)
            except TimeoutError:
                self._check_thread()
        self._log.info("worker_stopping")
        threading.Thread(target=self._end_in_time, daemon=True).start()
        self._worker.stop()
        await asyncio.to_thread(self._thread.join)
        await self._ownership.stop()
        if endpoints is not None:
            await endpoints.cleanup()
        self._log.info("worker_stopped")
        return 0

    async def _open_endpoints(self) -> web.AppRunner | None:
        if self._settings.metrics_port is None:
            return None
        return await start_endpoints(
            self._worker.lanes,
            host=self._settings.metrics_host,
            port=self._settings.metrics_port,
        )

    def _fold(self) -> None:
        try:
            self._worker.run()
        except BaseException as error:
            self._log.exception("worker_failed")
            self._exit(EXIT_RESTART, describe(error))

    def _check_thread(self) -> None:
        silence = time.monotonic() - self._worker.went_round_at
        if silence > SILENCE_MAX_S:
            self._exit(EXIT_RESTART, f"the ledgers have not gone round for {silence:.0f} s")

    def _end_in_time(self) -> None:
        time.sleep(STOP_TIMEOUT_S)
        folding = [lane.partition for lane in self._worker.lanes() if lane.phase is Phase.FOLDING]
        self._exit(
            EXIT_RESTART,
            f"not stopped within {STOP_TIMEOUT_S:.0f} s. The next owner of the partitions "
            f"{folding} aborts their open transactions; no acknowledged outcome is lost",
        )

    def _exit(self, code: int, reason: str) -> NoReturn:
        """End the process at once: an ordinary exit waits for threads that may never answer."""
        self._log.error("worker_exits", exit_code=code, reason=reason)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
