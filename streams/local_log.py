"""The embedded input log: append-only segments that any process appends to under a file lock.

Durable on return, one sync for each call. Reading stops at the published end, so nobody folds what
a power loss could still take back. The bytes are streams/segments.py, reading
streams/log_reader.py.
"""

import errno
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from streams.clock import Clock
from streams.crash_points import reach
from streams.failures import LogDamagedError, StreamsError
from streams.files import Files, holding, write_file
from streams.log_reader import PUBLISHED_NAME, LogReader, list_segments, read_published
from streams.log_recovery import recover_end
from streams.ports import LogBounds, LogRecord, NewRecord
from streams.segments import (
    HEADER_BYTES,
    IDENTITY_BYTES,
    Published,
    encode_frames,
    encode_published,
    encode_segment_header,
    name_segment,
)

SEGMENT_BYTES: Final = 64 << 20
"""A segment is closed at this size; a call never crosses into the next one."""
LOCK_NAME: Final = "append.lock"


class LocalLog:
    """One log in one folder, for reading and appending."""

    def __init__(
        self,
        folder: Path,
        *,
        identity: bytes,
        files: Files,
        clock: Clock,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> None:
        """Open the log of that identity, or create it in an empty folder.

        Raises:
            LogDamagedError: acknowledged bytes no longer check.
        """
        if len(identity) != IDENTITY_BYTES:
            raise ValueError(f"a log's identity has {IDENTITY_BYTES} bytes, not {len(identity)}")
        self._folder = folder
        self._identity = identity
        self._files = files
        self._clock = clock
        self._segment_bytes = segment_bytes
        self._thread_lock = threading.Lock()
        self._handle: int | None = None
        self._handle_segment = -1
        self._failed: str | None = None
        try:
            with holding(files, folder / LOCK_NAME):
                self._recover()
        except OSError as error:
            if error.errno not in {errno.EROFS, errno.EACCES}:
                raise
            # This process cannot append here; reading needs no lock and mends nothing.
        self._reader = LogReader(folder, identity=identity, files=files)

    @property
    def identity(self) -> bytes:
        """Return the bytes drawn when the log was created."""
        return self._identity

    def bounds(self) -> LogBounds:
        """Return the offsets that are durable now, also those that other processes appended."""
        return self._reader.bounds()

    def read(self, first: int, *, limit: int) -> Sequence[LogRecord]:
        """Return up to limit durable records from first on; see InputLog."""
        return self._reader.read(first, limit=limit)

    def append(self, records: Sequence[NewRecord]) -> range:
        """Append all records, or after a crash none of them, and return their offsets once durable.

        Raises:
            OSError: the disk failed or is full; nothing was acknowledged and this log object
                appends nothing more, because a failed sync must not be tried again: open it anew.
            LogDamagedError, EventTooLongError: nothing was appended.
        """
        if not records:
            end = self.bounds().end
            return range(end, end)
        with self._thread_lock, holding(self._files, self._folder / LOCK_NAME):
            if self._failed is not None:
                raise StreamsError(
                    f"this log stopped after {self._failed}; free space or repair the disk, "
                    "then open the log again"
                )
            reach("append_locked")
            try:
                return self._append_locked(records)
            except OSError as error:
                self._failed = f"{type(error).__name__}: {error}"
                raise

    def close(self) -> None:
        """Release the files; nothing is pending, since every append was synced."""
        self._reader.close()
        self._leave_segment()

    def _append_locked(self, records: Sequence[NewRecord]) -> range:
        published = self._settle()
        if published.end >= self._segment_bytes:
            published = self._begin_segment(published)
        stamp = max(self._clock.now_ms(), published.timestamp_ms)
        content = encode_frames(
            records,
            identity=self._identity,
            first_offset=published.next_offset,
            timestamp_ms=stamp,
        )
        handle = self._enter_segment(published.segment)
        self._files.write(handle, content, start=published.end)
        reach("append_written")
        self._files.sync(handle)
        reach("append_synced")
        offsets = range(published.next_offset, published.next_offset + len(records))
        self._publish(
            Published(published.segment, published.end + len(content), offsets.stop, stamp)
        )
        reach("append_published")
        return offsets

    def _settle(self) -> Published:
        """Return the durable end under the lock; a dead appender's rest is kept or cut."""
        published = read_published(self._files, self._folder, self._identity)
        if published is not None:
            handle = self._enter_segment(published.segment)
            if self._files.size(handle) == published.end:
                return published
        return self._recover()

    def _recover(self) -> Published:
        """Find the end anew, also behind a published end that a power loss has set back."""
        known = read_published(self._files, self._folder, self._identity)
        segments = list_segments(self._files, self._folder)
        self._leave_segment()
        if not segments and known is None:
            return self._begin_segment(None)
        if not segments or (known is not None and known.segment not in segments):
            raise LogDamagedError(
                f"{self._folder}: the segment with the last acknowledged event is missing; "
                "restore it from a backup, then start again"
            )
        recovered = recover_end(
            self._files, self._folder, identity=self._identity, segments=segments, known=known
        )
        if recovered != known:
            self._publish(recovered)
        return recovered

    def _begin_segment(self, before: Published | None) -> Published:
        """Put the next segment in place; one without events, of a dead appender, is replaced."""
        first_offset = 0 if before is None else before.next_offset
        path = self._folder / name_segment(first_offset)
        self._leave_segment()
        reach("segment_prepared")
        write_file(self._files, path, encode_segment_header(self._identity, first_offset))
        reach("segment_renamed")
        stamp = 0 if before is None else before.timestamp_ms
        published = Published(first_offset, HEADER_BYTES, first_offset, stamp)
        self._publish(published)
        return published

    def _enter_segment(self, segment: int) -> int:
        if self._handle is None or self._handle_segment != segment:
            self._leave_segment()
            try:
                self._handle = self._files.open_write(self._folder / name_segment(segment))
            except FileNotFoundError:
                raise LogDamagedError(
                    f"log segment {name_segment(segment)} is missing though it holds the last "
                    "acknowledged event; restore it from a backup, then start again"
                ) from None
            self._handle_segment = segment
        return self._handle

    def _leave_segment(self) -> None:
        if self._handle is not None:
            handle, self._handle = self._handle, None
            self._files.close(handle)

    def _publish(self, published: Published) -> None:
        """Move the end that readers see. Not synced: after a power loss it is found again."""
        path = self._folder / PUBLISHED_NAME
        exists = self._files.exists(path)
        handle = self._files.open_write(path) if exists else self._files.create(path)
        try:
            content = encode_published(published, self._identity)
            self._files.write(handle, content, start=0)
            if self._files.size(handle) > len(content):  # Else what is behind it never checks.
                self._files.cut(handle, length=len(content))
        finally:
            self._files.close(handle)
