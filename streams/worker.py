"""The supervisor of one worker process: a ledger for each partition that it owns.

One thread reads and supervises; a few fold and commit, each one ledger at a time. Which partitions
are owned, streams/ownership.py says.

No failure is passed over: a ledger starts again, stays stopped with its reason, or the process
exits.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from typing import Final

from streams.clock import Clock
from streams.collection import collecting_rarely
from streams.expiry import Expirer
from streams.failures import FencedError, StoreUnavailableError, StreamsError
from streams.kafka_log import EventReader, describe_topic_id
from streams.kafka_store import KafkaStore
from streams.lane import Lane, Phase, Treatment, describe, draw_pause_ns, judge
from streams.ownership import EXIT_CONFIGURATION, EXIT_RESTART, Ownership
from streams.ports import Reducer
from streams.starting import Note, WorkerSettings, open_store, start_ledger
from streams.transactions import ask_cluster_id

IDLE_WAIT_S: Final = 0.05
BUSY_WAIT_S: Final = 0.002
STALL_S: Final = 30.0
"""Input waiting and no commit for so long: another worker may fare better."""
PROGRESS_EVERY_S: Final = 5.0
COUNT_EVERY_S: Final = 30.0
STARTERS: Final = 4
CONNECTS_MAX: Final = 5
CONNECT_PAUSE_S: Final = 1.0
FOLDERS: Final = 4
"""Ledgers that fold at once: while one waits for its commit, another uses the processor."""
BATCHES_PER_TURN: Final = 16
"""Batches of one ledger before others waiting for a folder have their turn."""


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
        expirer: Expirer | None = None,
        open_pool: Callable[[int, str], Executor] = ThreadPoolExecutor,
    ) -> None:
        """Bind the parts; nothing is connected before run().

        `open_pool` gives the threads of starts and folds, by number and name; a simulation gives
        a pool that does each task at once.
        """
        self._settings = settings
        self._ownership = ownership
        self._build_reducer = build_reducer
        self._exit_process = exit_process
        self._clock = clock
        self._note = note
        self._expirer = expirer
        self._lanes: dict[int, Lane] = {}
        self._stopping = threading.Event()
        self._starters = open_pool(STARTERS, "ledger-start")
        self._folders = open_pool(FOLDERS, "ledger-fold")
        self._shown_ns = self._counted_ns = 0
        self.went_round_at = clock.steady_ns() / 1e9
        self._partitions = self._partitions_now = 0
        self._reader: EventReader
        self._cluster_id = ""

    def run(self) -> None:
        """Own, fold and commit until stop(); a failure of the whole worker exits the process."""
        try:
            self._connect()
            with collecting_rarely():
                while not self._stopping.is_set():
                    self.went_round_at = self._clock.steady_ns() / 1e9
                    self._follow_ownership()
                    self._advance_starts()
                    self._fold_round()
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
        topic = f"{settings.prefix}events"
        for attempt in range(1, CONNECTS_MAX + 1):
            try:
                self._cluster_id = ask_cluster_id(settings.connection)
                topic_id, self._partitions = describe_topic_id(settings.connection, topic)
                break
            except StoreUnavailableError:
                # Topics just created, or a broker just started, are not yet known everywhere.
                if attempt == CONNECTS_MAX or self._stopping.wait(CONNECT_PAUSE_S):
                    raise
        else:
            raise AssertionError("the loop ends by break or by its last exception")
        self._partitions_now = self._partitions
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
        return open_store(
            self._settings,
            self._cluster_id,
            partition,
            ownership=self._ownership,
            note=self._note,
        )

    def _finish_start(self, lane: Lane, start: Future[KafkaStore]) -> None:
        """Prove the position against the log, then fold from there."""
        lane.start = None
        try:
            lane.store = start.result()
            lane.log = self._reader.open(lane.partition)
            lane.ledger = start_ledger(
                lane.store, lane.log, self._build_reducer(lane.partition), self._clock
            )
            head = lane.ledger.head
        except Exception as error:
            self._fail(lane, error)
            return
        lane.phase = Phase.FOLDING
        lane.next_offset, lane.committed_at_ns = head.next_offset, self._clock.steady_ns()
        self._note(
            "ledger_started",
            partition=lane.partition,
            offset=head.next_offset,
            rows=head.row_count,
            attempt=head.take_overs,
        )

    def _fold_round(self) -> None:
        """Take what has arrived, settle what was folded, and fold every ledger that has input."""
        lanes = [lane for lane in self._lanes.values() if lane.phase is Phase.FOLDING]
        if not lanes:
            self._ownership.wait(IDLE_WAIT_S)
            return
        busy = any(lane.folding is not None or lane.has_input for lane in lanes)
        self._reader.pull(BUSY_WAIT_S if busy else IDLE_WAIT_S)
        for lane in lanes:
            if lane.folding is not None and lane.folding.done():
                self._settle(lane, lane.folding)
            if lane.folding is None and lane.has_input:
                if lane.begin_batch(self._clock.steady_ns()):
                    lane.folding = self._folders.submit(self._fold, lane)
            elif lane.folding is None and self._expirer is not None and lane.store is not None:
                # Folded to the end of its log: what is still pending now may be due.
                self._expirer.expire(lane.partition, lane.store)

    def _fold(self, lane: Lane) -> bool:
        """Fold batch after batch, in a folder's thread; return whether input may be left."""
        assert lane.ledger is not None
        for _ in range(BATCHES_PER_TURN):
            events = lane.ledger.fold_batch()
            if not events:
                return False
            lane.events += events
            lane.batches += 1
            lane.next_offset = lane.ledger.head.next_offset
            lane.committed_at_ns = self._clock.steady_ns()
            if self._stopping.is_set():
                break
            if lane.has_few and not lane.ledger.waiting:
                return False
        return True

    def _settle(self, lane: Lane, folding: Future[bool]) -> None:
        lane.folding = None
        try:
            lane.more = folding.result()
        except Exception as error:
            self._fail(lane, error)
            return
        lane.failures = 0
        lane.committed_at_ns = self._clock.steady_ns()

    def _fail(self, lane: Lane, error: Exception) -> None:
        """Do with a ledger that failed what its failure asks for."""
        self._release(lane)
        lane.failures += 1
        lane.fencings += isinstance(error, FencedError)
        lane.reason = describe(error)
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
        if lane.folding is not None:
            # Its commit ends within the client's time-out; until then the rows are in use.
            wait([lane.folding])
            lane.folding = None
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
                    lane.partition: lane.next_offset
                    for lane in self._lanes.values()
                    if lane.phase is Phase.FOLDING
                }
            )
        for lane in self._lanes.values():
            if not lane.has_input:
                lane.committed_at_ns = now  # A quiet partition owes nothing: count from its input.
            elif now - lane.committed_at_ns > STALL_S * 1e9:
                self._exit_process(
                    EXIT_RESTART, f"partition {lane.partition}: input waits, nothing is committed"
                )
        if now - self._counted_ns > COUNT_EVERY_S * 1e9:
            self._counted_ns = now
            self._starters.submit(self._count_partitions)
        self._check_count()

    def _count_partitions(self) -> None:
        """Ask the broker, in a starter's thread; a failure says nothing and is asked again."""
        _, self._partitions_now = describe_topic_id(self._settings.connection, self._reader.topic)

    def _check_count(self) -> None:
        topic, count = self._reader.topic, self._partitions_now
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
        self._folders.shutdown(wait=False, cancel_futures=True)
        self._reader.close()
