"""A copy of the ledger records beside the row store: a rebuilt store gets the same batches.

Without it a store that is folded again would cut other batches, and its chain would no longer be
the one that was noted outside. It is written after each commit and not synced: a part suffices.
"""

import shutil
from pathlib import Path

from schemas.codec import DecodeError
from schemas.ledger import BatchRecord, Head
from streams.clock import Clock
from streams.failures import StreamsError
from streams.files import UnsyncedFiles
from streams.ledger_bytes import decode_record, encode_record
from streams.local_log import LocalLog
from streams.ports import NewRecord
from streams.row_store import RowStore


class LedgerCopy:
    """The ledger records of one folder, each at the offset that is its batch number."""

    def __init__(self, folder: Path, *, identity: bytes, clock: Clock) -> None:
        """Open the copy; one that does not check is begun anew."""
        self._folder = folder
        self._identity = identity
        self._clock = clock
        self._files = UnsyncedFiles()
        try:
            self._log = self._open()
        except StreamsError:
            shutil.rmtree(folder)
            self._log = self._open()

    def find(self, head: Head) -> BatchRecord | None:
        """Return the record of the batch that follows a head, if that core can fold it again.

        Behind a gap it cannot: what was missing then may be there now (spec 1.8).
        """
        record = self._read(head.batch)
        if record is None or record.core_version != head.core_version:
            return None
        return record if head.next_offset == record.gap_from == record.first_offset else None

    def compare(self, store: RowStore, *, batches: int) -> None:
        """Begin the copy anew unless it tells the same of a store's batches; the store is right."""
        both = min(batches, self._log.bounds().end)
        if both > 0 and next(store.records(both - 1), None) != self._read(both - 1):
            self._begin_anew()

    def keep(self, store: RowStore, *, batches: int) -> None:
        """Make the copy hold exactly so many batches of the store."""
        if self._log.bounds().end > batches:
            self._begin_anew()
        for record in store.records(self._log.bounds().end):
            self.add(record)

    def add(self, record: BatchRecord) -> None:
        """Add the record of the batch that was committed just now; keep() came before."""
        assert record.batch == self._log.bounds().end, "the copy and the store were reconciled"
        self._log.append([NewRecord(None, encode_record(record))])

    def close(self) -> None:
        """Release the files."""
        self._log.close()

    def _read(self, batch: int) -> BatchRecord | None:
        try:
            found = self._log.read(batch, limit=1)
            return decode_record(found[0].value or b"") if found else None
        except (StreamsError, DecodeError):
            return None

    def _open(self) -> LocalLog:
        self._files.make_folder(self._folder)
        return LocalLog(self._folder, identity=self._identity, files=self._files, clock=self._clock)

    def _begin_anew(self) -> None:
        self._log.close()
        shutil.rmtree(self._folder)
        self._log = self._open()
