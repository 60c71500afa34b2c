"""The supervisor of one worker process: a ledger for each partition that it owns, in one thread.

They are folded round-robin. Which partitions those are, streams/ownership.py says.

No failure is passed over: a ledger starts again, stays stopped with its reason, or the process
exits.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from schemas.ledger import Head
from streams.clock import Clock
from streams.connection import Connection
from streams.failures import Fenced, LedgerBroken, LogShortened, StreamsError
from streams.kafka_log import EventReader, describe_topic_id
from streams.kafka_store import KafkaStore, Place
from streams.lane import Lane, Phase, Treatment, draw_pause_ns, judge
from streams.ledger import Ledger
from streams.ownership import EXIT_CONFIGURATION, EXIT_RESTART, Ownership
from streams.ports import Reducer
from streams.transactions import ask_cluster_id

IDLE_WAIT_S: Final = 0.05
STALL_S: Final = 30.0
"""Input waiting and no commit for so long: another worker may fare better."""
PROGRESS_EVERY_S: Final = 5.0
COUNT_EVERY_S: Final = 30.0
STARTERS: Final = 2


@dataclass(frozen=True, kw_only=True)
class WorkerSettings:
    """What one worker folds, and where its local rows stand."""

    connection: Connection
    prefix: str
    folder: Path
    group: str


Note = Callable[..., None]
"""Receives an event's name and its key-values; infra binds it to structlog."""


class Worker:
    """Runs in a thread of its own: run() returns after stop(), or the process exits."""

    def __init__(
        self,
        settings: WorkerSettings,
        *,
        ownership: Ownership,
        build_reducer: Callable[[int], Reducer],
        exit_process: Callable[[int, str], None],
        clock: Clock,
        note: Note,
    ) -> None:
        """Bind the parts; nothing is connected before run()."""
        self._settings = settings
        self._ownership = ownership
        self._build_reducer = build_reducer
        self._exit_process = exit_process
        self._clock = clock
        self._note = note
        self._lanes: dict[int, Lane] = {}
        self._stopping = threading.Event()
        self._starters = ThreadPoolExecutor(STARTERS, thread_name_prefix="ledger-start")
        self._shown_ns = self._counted_ns = 0
        self.went_round_at = clock.steady_ns() / 1e9
        self._partitions = 0
        self._reader: EventReader
        self._cluster_id = ""

    def run(self) -> None:
        """Own, fold and commit until stop(); a failure of the whole worker exits the process."""
        try:
            self._connect()
            while not self._stopping.is_set():
                self.went_round_at = self._clock.steady_ns() / 1e9
                self._follow_ownership()
                self._advance_starts()
                if not self._fold_round():
                    self._rest()
                self._watch()
            self._close_all()
        except StreamsError as error:
            self._exit_process(EXIT_RESTART, str(error))

    def stop(self) -> None:
        """Ask run() to end after the batch at hand."""
        self._stopping.set()

    def lanes(self) -> Sequence[Lane]:
        """Return the owned partitions, for health and metrics; a snapshot of live objects."""
        return tuple(lane for _, lane in sorted(self._lanes.copy().items()))

    def _connect(self) -> None:
        settings = self._settings
        self._cluster_id = ask_cluster_id(settings.connection)
        topic = f"{settings.prefix}events"
        topic_id, self._partitions = describe_topic_id(settings.connection, topic)
        self._reader = EventReader(
            settings.connection, topic=topic, topic_id=topic_id, group=f"{settings.group}-progress"
        )

    def _follow_ownership(self) -> None:
        """Make the lanes those of the last assignment."""
        owned = self._ownership.confirmed()
        for partition in sorted(self._lanes.keys() - owned):
            lane = self._lanes.pop(partition)
            self._release(lane)
            self._note("partition_released", partition=partition)
        for partition in sorted(owned - self._lanes.keys()):
            self._lanes[partition] = Lane(partition)
            self._note("partition_assigned", partition=partition)

    def _advance_starts(self) -> None:
        now = self._clock.steady_ns()
        for lane in self._lanes.values():
            if lane.phase is Phase.WAITING and now >= lane.not_before_ns:
                lane.phase = Phase.STARTING
                lane.start = self._starters.submit(self._open_store, lane.partition)
            elif lane.phase is Phase.STARTING and lane.start is not None and lane.start.done():
                self._finish_start(lane, lane.start)

    def _open_store(self, partition: int) -> KafkaStore:
        """Confirm the lease, fence the predecessor and restore; in a starter's thread."""
        if not self._ownership.accept(partition):
            raise Fenced("the coordinator does not accept this member as the owner")
        store = KafkaStore(
            Place(
                connection=self._settings.connection,
                cluster_id=self._cluster_id,
                prefix=self._settings.prefix,
                partition=partition,
                folder=self._settings.folder / str(partition),
            )
        )

        def show(read: int, ahead: int) -> None:
            self._note("rows_restoring", partition=partition, restored=read, lag=ahead)

        try:
            store.open(show)
        except BaseException:
            store.close()
            raise
        return store

    def _finish_start(self, lane: Lane, start: Future[KafkaStore]) -> None:
        """Prove the position against the log, then fold from there."""
        lane.start = None
        try:
            lane.store = start.result()
            lane.log = self._reader.open(lane.partition)
            reducer = self._build_reducer(lane.partition)
            _refuse_foreign(lane.store.head(), lane.log.identity, reducer.version)
            lane.ledger = Ledger(log=lane.log, store=lane.store, reducer=reducer, clock=self._clock)
            lane.ledger.start()
        except Exception as error:
            self._fail(lane, error)
            return
        lane.phase = Phase.FOLDING
        lane.committed_at_ns = self._clock.steady_ns()
        head = lane.ledger.head
        self._note(
            "ledger_started",
            partition=lane.partition,
            offset=head.next_offset,
            rows=head.row_count,
            attempt=head.take_overs,
        )

    def _fold_round(self) -> int:
        """Fold one batch of every folding ledger that has input; return the events folded."""
        folded = self._reader.pull(0.0)
        for lane in self._lanes.values():
            if lane.phase is Phase.FOLDING and lane.ledger is not None:
                try:
                    events = lane.ledger.fold_batch()
                except Exception as error:
                    self._fail(lane, error)
                    continue
                folded += events
                lane.events += events
                lane.batches += bool(events)
                lane.committed_at_ns = self._clock.steady_ns()
                lane.failures = 0
        return folded

    def _rest(self) -> None:
        """Wait for input, or for a lease when nothing is owned."""
        if any(lane.phase is Phase.FOLDING for lane in self._lanes.values()):
            self._reader.pull(IDLE_WAIT_S)
        else:
            self._ownership.wait(IDLE_WAIT_S)

    def _fail(self, lane: Lane, error: Exception) -> None:
        """Do with a ledger that failed what its failure asks for."""
        self._release(lane)
        lane.failures += 1
        lane.fencings += isinstance(error, Fenced)
        lane.reason = f"{type(error).__name__}: {error}"
        treatment = judge(error, failures=lane.failures)
        self._note(
            "ledger_failed", partition=lane.partition, attempt=lane.failures, reason=lane.reason
        )
        if treatment is Treatment.EXIT:
            self._exit_process(EXIT_RESTART, f"partition {lane.partition}: {lane.reason}")
        if treatment is Treatment.STOP:
            self._stop_lane(lane, lane.reason)
            return
        lane.phase = Phase.WAITING
        lane.not_before_ns = self._clock.steady_ns() + draw_pause_ns(lane.failures)

    def _stop_lane(self, lane: Lane, reason: str) -> None:
        self._release(lane)
        lane.phase, lane.reason = Phase.STOPPED, reason
        self._note("ledger_stopped", partition=lane.partition, reason=reason)

    def _release(self, lane: Lane) -> None:
        if lane.log is not None:
            self._reader.close_log(lane.partition)
        lane.release()

    def _watch(self) -> None:
        """Show progress to lag tools, notice a stall and a changed number of partitions."""
        now = self._clock.steady_ns()
        if now - self._shown_ns > PROGRESS_EVERY_S * 1e9:
            self._shown_ns = now
            self._reader.show_progress(
                {
                    lane.partition: lane.ledger.head.next_offset
                    for lane in self._lanes.values()
                    if lane.ledger is not None
                }
            )
        for lane in self._lanes.values():
            waiting = lane.log is not None and lane.log.buffered > 0
            if waiting and now - lane.committed_at_ns > STALL_S * 1e9:
                self._exit_process(
                    EXIT_RESTART, f"partition {lane.partition}: input waits, nothing is committed"
                )
        if now - self._counted_ns > COUNT_EVERY_S * 1e9:
            self._counted_ns = now
            self._check_count()

    def _check_count(self) -> None:
        topic = self._reader.topic
        _, count = describe_topic_id(self._settings.connection, topic)
        if count != self._partitions:
            self._close_all()
            self._exit_process(
                EXIT_CONFIGURATION,
                f"{topic} now has {count} partitions instead of {self._partitions}: keys moved to "
                "other partitions. Use `commitments repartition` into a new set of topics",
            )

    def _close_all(self) -> None:
        for partition in sorted(self._lanes):
            self._release(self._lanes.pop(partition))
        self._starters.shutdown(wait=False, cancel_futures=True)
        self._reader.close()


def _refuse_foreign(head: Head | None, identity: bytes, version: str) -> None:
    """Raise what stops a ledger whose topics were folded from another log or by another core."""
    if head is None:
        return
    if head.log_identity != identity:
        raise LogShortened(
            "the events topic was deleted and created again since it was folded: its outcomes "
            "rest on events that are gone. Restore it under another prefix"
        )
    if head.core_version != version:
        raise LedgerBroken(
            f"the rows were written by core {head.core_version}, this is {version}. Serve with "
            "that core, or run `commitments rebuild`"
        )
