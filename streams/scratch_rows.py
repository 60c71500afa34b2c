"""Rows of a history folded again: on disk, because they may be many, and for one run only.

Nothing is synced and nothing survives; whoever folds for keeps uses streams/row_store.py.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from rocksdict import Rdict, WriteBatch, WriteOptions

from streams.row_digest import RowSet, sum_rows
from streams.row_store import build_options, classify


class ScratchRows:
    """A RowReader whose rows are replaced without ceremony."""

    def __init__(self, path: Path) -> None:
        """Create the rows in a folder of their own."""
        self._path = str(path)
        options = build_options()
        options.create_if_missing(True)
        self._fast = WriteOptions()
        self._fast.disable_wal = True
        try:
            self._database = Rdict(self._path, options)
        except Exception as error:
            raise classify(error, self._path) from error

    def get(self, key: bytes) -> bytes | None:
        """Return the row's value, or None."""
        try:
            value: bytes | None = self._database.get(key)
        except Exception as error:
            raise classify(error, self._path) from error
        return value

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows below prefix in ascending key order."""
        try:
            cursor = self._database.iter()
            cursor.seek(prefix)
            while cursor.valid():
                key: bytes = cursor.key()
                if not key.startswith(prefix):
                    break
                yield key, cursor.value()
                cursor.next()
            cursor.status()
        except Exception as error:
            raise classify(error, self._path) from error

    def apply(self, changes: Mapping[bytes, bytes | None]) -> None:
        """Replace rows; None deletes."""
        try:
            write = WriteBatch(raw_mode=True)
            for key, value in changes.items():
                if value is None:
                    write.delete(key)
                else:
                    write.put(key, value)
            self._database.write(write, self._fast)
        except Exception as error:
            raise classify(error, self._path) from error

    def sum(self) -> RowSet:
        """Return the digest of all rows, as a head row states it."""
        return sum_rows(self.scan(b""))

    def close(self) -> None:
        """Close the database; its folder is the caller's to remove."""
        self._database.close()
