"""The bytes of an archive's segment files: header, frames, and the digest chain through them.

A frame is length, kind, index and an Avro body, followed by its digest: the SHA-256 over a zero
byte, the digest of the frame before it, and the frame. So each digest is a link of the chain and,
as a leaf of RFC 6962, part of the partition's Merkle tree. No file is opened here.
"""

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from schemas.archive import ArchivedEvent, ArchivedOutput
from schemas.codec import schema_fingerprint

MAGIC: Final = b"CMTARCH1"
DIGEST_BYTES: Final = 32
START: Final = bytes(DIGEST_BYTES)
"""What stands before the first frame of a partition."""

EVENT: Final = 0
CONTROL: Final = 1
TOPIC_KINDS: Final = {
    "commitments": 2,
    "repairs": 3,
    "failures": 4,
    "packets": 5,
    "surfaces": 6,
    "rejections": 7,
}
"""The kind of an output's frame by its topic; numbers never change."""
KIND_TOPICS: Final = {kind: topic for topic, kind in TOPIC_KINDS.items()}
KINDS: Final = frozenset({EVENT, CONTROL, *KIND_TOPICS})

_HEADER: Final = struct.Struct(">8s8s8sIQ32s")
_FRAME: Final = struct.Struct(">IBQ")
HEADER_BYTES: Final = _HEADER.size
FRAME_BYTES: Final = _FRAME.size
OVERHEAD_BYTES: Final = FRAME_BYTES + DIGEST_BYTES


class Frame(NamedTuple):
    """One frame: its kind, its number in the partition, its Avro body, its digest."""

    kind: int
    number: int
    body: bytes
    digest: bytes


@dataclass(frozen=True, slots=True)
class Fault:
    """The first thing wrong with an archive: where, of which kind, and in words.

    ``frame`` is the index in the partition, None where no frame is at fault.
    """

    segment: str
    frame: int | None
    kind: str
    detail: str


class FrameFault(Exception):  # noqa: N818 - a state of the bytes, reported with its place
    """A segment's bytes are not what they were; carries the fault."""

    def __init__(self, fault: Fault) -> None:
        """Keep the fault."""
        super().__init__(f"{fault.segment}, frame {fault.frame}: {fault.kind}: {fault.detail}")
        self.fault = fault


def encode_header(*, partition: int, first_index: int, previous: bytes) -> bytes:
    """Return the bytes that open a segment: format, schemas, place, and the chain so far."""
    schemas = (schema_fingerprint(ArchivedEvent), schema_fingerprint(ArchivedOutput))
    return _HEADER.pack(MAGIC, *schemas, partition, first_index, previous)


def encode_frame(*, kind: int, index: int, body: bytes, previous: bytes) -> tuple[bytes, bytes]:
    """Return a frame's bytes and its digest, the next frame's ``previous``."""
    content = _FRAME.pack(len(body), kind, index) + body
    digest = hashlib.sha256(b"\x00" + previous + content).digest()
    return content + digest, digest


def walk_frames(
    content: bytes, *, segment: str, partition: int, first_index: int, frames: int, previous: bytes
) -> Iterator[Frame]:
    """Yield the frames of a segment, each checked against the chain.

    Raises:
        FrameFault: at the first frame that is not the one that was written there.

    """
    header = encode_header(partition=partition, first_index=first_index, previous=previous)
    if content[:HEADER_BYTES] != header:
        raise FrameFault(Fault(segment, None, "header", _tell_header(content, header)))
    position, end, sha256 = HEADER_BYTES, len(content), hashlib.sha256
    for index in range(first_index, first_index + frames):
        if position + FRAME_BYTES > end:
            left = end - position
            raise FrameFault(Fault(segment, index, "cut", f"the file ends {left} bytes into it"))
        length, kind, found = _FRAME.unpack_from(content, position)
        body_end = position + FRAME_BYTES + length
        if body_end + DIGEST_BYTES > end:
            detail = f"it states {length} bytes, the file ends before"
            raise FrameFault(Fault(segment, index, "cut", detail))
        digest = sha256(b"\x00" + previous + content[position:body_end]).digest()
        if found != index:
            raise FrameFault(Fault(segment, index, "out_of_place", f"frame {found} stands here"))
        if digest != content[body_end : body_end + DIGEST_BYTES]:
            detail = "its bytes, or the frame before it, are not those that were written"
            raise FrameFault(Fault(segment, index, "altered", detail))
        if kind not in KINDS:
            raise FrameFault(Fault(segment, index, "kind", f"{kind} is no kind of frame"))
        yield Frame(kind, index, content[position + FRAME_BYTES : body_end], digest)
        previous = digest
        position = body_end + DIGEST_BYTES
    if position != end:
        detail = f"{end - position} bytes follow the last frame"
        raise FrameFault(Fault(segment, first_index + frames, "surplus", detail))


def _tell_header(content: bytes, expected: bytes) -> str:
    if len(content) < HEADER_BYTES:
        return f"{len(content)} bytes; a segment opens with {HEADER_BYTES}"
    names = ("format", "schema of events", "schema of outputs", "partition", "first frame", "chain")
    found, wanted = _HEADER.unpack_from(content), _HEADER.unpack(expected)
    wrong = [name for name, a, b in zip(names, found, wanted, strict=True) if a != b]
    return f"not as the manifest says: {', '.join(wrong)}"
