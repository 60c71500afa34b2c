"""Finding the end of a local log again after an appender or the machine died in the middle.

Runs under the append lock only. Whole calls behind the published end are kept, because they may
have been acknowledged before a power loss; a torn call is cut; anything else is refused.
"""

from collections.abc import Sequence
from pathlib import Path

from streams.crash_points import reach
from streams.files import Files
from streams.log_reader import scan_frames
from streams.segments import (
    HEADER_BYTES,
    LAST_OF_CALL,
    Published,
    check_segment_header,
    damaged,
    find_later_call,
    name_segment,
)


def recover_end(
    files: Files,
    folder: Path,
    *,
    identity: bytes,
    segments: Sequence[int],
    known: Published | None,
) -> Published:
    """Return the durable end, made so: whole calls are synced anew, a torn one is cut.

    Args:
        files: the disk.
        folder: the log's folder.
        identity: the log's identity.
        segments: first offsets of all segments, ascending.
        known: the published end if it is readable; what lies before it was acknowledged.

    Raises:
        LogDamagedError: acknowledged bytes are missing or do not check.
    """
    published = known or Published(segments[-1], HEADER_BYTES, segments[-1], 0)
    while True:
        published = _recover_segment(files, folder, identity=identity, known=published)
        following = [segment for segment in segments if segment > published.segment]
        if not following:
            return published
        path = folder / name_segment(following[0])
        if following[0] != published.next_offset:
            raise damaged(path, 0, f"event {published.next_offset} and later ones are missing")
        published = Published(following[0], HEADER_BYTES, following[0], published.timestamp_ms)


def _recover_segment(files: Files, folder: Path, *, identity: bytes, known: Published) -> Published:
    path = folder / name_segment(known.segment)
    handle = files.open_write(path)
    try:
        header = files.read(handle, start=0, length=HEADER_BYTES)
        check_segment_header(header, path=path, identity=identity, first_offset=known.segment)
        size = files.size(handle)
        if size < known.end:
            raise damaged(path, size, f"it was cut; acknowledged events reach to byte {known.end}")
        whole = known
        next_offset = known.next_offset
        for frame in scan_frames(files, path, identity=identity, start=known.end, end=size):
            if frame.first_offset != next_offset:
                raise damaged(path, frame.start, f"event {next_offset} is missing")
            next_offset += frame.records
            if frame.flags & LAST_OF_CALL:
                whole = Published(known.segment, frame.end, next_offset, frame.timestamp_ms)
        _settle_tail(files, handle, path, identity=identity, known=known, whole=whole, size=size)
        return whole
    finally:
        files.close(handle)


def _settle_tail(
    files: Files,
    handle: int,
    path: Path,
    *,
    identity: bytes,
    known: Published,
    whole: Published,
    size: int,
) -> None:
    """Cut [whole.end, size) and make [known.end, whole.end) durable by writing it once more.

    Writing again matters after a failed sync: the kernel then counts the pages as clean, and a
    second sync alone would answer without having written them.
    """
    if size == whole.end == known.end:
        return
    if size > whole.end:
        rest = files.read(handle, start=whole.end, length=size - whole.end)
        later = find_later_call(rest, start=whole.end, identity=identity)
        if later is not None:
            raise damaged(
                path,
                whole.end,
                f"bytes before a call that was appended later (at {later}) are broken",
            )
        files.cut(handle, length=whole.end)
    if whole.end > known.end:
        kept = files.read(handle, start=known.end, length=whole.end - known.end)
        files.write(handle, kept, start=known.end)
    files.sync(handle)
    reach("tail_cut")
