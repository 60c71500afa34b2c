"""The ledger of one partition: take, fold over an overlay, commit in one step, on any log.

It decides nothing about an event's content. Position, state and outputs move together or not at
all, so a process may die anywhere and the next one goes on at the head row.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from schemas.ledger import Head
from streams.batch_draft import Draft, close_draft
from streams.clock import Clock
from streams.crash_points import reach
from streams.failures import (
    CommitAborted,
    LedgerBroken,
    LogGap,
    LogShortened,
    StoreDamaged,
    StreamsError,
    TooManyHalts,
)
from streams.ledger_bytes import GENESIS_CHAIN, digest_record
from streams.overlay import Overlay
from streams.ports import GapReducer, InputLog, LogRecord, Reducer, Store

STORE_FORMAT: Final = 1
EVENTS_PER_BATCH_MAX: Final = 2_000
"""Bounds what an abort folds again and the size of a ledger record."""
OUTPUT_BYTES_PER_BATCH_MAX: Final = 8 << 20
"""Bounds the memory of a batch and the time of its commit."""
FOLDING_NS_MAX: Final = 20_000_000
"""Bounds how long the first event of a batch waits for its outcome."""
HALTS_PER_MINUTE_MAX: Final = 10
"""More users than this halted within a minute is a fault of the core, not of an event."""
ABORTS_IN_ROW_MAX: Final = 20
"""A batch of one event that still cannot be committed after so many tries stops the ledger."""
_MINUTE_NS: Final = 60_000_000_000


class _CoreRaisedError(Exception):
    """The reducer raised at a place of the batch; carries the cause."""

    def __init__(self, place: int, cause: Exception) -> None:
        super().__init__(place, cause)
        self.place = place
        self.cause = cause


class Ledger:
    """Folds one log into one store through one reducer; used by one thread."""

    def __init__(self, *, log: InputLog, store: Store, reducer: Reducer, clock: Clock) -> None:
        """Bind the parts; start() must come before the first fold_batch()."""
        self._log = log
        self._store = store
        self._reducer = reducer
        self._clock = clock
        self._head: Head | None = None
        self._waiting: Sequence[LogRecord] = ()
        self._events_max = EVENTS_PER_BATCH_MAX
        self._halts: deque[int] = deque()

    @property
    def head(self) -> Head:
        """Return where the ledger stands."""
        if self._head is None:
            raise LedgerBroken("the ledger is not started, or it failed: start() comes first")
        return self._head

    def start(self) -> None:
        """Restore the position and prove it: rows against head row, head row against log.

        Raises:
            StoreDamaged: the rows are damaged, foreign or of another core: wipe, fold again.
            LogShortened: the log ends before, or differs at, the last folded event.
            LogGap: the log lost records that were never folded, and the reducer cannot go on.
        """
        self._head = None
        self._waiting = ()
        self._reducer.reset()
        stored = self._store.head()
        self._store.verify(stored)
        reach("store_verified")
        head = self._begin() if stored is None else self._resume(stored)
        start = self._log.bounds().start
        if head.next_offset < start:
            head = self._pass_gap(head, start)
        self._head = head
        reach("fold_started")

    def fold_batch(self) -> int:
        """Fold and commit the next batch; return its number of events, 0 at the end of the log.

        Raises:
            StreamsError: nothing of this batch is known to be committed; start() comes next.
        """
        head, self._head = self.head, None
        try:
            head, events = self._fold_and_commit(head)
        except BaseException:
            self._waiting = ()
            self._reducer.reset()
            raise
        self._head = head
        return events

    def _begin(self) -> Head:
        return Head(
            log_identity=self._log.identity,
            next_offset=0,
            record_digest=b"",
            batch=0,
            chain=GENESIS_CHAIN,
            row_count=0,
            row_set_digest=bytes(32),
            take_overs=0,
            core_version=self._reducer.version,
            store_format=STORE_FORMAT,
            outputs=(),
        )

    def _resume(self, head: Head) -> Head:
        if head.log_identity != self._log.identity:
            raise StoreDamaged("the rows belong to another log")
        if head.store_format > STORE_FORMAT:
            raise LedgerBroken(
                f"the rows have format {head.store_format}, written by a newer build; this one "
                f"reads up to {STORE_FORMAT}: use the newer build"
            )
        if (head.store_format, head.core_version) != (STORE_FORMAT, self._reducer.version):
            raise StoreDamaged(
                f"the rows were written by core {head.core_version}, format {head.store_format}; "
                f"this is core {self._reducer.version}, format {STORE_FORMAT}"
            )
        bounds = self._log.bounds()
        last = head.next_offset - 1
        if head.next_offset > bounds.end:
            raise LogShortened(
                f"events up to {last} are folded, but the log ends before {bounds.end}: it was cut "
                "or recreated. Restore the log; its outcomes rest on events that are gone"
            )
        if last >= bounds.start and head.record_digest:
            record = self._log.read(last, limit=1)[0]
            if digest_record(record) != head.record_digest:
                raise LogShortened(
                    f"the log holds another event at offset {last} than the one folded there: it "
                    "was replaced or edited. Restore the log that belongs to these rows"
                )
        return replace(head, take_overs=head.take_overs + 1)

    def _pass_gap(self, head: Head, start: int) -> Head:
        """Write the gap to the ledger, then go on at the first offset left (spec 1.8)."""
        if not isinstance(self._reducer, GapReducer):
            raise LogGap(
                f"events {head.next_offset} to {start - 1} are gone and were never folded; "
                "restore the log from an archive"
            )
        draft = Draft(Overlay(self._store))
        folded = self._reducer.gap(draft.overlay, missing_from=head.next_offset, next_offset=start)
        draft.add(start, folded)
        draft.finish(start, self._reducer.finish())
        batch = close_draft(head, draft, first_offset=start, record_digest=b"", next_offset=start)
        self._store.commit(batch)
        return batch.head

    def _fold_and_commit(self, head: Head) -> tuple[Head, int]:
        aborts = 0
        while True:
            records = self._take(head)
            if not records:
                return head, 0
            reach("batch_read")
            draft = self._fold(records)
            events = len(draft.fates)
            batch = close_draft(
                head,
                draft,
                first_offset=head.next_offset,
                record_digest=digest_record(records[events - 1]),
                next_offset=records[events - 1].offset + 1,
            )
            reach("batch_folded")
            try:
                self._store.commit(batch)
            except CommitAborted:
                aborts += 1
                self._shrink(events, aborts)
                continue
            reach("commit_answered")
            self._waiting = self._waiting[events:]
            self._events_max = min(EVENTS_PER_BATCH_MAX, self._events_max * 2)
            return batch.head, events

    def _take(self, head: Head) -> Sequence[LogRecord]:
        """Return what is at hand, at once: a wait would only delay the first event."""
        if not self._waiting:
            self._waiting = self._log.read(head.next_offset, limit=EVENTS_PER_BATCH_MAX)
        if self._waiting and self._waiting[0].offset < head.next_offset:
            raise LedgerBroken(
                f"event {head.next_offset} is next, but the log gave {self._waiting[0].offset}"
            )
        return self._waiting[: self._events_max]

    def _fold(self, records: Sequence[LogRecord]) -> Draft:
        """Fold until the batch is full; an event that raises is folded again alone, then halted."""
        while True:
            try:
                return self._fold_together(records)
            except _CoreRaisedError as raised:
                self._reducer.reset()
                if len(records) == 1:
                    return self._halt(records[0], raised.cause)
                records = records[: raised.place or 1]

    def _fold_together(self, records: Sequence[LogRecord]) -> Draft:
        draft = Draft(Overlay(self._store))
        fold, overlay, steady_ns = self._reducer.fold, draft.overlay, self._clock.steady_ns
        closes_at = steady_ns() + FOLDING_NS_MAX
        for place, record in enumerate(records):
            try:
                folded = fold(overlay, record)
            except (StreamsError, OSError, MemoryError):
                raise  # The world failed, not the core: rejecting the event would blame it wrongly.
            except Exception as error:
                raise _CoreRaisedError(place, error) from error
            draft.add(record.offset, folded)
            if draft.output_bytes >= OUTPUT_BYTES_PER_BATCH_MAX or steady_ns() >= closes_at:
                break
        events = len(draft.fates)
        try:
            draft.finish(records[events - 1].offset, self._reducer.finish())
        except Exception as error:
            raise _CoreRaisedError(events // 2, error) from error  # Halved down to the culprit.
        return draft

    def _halt(self, record: LogRecord, error: Exception) -> Draft:
        now = self._clock.steady_ns()
        self._halts.append(now)
        while self._halts[0] <= now - _MINUTE_NS:
            self._halts.popleft()
        if len(self._halts) > HALTS_PER_MINUTE_MAX:
            raise TooManyHalts(
                f"the core raised at {len(self._halts)} events within a minute, last at offset "
                f"{record.offset} ({type(error).__name__}): repair it before folding goes on"
            ) from error
        draft = Draft(Overlay(self._store))
        try:
            draft.add(record.offset, self._reducer.fault(draft.overlay, record, error))
            draft.finish(record.offset, self._reducer.finish())
        except Exception as failure:
            raise LedgerBroken(
                f"the event at offset {record.offset} raised ({type(error).__name__}) and cannot be "
                f"rejected either ({type(failure).__name__}): repair the core"
            ) from failure
        return draft

    def _shrink(self, events: int, aborts: int) -> None:
        self._reducer.reset()
        if aborts >= ABORTS_IN_ROW_MAX:
            raise LedgerBroken(
                f"{aborts} commits in a row were aborted, the last of {events} events"
            )
        if aborts >= 2:
            self._events_max = max(1, events // 2)
