"""Decoded rows of the users seen lately, bounded in bytes; a cache, never the truth.

Changes are laid into the cached tables at once and stay there, decoded, until ``release`` hands
them over encoded: a row is encoded once per batch however often it changes. After an abort
``drop`` forgets everything, since the rows last seen may never be committed. Beside a row stands
the digest of its committed bytes, so that replacing it reads and hashes nothing old.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final, TypeVar

from processors.view import Rows
from schemas.codec import encode
from schemas.hot_bytes import encode_event_row, encode_seen
from schemas.identity import record_key
from schemas.row import KIND_OF, EventRow, OrderRow, Row, SeenRow
from streams.ports import RowChange, RowReader
from streams.row_digest import digest_committed, digest_row
from streams.row_layout import PARTITION, PARTITION_RECORDS, ROW_FORMAT, decode_row, row_key

R = TypeVar("R")

CACHE_BYTES_DEFAULT: Final = 256 * 2**20
_OBJECT_FACTOR: Final = 8  # Measured: a decoded row takes about eight times its encoded bytes.
_OBJECT_BYTES: Final = 50  # Of a row before that factor,
_TABLE_BYTES: Final = 40  # of a table,
_OWNER_BYTES: Final = 130  # and of a user.
_PARTITION_SHARE: Final = 4  # At most a quarter of the cache.
_NEVER_CACHED: Final = frozenset({SeenRow, OrderRow})  # Looked up once, long ago seen.
_ABSENT: Final = object()


@dataclass(slots=True)
class _Table:
    """Rows of one record class of one owner; None stands for a row deleted in this batch.

    ``base`` is the key of a row with id "". ``whole``: no stored row is missing here. ``listed``:
    all of them by id, as long as rows only came behind the last. ``changed`` holds the ids changed
    in this batch: with bytes where the row is known to be new, those of the event if it is an
    event's own; ``digests`` those of committed rows.
    """

    record: type
    base: bytes
    owner: "CachedView"
    rows: dict[str, Any] = field(default_factory=dict)
    whole: bool = False
    listed: Rows[Any] | None = None
    changed: dict[str, bytes | None] = field(default_factory=dict)
    digests: dict[str, int] = field(default_factory=dict)

    def extend(self, row_id: str, row: Any) -> None:
        """List one more row behind the last, or forget the list."""
        listed = self.listed
        assert listed is not None, "there is a list to extend"
        if row is None or row_id in self.rows or (listed and row_id < listed[-1][0]):
            self.listed = None
        else:
            listed.append((row_id, row))

    def forget(self) -> None:
        """Hold nothing any more; what is changed must have been released."""
        self.rows, self.whole, self.listed = {}, False, None
        self.digests.clear()


Released = list[tuple[type, list[RowChange]]]
"""Changed rows of one class and owner at a time, in the order in which they first changed."""


class UserCache:
    """Bounded decoded rows over a RowReader, with the changes of the open batch in them."""

    def __init__(self, bytes_max: int = CACHE_BYTES_DEFAULT) -> None:
        """Keep at most about ``bytes_max`` bytes of decoded rows."""
        self._bytes_max = bytes_max
        self._changed: list[_Table] = []
        self._owners: OrderedDict[bytes, CachedView] = OrderedDict()
        self.drop()

    def view(
        self, rows: RowReader, tenant: str, user: str, key: bytes | None = None
    ) -> "CachedView":
        """Return the view of one user over these rows, which stand under ``key`` if given.

        It is good until the next call.
        """
        self.rows = rows
        if key is None:
            key = record_key(tenant, user)
        owner = self._owners.get(key)
        if owner is None:
            # The tables of the partition are everybody's.
            tables = dict(self._partition.tables)
            owner = self._owners[key] = CachedView(self, tenant, user, b"u" + key, tables)
            self.grow(owner, _OWNER_BYTES)
        else:
            self._owners.move_to_end(key)
            owner.tenant, owner.user = tenant, user
        return owner

    def hold(
        self, view: "CachedView", changes: dict[Any, Row | None], event: Any, event_body: bytes
    ) -> None:
        """Lay changes into the tables until they are released; the event's row keeps its bytes."""
        tables = view.tables
        for (record, row_id), row in changes.items():
            table = tables.get(record) or view.add_table(record)
            rows, changed = table.rows, table.changed
            if table.listed is not None:
                table.extend(row_id, row)
            rows[row_id] = row
            if not changed:
                self._changed.append(table)
            if record is EventRow and isinstance(row, EventRow) and row.event is event:
                changed[row_id] = event_body  # A seq is taken once.
            elif record is SeenRow and row_id == view.missed:
                changed[row_id], view.missed = b"", None
            else:
                changed[row_id] = None

    def release(self) -> Released:
        """Return every change since the last call."""
        released = [(table.record, self._release(table)) for table in self._changed]
        self._changed.clear()
        self._shrink()
        return released

    def _release(self, table: _Table) -> list[RowChange]:
        record, base, rows, digests = table.record, table.base, table.rows, table.digests
        found: list[RowChange] = []
        keeps = record not in _NEVER_CACHED and (table.whole or record is not EventRow)
        encode_row: Callable[[Any], bytes] = encode_seen if record is SeenRow else encode
        size = 0
        for row_id, event_body in table.changed.items():
            row, key = rows[row_id], base + row_id.encode()
            if event_body is not None:
                before = None
            elif row_id in digests:
                before = digests[row_id]
            else:
                before = digest_committed(self.rows, key)
            if row is None:
                found.append((key, before, None, None))
                digests.pop(row_id, None)
                del rows[row_id]
                continue
            body = encode_event_row(row, event_body) if event_body else encode_row(row)
            value = ROW_FORMAT + body
            after = digest_row(key, value)
            found.append((key, before, after, value))
            if keeps:
                digests[row_id] = after
                size += len(value) + _OBJECT_BYTES
            else:
                del rows[row_id]
        table.changed.clear()
        if size:
            self.grow(table.owner, size)
        return found

    def drop(self) -> None:
        """Forget everything, changes too."""
        for owner in self._owners.values():
            owner.tables.clear()
        self._owners.clear()
        self._changed.clear()
        self._bytes = 0
        self._partition = CachedView(self, "", "", PARTITION, {})
        for record in sorted(PARTITION_RECORDS, key=KIND_OF.__getitem__):
            self._partition.add_table(record)

    def grow(self, owner: "CachedView", size: int) -> None:
        """Count the bytes of what is kept."""
        weight = _OBJECT_FACTOR * size
        owner.size += weight
        self._bytes += weight

    def _shrink(self) -> None:
        """Let the users seen longest ago go; the partition's rows stay unless they weigh much.

        A row that was replaced or deleted is still counted. Users lose that weight when they go;
        the partition, whose deadlines come and go with every turn, is let go for it now and then.
        """
        partition = self._partition
        if partition.size * _PARTITION_SHARE > self._bytes_max:
            for table in partition.tables.values():
                table.forget()
            self._bytes -= partition.size
            partition.size = 0
        while self._bytes > self._bytes_max and self._owners:
            _, owner = self._owners.popitem(last=False)
            self._bytes -= owner.size
            owner.tables.clear()  # They name their owner: together they would be cyclic garbage.


@dataclass(slots=True)
class CachedView:
    """One user's tables, and the partition's: the ``processors.view.View`` over cache and rows.

    ``missed`` is the event id that was asked for last and was not there: its row will be new.
    """

    cache: UserCache
    tenant: str
    user: str
    prefix: bytes
    tables: dict[type, _Table]
    size: int = 0
    missed: str | None = None

    def add_table(self, record: type) -> _Table:
        """Return a new table of this owner."""
        table = self.tables[record] = _Table(record, row_key(self.prefix, record, ""), self)
        self.cache.grow(self, _TABLE_BYTES)
        return table

    def get(self, record: type[R], row_id: str) -> R | None:
        """Return the row of this record class and id, or None."""
        table = self.tables.get(record)
        if table is not None:
            row = table.rows.get(row_id, _ABSENT)
            if row is not _ABSENT:
                return row  # type: ignore[no-any-return]
            if table.whole:
                return None
        return self._find(record, row_id)  # type: ignore[no-any-return]

    def scan(self, record: type[R], prefix: str = "") -> Sequence[tuple[str, R]]:
        """Return (id, row) of this record class whose id starts with prefix, sorted by id."""
        table = self.tables.get(record) or self.add_table(record)
        if not table.whole:
            found = self._read(table, prefix)
            found.update((k, v) for k, v in table.rows.items() if k.startswith(prefix))
            if prefix or record in _NEVER_CACHED:
                return _list_rows(found)
            table.rows, table.whole = found, True
        if table.listed is None:
            table.listed = _list_rows(table.rows)
        if prefix:
            return [item for item in table.listed if item[0].startswith(prefix)]
        return table.listed

    def _find(self, record: type, row_id: str) -> Any:
        key = row_key(self.prefix, record, row_id)
        data = self.cache.rows.get(key)
        if data is None:
            if record is SeenRow:
                self.missed = row_id
            return None
        found: Any = decode_row(record, data)
        if record not in _NEVER_CACHED and record is not EventRow:
            table = self.tables.get(record) or self.add_table(record)
            table.rows[row_id] = found
            table.digests[row_id] = digest_row(key, data)
            self.cache.grow(table.owner, len(data) + _OBJECT_BYTES)
        return found

    def _read(self, table: _Table, prefix: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        start, size = len(table.base), 0
        for key, data in self.cache.rows.scan(table.base + prefix.encode()):
            found[key[start:].decode()] = decode_row(table.record, data)
            size += len(data) + _OBJECT_BYTES
        if not prefix:
            self.cache.grow(table.owner, size)
        return found


def _list_rows(rows: dict[str, Any]) -> Rows[Any]:
    return Rows(sorted([item for item in rows.items() if item[1] is not None], key=itemgetter(0)))
