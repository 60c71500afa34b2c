"""Rows under the keys of their users: what an encrypted log puts on the compacted topics of Kafka.

A compacted topic keeps what was superseded for hours, and a worker's copy of it for longer, so
neither may say a word in the clear. The key of a row ends with keyed digests of its id, which are
never renewed; its value is ciphertext. Erasing a user renews the key of the user's rows as the
completion is folded; nobody needs the old one any more then (spec 7.5).
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from schemas.codec import frame, unframe
from schemas.control import ErasureCompleted
from schemas.event import Event
from schemas.identity import prefix_lengths
from schemas.row import PARTITION_KINDS, DeadlineRow, Kind, UserHead
from schemas.sealed import SealedOutput
from schemas.topics import CONTRACTS, STATES
from streams.core_reducer import CoreReducer
from streams.failures import StoreDamagedError
from streams.opening import Opener
from streams.ports import Finished, Folded, LogRecord, RowChange, RowReader
from streams.row_digest import digest_committed, digest_row
from streams.row_layout import decode_row, row_key
from streams.sealing import ROWS, Erased, SealedOpener

SEQ_DIGITS: Final = 16
PART_BYTES: Final = 16
_TABLES: Final = frozenset({CONTRACTS.name, STATES.name})
_CLEAR: Final = frozenset(
    b"p" + bytes((kind,)) for kind in PARTITION_KINDS if kind is not Kind.DEADLINE
)
"""Rows of control records, which name no user."""
_DEADLINE: Final = b"p" + bytes((Kind.DEADLINE,))
_BY_SEQ: Final = frozenset(
    {Kind.EVENT, Kind.ORDER, Kind.TEXTS, Kind.STATEMENT, Kind.CONSEQUENCE, Kind.DEADLINE}
)
"""Kinds whose ids begin with a number of sixteen digits, which says nothing and stays as it is."""


def name_rows(keys: Any, pseudonym: bytes, receipt: str = "") -> bytes:
    """Return the reference of the key of a user's rows since the erasure with this receipt."""
    reference: bytes = keys.name_key(pseudonym, (ROWS, receipt) if receipt else (ROWS,))
    return reference


class SealedRows:
    """Rows as the reducer knows them, over rows as they are stored; a ``RowReader``."""

    def __init__(self, stored: RowReader, opener: SealedOpener) -> None:
        """Read through to these stored rows."""
        self.stored = stored
        self._keys = opener.keys

    def get(self, key: bytes) -> bytes | None:
        """Return the row's value in the clear, or None."""
        sealed = self.hide(key)
        value = self.stored.get(sealed)
        return value if value is None or sealed == key else self._open(sealed, value)[1]

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows below a prefix, which names at least owner and kind, by ascending key."""
        if prefix[:2] in _CLEAR:
            yield from self.stored.scan(prefix)
            return
        base, row_id = split_key(prefix)
        found = self.stored.scan(base + self._narrow(base, row_id))
        # Deadlines are read in order of time, and seldom to the end; the rest is read whole.
        end = len(base) + (SEQ_DIGITS if base == _DEADLINE else 0)
        for _, rows in groupby(found, lambda row: row[0][:end]):
            opened = sorted(self._reveal(base, *row) for row in rows)
            yield from (row for row in opened if row[0].startswith(prefix))

    def hide(self, key: bytes) -> bytes:
        """Return the key under which a row is stored."""
        if key[:2] in _CLEAR:
            return key
        base, row_id = split_key(key)
        return base + self._name_first(base, row_id) + self._digest(base, row_id)

    def seal(self, key: bytes, value: bytes, reference: bytes) -> bytes:
        """Return a row's value under the data key of this reference."""
        base, row_id = split_key(key)
        tenant, pseudonym = self._owner_of(base, value)
        found = self._keys.obtain(reference, tenant=tenant, pseudonym=pseudonym)
        if isinstance(found, Erased):
            raise StoreDamagedError(
                "the key of a user's rows has a receipt: it is renewed, not erased"
            )
        content = len(row_id).to_bytes(2, "big") + row_id + value
        bound = (tenant.encode(), reference, self.hide(key))
        return frame(SealedOutput(tenant, reference, self._keys.encrypt(found, content, bound)))

    def find_reference(self, key: bytes, value: bytes) -> bytes:
        """Return the key to seal a row under: that of its user's head row, or the first."""
        base, _ = split_key(key)
        tenant, pseudonym = self._owner_of(base, value)
        owner = b"u" + prefix_lengths(tenant.encode(), pseudonym)
        stored = self.stored.get(self.hide(row_key(owner, UserHead, "")))
        if stored is None:
            return name_rows(self._keys, pseudonym)
        return unframe(SealedOutput, stored)[0].reference

    def _owner_of(self, base: bytes, value: bytes) -> tuple[str, bytes]:
        if base == _DEADLINE:
            row = decode_row(DeadlineRow, value)
            return row.tenant, self._keys.name_user(row.tenant, row.user)
        return split_owner(base)

    def _reveal(self, base: bytes, sealed: bytes, value: bytes) -> tuple[bytes, bytes]:
        row_id, content = self._open(sealed, value)
        return base + row_id, content

    def _open(self, sealed: bytes, value: bytes) -> tuple[bytes, bytes]:
        row, _ = unframe(SealedOutput, value)
        key = self._keys.find(row.reference)
        content = None
        if not isinstance(key, Erased):
            bound = (row.tenant.encode(), row.reference, sealed)
            content = self._keys.decrypt(key, row.sealed, bound)
        if content is None:
            raise StoreDamagedError("a sealed row does not open under the key that it names")
        end = 2 + int.from_bytes(content[:2], "big")
        return content[2:end], content[end:]

    def _narrow(self, base: bytes, prefix: bytes) -> bytes:
        """Return the stored form of as much of an id's beginning as can be told."""
        if b"\0" in prefix or (base[-1] in _BY_SEQ and len(prefix) >= SEQ_DIGITS):
            return self._name_first(base, prefix)
        return b""

    def _name_first(self, base: bytes, row_id: bytes) -> bytes:
        """Return the beginning of a stored id: a seq as it is, other first parts as digests."""
        if base[-1] in _BY_SEQ:
            return row_id[:SEQ_DIGITS]
        return self._digest(base, row_id.partition(b"\0")[0])

    def _digest(self, base: bytes, text: bytes) -> bytes:
        return self._keys.name_key(base, (ROWS, text.hex()))[:PART_BYTES]


def open_rows(opener: Opener, stored: RowReader) -> RowReader:
    """Return stored rows as the core knows them: those of an encrypted log are opened."""
    return SealedRows(stored, opener) if isinstance(opener, SealedOpener) else stored


class SealedRowsReducer(CoreReducer):
    """The core over sealed rows; its rows are of a format of their own, which its name tells."""

    version = CoreReducer.version + "-sealed"

    def __init__(self, *, opener: Opener | None = None, **settings: Any) -> None:
        """Seal rows with the keys of the opener, a ``SealedOpener``; the rest as CoreReducer."""
        assert isinstance(opener, SealedOpener), "rows in the clear have their own reducer"
        super().__init__(opener=opener, **settings)
        self._sealer = opener
        self._rows: SealedRows | None = None
        self._renewed: dict[bytes, bytes] = {}

    def reset(self) -> None:
        """Drop every cache and every row held back."""
        super().reset()
        self._renewed.clear()

    def fold(self, rows: RowReader, record: LogRecord) -> Folded:
        """Fold one record over stored rows; see CoreReducer."""
        return super().fold(self._read(rows), record)

    def fault(self, rows: RowReader, record: LogRecord, error: Exception) -> Folded:
        """Reject the record whose fold raised; see CoreReducer."""
        return super().fault(self._read(rows), record, error)

    def gap(self, rows: RowReader, *, missing_from: int, next_offset: int) -> Folded:
        """Mark every user of the partition as history_incomplete; see CoreReducer."""
        return super().gap(self._read(rows), missing_from=missing_from, next_offset=next_offset)

    def finish(self) -> Finished:
        """Return the rows held back, sealed, and their public copies under the same names."""
        finished = super().finish()
        rows = self._rows
        if rows is None:
            return finished
        changes = [self._seal(rows, change) for change in finished.changes]
        outputs = tuple(
            output._replace(key=rows.hide(b"u" + output.key)[1:])
            if output.topic in _TABLES
            else output
            for output in finished.outputs
        )
        self._renewed.clear()
        return Finished(changes, outputs)

    def _read(self, rows: RowReader) -> SealedRows:
        if self._rows is None or self._rows.stored is not rows:
            self._rows = SealedRows(rows, self._sealer)
        return self._rows

    def _seal(self, rows: SealedRows, change: RowChange) -> RowChange:
        key, before, _, value = change
        hidden = rows.hide(key)
        if hidden == key:
            return change
        # Of the row in the clear the digest is known, but not what it was sealed to.
        committed = None if before is None else digest_committed(rows.stored, hidden)
        if value is None:
            return hidden, committed, None, None
        renewed = self._renewed.get(split_key(key)[0][:-1])
        reference = rows.find_reference(key, value) if renewed is None else renewed
        sealed = rows.seal(key, value, reference)
        return hidden, committed, digest_row(hidden, sealed), sealed

    def _seal_row(self, key: bytes, value: bytes | None) -> bytes | None:
        """Return a row's public copy, under the key of its user's rows."""
        rows = self._rows
        if value is None or rows is None:
            return value
        tenant, pseudonym = split_owner(split_key(key)[0])
        reference = rows.find_reference(key, value)
        found = self._sealer.keys.obtain(reference, tenant=tenant, pseudonym=pseudonym)
        if isinstance(found, Erased):
            return None
        bound = (tenant.encode(), reference)
        return frame(
            SealedOutput(tenant, reference, self._sealer.keys.encrypt(found, value, bound))
        )

    def _purge(self, rows: RowReader, event: Event) -> None:
        """Leave nothing of a user whose erasure is complete, and what is kept under a new key."""
        super()._purge(rows, event)
        payload = event.payload
        if isinstance(payload, ErasureCompleted) and not payload.event_ids:
            pseudonym = self._sealer.pseudonym_of(payload.tenant, payload.user)
            owner = b"u" + prefix_lengths(payload.tenant.encode(), pseudonym)
            self._renewed[owner] = name_rows(self._sealer.keys, pseudonym, payload.receipt)


def split_key(key: bytes) -> tuple[bytes, bytes]:
    """Return owner and kind of a row key, and the id behind them."""
    if key[:1] == b"p":
        return key[:2], key[2:]
    end = 1
    for _ in range(2):
        end += 4 + int.from_bytes(key[end : end + 4], "big")
    return key[: end + 1], key[end + 1 :]


def split_owner(base: bytes) -> tuple[str, bytes]:
    """Return tenant and pseudonym of the owner whom a user's row key begins with."""
    at = 5 + int.from_bytes(base[1:5], "big")
    return base[5:at].decode(), base[at + 4 : -1]
