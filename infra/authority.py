"""How far the principals of a log can be trusted, and what was recorded of it (spec 1.6)."""

from collections.abc import Iterator
from typing import Final

from processors.compilation.draft import REGIME_ID
from schemas.codec import DecodeError, decode, unframe
from schemas.event import Event, Genesis
from schemas.fate import Fate
from schemas.row import RegimeRow
from streams.embedded import Embedded
from streams.row_layout import decode_row, row_key
from streams.row_store import RowStore

OPEN_MODE: Final = (
    "open mode: principals are taken at their word, nothing is authenticated; "
    "every certificate says so"
)
AUTHENTICATED_MODE: Final = "authenticated: an event counts only with a mac that verifies"
CHECKED_MODE: Final = (
    "macs are checked; where the genesis record demands them only a verified one counts"
)


def is_authenticated(store: RowStore | None) -> bool:
    """Return whether the log's genesis demands macs; an empty log demands none yet."""
    data = None if store is None else store.get(row_key(b"p", RegimeRow, REGIME_ID))
    return data is not None and decode_row(RegimeRow, data).authenticated


def describe_authority(embedded: Embedded) -> str:
    """Return in one line what a principal's word counts on this log."""
    with embedded.reading() as store:
        if is_authenticated(store) or (store is None and _begins_authenticated(embedded)):
            return AUTHENTICATED_MODE
    return OPEN_MODE


def _begins_authenticated(embedded: Embedded) -> bool:
    """Return what the genesis record of a log says that nobody has folded yet."""
    for record in embedded.log.read(embedded.log.bounds().start, limit=1):
        try:
            payload = unframe(Event, record.value)[0].payload
        except DecodeError:
            return False
        return isinstance(payload, Genesis) and payload.authenticated
    return False


class RecordedFates:
    """The fates of a store's ledger by offset; reading in log order decodes each batch once."""

    def __init__(self, store: RowStore) -> None:
        """Read the ledger of this open store."""
        self._store = store
        self._rest: Iterator[tuple[int, tuple[bytes, ...]]] = iter(())
        self._first = 0
        self._fates: tuple[bytes, ...] = ()

    def find(self, offset: int) -> Fate | None:
        """Return the fate of the event at an offset, or None if it was never folded."""
        if offset < self._first or not self._fates:
            self._rest = ((item.first_offset, item.fates) for item in self._store.records())
            self._first, self._fates = -1, ()
        while offset >= self._first + len(self._fates):
            following = next(self._rest, None)
            if following is None:
                return None
            self._first, self._fates = following
        place = offset - self._first
        return None if place < 0 else _read_fate(self._fates[place])


def _read_fate(data: bytes) -> Fate | None:
    try:
        return decode(Fate, data)
    except DecodeError:
        return None
