"""The local copy of a partition's rows, and its restoration from the compacted `rows` topic.

The copy is a cache: it is kept only when it is, byte for byte, what the topic's head row states,
and wiped in every other case. It is written after a commit was answered, without a log of its own.
"""

import shutil
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from rocksdict import Rdict, WriteBatch, WriteOptions

from schemas.codec import DecodeError
from schemas.ledger import Head
from schemas.topics import ROWS
from streams.committed import CommittedPartition
from streams.failures import FencedError, LedgerBrokenError, StoreDamagedError
from streams.ledger_bytes import decode_head
from streams.row_digest import sum_rows
from streams.row_store import HEAD, ROW, RowStore, build_options, classify, wipe

POSITION: Final = b"p"
"""Where the copy stands in the `rows` topic, and since when: offset and wall time."""
IDENTITY_HEADER: Final = "transactional.id"
WRITE_EVERY: Final = 4_000
CACHE_AGE_MAX_MS: Final = (ROWS.delete_retention_ms or 0) // 2
"""An older copy may have missed tombstones that compaction removed: it is wiped unread."""

_POSITION: Final = struct.Struct(">QQ")

Progress = Callable[[int, int], None]
"""Called while rows are restored: records read so far, offsets still to read."""


class RowCache(RowStore):
    """Rows and head row of one partition in a rocksdict without write-ahead log."""

    def __init__(self, database: Rdict, path: str) -> None:
        """Wrap an open database; use open_cache."""
        super().__init__(database, path)
        self._unsynced = WriteOptions()
        # Lost memory is read again from the topic; a second log would double every write.
        self._unsynced.disable_wal = True

    def position(self) -> tuple[int, int] | None:
        """Return (offset in `rows` read up to, wall time of that in ms), or None."""
        content = self._get(POSITION)
        if content is None or len(content) != _POSITION.size:
            return None
        offset, stamp_ms = _POSITION.unpack(content)
        return offset, stamp_ms

    def write(
        self, changes: Iterable[tuple[bytes, bytes | None]], *, position: int, stamp_ms: int
    ) -> None:
        """Write keyed records of the topic and the position behind them, in one step."""
        try:
            batch = WriteBatch(raw_mode=True)
            for key, value in changes:
                if value is None:
                    batch.delete(key)
                else:
                    batch.put(key, value)
            batch.put(POSITION, _POSITION.pack(position, stamp_ms))
            self._database.write(batch, self._unsynced)
        except Exception as error:
            raise classify(error, self._path) from error

    def equals(self, head: Head) -> bool:
        """Return whether the copy holds this head and exactly the rows that it states."""
        if self.head() != head:
            return False
        found = sum_rows(self.scan(b""))
        return (found.count, found.digest) == (head.row_count, head.row_set_digest)


class TopicHead(NamedTuple):
    """The last committed head row of the topic."""

    head: Head
    transactional_id: str


OpenCopy = Callable[[Path], RowCache]
"""Opens or creates the copy in a folder; a test gives one that forgets as a killed process does."""


def open_cache(path: Path) -> RowCache:
    """Open or create the copy for its only writer; it raises what ``row_store`` raises."""
    path.mkdir(parents=True, exist_ok=True)
    options = build_options()
    options.create_if_missing(True)
    try:
        return RowCache(Rdict(str(path), options), str(path))
    except Exception as error:
        raise classify(error, str(path)) from error


def restore(
    folder: Path,
    rows: CommittedPartition,
    found: TopicHead | None,
    progress: Progress,
    open_copy: OpenCopy = open_cache,
) -> RowCache:
    """Return a copy that is what the head states: the local one caught up, or one read anew."""
    if found is None:
        wipe(folder)
        return open_copy(folder)
    kept = _keep(folder, rows, found.head, progress, open_copy)
    if kept is not None:
        return kept
    wipe(folder)
    cache = open_copy(folder)
    with _closed_on_failure(cache):
        catch_up(rows, cache, rows.bounds().start, progress=progress)
        whole = cache.equals(found.head)
    if not whole:
        cache.close()
        refuse_overtaken(rows, found)
        raise LedgerBrokenError(
            f"{rows.topic}, partition {rows.partition}: its rows are not those that its head row "
            "states. Run `commitments rebuild`"
        )
    return cache


def _keep(
    folder: Path, rows: CommittedPartition, head: Head, progress: Progress, open_copy: OpenCopy
) -> RowCache | None:
    """Return the local copy caught up with the topic, or None when it cannot be trusted."""
    if not folder.exists():
        return None
    try:
        cache = open_copy(folder)
    except StoreDamagedError:
        return None
    try:
        with _closed_on_failure(cache):
            if _follows(rows, cache, progress) and cache.equals(head):
                return cache
            cache.close()
    except StoreDamagedError:
        pass  # It is wiped like one that differs, and read anew.
    shutil.rmtree(folder, ignore_errors=True)
    return None


def _follows(rows: CommittedPartition, cache: RowCache, progress: Progress) -> bool:
    """Catch a copy up with the topic, if it stands in what the topic still holds whole."""
    position = cache.position()
    bounds = rows.bounds()
    if position is None or not bounds.start <= position[0] <= bounds.end:
        return False
    if not 0 <= rows.clock.now_ms() - position[1] <= CACHE_AGE_MAX_MS:
        return False
    catch_up(rows, cache, position[0], progress=progress)
    return True


@contextmanager
def _closed_on_failure(cache: RowCache) -> Iterator[None]:
    """Close a copy whose restoring fails: its lock would stand in the way of the next start."""
    try:
        yield
    except Exception:
        cache.close()
        raise


def read_head(topic: CommittedPartition) -> TopicHead | None:
    """Return the last committed head row, or None if there is none."""
    message = topic.read_last(lambda found: found.key() == HEAD and found.value() is not None)
    return None if message is None else _decode(message)


def refuse_overtaken(rows: CommittedPartition, found: TopicHead | None) -> None:
    """Raise FencedError when the head row is no longer the one that was found.

    A start that was frozen meanwhile would else take the rows of its own successor for damaged.
    """
    if read_head(rows) != found:
        raise FencedError(f"{rows.topic}: another worker has committed while its rows were read")


def catch_up(topic: CommittedPartition, cache: RowCache, first: int, *, progress: Progress) -> None:
    """Write every record of the topic from an offset on into the copy, in the topic's order."""
    end = topic.bounds().end  # The predecessor is fenced: nobody moves it.
    waiting: list[tuple[bytes, bytes | None]] = []
    position, read = first, 0
    for message in topic.read(first):
        waiting.append((message.key(), message.value()))
        position, read = message.offset() + 1, read + 1
        if len(waiting) == WRITE_EVERY:
            cache.write(waiting, position=position, stamp_ms=topic.clock.now_ms())
            waiting.clear()
            progress(read, max(0, end - position))
    cache.write(waiting, position=max(position, end), stamp_ms=topic.clock.now_ms())
    progress(read, 0)


def _decode(message: Any) -> TopicHead:
    headers = dict(message.headers() or ())
    try:
        head = decode_head(message.value())
    except DecodeError as error:
        raise LedgerBrokenError(f"the head row at offset {message.offset()}: {error}") from None
    return TopicHead(head, (headers.get(IDENTITY_HEADER) or b"").decode())


def row_records(
    changes: Iterable[tuple[bytes, bytes | None]],
) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield rows with the key that they have in the topic and in the copy."""
    for key, value in changes:
        yield ROW + key, value
