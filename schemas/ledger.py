"""Records by which a ledger proves what it folded: the head row and one record for each batch.

They hold positions and digests only. Event content and output bodies never enter them.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TopicDigest:
    """Outputs of one batch on one topic: their number, and SHA-256 over their prefixed bodies."""

    topic: str
    count: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class TopicCount:
    """Outputs emitted on one topic since the log began."""

    topic: str
    count: int


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """One committed batch over the offsets [first_offset, next_offset).

    `gap_from` is the first missing offset of a gap before first_offset, else first_offset itself.
    `fates` holds one entry per event, in order (an offset without a record has none).
    `chain` is SHA-256 over this record's encoding with an empty
    chain; `previous` is the chain of the batch before it (32 zero bytes for the first).
    """

    batch: int
    gap_from: int
    first_offset: int
    next_offset: int
    fates: tuple[bytes, ...]
    outputs: tuple[TopicDigest, ...]
    row_count: int
    row_set_digest: bytes
    take_overs: int
    core_version: str
    previous: bytes
    chain: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """Where a partition stands: everything before next_offset is folded.

    `record_digest` is the digest of the record at next_offset - 1. `row_set_digest` is the sum
    modulo 2^256 of SHA-256 over every row's length-prefixed key and value, big-endian.
    """

    log_identity: bytes
    next_offset: int
    record_digest: bytes
    batch: int
    chain: bytes
    row_count: int
    row_set_digest: bytes
    take_overs: int
    core_version: str
    store_format: int
    outputs: tuple[TopicCount, ...]
