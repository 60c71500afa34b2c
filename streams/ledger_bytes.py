"""The bytes of a ledger: digests of records and outputs, the chain, the encoded head and batch.

Every digest is SHA-256 over length-prefixed parts. The records themselves are in schemas/ledger.py.
"""

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from schemas import codec
from schemas.ledger import BatchRecord, Head, TopicDigest
from streams.ports import LogRecord, OutputRecord, PlacedOutput

GENESIS_CHAIN: Final = bytes(32)
_PREFIX: Final = struct.Struct(">q")


def digest_record(record: LogRecord) -> bytes:
    """Return the digest of an input record: its place, time, key, value and headers."""
    parts = [struct.pack(">Qq", record.offset, record.timestamp_ms)]
    parts += (_prefixed(record.key), _prefixed(record.value))
    for name, content in record.headers:
        parts += (_prefixed(name.encode()), _prefixed(content))
    return hashlib.sha256(b"".join(parts)).digest()


def digest_outputs(outputs: Sequence[PlacedOutput]) -> tuple[TopicDigest, ...]:
    """Return count and digest per topic over keys and values in order, sorted by topic.

    Headers take no part: position stands there, and bodies must be equal at every partition count.
    """
    bodies: dict[str, list[bytes]] = {}
    for output in outputs:
        bodies.setdefault(output.record.topic, []).append(_frame_output(output.record))
    return tuple(
        TopicDigest(topic, len(parts), hashlib.sha256(b"".join(parts)).digest())
        for topic, parts in sorted(bodies.items())
    )


def _frame_output(record: OutputRecord) -> bytes:
    key, value = record.key, record.value
    if value is None:
        return _PREFIX.pack(len(key)) + key + _PREFIX.pack(-1)
    return b"%b%b%b%b" % (_PREFIX.pack(len(key)), key, _PREFIX.pack(len(value)), value)


def _prefixed(part: bytes | None) -> bytes:
    return _PREFIX.pack(-1) if part is None else _PREFIX.pack(len(part)) + part


def seal(record: BatchRecord) -> BatchRecord:
    """Return the record with its chain digest filled in."""
    body = codec.encode(replace(record, chain=b""))
    return replace(record, chain=hashlib.sha256(body).digest())


def is_sealed(record: BatchRecord) -> bool:
    """Tell whether a record's chain digest is that of its other fields."""
    return seal(record).chain == record.chain


def encode_record(record: BatchRecord) -> bytes:
    """Return a ledger record's bytes."""
    return codec.frame(record)


def decode_record(content: bytes) -> BatchRecord:
    """Return a ledger record; DecodeError if the bytes are none."""
    return codec.unframe(BatchRecord, content)[0]


def encode_head(head: Head) -> bytes:
    """Return the head row's bytes."""
    return codec.frame(head)


def digest_head(head: Head) -> bytes:
    """Return the digest of the head row's bytes."""
    return hashlib.sha256(encode_head(head)).digest()


def decode_head(content: bytes) -> Head:
    """Return the head row; DecodeError if the bytes are none."""
    return codec.unframe(Head, content)[0]
