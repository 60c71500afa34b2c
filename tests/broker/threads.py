"""A worker in a thread of the test that owns fixed partitions: for faults that kill no process."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from infra.broker import Broker
from streams.clock import SystemClock
from streams.connection import Connection
from streams.lane import Lane, Phase
from streams.ports import Reducer
from streams.starting import WorkerSettings
from streams.worker import Worker
from tests.broker.workers import await_true

BuildReducer = Callable[..., Reducer]


class FixedOwnership:
    """The twin of Faust's ownership: it owns what it is told, and every lease is accepted."""

    def __init__(self, partitions: frozenset[int]) -> None:
        self.partitions = partitions

    def confirmed(self) -> frozenset[int]:
        """Return the fixed partitions."""
        return self.partitions

    def accept(self, partition: int) -> bool:
        """Return whether it is one of the fixed partitions."""
        return partition in self.partitions

    def wait(self, timeout_s: float) -> None:
        """Wait for the time-out: nothing ever changes."""
        threading.Event().wait(timeout_s)


class _Exited(BaseException):
    """Ends the worker's thread where a process would end."""


class ThreadWorker:
    """One worker and what it said and did."""

    def __init__(
        self,
        connection: Connection,
        prefix: str,
        folder: Path,
        build_reducer: BuildReducer,
        partitions: frozenset[int],
    ) -> None:
        self.exit: tuple[int, str] | None = None
        self.notes: list[tuple[str, dict[str, Any]]] = []
        self.ownership = FixedOwnership(partitions)
        self.worker = Worker(
            WorkerSettings(
                connection=connection,
                prefix=prefix,
                folder=folder,
                group=f"{prefix}ledger",
            ),
            ownership=self.ownership,
            build_reducer=lambda partition: build_reducer(partition=partition),
            exit_process=self._exit,
            clock=SystemClock(),
            note=lambda event, **values: self.notes.append((event, values)),
        )
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def lane(self) -> Lane | None:
        """Return the lane of partition 0 once there is one."""
        return next(iter(self.worker.lanes()), None)

    def await_phase(self, phase: Phase, *, timeout_s: float = 20) -> Lane:
        """Return the lane once it has this phase."""

        def reached() -> bool:
            assert self.exit is None, self.exit
            lane = self.lane()
            return lane is not None and lane.phase is phase

        await_true(reached, timeout_s=timeout_s, what=f"{phase}; notes: {self.notes[-3:]}")
        lane = self.lane()
        assert lane is not None
        return lane

    def await_folded(self, next_offset: int, *, timeout_s: float = 20) -> None:
        """Return once everything before the offset is folded and committed."""

        def folded() -> bool:
            assert self.exit is None, self.exit
            lane = self.lane()
            return lane is not None and lane.next_offset >= next_offset

        await_true(folded, timeout_s=timeout_s, what=f"offset {next_offset}; {self.notes[-3:]}")

    def await_events(self, count: int, *, timeout_s: float = 30) -> None:
        """Return once so many events are folded in all partitions together."""

        def folded() -> bool:
            assert self.exit is None, self.exit
            return sum(lane.events for lane in self.worker.lanes()) >= count

        await_true(folded, timeout_s=timeout_s, what=f"{count} events; {self.notes[-3:]}")

    def stop(self) -> None:
        """End the worker in order."""
        self.worker.stop()
        self.thread.join(20)
        assert not self.thread.is_alive()

    def _run(self) -> None:
        try:
            self.worker.run()
        except _Exited:
            return

    def _exit(self, code: int, reason: str) -> None:
        self.exit = (code, reason)
        raise _Exited


@contextmanager
def running(
    broker: Broker,
    prefix: str,
    folder: Path,
    build_reducer: BuildReducer,
    *,
    partitions: frozenset[int] = frozenset({0}),
) -> Iterator[ThreadWorker]:
    """Run a worker on the partitions for the length of the block."""
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    with running_on(connection, prefix, folder, build_reducer, partitions=partitions) as worker:
        yield worker


@contextmanager
def running_on(
    connection: Connection,
    prefix: str,
    folder: Path,
    build_reducer: BuildReducer,
    *,
    partitions: frozenset[int] = frozenset({0}),
) -> Iterator[ThreadWorker]:
    """Run a worker that reaches the cluster this way, for the length of the block."""
    worker = ThreadWorker(connection, prefix, folder, build_reducer, partitions)
    try:
        yield worker
    finally:
        worker.stop()
