"""Decoded rows of the users seen lately, bounded in bytes; a cache, never the truth.

Rows changed since the last commit ("held") are kept until ``release`` hands them over encoded,
so a row is encoded once per batch however often it changes. ``drop`` forgets everything.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from schemas.codec import decode, encode
from schemas.hot_bytes import encode_event_row, encode_seen
from schemas.identity import prefix_lengths
from schemas.row import KIND_OF, PARTITION_KINDS, EventRow, OrderRow, Row, SeenRow
from streams.failures import LedgerBroken
from streams.ports import RowReader

R = TypeVar("R")

ROW_FORMAT: Final = b"\x01"
CACHE_BYTES_DEFAULT: Final = 256 * 2**20
_OBJECT_FACTOR: Final = 8  # Measured: a decoded row takes about eight times its encoded bytes.
_OBJECT_BYTES: Final = 400
_PARTITION_RECORDS: Final = frozenset(
    record for record, kind in KIND_OF.items() if kind in PARTITION_KINDS
)
_KIND_BYTE: Final = {record: bytes((kind,)) for record, kind in KIND_OF.items()}
_NEVER_CACHED: Final = frozenset({SeenRow, OrderRow})  # Looked up once, long ago seen.


class RowFormatUnknownError(LedgerBroken):
    """A row of a format that this build does not read: stop, never wipe (architecture, Rows)."""


def user_prefix(tenant: str, user: str) -> bytes:
    """Return the key prefix of all rows of one user."""
    return b"u" + prefix_lengths(tenant.encode(), user.encode())


def row_key(prefix: bytes, record: type, row_id: str) -> bytes:
    """Return the key of a row; rows of the partition stand apart from those of users."""
    return _owner(prefix, record) + _KIND_BYTE[record] + row_id.encode()


def decode_row(record: type[R], data: bytes) -> R:
    """Return the row of stored bytes.

    Raises:
        RowFormatUnknownError: the format byte is not one that this build reads.

    """
    if data[:1] != ROW_FORMAT:
        raise RowFormatUnknownError(f"{record.__name__}: row format {data[:1].hex()}")
    return decode(record, data[1:])


@dataclass(slots=True)
class _Table:
    """The cached rows of one record class of one owner; ``whole``: none is missing."""

    rows: dict[str, Any] = field(default_factory=dict)
    whole: bool = False
    ordered: bool = True


@dataclass(slots=True)
class _Owner:
    """One user's (or the partition's) cached tables."""

    tables: dict[type, _Table] = field(default_factory=dict)
    size: int = 0


class UserCache:
    """Bounded decoded rows over a RowReader, with the changes of the open batch on top."""

    def __init__(self, bytes_max: int = CACHE_BYTES_DEFAULT) -> None:
        """Keep at most about ``bytes_max`` bytes of decoded rows."""
        self._bytes_max = bytes_max
        self._bytes = 0
        self._owners: OrderedDict[bytes, _Owner] = OrderedDict()
        self._held: dict[tuple[bytes, type], dict[str, Any]] = {}
        self._bodies: dict[tuple[bytes, str], bytes] = {}

    def view(self, rows: RowReader, tenant: str, user: str) -> "CachedView":
        """Return the view of one user over these rows."""
        return CachedView(self, rows, tenant, user)

    def hold(
        self, prefix: bytes, changes: dict[tuple[type, str], Row | None], event_body: bytes = b""
    ) -> None:
        """Lay changes over the rows until they are released; an EventRow keeps its own bytes."""
        for (record, row_id), row in changes.items():
            owner = b"p" if record in _PARTITION_RECORDS else prefix
            self._held.setdefault((owner, record), {})[row_id] = row
            if record is EventRow and row is not None and event_body:
                assert isinstance(row, EventRow)
                self._bodies[owner, row_id] = encode_event_row(row, event_body)

    def release(self) -> list[tuple[bytes, type, str, bytes | None]]:
        """Return every held change as (owner prefix, record, row id, body), and cache it."""
        released = []
        for (owner_key, record), changes in self._held.items():
            for row_id, row in changes.items():
                body = self._encode(owner_key, record, row_id, row)
                released.append((owner_key, record, row_id, body))
                self._keep(owner_key, record, row_id, row, 0 if body is None else len(body))
        self._held.clear()
        self._bodies.clear()
        self._shrink()
        return released

    def _encode(self, owner_key: bytes, record: type, row_id: str, row: Any) -> bytes | None:
        if row is None:
            return None
        if record is SeenRow:
            return encode_seen(row)
        if record is EventRow:
            return self._bodies.get((owner_key, row_id)) or encode(row)
        return encode(row)

    def drop(self) -> None:
        """Forget everything, held changes too."""
        self._held.clear()
        self._bodies.clear()
        self._owners.clear()
        self._bytes = 0

    def get(self, rows: RowReader, prefix: bytes, record: type[R], row_id: str) -> R | None:
        """Return a row: held, cached or read."""
        owner_key = _owner(prefix, record)
        held = self._held.get((owner_key, record))
        if held is not None and row_id in held:
            return held[row_id]  # type: ignore[no-any-return]
        owner = self._owners.get(owner_key)
        if owner is not None:
            table = owner.tables.get(record)
            if table is not None and (row_id in table.rows or table.whole):
                return table.rows.get(row_id)
        data = rows.get(row_key(prefix, record, row_id))
        if data is None:
            return None
        row = decode_row(record, data)
        self._keep(owner_key, record, row_id, row, len(data))
        return row

    def scan(
        self, rows: RowReader, prefix: bytes, record: type[R], id_prefix: str
    ) -> Sequence[tuple[str, R]]:
        """Return the rows whose id starts with ``id_prefix``, sorted by id."""
        owner_key = _owner(prefix, record)
        table = self._table(owner_key, record)
        if not table.whole and not id_prefix:
            self._load(rows, owner_key, record, table)
        if table.whole:
            found = self._ordered(table, id_prefix)
        else:
            found = self._read(rows, owner_key, record, id_prefix)
        held = self._held.get((owner_key, record))
        if not held:
            return found
        merged = dict(found)
        merged.update((k, row) for k, row in held.items() if k.startswith(id_prefix))
        return sorted(
            ((k, row) for k, row in merged.items() if row is not None), key=lambda item: item[0]
        )

    def _ordered(self, table: _Table, id_prefix: str) -> list[tuple[str, Any]]:
        if not table.ordered:
            table.rows = dict(sorted(table.rows.items()))
            table.ordered = True
        if not id_prefix:
            return list(table.rows.items())
        return [item for item in table.rows.items() if item[0].startswith(id_prefix)]

    def _read(
        self, rows: RowReader, owner_key: bytes, record: type, id_prefix: str
    ) -> list[tuple[str, Any]]:
        base = row_key(owner_key, record, "")
        start = len(base)
        return [
            (key[start:].decode(), decode_row(record, data))
            for key, data in rows.scan(base + id_prefix.encode())
        ]

    def _load(self, rows: RowReader, owner_key: bytes, record: type, table: _Table) -> None:
        base = row_key(owner_key, record, "")
        start = len(base)
        size = 0
        known = table.rows
        table.rows = {}
        for key, data in rows.scan(base):
            row_id = key[start:].decode()
            row = known.get(row_id)
            table.rows[row_id] = decode_row(record, data) if row is None else row
            size += _OBJECT_BYTES + _OBJECT_FACTOR * len(data)
        table.whole, table.ordered = True, True
        self._grow(owner_key, size)

    def _table(self, owner_key: bytes, record: type) -> _Table:
        owner = self._owners.get(owner_key)
        if owner is None:
            owner = self._owners[owner_key] = _Owner()
        else:
            self._owners.move_to_end(owner_key)
        return owner.tables.setdefault(record, _Table())

    def _keep(self, owner_key: bytes, record: type, row_id: str, row: Any, size: int) -> None:
        if record in _NEVER_CACHED:
            return
        table = self._table(owner_key, record)
        if row is None:
            table.rows.pop(row_id, None)
            return
        if record is EventRow and not table.whole:
            return  # An observation alone never loads or keeps a user's units.
        if row_id not in table.rows:
            if table.rows and row_id < next(reversed(table.rows)):
                table.ordered = False
            self._grow(owner_key, _OBJECT_BYTES + _OBJECT_FACTOR * size)
        table.rows[row_id] = row

    def _grow(self, owner_key: bytes, size: int) -> None:
        self._owners[owner_key].size += size
        self._bytes += size

    def _shrink(self) -> None:
        while self._bytes > self._bytes_max and len(self._owners) > 1:
            _, owner = self._owners.popitem(last=False)
            self._bytes -= owner.size


def _owner(prefix: bytes, record: type) -> bytes:
    return b"p" if record in _PARTITION_RECORDS else prefix


@dataclass(frozen=True, slots=True)
class CachedView:
    """The ``processors.view.View`` of one user over cache and rows."""

    cache: UserCache
    rows: RowReader
    tenant: str
    user: str
    prefix: bytes = b""

    def __post_init__(self) -> None:
        """Build the key prefix once."""
        object.__setattr__(self, "prefix", user_prefix(self.tenant, self.user))

    def get(self, record: type[R], row_id: str) -> R | None:
        """Return the row of this record class and id, or None."""
        return self.cache.get(self.rows, self.prefix, record, row_id)

    def scan(self, record: type[R], prefix: str = "") -> Sequence[tuple[str, R]]:
        """Return (id, row) of this record class whose id starts with prefix, sorted by id."""
        return self.cache.scan(self.rows, self.prefix, record, prefix)
