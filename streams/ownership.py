"""Which partitions this worker owns, as Faust's group membership says; nothing is read or folded.

`leases` is a topic that stays empty: its assignment is the ownership. The handlers of a rebalance
only store the new set, because heartbeats rest until they return. Safety never rests on this
module: the transactional fencing of the ledger does that; a wrong answer here costs time only.
"""

import asyncio
import os
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import faust
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.errors import IllegalStateError, KafkaError
from aiokafka.structs import OffsetAndMetadata, TopicPartition
from faust.types import TP

from schemas.topics import LEASES, name_topic
from streams.connection import Connection, describe_for_faust

EXIT_RESTART = 75
"""EX_TEMPFAIL: start the worker again, another takes over meanwhile."""
EXIT_CONFIGURATION = 78
"""EX_CONFIG: a person has to change a setting before the next start."""

WATCH_INTERVAL_S = 0.25
ACCEPT_TIMEOUT_S = 5.0
SPARE_POLL_INTERVAL_S = 2_000_000.0
"""aiokafka has a worker without partitions leave its group for good after its poll interval."""


_ACCEPTED: Final = frozenset({0, 27})
"""NONE and REBALANCE_IN_PROGRESS: both say that the coordinator knows this member."""
_REFUSED: Final = frozenset({25, 82})
"""UNKNOWN_MEMBER_ID and FENCED_INSTANCE_ID."""


class Ownership(Protocol):
    """Who owns what: the only question that a supervisor asks of group membership."""

    def confirmed(self) -> frozenset[int]:
        """Return the partitions of the last assignment."""
        ...

    def accept(self, partition: int) -> bool:
        """Return whether the coordinator accepts, now, this member as the partition's owner."""
        ...

    def wait(self, timeout_s: float) -> None:
        """Return when the assignment changes, or after the time-out."""
        ...


@dataclass(frozen=True, kw_only=True)
class OwnershipSettings:
    """The group that shares the leases, and how fast it notices a dead member."""

    connection: Connection
    prefix: str
    group: str
    session_timeout_s: float = 10.0
    instance_id: str | None = None


@dataclass
class _Pulse:
    """The coordinator whose answers are watched, and when it last accepted us."""

    coordinator: GroupCoordinator | None = None
    heard_at: float = field(default_factory=time.monotonic)


class FaustOwnership:
    """Ownership through a Faust app whose only topic is `leases`.

    `start` and `stop` run in the event loop of the caller; `confirmed`, `accept` and `wait` are
    called from the thread of the ledgers. `exit_process` ends the process with a code and a reason
    and must not return: a worker that has lost its membership must not fold on.
    """

    def __init__(
        self, settings: OwnershipSettings, *, exit_process: Callable[[int, str], None]
    ) -> None:
        """Build the app; nothing is connected before start()."""
        self._settings = settings
        self._exit_process = exit_process
        self._topic = name_topic(LEASES, prefix=settings.prefix)
        self._partitions: frozenset[int] = frozenset()
        self._changed = threading.Event()
        self._pulse = _Pulse()
        self._watch_task: asyncio.Task[None] | None = None
        self.app = _build_app(settings, self._topic)
        self.app.on_partitions_assigned.connect(self._on_assigned)

    async def start(self) -> None:
        """Join the group; return when Faust runs, which is before the first assignment."""
        self._pulse.heard_at = time.monotonic()
        self._watch_task = asyncio.create_task(self._watch())
        await self.app.start()

    async def stop(self) -> None:
        """Leave the group, so that others take over without waiting for the session to end."""
        if self._watch_task is not None:
            self._watch_task.cancel()
        await self.app.stop()

    def confirmed(self) -> frozenset[int]:
        """Return the partitions of the last assignment; empty before the first one."""
        return self._partitions

    def wait(self, timeout_s: float) -> None:
        """Return when the assignment changes, or after the time-out."""
        if self._changed.wait(timeout_s):
            self._changed.clear()

    def accept(self, partition: int) -> bool:
        """Return whether an OffsetCommit on the lease is answered well for this generation.

        A ledger that was fenced may only start again after this: its predecessor's assignment may
        be the older one, and two that restart at once fence each other for ever.
        """
        if partition not in self._partitions:
            return False
        consumer: Any = self.app.consumer
        # aiokafka's consumer lives in the event loop of a thread of its own.
        thread = consumer._thread  # noqa: SLF001
        call = asyncio.run_coroutine_threadsafe(
            thread.call_thread(self._commit_lease, partition), self.app.loop
        )
        try:
            return bool(call.result(ACCEPT_TIMEOUT_S))
        except TimeoutError:
            call.cancel()
            return False

    async def _commit_lease(self, partition: int) -> bool:
        """Commit offset 0 of the empty lease, unless this member is just joining.

        A commit that overtakes our own JoinGroup carries the old generation; aiokafka then gives
        up its member id, which starts another rebalance, and two workers never settle.
        """
        coordinator: Any = self._pulse.coordinator
        if coordinator is None or coordinator.coordinator_id is None or coordinator.generation < 0:
            return False
        if coordinator._performed_join_prepare:  # noqa: SLF001  # set while it joins
            return False
        consumer: Any = self.app.consumer
        lease = {TopicPartition(self._topic, partition): OffsetAndMetadata(0, "")}
        try:
            await consumer._thread._consumer.commit(lease)  # noqa: SLF001
        except (KafkaError, IllegalStateError):  # not ours any more
            return False
        return True

    async def _on_assigned(self, _app: Any, assigned: set[TP], **_: Any) -> None:
        """Store the full set and wake the supervisor: heartbeats rest until this returns."""
        self._partitions = frozenset(tp.partition for tp in assigned if tp.topic == self._topic)
        self._changed.set()

    async def _watch(self) -> None:
        """End the process when its membership is gone for good, or taken by a namesake."""
        # Counted in ticks of this loop: a process that was frozen must get the time to join again.
        ticks_max = int(2 * self._settings.session_timeout_s / WATCH_INTERVAL_S)
        ticks, heard_at = 0, self._pulse.heard_at
        while True:
            await asyncio.sleep(WATCH_INTERVAL_S)
            self._attach_pulse()
            ticks = ticks + 1 if heard_at == self._pulse.heard_at else 0
            heard_at = self._pulse.heard_at
            if ticks > ticks_max:
                silence = f"{ticks * WATCH_INTERVAL_S:.0f} s"
                reason = f"no group membership for {silence}: is the broker reachable?"
                self._exit_process(EXIT_RESTART, reason)

    def _attach_pulse(self) -> None:
        """Listen to what the coordinator answers; aiokafka tells nobody when we were accepted."""
        consumer: Any = getattr(getattr(self.app.consumer, "_thread", None), "_consumer", None)
        coordinator: GroupCoordinator | None = getattr(consumer, "_coordinator", None)
        if coordinator is not None and coordinator is not self._pulse.coordinator:
            self._pulse.coordinator = coordinator
            send = coordinator._send_req  # noqa: SLF001
            coordinator._send_req = partial(self._listen, send)  # noqa: SLF001

    async def _listen(self, send: Callable[[Any], Any], request: Any) -> Any:
        response = await send(request)
        codes = _list_codes(response)
        if codes & _REFUSED:
            self._check_namesake()
        elif codes & _ACCEPTED:
            self._pulse.heard_at = time.monotonic()
        return response

    def _check_namesake(self) -> None:
        """Tell a static member that was replaced from one that was only away too long.

        aiokafka sends no static id with most requests, so that a replaced member mostly hears
        UNKNOWN_MEMBER_ID, though it was accepted a moment ago. It must not join again: it would
        replace the other in turn, and so on for ever.
        """
        away = time.monotonic() - self._pulse.heard_at
        if self._settings.instance_id and away < self._settings.session_timeout_s:
            self._exit_process(
                EXIT_CONFIGURATION,
                f"FENCED_INSTANCE_ID: another worker of group {self._settings.group} uses the "
                f"static id {self._settings.instance_id!r}. Give each worker an id of its own.",
            )


def _list_codes(response: Any) -> frozenset[int]:
    """Return the error codes of an answer: one for most kinds, one a partition for a commit."""
    code = getattr(response, "error_code", None)
    if code is not None:
        return frozenset({code})
    topics = getattr(response, "topics", ())
    return frozenset(part[-1] for topic in topics for part in topic[-1] if len(part) == 2)


def _build_app(settings: OwnershipSettings, topic: str) -> faust.App:
    """Return a Faust app that joins the group and holds `leases`, without tables or web server."""
    addresses, credentials = describe_for_faust(settings.connection)
    app = faust.App(
        settings.group,
        broker=addresses,
        broker_credentials=credentials,
        broker_session_timeout=settings.session_timeout_s,
        broker_heartbeat_interval=settings.session_timeout_s / 4,
        broker_request_timeout=max(2 * settings.session_timeout_s, 15.0),
        broker_rebalance_timeout=2 * settings.session_timeout_s,
        broker_max_poll_interval=SPARE_POLL_INTERVAL_S,
        consumer_group_instance_id=settings.instance_id,
        processing_guarantee="at_least_once",
        value_serializer="raw",
        key_serializer="raw",
        store="memory://",
        # Nothing is kept in it; without a name Faust makes a folder wherever the worker stands.
        datadir=str(Path(tempfile.gettempdir()) / f"commitments-faust-{os.getuid()}"),
        web_enabled=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        stream_wait_empty=False,
    )
    leases = app.topic(topic, value_type=bytes, value_serializer="raw")

    async def idle(records: Any) -> None:
        async for _ in records:  # the topic stays empty; a stray record means nothing
            pass

    app.agent(leases, name=f"{settings.group}.leases")(idle)
    return app
