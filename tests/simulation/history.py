"""A fixed history of events and, written apart from the ledger, all that must come of it.

What counts is computed here in the plainest way; nothing of streams/ is used for it.
"""

import hashlib
from dataclasses import dataclass

from streams.ports import NewRecord

RAISING_EVERY = 97
"""Few enough that no run reaches the bound of halts within a minute."""


def make_event(number: int) -> NewRecord:
    """Return event number; every value is unique except those that make the core raise."""
    key = b"user-%d" % (number * 7919 % 13)
    if number % RAISING_EVERY == RAISING_EVERY - 1:
        return NewRecord(key, b"raise")
    headers = (("origin", b"%d" % number),) if number % 5 == 0 else ()
    return NewRecord(key, b"event %d " % number + b"." * (number * 37 % 150), headers)


@dataclass(frozen=True)
class Expected:
    """All rows and outputs that the first events of the history lead to."""

    rows: dict[bytes, bytes]
    counts: list[tuple[bytes, bytes]]
    rejections: list[tuple[bytes, bytes]]
    row_set_digest: bytes


def expect(events: int) -> Expected:
    """Return what the counting reducer must have made of events 0 to events - 1."""
    totals: dict[bytes, int] = {}
    counts, rejections = [], []
    for number in range(events):
        key, value, _ = make_event(number)
        assert key is not None
        assert value is not None
        if value == b"raise":
            rejections.append((key, b"RuntimeError"))
            continue
        totals[key] = totals.get(key, 0) + 1
        counts.append((key, b"%d %b" % (totals[key], value)))
    rows = {key: b"%d" % total for key, total in totals.items()}
    return Expected(rows, counts, rejections, sum_digests(rows))


def sum_digests(rows: dict[bytes, bytes]) -> bytes:
    """Return the sum modulo 2^256 of SHA-256 over each row's length-prefixed key and value."""
    total = 0
    for key, value in rows.items():
        row = hashlib.sha256()
        for part in (key, value):
            row.update(len(part).to_bytes(4, "big"))
            row.update(part)
        total += int.from_bytes(row.digest(), "big")
    return (total % 2**256).to_bytes(32, "big")
