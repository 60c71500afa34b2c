"""The embedded mode: the ledger over a folder, for any number of processes and without a service.

Any process appends and reads; one at a time folds. A row store that does not check is wiped and
folded again from the log, which is the truth.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Self

from schemas.ledger import Head
from streams.clean_close import Proof, leave_mark, peek_mark, take_mark
from streams.clock import Clock, SystemClock
from streams.collection import collecting_rarely
from streams.crash_points import reach
from streams.failures import (
    FoldingElsewhereError,
    StoreDamagedError,
    StoreUnavailableError,
    StreamsError,
)
from streams.files import DiskFiles, Files, write_file
from streams.folder import Folder, holding_fold_lock, prepare
from streams.history_check import check_history
from streams.ledger import Ledger
from streams.ledger_bytes import digest_head
from streams.ledger_copy import LedgerCopy
from streams.local_log import SEGMENT_BYTES, LocalLog
from streams.opening import Opener, PlainOpener
from streams.ports import NewRecord, PlacedOutput, Reducer
from streams.row_reader import open_settled
from streams.row_store import RowStore, open_writer, wipe

Progress = Callable[[int, int], None]
"""Called after each batch with the events folded so far and those known to be waiting."""

REBUILDS_MAX: Final = 2
"""A store that is damaged again right after being rebuilt stands on a failing disk."""
POLL_MS: Final = 10
POLL_MS_MAX: Final = 80


@dataclass(frozen=True, slots=True)
class FoldCounts:
    """What one call folded."""

    events: int
    batches: int
    rebuilds: int


class Embedded:
    """One folder, opened by one process."""

    def __init__(
        self,
        path: Path,
        reducer: Reducer,
        *,
        files: Files | None = None,
        clock: Clock | None = None,
        segment_bytes: int = SEGMENT_BYTES,
        opener: Opener | None = None,
    ) -> None:
        """Open the folder, or make it a log; ``opener`` reads the outputs of an encrypted one.

        Raises:
            FolderRefusedError, LogDamagedError: see the message for the remedy.
        """
        self._folder = Folder(path)
        self._reducer = reducer
        self._opener = PlainOpener() if opener is None else opener
        self._files = DiskFiles() if files is None else files
        self._clock = SystemClock() if clock is None else clock
        self._held: bytes | None = None
        self.manifest = prepare(self._folder, self._files)
        self.log = LocalLog(
            self._folder.log,
            identity=self.manifest.log_identity,
            files=self._files,
            clock=self._clock,
            segment_bytes=segment_bytes,
        )
        reach("log_created")

    def __enter__(self) -> Self:
        """Return itself; leaving the block closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the folder."""
        self.close()

    @property
    def path(self) -> Path:
        """Return the folder."""
        return self._folder.path

    @property
    def opener(self) -> Opener:
        """Return what reads and names here: of a plain log, or of an encrypted one."""
        return self._opener

    def append(self, records: Sequence[NewRecord]) -> range:
        """Append records in order and return their offsets; they are durable on return."""
        return self.log.append(records)

    def fold_pending(
        self, progress: Progress | None = None, proof: Proof = Proof.OF_UNCLEAN_ROWS
    ) -> FoldCounts:
        """Fold and commit everything up to the end of the log; first the rows are proved.

        Raises:
            FoldingElsewhereError: another process folds; wait_for() its outcome instead.
            StoreUnavailableError, LogDamagedError, LogShortenedError, LogGapError: folding stopped
                before the next acknowledgement; the message names the remedy.
        """
        with holding_fold_lock(self._folder, self._files), collecting_rarely():
            rebuilds = 0
            while True:
                try:
                    events, batches = self._fold_all(progress, proof)
                except StoreDamagedError as damage:
                    if rebuilds == REBUILDS_MAX:
                        raise StoreUnavailableError(
                            f"the row store was rebuilt {rebuilds} times and does not check again: "
                            f"{damage}. Move the folder to another disk"
                        ) from damage
                    wipe(self._folder.rows)
                    rebuilds += 1
                else:
                    return FoldCounts(events, batches, rebuilds)

    def wait_for(self, offset: int, *, timeout_ms: int) -> Head:
        """Return the head once the event at offset is folded, by this process or by another.

        Raises:
            StreamsError: it was not folded in time.
        """
        gives_up_at = self._clock.steady_ns() + timeout_ms * 1_000_000
        pause_ms = POLL_MS
        while True:
            with suppress(FoldingElsewhereError):
                self.fold_pending()
            head = self.head()
            if head is not None and head.next_offset > offset:
                return head
            if self._clock.steady_ns() >= gives_up_at:
                raise StreamsError(
                    f"event {offset} was not folded within {timeout_ms} ms; the process that folds "
                    f"{self._folder.path} may be stopped"
                )
            self._clock.wait(pause_ms)
            pause_ms = min(2 * pause_ms, POLL_MS_MAX)

    def head(self) -> Head | None:
        """Return where the ledger stands, or None before its first batch."""
        with self.reading() as store:
            return None if store is None else store.head()

    def outputs(
        self, topic: str, *, after: tuple[int, int] | None = None
    ) -> Iterator[PlacedOutput]:
        """Yield a topic's committed outputs in input order, behind (offset, place) if given.

        What was sealed is opened; outputs whose key was erased are passed over.
        Damage found on the way is repaired by folding again; what was yielded stays right, because
        the same log gives the same bytes.
        """
        yielded = 0
        for repairs_left in reversed(range(REBUILDS_MAX + 1)):
            try:
                with self.reading() as store:
                    found = store.outputs(topic, after=after) if store else iter(())
                    for output in islice(found, yielded, None):
                        opened = self._open_output(output)
                        if opened is not None:
                            yield opened
                        yielded += 1
            except StoreDamagedError:
                if repairs_left == 0:
                    raise
                self.repair()
            else:
                return

    def _open_output(self, output: PlacedOutput) -> PlacedOutput | None:
        value = output.record.value
        if value is None:
            return output
        opened = self._opener.unseal(value)
        if opened is None or opened is value:
            return None if opened is None else output
        return output._replace(record=output.record._replace(value=opened))

    def compact(self) -> None:
        """Remove what was deleted from the files of the row store, and its old logs.

        Raises:
            FoldingElsewhereError: another process folds; stop it first.
        """
        with holding_fold_lock(self._folder, self._files):
            for _ in range(2):  # The second opening discards the files that the first replaced.
                with closing(open_writer(self._folder.rows)) as store:
                    store.compact()

    def repair(self) -> FoldCounts:
        """Check every row, output and ledger record; wipe and fold again if anything is wrong.

        Raises:
            FoldingElsewhereError: the process that folds will check at its next start.
        """
        write_file(self._files, self._folder.suspect, b"")
        return self.fold_pending(proof=Proof.OF_ALL_ROWS)

    @contextmanager
    def reading(self) -> Iterator[RowStore | None]:
        """Open what is committed for reading beside the writer; None if nothing is yet."""
        scratch = Path(tempfile.mkdtemp(prefix="commitments-reader-"))
        try:
            store = self._open_vouched(scratch)
            try:
                yield store
            finally:
                if store is not None:
                    store.close()
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def close(self) -> None:
        """Release the log's files."""
        self.log.close()

    def _fold_all(self, progress: Progress | None, proof: Proof) -> tuple[int, int]:
        vouched, held, self._held = take_mark(self._folder), self._held, None
        store = open_writer(self._folder.rows)
        try:
            reach("store_opened")
            if self._files.exists(self._folder.suspect):
                check_history(store)
                self._files.remove(self._folder.suspect)
                vouched = None
            if proof is Proof.OF_ALL_ROWS:
                vouched = None
            ledger = Ledger(log=self.log, store=store, reducer=self._reducer, clock=self._clock)
            ledger.start(vouched, held)
            counts = self._fold_into(ledger, store, progress)
            stored = store.head()
        finally:
            store.close()
        if stored is not None:
            leave_mark(self._folder, stored)
            self._held = digest_head(stored)
        return counts

    def _fold_into(
        self, ledger: Ledger, store: RowStore, progress: Progress | None
    ) -> tuple[int, int]:
        begun = ledger.head
        copy = LedgerCopy(self._folder.ledgers, identity=self.log.identity, clock=self._clock)
        try:
            copy.compare(store, batches=begun.batch)
            while expected := copy.find(ledger.head):
                ledger.fold_recorded(expected)
                self._report(progress, begun, ledger.head)
            if ledger.head.batch > begun.batch:
                ledger.start()
            copy.keep(store, batches=ledger.head.batch)
            while ledger.fold_batch():
                copy.add(ledger.last_record)
                self._report(progress, begun, ledger.head)
        finally:
            copy.close()
        reach("fold_ended")
        return ledger.head.next_offset - begun.next_offset, ledger.head.batch - begun.batch

    def _report(self, progress: Progress | None, begun: Head, head: Head) -> None:
        if progress is not None:
            done = head.next_offset - begun.next_offset
            progress(done, self.log.bounds().end - head.next_offset)

    def _open_vouched(self, scratch: Path) -> RowStore | None:
        """Open for reading; a reader passes over files that are gone, and would show less."""
        vouched = peek_mark(self._folder)
        store = open_settled(self._folder.rows, scratch / "first", self._clock)
        if vouched is None or peek_mark(self._folder) != vouched:
            return store  # Somebody folds, or did not close: the next fold proves the rows.
        head = None if store is None else store.head()
        if head is not None and digest_head(head) == vouched:
            return store
        if store is not None:
            store.close()
        self.repair()
        return open_settled(self._folder.rows, scratch / "again", self._clock)
