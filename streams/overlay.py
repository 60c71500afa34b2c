"""The rows as a batch sees them: what it has changed so far, over what is committed.

Nothing reaches the store before the batch is committed as a whole, so dropping an overlay is all
that an abort takes. It also remembers what it read: the rows before the batch, for the row-set
digest.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from streams.ports import RowChange, RowReader
from streams.row_digest import digest_row

_UNREAD: Any = object()
_key_of: Any = itemgetter(0)


class Overlay:
    """Uncommitted rows over a reader of committed ones."""

    def __init__(self, committed: RowReader) -> None:
        """Start without changes."""
        self._committed = committed
        self._before: dict[bytes, bytes | None] = {}
        self._changed: dict[bytes, bytes | None] = {}
        self._order: list[bytes] = []
        self._held_back: Sequence[RowChange] = ()

    def get(self, key: bytes) -> bytes | None:
        """Return the row as of the last folded event."""
        value = self._changed.get(key, _UNREAD)
        return self._get_before(key) if value is _UNREAD else value

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows below prefix in ascending key order, as of the moment of the call."""
        if len(self._order) < len(self._changed):
            self._order = sorted(self._changed)
        pending = list(self._keys_below(prefix))
        return self._merge(prefix, pending)

    def apply(self, changes: Mapping[bytes, bytes | None]) -> None:
        """Take over what one event changed."""
        self._changed.update(changes)

    def finish(self, changes: Sequence[RowChange]) -> None:
        """Take over what the reducer held back, which nobody reads before the batch closes."""
        self._held_back = changes

    def differences(self) -> list[RowChange]:
        """Return every row that differs from the committed one, sorted by key."""
        found = [change for change in self._held_back if change[1] != change[2]]
        for key, value in self._changed.items():
            committed = self._get_before(key)
            before = None if committed is None else digest_row(key, committed)
            after = None if value is None else digest_row(key, value)
            if before != after:
                found.append((key, before, after, value))
        found.sort(key=_key_of)
        return found

    def _get_before(self, key: bytes) -> bytes | None:
        value: bytes | None = self._before.get(key, _UNREAD)
        if value is _UNREAD:
            value = self._before[key] = self._committed.get(key)
        return value

    def _keys_below(self, prefix: bytes) -> Iterator[bytes]:
        for place in range(bisect_left(self._order, prefix), len(self._order)):
            key = self._order[place]
            if not key.startswith(prefix):
                return
            yield key

    def _merge(self, prefix: bytes, pending: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
        changed = {key: self._changed[key] for key in pending}
        place = 0
        for key, value in self._committed.scan(prefix):
            while place < len(pending) and pending[place] < key:
                yield from _existing(pending[place], changed[pending[place]])
                place += 1
            if key not in changed:
                yield key, value
        for key in pending[place:]:
            yield from _existing(key, changed[key])


def _existing(key: bytes, value: bytes | None) -> Iterator[tuple[bytes, bytes]]:
    if value is not None:
        yield key, value
