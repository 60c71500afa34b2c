"""Reading the local log: by offset, in batches, up to the published end and not a byte further.

A reader takes no lock and writes nothing, so that any process may look on. Bytes that do not check
below the published end stop it; they were acknowledged once.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from streams.failures import LogDamagedError, LogGapError
from streams.files import Files, read_file
from streams.ports import LogBounds, LogRecord
from streams.segments import (
    FRAME_BYTES,
    HEADER_BYTES,
    Frame,
    Published,
    check_segment_header,
    damaged,
    decode_frame,
    decode_published,
    decode_records,
    frame_length,
    name_segment,
    parse_segment_name,
)

PUBLISHED_NAME: Final = "published"
READ_AHEAD_BYTES: Final = 1 << 20
PUBLISHED_READS_MAX: Final = 100
"""Another process may be overwriting the published end just now; it takes microseconds."""


def read_published(files: Files, folder: Path, identity: bytes) -> Published | None:
    """Return the published end, or None if there is none that checks."""
    for _ in range(PUBLISHED_READS_MAX):
        content = read_file(files, folder / PUBLISHED_NAME)
        if content is None:
            return None
        published = decode_published(content, identity)
        if published is not None:
            return published
    return None


def list_segments(files: Files, folder: Path) -> list[int]:
    """Return the first offsets of all segments, ascending."""
    firsts = (parse_segment_name(name) for name in files.list_names(folder))
    return sorted(first for first in firsts if first is not None)


def scan_frames(
    files: Files, path: Path, *, identity: bytes, start: int, end: int
) -> Iterator[Frame]:
    """Yield the checked frames of [start, end) of a segment; stop silently before a bad one.

    The caller compares where the last frame ended with the end it expects.
    """
    handle = files.open_read(path)
    try:
        ahead, ahead_start = b"", start
        while start < end:
            if start + FRAME_BYTES > ahead_start + len(ahead):
                ahead = files.read(handle, start=start, length=min(READ_AHEAD_BYTES, end - start))
                ahead_start = start
            at = start - ahead_start
            length = frame_length(ahead[at : at + FRAME_BYTES])
            if length is None or start + length > end:
                return
            if at + length > len(ahead):
                wanted = min(max(READ_AHEAD_BYTES, length), end - start)
                ahead = files.read(handle, start=start, length=wanted)
                ahead_start, at = start, 0
            content = ahead[at : at + length]
            if len(content) != length:
                return
            frame = decode_frame(content, start=start, identity=identity)
            if frame is None:
                return
            yield frame
            start = frame.end
    finally:
        files.close(handle)


class LogReader:
    """A reading position in one log; sequential reads cost no search."""

    def __init__(self, folder: Path, *, identity: bytes, files: Files) -> None:
        """Read the log of that identity."""
        self._folder = folder
        self._identity = identity
        self._files = files
        self._segments: list[int] = []
        self._frames: Iterator[Frame] | None = None
        self._next_offset = 0
        self._position = HEADER_BYTES
        self._segment = -1
        self._end = 0
        self._left: list[LogRecord] = []

    def bounds(self) -> LogBounds:
        """Return the offsets that are readable now."""
        published = self._published()
        if not self._segments or self._segments[-1] < published.segment:
            self._segments = list_segments(self._files, self._folder)
        if not self._segments:
            raise LogDamagedError(
                f"{self._folder}: no segment is left of this log; restore a backup"
            )
        return LogBounds(self._segments[0], published.next_offset)

    def read(self, first: int, *, limit: int) -> Sequence[LogRecord]:
        """Return up to limit records from first on; see InputLog."""
        bounds = self.bounds()
        if first < bounds.start:
            raise LogGapError(
                f"offsets {first} to {bounds.start - 1} are gone: the log starts at {bounds.start}"
            )
        if first >= bounds.end:
            return []
        if first != self._next_offset - len(self._left) or self._segment < 0:
            self._seek(first)
        records = self._left
        while len(records) < limit and self._next_offset < bounds.end:
            records.extend(decode_records(self._next_frame()))
        self._left = records[limit:]
        return records[:limit]

    def close(self) -> None:
        """Release the open segment."""
        self._frames = None
        self._segment = -1
        self._left = []

    def _published(self) -> Published:
        published = read_published(self._files, self._folder, self._identity)
        if published is None:
            raise LogDamagedError(
                f"{self._folder / PUBLISHED_NAME} is missing or does not check; open the log for "
                "appending once, which finds the end of the last segment again"
            )
        return published

    def _seek(self, offset: int) -> None:
        segment = self._segments[bisect_right(self._segments, offset) - 1]
        self._enter(segment)
        self._left = []
        while self._next_offset <= offset:
            frame = self._next_frame()
            if self._next_offset > offset:
                self._left = decode_records(frame)[offset - frame.first_offset :]

    def _enter(self, segment: int) -> None:
        path = self._folder / name_segment(segment)
        header = self._read_header(path)
        check_segment_header(header, path=path, identity=self._identity, first_offset=segment)
        self._segment, self._next_offset, self._position = segment, segment, HEADER_BYTES
        self._frames, self._end = None, HEADER_BYTES

    def _read_header(self, path: Path) -> bytes:
        try:
            handle = self._files.open_read(path)
        except FileNotFoundError:
            raise damaged(path, 0, "the file is missing") from None
        try:
            return self._files.read(handle, start=0, length=HEADER_BYTES)
        finally:
            self._files.close(handle)

    def _next_frame(self) -> Frame:
        """Return the frame at the reading position, which is known to be published."""
        frame = next(self._frames, None) if self._frames is not None else None
        if frame is None:
            self._extend()
            assert self._frames is not None
            frame = next(self._frames, None)
        path = self._folder / name_segment(self._segment)
        if frame is None:
            raise damaged(path, self._position, f"the frame of event {self._next_offset} is broken")
        if frame.first_offset != self._next_offset:
            raise damaged(
                path,
                frame.start,
                f"event {self._next_offset} is expected but {frame.first_offset} stands here",
            )
        self._next_offset += frame.records
        self._position = frame.end
        return frame

    def _extend(self) -> None:
        """Go on to what was published since, or to the next segment where this one is complete."""
        published = self._published()
        path = self._folder / name_segment(self._segment)
        if published.segment == self._segment:
            self._end = published.end
        else:
            handle = self._files.open_read(path)
            self._end = self._files.size(handle)
            self._files.close(handle)
            if self._position == self._end:
                self._enter_following(path)
                self._extend()
                return
        self._frames = scan_frames(
            self._files, path, identity=self._identity, start=self._position, end=self._end
        )

    def _enter_following(self, path: Path) -> None:
        place = bisect_right(self._segments, self._segment)
        following = self._segments[place] if place < len(self._segments) else None
        if following != self._next_offset:
            raise damaged(
                path,
                self._position,
                f"it ends before event {self._next_offset} and no segment begins there",
            )
        self._enter(following)
