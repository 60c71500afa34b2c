"""The rows as a batch sees them: what it has changed so far, over what is committed.

Nothing reaches the store before the batch is committed as a whole, so dropping an overlay is all
that an abort takes. It also remembers what it read: the values before the batch, for the row-set
digest.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from streams.ports import RowReader


class Overlay:
    """Uncommitted rows over a reader of committed ones."""

    def __init__(self, committed: RowReader) -> None:
        """Start without changes."""
        self._committed = committed
        self._before: dict[bytes, bytes | None] = {}
        self._changed: dict[bytes, bytes | None] = {}
        self._order: list[bytes] = []

    def get(self, key: bytes) -> bytes | None:
        """Return the row as of the last folded event."""
        if key in self._changed:
            return self._changed[key]
        return self._get_before(key)

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows below prefix in ascending key order, as of the moment of the call."""
        if len(self._order) < len(self._changed):
            self._order = sorted(self._changed)
        pending = list(self._keys_below(prefix))
        return self._merge(prefix, pending)

    def apply(self, changes: Mapping[bytes, bytes | None]) -> None:
        """Take over what one event changed."""
        self._changed.update(changes)

    def mark_fresh(self, keys: Sequence[bytes]) -> None:
        """Take it as known that no row of these keys is committed."""
        for key in keys:
            self._before.setdefault(key, None)

    def differences(self) -> list[tuple[bytes, bytes | None, bytes | None]]:
        """Return (key, committed value, new value) of every row that differs, sorted by key."""
        found = []
        for key in sorted(self._changed):
            after = self._changed[key]
            before = self._get_before(key)
            if before != after:
                found.append((key, before, after))
        return found

    def _get_before(self, key: bytes) -> bytes | None:
        try:
            return self._before[key]
        except KeyError:
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
