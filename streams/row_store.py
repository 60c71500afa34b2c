"""The embedded store: rows, outputs, ledger records and position in one rocksdict database.

One synced write per batch, so all of it is there after a crash or none. The store is a cache of the
log: whatever does not check is StoreDamagedError, and streams/embedded.py wipes it and folds again.
"""

import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rocksdict import (
    BlockBasedOptions,
    BottommostLevelCompaction,
    Cache,
    CompactOptions,
    DBRecoveryMode,
    Options,
    Rdict,
    ReadOptions,
    WriteBatch,
    WriteOptions,
)

from schemas import topics
from schemas.codec import DecodeError
from schemas.ledger import BatchRecord, Head
from streams.crash_points import reach
from streams.failures import StoreDamagedError, StoreUnavailableError, StreamsError
from streams.ledger_bytes import decode_head, decode_record
from streams.output_bytes import decode_output, encode_output
from streams.ports import Batch, PlacedOutput
from streams.row_digest import sum_rows

ROW: Final = b"r"
OUTPUT: Final = b"o"
TABLE: Final = b"t"
LEDGER: Final = b"l"
HEAD: Final = b"h"

BLOCK_CACHE_BYTES: Final = 32 << 20
WRITE_BUFFER_BYTES: Final = 16 << 20
_PLACE: Final = struct.Struct(">QI")

COMPACTED: Final = frozenset(
    topic.name for topic in topics.OUTPUTS if topic.cleanup is topics.Cleanup.COMPACT
)
"""Topics of which only each key's last record counts: what lies between depends on batch ends."""

_OUTSIDE_CAUSES: Final = (
    "no space left",
    "disk quota",
    "file too large",
    "too many open files",
    "input/output error",
    "cannot allocate memory",
    "permission denied",
    "read-only file system",
    "lock file",
    "lock hold",
    "no locks available",
)
"""Words of failures that a wipe would not cure; anything else that rocksdict raises is damage."""


def classify(error: Exception, path: str) -> StreamsError:
    """Return what a failure of the database means for its owner."""
    if isinstance(error, StreamsError):
        return error
    words = str(error)
    if isinstance(error, PermissionError | MemoryError) or any(
        cause in words.lower() for cause in _OUTSIDE_CAUSES
    ):
        return StoreUnavailableError(
            f"row store {path}: {words}. Nothing was acknowledged; free the disk, memory or "
            "lock that this names, then start again"
        )
    return StoreDamagedError(f"row store {path}: {words}")


class RowStore:
    """One open database; the only writer, or one of any number of readers."""

    def __init__(self, database: Rdict, path: str) -> None:
        """Wrap an open database; use open_writer or row_reader.open_reader."""
        self._database = database
        self._path = path
        self._durable = WriteOptions()
        self._durable.sync = True

    def head(self) -> Head | None:
        """Return the head row, or None for a store that never committed."""
        content = self._get(HEAD)
        try:
            return None if content is None else decode_head(content)
        except DecodeError as error:
            raise StoreDamagedError(f"row store {self._path}: head row: {error}") from None

    def last_record(self) -> BatchRecord | None:
        """Return the ledger record of the last committed batch."""
        try:
            cursor = self._database.iter()
            cursor.seek_for_prev(LEDGER + b"\xff" * 9)
            found = cursor.valid() and cursor.key()[:1] == LEDGER
            content = cursor.value() if found else None
            cursor.status()
        except Exception as error:
            raise classify(error, self._path) from error
        return None if content is None else self._decode_record(content)

    def records(self, first_batch: int = 0) -> Iterator[BatchRecord]:
        """Yield the ledger records from a batch number on, in order."""
        for _, content in self._scan(LEDGER, LEDGER + first_batch.to_bytes(8, "big")):
            yield self._decode_record(content)

    def get(self, key: bytes) -> bytes | None:
        """Return a row's value, or None."""
        try:
            return self._database.get(ROW + key)  # type: ignore[no-any-return]
        except Exception as error:
            raise classify(error, self._path) from error

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows below prefix in ascending key order."""
        for key, value in self._scan(ROW + prefix, ROW + prefix):
            yield key[1:], value

    def outputs(
        self, topic: str, *, after: tuple[int, int] | None = None
    ) -> Iterator[PlacedOutput]:
        """Yield a topic's outputs in input order, behind the place (offset, place) if given.

        A compacted topic yields each key's last record in key order, and knows no `after`.
        """
        if topic in COMPACTED:
            prefix = TABLE + topic.encode() + b"\0"
            for _, content in self._scan(prefix, prefix):
                offset, place = _PLACE.unpack_from(content)
                yield PlacedOutput(offset, place, decode_output(topic, content[_PLACE.size :]))
            return
        prefix = OUTPUT + topic.encode() + b"\0"
        start = prefix if after is None else prefix + _PLACE.pack(*after) + b"\0"
        for key, content in self._scan(prefix, start):
            offset, place = _PLACE.unpack(key[len(prefix) :])
            yield PlacedOutput(offset, place, decode_output(topic, content))

    def verify(self, head: Head | None) -> None:
        """Raise StoreDamagedError unless the rows are those of the head, where the ledger ends."""
        stated = (0, bytes(32)) if head is None else (head.row_count, head.row_set_digest)
        found = sum_rows(self.scan(b""))
        if (found.count, found.digest) != stated:
            raise StoreDamagedError(
                f"row store {self._path}: {found.count} rows of digest {found.digest.hex()[:16]}, "
                f"but its head row states {stated[0]} of {stated[1].hex()[:16]}"
            )
        last = self.last_record()
        if (None if head is None else head.chain) != (None if last is None else last.chain):
            raise StoreDamagedError(f"row store {self._path}: head row and last record differ")

    def commit(self, batch: Batch) -> None:
        """Write the batch atomically and durably.

        Raises:
            StoreUnavailableError, StoreDamagedError: the result is unknown; open the store again.
        """
        try:
            write = WriteBatch(raw_mode=True)
            for key, value in batch.changes.items():
                if value is None:
                    write.delete(ROW + key)
                else:
                    write.put(ROW + key, value)
            for output in batch.outputs:
                _put_output(write, output)
            write.put(LEDGER + batch.record.batch.to_bytes(8, "big"), batch.record_bytes)
            write.put(HEAD, batch.head_bytes)
            reach("commit_prepared")
            self._database.write(write, self._durable)
        except Exception as error:
            raise classify(error, self._path) from error
        reach("commit_written")

    def compact(self) -> None:
        """Rewrite every file without what was deleted or replaced."""
        options = CompactOptions()
        options.set_bottommost_level_compaction(BottommostLevelCompaction.force())
        try:
            self._database.flush()
            self._database.compact_range(None, None, options)
        except Exception as error:
            raise classify(error, self._path) from error

    def catch_up(self) -> None:
        """Let a reader see what the writer has committed since."""
        try:
            self._database.try_catch_up_with_primary()
        except Exception as error:
            raise classify(error, self._path) from error

    def close(self) -> None:
        """Close the database; a failure while closing loses nothing that was committed."""
        try:
            self._database.close()
        except Exception as error:
            raise classify(error, self._path) from error

    def _get(self, key: bytes) -> bytes | None:
        try:
            value: bytes | None = self._database.get(key)
        except Exception as error:
            raise classify(error, self._path) from error
        return value

    def _scan(self, prefix: bytes, start: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys below prefix from start on; never end silently at a corrupt block."""
        try:
            cursor = self._database.iter(_check_everything())
            cursor.seek(start)
            while cursor.valid():
                key: bytes = cursor.key()
                if not key.startswith(prefix):
                    break
                yield key, cursor.value()
                cursor.next()
            cursor.status()
        except Exception as error:
            raise classify(error, self._path) from error

    def _decode_record(self, content: bytes) -> BatchRecord:
        try:
            return decode_record(content)
        except DecodeError as error:
            raise StoreDamagedError(f"row store {self._path}: ledger record: {error}") from None


def _put_output(write: WriteBatch, output: PlacedOutput) -> None:
    record = output.record
    place = _PLACE.pack(output.offset, output.place)
    if record.topic not in COMPACTED:
        write.put(OUTPUT + record.topic.encode() + b"\0" + place, encode_output(record))
        return
    key = TABLE + record.topic.encode() + b"\0" + record.key
    if record.value is None:
        write.delete(key)
    else:
        write.put(key, place + encode_output(record))


def open_writer(path: Path) -> RowStore:
    """Open or create the store for its only writer.

    Raises:
        StoreDamagedError: wipe the folder and fold again.
        StoreUnavailableError: the disk failed, is full, or another writer holds the store.
    """
    options = build_options()
    options.create_if_missing(True)
    try:
        return RowStore(Rdict(str(path), options), str(path))
    except Exception as error:
        raise classify(error, str(path)) from error


def build_options() -> Options:
    """Return the options of every row store: nothing unreadable is ever passed over."""
    options = Options(raw_mode=True)
    options.set_paranoid_checks(True)
    # A torn last write of a killed process is cut; a flipped byte before it must not be.
    options.set_wal_recovery_mode(DBRecoveryMode.tolerate_corrupted_tail_records())
    # All files are opened, and so noticed when missing, at the start.
    options.set_max_open_files(-1)
    options.set_write_buffer_size(WRITE_BUFFER_BYTES)
    # One thread writes. Measured: a seventh less for each row put.
    options.set_allow_concurrent_memtable_write(False)
    options.set_keep_log_file_num(2)
    # Most looks are for ids never seen. Measured: 0.3 instead of 3 us where only memory is asked.
    options.set_memtable_whole_key_filtering(True)
    options.set_memtable_prefix_bloom_ratio(0.02)
    blocks = BlockBasedOptions()
    blocks.set_block_cache(Cache(BLOCK_CACHE_BYTES))
    blocks.set_bloom_filter(10, False)
    options.set_block_based_table_factory(blocks)
    return options


def _check_everything() -> ReadOptions:
    options = ReadOptions()
    options.set_verify_checksums(True)
    return options


def wipe(path: Path) -> None:
    """Remove the store, whole or not at all as the next open sees it."""
    discarded = path.with_name(path.name + ".discarded")
    shutil.rmtree(discarded, ignore_errors=True)
    if path.exists():
        path.rename(discarded)
    reach("store_discarded")
    shutil.rmtree(discarded, ignore_errors=True)
