"""The ledger of one partition: take, fold over an overlay, commit in one step, on any log.

It decides nothing about an event's content. Position, state and outputs move together or not at
all, so a process may die anywhere and the next one goes on at the head row.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Final

from schemas.ledger import BatchRecord, Head
from streams.batch_draft import Draft, adopt_decided, adopt_erased, close_draft
from streams.clock import Clock
from streams.crash_points import reach
from streams.failures import (
    CommitAbortedError,
    LedgerBrokenError,
    LogGapError,
    StreamsError,
    TooManyHaltsError,
)
from streams.ledger_bytes import digest_head, digest_record
from streams.overlay import Overlay
from streams.ports import Batch, GapReducer, InputLog, LogRecord, Reducer, Store
from streams.position import begin, resume

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
_NEVER_NS: Final = 1 << 63
_WORLD: Final = (StreamsError, OSError, MemoryError)
"""The world failed, not the core: rejecting an event would blame it wrongly."""


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
        self._last_record: BatchRecord | None = None
        self.waiting: Sequence[LogRecord] = ()
        self._events_max = EVENTS_PER_BATCH_MAX
        self._halts: deque[int] = deque()

    @property
    def head(self) -> Head:
        """Return where the ledger stands."""
        if self._head is None:
            raise LedgerBrokenError("the ledger is not started, or it failed: start() comes first")
        return self._head

    @property
    def last_record(self) -> BatchRecord:
        """Return the ledger record of the batch that this ledger committed last."""
        if self._last_record is None:
            raise LedgerBrokenError("this ledger has committed no batch yet")
        return self._last_record

    def start(self, vouched: bytes | None = None, held: bytes | None = None) -> None:
        """Restore the position and prove it: rows against head row, head row against log.

        The rows of the head whose digest is ``vouched`` are taken as proved; those of the head
        whose digest is ``held`` are what the reducer still has decoded.

        Raises:
            StoreDamagedError: the rows are damaged, foreign or of another core: wipe, fold again.
            LogShortenedError: the log ends before, or differs at, the last folded event.
            LogGapError: the log lost records that were never folded, and the reducer cannot go on.
        """
        self._head, self.waiting = None, ()
        stored = self._store.head()
        digest = None if stored is None else digest_head(stored)
        if digest is None or digest != held:
            self._reducer.reset()
        if digest is None or digest != vouched:
            self._store.verify(stored)
        reach("store_verified")
        if stored is None:
            head = begin(self._log, self._reducer)
        else:
            head = resume(stored, self._log, self._reducer)
        if head.next_offset < (start := self._log.bounds().start):
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
            self.waiting = ()
            self._reducer.reset()
            raise
        self._head = head
        return events

    def fold_recorded(self, expected: BatchRecord) -> None:
        """Fold the batch of a ledger record again, whose store was lost, and prove it the same.

        Raises:
            LedgerBrokenError: the log or the core no longer leads to what was recorded.
            StreamsError: as fold_batch().
        """
        head, self._head = self.head, None
        try:
            self._head = self._refold(replace(head, take_overs=expected.take_overs), expected)
        except BaseException:
            self._reducer.reset()
            raise

    def _pass_gap(self, head: Head, start: int) -> Head:
        """Write the gap to the ledger, then go on at the first offset left (spec 1.8)."""
        if not isinstance(self._reducer, GapReducer):
            raise LogGapError(
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
            batch = self._close(head, records, draft)
            reach("batch_folded")
            try:
                self._store.commit(batch)
            except CommitAbortedError:
                aborts += 1
                self._shrink(events, aborts)
                continue
            reach("commit_answered")
            self._last_record = batch.record
            self.waiting = self.waiting[events:]
            self._events_max = min(EVENTS_PER_BATCH_MAX, self._events_max * 2)
            return batch.head, events

    def _refold(self, head: Head, expected: BatchRecord) -> Head:
        records = self._log.read(head.next_offset, limit=len(expected.fates))
        found = None
        if len(records) == len(expected.fates) > 0:
            batch = self._close(head, records, self._fold_exactly(records))
            batch = adopt_decided(adopt_erased(batch, expected, self._reducer), expected)
            if batch.record == expected:
                self._store.commit(batch)
                return batch.head
            found = batch.record
        raise LedgerBrokenError(
            f"batch {expected.batch}, from event {expected.first_offset} on, folds otherwise than "
            f"recorded ({_tell_difference(expected, found)}): the log was edited, or this build "
            "decides differently. Restore the log or the build; to accept what is folded now, "
            "remove the recorded ledger"
        )

    def _fold_exactly(self, records: Sequence[LogRecord]) -> Draft:
        try:
            return self._fold_together(records, closes_at=_NEVER_NS)
        except _CoreRaisedError as raised:
            self._reducer.reset()
            if len(records) > 1:
                raise LedgerBrokenError("the core raises at an event it once folded") from raised
            return self._reject(records[0], raised.cause)

    def _close(self, head: Head, records: Sequence[LogRecord], draft: Draft) -> Batch:
        last = records[len(draft.fates) - 1]
        first, digest, following = head.next_offset, digest_record(last), last.offset + 1
        return close_draft(
            head, draft, first_offset=first, record_digest=digest, next_offset=following
        )

    def _take(self, head: Head) -> Sequence[LogRecord]:
        """Return what is at hand, at once: a wait would only delay the first event."""
        if not self.waiting:
            self.waiting = self._log.read(head.next_offset, limit=EVENTS_PER_BATCH_MAX)
        if self.waiting and self.waiting[0].offset < head.next_offset:
            raise LedgerBrokenError(
                f"event {head.next_offset} is next, but the log gave {self.waiting[0].offset}"
            )
        return self.waiting[: self._events_max]

    def _fold(self, records: Sequence[LogRecord]) -> Draft:
        """Fold until the batch is full; an event that raises is folded again alone, then halted."""
        while True:
            try:
                closes_at = self._clock.steady_ns() + FOLDING_NS_MAX
                return self._fold_together(records, closes_at=closes_at)
            except _CoreRaisedError as raised:
                self._reducer.reset()
                if len(records) == 1:
                    return self._halt(records[0], raised.cause)
                records = records[: raised.place or 1]

    def _fold_together(self, records: Sequence[LogRecord], *, closes_at: int) -> Draft:
        draft = Draft(Overlay(self._store))
        fold, overlay, steady_ns = self._reducer.fold, draft.overlay, self._clock.steady_ns
        for place, record in enumerate(records):
            try:
                folded = fold(overlay, record)
            except _WORLD:
                raise
            except Exception as error:
                raise _CoreRaisedError(place, error) from error
            draft.add(record.offset, folded)
            full = draft.output_bytes >= OUTPUT_BYTES_PER_BATCH_MAX
            slow = folded.outputs or place % 8 == 7  # Looking at the clock at each event costs.
            if full or (slow and steady_ns() >= closes_at):
                break
        events = len(draft.fates)
        try:
            draft.finish(records[events - 1].offset, self._reducer.finish())
        except _WORLD:
            raise
        except Exception as error:
            raise _CoreRaisedError(events // 2, error) from error  # Halved down to the culprit.
        return draft

    def _halt(self, record: LogRecord, error: Exception) -> Draft:
        now = self._clock.steady_ns()
        self._halts.append(now)
        while self._halts[0] <= now - _MINUTE_NS:
            self._halts.popleft()
        if len(self._halts) > HALTS_PER_MINUTE_MAX:
            raise TooManyHaltsError(
                f"the core raised at {len(self._halts)} events within a minute, last at offset "
                f"{record.offset} ({type(error).__name__}): repair it before folding goes on"
            ) from error
        return self._reject(record, error)

    def _reject(self, record: LogRecord, error: Exception) -> Draft:
        draft = Draft(Overlay(self._store))
        try:
            draft.add(record.offset, self._reducer.fault(draft.overlay, record, error))
            draft.finish(record.offset, self._reducer.finish())
        except _WORLD:
            raise
        except Exception as failure:
            raise LedgerBrokenError(
                f"the event at offset {record.offset} raised ({type(error).__name__}) and cannot "
                f"be rejected either ({type(failure).__name__}): repair the core"
            ) from failure
        return draft

    def _shrink(self, events: int, aborts: int) -> None:
        self._reducer.reset()
        if aborts >= ABORTS_IN_ROW_MAX:
            raise LedgerBrokenError(
                f"{aborts} commits in a row were aborted, the last of {events} events: see why the "
                "broker refuses the partition's transactions, then start again"
            )
        if aborts >= 2:
            self._events_max = max(1, events // 2)


def _tell_difference(expected: BatchRecord, found: BatchRecord | None) -> str:
    if found is None:
        return "the log has other events there"
    names = [
        f.name for f in fields(BatchRecord) if getattr(expected, f.name) != getattr(found, f.name)
    ]
    return ", ".join(name for name in names if name != "chain")
