"""Avro bodies of the three records that every single event writes, put together by hand.

An event's own row, its id and its fate are most of what folding encodes; the library's call
alone costs more than their content. ``codec.encode`` gives the same bytes, which a test proves.
"""

from functools import lru_cache
from typing import Final

from schemas.fate import Fate, FateStatus
from schemas.record_writing import encode_long
from schemas.row import EventRow, SeenRow

_DIGEST_BYTES: Final = 32
_DIGEST_LENGTH: Final = b"\x40"  # 32 as an Avro long.
_STATUS: Final = FateStatus.ACCEPTED
_ACCEPTED: Final = b"\x02\x02"  # Enum symbol 1; union branch 1 of seq.
_NOTHING_MORE: Final = b"\x00\x00\x00"  # No reason, no detail, not ignored.


def encode_event_row(row: EventRow, event_body: bytes) -> bytes:
    """Return the body of an EventRow: digest and effective time, then the event's own bytes."""
    assert len(row.digest) == _DIGEST_BYTES
    return b"".join((_DIGEST_LENGTH, row.digest, encode_long(row.effective_ms), event_body))


def encode_seen(row: SeenRow) -> bytes:
    """Return the body of a SeenRow."""
    assert len(row.digest) == _DIGEST_BYTES
    return b"".join(
        (_DIGEST_LENGTH, row.digest, encode_long(row.seq), encode_long(row.effective_ms))
    )


def encode_accepted(fate: Fate) -> bytes | None:
    """Return the body of an accepted fate; None when it says more than its seq and a detail."""
    seq = fate.seq
    if fate.status is not _STATUS or seq is None:
        return None
    if fate.reason is not None or fate.ignored:
        return None
    if fate.detail:
        detail = fate.detail.encode()
        length = encode_long(len(detail))
        return b"".join((_ACCEPTED, encode_long(seq), b"\0", length, detail, b"\0"))
    return _encode_plain(seq)


@lru_cache(maxsize=4_096)
def _encode_plain(seq: int) -> bytes:
    return _ACCEPTED + encode_long(seq) + _NOTHING_MORE
