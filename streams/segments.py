"""The bytes of the local log: segment headers, frames, and the published end.

A segment is a header and frames; a frame is length, CRC32C and body, and holds one append call or a
part of it. Pure functions over bytes; opening, locking and syncing belong to streams/local_log.py.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import google_crc32c

from streams.failures import EventTooLongError, LogDamagedError
from streams.ports import Headers, LogRecord, NewRecord

SEGMENT_MAGIC: Final = b"CMTLOG\x00\x01"
_HEADER: Final = struct.Struct(">8s16sQ")
_CHECKSUM: Final = struct.Struct(">I")
HEADER_BYTES: Final = _HEADER.size + _CHECKSUM.size
_FRAME: Final = struct.Struct(">II")
FRAME_BYTES: Final = _FRAME.size
_BODY: Final = struct.Struct(">8sQIqB")
_RECORD: Final = struct.Struct(">iiH")
_RECORD_HEADER: Final = struct.Struct(">HI")
_PUBLISHED: Final = struct.Struct(">16sQQQq")
PUBLISHED_BYTES: Final = _PUBLISHED.size + _CHECKSUM.size

IDENTITY_BYTES: Final = 16
SEAL_BYTES: Final = 8
FIRST_OF_CALL: Final = 1
LAST_OF_CALL: Final = 2

FRAME_BODY_TARGET: Final = 1 << 20
"""A frame is closed beyond this size, so that a reader checks and decodes in moderate steps."""
FRAME_BODY_MAX: Final = 64 << 20
"""A longer frame is no frame; one record, whatever its size, stands in one frame."""


class Frame(NamedTuple):
    """One checked frame: where it stands, which offsets it holds and where the next one begins."""

    start: int
    end: int
    first_offset: int
    records: int
    timestamp_ms: int
    flags: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Published:
    """How far the log is durable: readers never look behind it, appenders continue there."""

    segment: int
    end: int
    next_offset: int
    timestamp_ms: int


def name_segment(first_offset: int) -> str:
    """Return the file name of the segment whose first record has this offset."""
    return f"{first_offset:020d}.segment"


def parse_segment_name(name: str) -> int | None:
    """Return the first offset that a file name states, or None for another file."""
    stem, dot, ending = name.partition(".")
    return int(stem) if dot and ending == "segment" and len(stem) == 20 and stem.isdigit() else None


def encode_segment_header(identity: bytes, first_offset: int) -> bytes:
    """Return the header of a new segment."""
    header = _HEADER.pack(SEGMENT_MAGIC, identity, first_offset)
    return header + _CHECKSUM.pack(google_crc32c.value(header))


def check_segment_header(header: bytes, *, path: Path, identity: bytes, first_offset: int) -> None:
    """Raise LogDamagedError unless these bytes are the header of exactly that segment."""
    if header != encode_segment_header(identity, first_offset):
        raise damaged(path, 0, "its header is not the one this log wrote")


def damaged(path: Path, position: int, what: str) -> LogDamagedError:
    """Return the refusal of acknowledged bytes that no longer check."""
    return LogDamagedError(
        f"log segment {path.name}, byte {position}: {what}. "
        f"Acknowledged events are affected, so nothing is read past this point: restore {path} "
        "from a backup or an archive, then start again."
    )


def encode_frames(
    records: Sequence[NewRecord], *, identity: bytes, first_offset: int, timestamp_ms: int
) -> bytes:
    """Return the frames of one append call, the last of them marked as its end.

    Raises:
        EventTooLongError: one record does not fit a frame; names its place in the call.
    """
    groups: list[tuple[int, bytes]] = []
    parts: list[bytes] = []
    count = size = 0
    for place, record in enumerate(records):
        piece = _encode_record(record, place)
        if parts and size + len(piece) > FRAME_BODY_TARGET:
            groups.append((count, b"".join(parts)))
            parts, count, size = [], 0, 0
        parts.append(piece)
        count += 1
        size += len(piece)
    groups.append((count, b"".join(parts)))
    frames = []
    for place, (count, content) in enumerate(groups):
        flags = FIRST_OF_CALL if place == 0 else 0
        flags |= LAST_OF_CALL if place == len(groups) - 1 else 0
        body = _BODY.pack(identity[:SEAL_BYTES], first_offset, count, timestamp_ms, flags) + content
        frames.append(_FRAME.pack(len(body), google_crc32c.value(body)) + body)
        first_offset += count
    return b"".join(frames)


def _encode_record(record: NewRecord, place: int) -> bytes:
    key, value, headers = record
    parts = [
        _RECORD.pack(
            -1 if key is None else len(key), -1 if value is None else len(value), len(headers)
        ),
        key or b"",
        value or b"",
    ]
    for name, content in headers:
        encoded = name.encode()
        parts += (_RECORD_HEADER.pack(len(encoded), len(content)), encoded, content)
    piece = b"".join(parts)
    if len(piece) > FRAME_BODY_MAX - _BODY.size:
        raise EventTooLongError(
            f"record {place} of the call has {len(piece)} bytes; a log takes at most "
            f"{FRAME_BODY_MAX - _BODY.size}. Nothing of the call was appended: shorten that record."
        )
    return piece


def frame_length(header: bytes) -> int | None:
    """Return the whole length of the frame that begins with these 8 bytes; None if impossible."""
    if len(header) < FRAME_BYTES:
        return None
    length: int = _FRAME.unpack(header)[0]
    return FRAME_BYTES + length if _BODY.size <= length <= FRAME_BODY_MAX else None


def decode_frame(content: bytes, *, start: int, identity: bytes) -> Frame | None:
    """Return the frame that is exactly these bytes, or None if they do not check."""
    length, checksum = _FRAME.unpack_from(content)
    body = content[FRAME_BYTES:]
    if len(body) != length or google_crc32c.value(body) != checksum:
        return None
    seal, first_offset, count, timestamp_ms, flags = _BODY.unpack_from(body)
    if seal != identity[:SEAL_BYTES]:
        return None
    return Frame(start, start + len(content), first_offset, count, timestamp_ms, flags, body)


def decode_records(frame: Frame) -> list[LogRecord]:
    """Return the records of a frame in order."""
    body = frame.body
    position = _BODY.size
    unpack = _RECORD.unpack_from
    records = []
    for offset in range(frame.first_offset, frame.first_offset + frame.records):
        key_length, value_length, header_count = unpack(body, position)
        position += _RECORD.size
        key = value = None
        if key_length >= 0:
            key = body[position : position + key_length]
            position += key_length
        if value_length >= 0:
            value = body[position : position + value_length]
            position += value_length
        headers: Headers = ()
        if header_count:
            headers, position = _decode_headers(body, position, header_count)
        records.append(LogRecord(offset, key, value, frame.timestamp_ms, headers))
    return records


def _decode_headers(body: bytes, position: int, count: int) -> tuple[Headers, int]:
    headers = []
    for _ in range(count):
        name_length, length = _RECORD_HEADER.unpack_from(body, position)
        position += _RECORD_HEADER.size
        name = body[position : position + name_length].decode()
        position += name_length
        headers.append((name, body[position : position + length]))
        position += length
    return tuple(headers), position


def find_later_call(content: bytes, *, start: int, identity: bytes) -> int | None:
    """Return where a whole first frame of another call begins behind damaged bytes, if any.

    An appender writes only behind a synced end, so such a frame proves that what lies before it was
    acknowledged. The seal is random for each log: no event's content can imitate one.
    """
    at = content.find(identity[:SEAL_BYTES], FRAME_BYTES)
    while at >= 0:
        begin = at - FRAME_BYTES
        length = frame_length(content[begin:at])
        if length is not None and begin > 0 and begin + length <= len(content):
            frame = decode_frame(
                content[begin : begin + length], start=start + begin, identity=identity
            )
            if frame is not None and frame.flags & FIRST_OF_CALL:
                return frame.start
        at = content.find(identity[:SEAL_BYTES], at + 1)
    return None


def encode_published(published: Published, identity: bytes) -> bytes:
    """Return the content of the file that publishes the durable end."""
    packed = _PUBLISHED.pack(
        identity, published.segment, published.end, published.next_offset, published.timestamp_ms
    )
    return packed + _CHECKSUM.pack(google_crc32c.value(packed))


def decode_published(content: bytes, identity: bytes) -> Published | None:
    """Return the durable end, or None if these bytes do not check or belong to another log."""
    if len(content) != PUBLISHED_BYTES:
        return None
    packed = content[: _PUBLISHED.size]
    if _CHECKSUM.unpack(content[_PUBLISHED.size :])[0] != google_crc32c.value(packed):
        return None
    stated, segment, end, next_offset, timestamp_ms = _PUBLISHED.unpack(packed)
    return Published(segment, end, next_offset, timestamp_ms) if stated == identity else None
