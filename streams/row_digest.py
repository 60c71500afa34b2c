"""The digest of a set of rows, kept incrementally: order never matters, every byte does.

The sum modulo 2^256 of SHA-256 over each row's length-prefixed key and value: adding and removing a
row costs one hash each, whatever the number of rows. Nothing here reads a store.
"""

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from streams.ports import RowChange, RowReader

DIGEST_BYTES: Final = 32
_prefix: Final = struct.Struct(">I").pack
_MODULUS: Final = 1 << (8 * DIGEST_BYTES)


def digest_row(key: bytes, value: bytes) -> int:
    """Return one row's part of the sum."""
    prefixed = b"".join((_prefix(len(key)), key, _prefix(len(value)), value))
    return int.from_bytes(hashlib.sha256(prefixed).digest(), "big")


def digest_committed(rows: RowReader, key: bytes) -> int | None:
    """Return the part of the row that stands under this key, None for no row."""
    value = rows.get(key)
    return None if value is None else digest_row(key, value)


@dataclass(frozen=True, slots=True)
class RowSet:
    """How many rows a set has, and the sum of their digests."""

    count: int
    total: int

    @property
    def digest(self) -> bytes:
        """Return the sum as 32 bytes, big-endian."""
        return self.total.to_bytes(DIGEST_BYTES, "big")

    def replace(self, changes: Sequence[RowChange]) -> "RowSet":
        """Return the set after these changes."""
        befores, afters = [one[1] for one in changes], [one[2] for one in changes]
        more = befores.count(None) - afters.count(None)
        total = self.total + sum(filter(None, afters)) - sum(filter(None, befores))
        return RowSet(self.count + more, total % _MODULUS)


EMPTY: Final = RowSet(0, 0)


def parse_row_set(*, count: int, digest: bytes) -> RowSet:
    """Return the set that a head row states."""
    return RowSet(count, int.from_bytes(digest, "big"))


def sum_rows(rows: Iterable[tuple[bytes, bytes]]) -> RowSet:
    """Return the set of all these rows; keys must be distinct."""
    count = total = 0
    for key, value in rows:
        count += 1
        total += digest_row(key, value)
    return RowSet(count, total % _MODULUS)
