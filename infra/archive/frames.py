"""The bytes of an archive's segment files: header, blocks of frames, and the chain through them.

A frame is length, kind, number and an Avro body; its digest is the SHA-256 of those bytes. Up to
32 frames make a block, which ends with their digests and its leaf: the SHA-256 over a zero byte,
the leaf of the block before it, and the digests. So leaves chain all frames of a partition, and
are the leaves of its Merkle tree (RFC 6962). Blocks begin at multiples of 32, whatever the files.
No file is opened here.
"""

import hashlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn

from schemas.archive import ArchivedEvent, ArchivedOutput
from schemas.codec import schema_fingerprint

MAGIC: Final = b"CMTARCH1"
DIGEST_BYTES: Final = 32
BLOCK_FRAMES: Final = 32
START: Final = bytes(DIGEST_BYTES)
"""What stands before the first block of a partition."""

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
_KIND_BITS: Final = sum(1 << kind for kind in (EVENT, CONTROL, *KIND_TOPICS))

_HEADER: Final = struct.Struct(">8s8s8sIQ32s")
_BLOCK: Final = struct.Struct(">II")
_FRAME: Final = struct.Struct(">IBQ")
HEADER_BYTES: Final = _HEADER.size
BLOCK_BYTES: Final = _BLOCK.size
FRAME_BYTES: Final = _FRAME.size
KIND_AT: Final = 4
"""Where a frame's kind stands behind its beginning."""


class Frame(NamedTuple):
    """One frame: its kind, its number in the partition, its Avro body, its digest."""

    kind: int
    number: int
    body: bytes
    digest: bytes


class Block(NamedTuple):
    """A checked block: the number of its first frame, its frames' digests, and its leaf.

    ``starts`` are where frames begin in the segment, and where the last one ends; ``kinds`` has
    a bit for each kind among them.
    """

    first_number: int
    starts: Sequence[int]
    digests: Sequence[bytes]
    kinds: int
    leaf: bytes


@dataclass(frozen=True, slots=True)
class Fault:
    """The first thing wrong with an archive: where, of which kind, and in words.

    ``frame`` is the number in the partition, None where no frame is at fault.
    """

    segment: str
    frame: int | None
    kind: str
    detail: str


class FrameFaultError(Exception):
    """A segment's bytes are not what they were; carries the fault."""

    def __init__(self, fault: Fault) -> None:
        """Keep the fault."""
        super().__init__(f"{fault.segment}, frame {fault.frame}: {fault.kind}: {fault.detail}")
        self.fault = fault


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentPlace:
    """What a segment must be: its name, partition, first frame, frames, and the leaf before it."""

    name: str
    partition: int
    first_number: int
    frames: int
    previous: bytes


def encode_header(*, partition: int, first_number: int, previous: bytes) -> bytes:
    """Return the bytes that open a segment: format, schemas, place, and the chain so far."""
    schemas = (schema_fingerprint(ArchivedEvent), schema_fingerprint(ArchivedOutput))
    return _HEADER.pack(MAGIC, *schemas, partition, first_number, previous)


def read_previous(content: bytes) -> bytes:
    """Return the leaf that a segment's header states to stand before it."""
    return content[HEADER_BYTES - DIGEST_BYTES : HEADER_BYTES]


def encode_frame(*, kind: int, number: int, body: bytes) -> bytes:
    """Return a frame's bytes."""
    return _FRAME.pack(len(body), kind, number) + body


def encode_block(contents: Sequence[bytes], previous: bytes) -> tuple[bytes, list[bytes], bytes]:
    """Return a block's bytes, the digests of its frames, and its leaf."""
    digests = [hashlib.sha256(content).digest() for content in contents]
    leaf = hash_block(previous, digests)
    frames = b"".join(contents)
    head = _BLOCK.pack(len(frames), len(contents))
    return b"".join((head, frames, *digests, leaf)), digests, leaf


def hash_block(previous: bytes, digests: Sequence[bytes]) -> bytes:
    """Return a block's leaf."""
    return hashlib.sha256(b"\x00" + previous + b"".join(digests)).digest()


def chain_leaves(digests: Sequence[bytes]) -> list[bytes]:
    """Return the leaves over the digests of a partition's frames, from its first on."""
    leaves: list[bytes] = []
    for place in range(0, len(digests), BLOCK_FRAMES):
        previous = leaves[-1] if leaves else START
        leaves.append(hash_block(previous, digests[place : place + BLOCK_FRAMES]))
    return leaves


def walk_blocks(content: bytes, place: SegmentPlace) -> Iterator[Block]:
    """Yield the blocks of a segment, each checked frame by frame and against the chain.

    Raises:
        FrameFaultError: at the first frame that is not the one that was written there.

    """
    header = encode_header(
        partition=place.partition, first_number=place.first_number, previous=place.previous
    )
    if content[:HEADER_BYTES] != header:
        raise FrameFaultError(Fault(place.name, None, "header", _tell_header(content, header)))
    position, previous = HEADER_BYTES, place.previous
    number, end = place.first_number, place.first_number + place.frames
    while number < end:
        count = min(BLOCK_FRAMES, end - number)
        block, position = _check_block(content, position, place.name, number, count, previous)
        yield block
        previous = block.leaf
        number += count
    if position != len(content):
        detail = f"{len(content) - position} bytes follow the last frame"
        raise FrameFaultError(Fault(place.name, end, "surplus", detail))


def list_frames(content: bytes, block: Block) -> Iterator[Frame]:
    """Yield the frames of a checked block."""
    for place, digest in enumerate(block.digests):
        start, end = block.starts[place], block.starts[place + 1]
        body = content[start + FRAME_BYTES : end]
        yield Frame(content[start + KIND_AT], block.first_number + place, body, digest)


def _check_block(
    content: bytes, position: int, name: str, number: int, count: int, previous: bytes
) -> tuple[Block, int]:
    """Return the block at a position and where the next one begins; the hot path of verifying."""
    if position + BLOCK_BYTES > len(content):
        _refuse(name, number, "cut", "the file ends before it")
    length, stated = _BLOCK.unpack_from(content, position)
    start = position + BLOCK_BYTES
    trailer = start + length
    end = trailer + (count + 1) * DIGEST_BYTES
    if stated != count or end > len(content):
        _locate(content, start, name, number, count)
        detail = f"a block of {stated} frames in {length} bytes; {count} frames belong here"
        _refuse(name, number, "cut" if end > len(content) else "length", detail)
    starts: list[int] = []
    digests: list[bytes] = []
    kinds, at = 0, start
    unpack, head, sha256 = _FRAME.unpack_from, FRAME_BYTES, hashlib.sha256
    keep_start, keep_digest = starts.append, digests.append
    for expected in range(number, number + count):
        body_length, kind, found = unpack(content, at)
        stop = at + head + body_length
        if found != expected or stop > trailer:
            break
        keep_start(at)
        keep_digest(sha256(content[at:stop]).digest())
        kinds |= 1 << kind
        at = stop
    starts.append(at)
    kept = content[trailer : end - DIGEST_BYTES]
    leaf = content[end - DIGEST_BYTES : end]
    if at != trailer or kinds & ~_KIND_BITS or b"".join(digests) != kept:
        is_kept = hashlib.sha256(b"\x00" + previous + kept).digest() == leaf
        _explain(content, name, number, starts[:-1], digests, kept if is_kept else b"", at)
    if leaf != hashlib.sha256(b"\x00" + previous + kept).digest():
        detail = "the block that begins here does not follow from the one before it"
        _refuse(name, number, "chain", detail)
    return Block(number, starts, digests, kinds, leaf), end


def _explain(
    content: bytes,
    name: str,
    number: int,
    starts: Sequence[int],
    digests: Sequence[bytes],
    kept: bytes,
    at: int,
) -> NoReturn:
    """Name the first frame that is not the one written; ``kept`` are its digests, if they check.

    Without them a frame was put in or taken out, and the first one of another number is named.
    """
    broken = number + len(digests)
    if kept:
        for place, digest in enumerate(digests):
            if digest != kept[place * DIGEST_BYTES : (place + 1) * DIGEST_BYTES]:
                detail = "its bytes are not those that were written"
                _refuse(name, number + place, "altered", detail)
    _, kind, found = _FRAME.unpack_from(content, at)
    if found != broken and 1 << kind & _KIND_BITS:
        _refuse(name, broken, "out_of_place", f"frame {found} stands here")
    for place, start in enumerate(starts):
        if not 1 << content[start + KIND_AT] & _KIND_BITS:
            _refuse(name, number + place, "altered", "it is of no known kind")
    detail = "its bytes, or the digests of its block, are not those that were written"
    _refuse(name, number if not kept and at == starts[-1] else broken, "altered", detail)


def _locate(content: bytes, start: int, name: str, number: int, count: int) -> None:
    """Name the first frame that does not stand where it should, where the block's head is wrong."""
    at = start
    for expected in range(number, number + count):
        if at + FRAME_BYTES > len(content):
            _refuse(name, expected, "cut", "the file ends before it")
        length, _, found = _FRAME.unpack_from(content, at)
        if found != expected:
            _refuse(name, expected, "out_of_place", f"frame {found} stands here")
        at += FRAME_BYTES + length


def _refuse(name: str, number: int, kind: str, detail: str) -> NoReturn:
    raise FrameFaultError(Fault(name, number, kind, detail))


def _tell_header(content: bytes, expected: bytes) -> str:
    if len(content) < HEADER_BYTES:
        return f"{len(content)} bytes; a segment opens with {HEADER_BYTES}"
    names = ("format", "schema of events", "schema of outputs", "partition", "first frame", "chain")
    found, wanted = _HEADER.unpack_from(content), _HEADER.unpack(expected)
    wrong = [name for name, a, b in zip(names, found, wanted, strict=True) if a != b]
    return f"not as the manifest says: {', '.join(wrong)}"
