"""Decoded rows of the users seen lately, bounded in bytes; a cache, never the truth.

Changes are laid into the cached tables at once and stay there, decoded, until ``release`` hands
them over encoded: a row is encoded once per batch however often it changes. After an abort
``drop`` forgets everything, since the rows last seen may never be committed.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from schemas.codec import decode, encode
from schemas.hot_bytes import encode_event_row, encode_seen
from schemas.identity import record_key
from schemas.row import KIND_OF, PARTITION_KINDS, EventRow, OrderRow, Row, SeenRow
from streams.ports import RowReader

R = TypeVar("R")

ROW_FORMAT: Final = b"\x01"
CACHE_BYTES_DEFAULT: Final = 256 * 2**20
_OBJECT_FACTOR: Final = 8  # Measured: a decoded row takes about eight times its encoded bytes.
_OBJECT_BYTES: Final = 400
_KIND_BYTE: Final = {record: bytes((kind,)) for record, kind in KIND_OF.items()}
_PARTITION: Final = b"p"
_PARTITION_SHARE: Final = 4  # At most a quarter of the cache.
_PARTITION_RECORDS: Final = frozenset(
    record for record, kind in KIND_OF.items() if kind in PARTITION_KINDS
)
_NEVER_CACHED: Final = frozenset({SeenRow, OrderRow})  # Looked up once, long ago seen.
_ABSENT: Final = object()


class RowFormatUnknownError(Exception):
    """A row of a format that this build does not read: stop, never wipe (architecture, Rows)."""


def user_prefix(tenant: str, user: str) -> bytes:
    """Return the key prefix of all rows of one user."""
    return b"u" + record_key(tenant, user)


def row_key(prefix: bytes, record: type, row_id: str) -> bytes:
    """Return the key of a row; rows of the partition stand apart from those of users."""
    head = _PARTITION if record in _PARTITION_RECORDS else prefix
    return head + _KIND_BYTE[record] + row_id.encode()


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
    """Rows of one record class of one owner; None stands for a row deleted in this batch.

    ``whole``: no stored row is missing here. ``ordered``: ``rows`` stands in id order.
    ``changed`` holds the ids changed in this batch, with the bytes of an event where known.
    """

    rows: dict[str, Any] = field(default_factory=dict)
    whole: bool = False
    ordered: bool = True
    changed: dict[str, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class _Owner:
    """One user's (or the partition's) tables."""

    prefix: bytes
    tables: dict[type, _Table] = field(default_factory=dict)
    size: int = 0


class UserCache:
    """Bounded decoded rows over a RowReader, with the changes of the open batch in them."""

    def __init__(self, bytes_max: int = CACHE_BYTES_DEFAULT) -> None:
        """Keep at most about ``bytes_max`` bytes of decoded rows."""
        self._bytes_max = bytes_max
        self._bytes = 0
        self._owners: OrderedDict[bytes, _Owner] = OrderedDict()
        self._changed: list[tuple[_Owner, type, _Table]] = []

    def view(self, rows: RowReader, tenant: str, user: str) -> "CachedView":
        """Return the view of one user over these rows."""
        owner = self._owner(user_prefix(tenant, user))
        return CachedView(self, rows, tenant, user, owner, self._owner(_PARTITION))

    def hold(
        self, view: "CachedView", changes: dict[Any, Row | None], event: Any, event_body: bytes
    ) -> None:
        """Lay changes into the tables until they are released; the event's row keeps its bytes."""
        for (record, row_id), row in changes.items():
            owner = view.partition if record in _PARTITION_RECORDS else view.owner
            table = _table(owner, record)
            rows = table.rows
            if table.whole and row_id not in rows:
                table.ordered = not rows or (table.ordered and next(reversed(rows)) < row_id)
            rows[row_id] = row
            if not table.changed:
                self._changed.append((owner, record, table))
            table.changed[row_id] = (
                event_body if isinstance(row, EventRow) and row.event is event else b""
            )

    def release(self) -> list[tuple[bytes, type, str, bytes | None]]:
        """Return every change since the last call as (owner prefix, record, row id, body)."""
        released = []
        for owner, record, table in self._changed:
            keeps = record not in _NEVER_CACHED and (table.whole or record is not EventRow)
            for row_id, event_body in table.changed.items():
                row = table.rows[row_id]
                body = None if row is None else _encode(record, row, event_body)
                released.append((owner.prefix, record, row_id, body))
                if row is None or not keeps:
                    del table.rows[row_id]
                elif body is not None:
                    self._grow(owner, len(body))
            table.changed.clear()
        self._changed.clear()
        self._shrink()
        return released

    def drop(self) -> None:
        """Forget everything, changes too."""
        self._changed.clear()
        self._owners.clear()
        self._bytes = 0

    def note_read(self, owner: _Owner, size: int) -> None:
        """Count a row that a view has read and keeps."""
        self._grow(owner, size)

    def _owner(self, prefix: bytes) -> _Owner:
        owner = self._owners.get(prefix)
        if owner is None:
            owner = self._owners[prefix] = _Owner(prefix)
        else:
            self._owners.move_to_end(prefix)
        return owner

    def _grow(self, owner: _Owner, size: int) -> None:
        weight = _OBJECT_BYTES + _OBJECT_FACTOR * size
        owner.size += weight
        self._bytes += weight

    def _shrink(self) -> None:
        """Let the users seen longest ago go; the partition's rows stay unless they weigh much.

        A row that was replaced or deleted is still counted. Users lose that weight when they go;
        the partition, whose deadlines come and go with every turn, is let go for it now and then.
        """
        partition = self._owners.get(_PARTITION)
        if partition is not None and partition.size * _PARTITION_SHARE > self._bytes_max:
            self._bytes -= self._owners.pop(_PARTITION).size
        elif partition is not None:
            self._owners.move_to_end(_PARTITION)
        while self._bytes > self._bytes_max and len(self._owners) > 1:
            _, owner = self._owners.popitem(last=False)
            self._bytes -= owner.size


def _table(owner: _Owner, record: type) -> _Table:
    table = owner.tables.get(record)
    if table is None:
        table = owner.tables[record] = _Table()
    return table


def _encode(record: type, row: Any, event_body: bytes) -> bytes:
    if record is SeenRow:
        return encode_seen(row)
    if event_body:
        return encode_event_row(row, event_body)
    return encode(row)


@dataclass(slots=True)
class CachedView:
    """The ``processors.view.View`` of one user over cache and rows."""

    cache: UserCache
    rows: RowReader
    tenant: str
    user: str
    owner: _Owner
    partition: _Owner

    def get(self, record: type[R], row_id: str) -> R | None:
        """Return the row of this record class and id, or None."""
        owner = self.partition if record in _PARTITION_RECORDS else self.owner
        table = owner.tables.get(record)
        if table is None:
            table = _table(owner, record)
        row = table.rows.get(row_id, _ABSENT)
        if row is not _ABSENT:
            return row  # type: ignore[no-any-return]
        if table.whole:
            return None
        data = self.rows.get(owner.prefix + _KIND_BYTE[record] + row_id.encode())
        if data is None:
            return None
        found = decode_row(record, data)
        if record not in _NEVER_CACHED and record is not EventRow:
            table.rows[row_id] = found
            self.cache.note_read(owner, len(data))
        return found

    def scan(self, record: type[R], prefix: str = "") -> Sequence[tuple[str, R]]:
        """Return (id, row) of this record class whose id starts with prefix, sorted by id."""
        owner = self.partition if record in _PARTITION_RECORDS else self.owner
        table = _table(owner, record)
        if not table.whole:
            found = self._read(owner, record, prefix)
            found.update((k, v) for k, v in table.rows.items() if k.startswith(prefix))
            if prefix or record in _NEVER_CACHED:
                rows = [item for item in found.items() if item[1] is not None]
                return sorted(rows, key=_id_of)
            table.rows, table.whole, table.ordered = found, True, False
        if not table.ordered:
            table.rows = dict(sorted(table.rows.items(), key=_id_of))
            table.ordered = True
        return [
            item
            for item in table.rows.items()
            if item[1] is not None and item[0].startswith(prefix)
        ]

    def _read(self, owner: _Owner, record: type[R], prefix: str) -> dict[str, Any]:
        base = owner.prefix + _KIND_BYTE[record]
        start, found, size = len(base), {}, 0
        for key, data in self.rows.scan(base + prefix.encode()):
            found[key[start:].decode()] = decode_row(record, data)
            size += len(data) + _OBJECT_BYTES // _OBJECT_FACTOR
        if not prefix:
            self.cache.note_read(owner, size)
        return found


def _id_of(item: tuple[str, Any]) -> str:
    return item[0]
