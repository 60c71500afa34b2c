"""Erasures of an encrypted log that were asked for and never brought to their end (spec 7.5).

A request alone withdraws: the words stay on the log as ciphertext, and so do the keys that open
them. Only infra/erasing.py destroys keys and puts the receipt on the log; here nothing is changed.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from infra.authority import RecordedFates
from schemas.codec import DecodeError
from schemas.control import ErasureCompleted
from schemas.fate import FateStatus
from schemas.identity import record_key
from schemas.observation import ErasureRequested
from schemas.row import Kind, UserHead
from streams.embedded import Embedded
from streams.opening import ErasedEventError
from streams.ports import LogRecord
from streams.row_layout import decode_row
from streams.row_store import RowStore
from streams.sealing import EVENT, PSEUDONYM, SealedOpener

READ_MANY: Final = 2_000
_CONTROL_KEY: Final = record_key("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedErasure:
    """One accepted request whose keys are still there, or whose receipt is not on the log.

    No ``event_ids``: all of the user. ``offset`` is that of the request; where the keys are gone
    already the request cannot be read any more: it is None, and ``user`` the pseudonym.
    """

    tenant: str
    user: str
    event_ids: tuple[str, ...]
    offset: int | None

    def tell(self, log: str) -> str:
        """Return in one line what is left open and the command that brings it to its end."""
        named = (self.user if self.offset is not None else "USER", *self.event_ids)
        place = ("--log", log, "--tenant", self.tenant, "--user", *named)
        command = shlex.join(("commitments", "erase", *place, "--operator", "NAME"))
        if self.offset is None:
            return (
                f"an erasure of tenant {self.tenant} ended early: keys are destroyed, but the log "
                f"has no receipt, and rows may be left (its user: {self.user}). "
                f"Repeat it: {command}"
            )
        what = f"events {', '.join(self.event_ids)}" if self.event_ids else "all events"
        return (
            f"the erasure of {what} of user {self.user}, tenant {self.tenant}, was requested at "
            f"offset {self.offset} and is not complete: keys are still there. "
            f"Complete it: {command}"
        )


@dataclass(slots=True)
class _Open:
    """What was found: requests that can still be read, and receipts that stand on the log."""

    requests: list[UnfinishedErasure] = field(default_factory=list)
    receipts: dict[str, None] = field(default_factory=dict)


def list_unfinished_erasures(embedded: Embedded) -> list[UnfinishedErasure]:
    """Return what is folded, accepted and not complete, in log order; of a plain log nothing.

    Reads the log once, and opens only the records of users of whom something was taken back.

    Raises:
        KeyStoreFailedError: the key store cannot be had.
    """
    opener = embedded.opener
    if not isinstance(opener, SealedOpener):
        return []
    with embedded.reading() as store:
        head = None if store is None else store.head()
        if store is None or head is None:
            return []
        keys = _list_taken_back(store)
        found = _Open()
        fates = RecordedFates(store)
        for record in _read(embedded, head.next_offset):
            if record.key in keys or record.key == _CONTROL_KEY:
                _look(opener, record, fates, found)
    early = []
    for key in keys:
        tenant, pseudonym = _split(key)
        if any(one not in found.receipts for one in opener.keys.list_receipts(pseudonym)):
            user = PSEUDONYM + pseudonym.hex()
            early.append(UnfinishedErasure(tenant=tenant, user=user, event_ids=(), offset=None))
    return found.requests + early


def _list_taken_back(store: RowStore) -> dict[bytes, None]:
    """Return the record keys of users who were erased, or of whom some event was taken back."""
    keys: dict[bytes, None] = {}
    for key, value in store.scan(b"u"):
        end = _end_of(key)
        kind = key[end]
        if kind == Kind.WITHDRAWN or (kind == Kind.HEAD and decode_row(UserHead, value).erased_seq):
            keys[key[1:end]] = None
    return keys


def _look(opener: SealedOpener, record: LogRecord, fates: RecordedFates, found: _Open) -> None:
    try:
        event = opener.open(record).event
    except (DecodeError, ErasedEventError):
        return
    payload = event.payload
    if isinstance(payload, ErasureCompleted):
        found.receipts[payload.receipt] = None
    if not isinstance(payload, ErasureRequested):
        return
    fate = fates.find(record.offset)
    if fate is None or fate.status is not FateStatus.ACCEPTED:
        return
    pseudonym = opener.pseudonym_of(event.tenant, event.user)
    left = frozenset(opener.keys.list_references(pseudonym))
    named = (opener.keys.name_key(pseudonym, (EVENT, one)) for one in payload.event_ids)
    # All of a user takes the key of the request too: one that can be read was not carried out.
    if not payload.event_ids or any(name in left for name in named):
        found.requests.append(
            UnfinishedErasure(
                tenant=event.tenant,
                user=event.user,
                event_ids=payload.event_ids,
                offset=record.offset,
            )
        )


def _read(embedded: Embedded, end: int) -> Iterator[LogRecord]:
    place = embedded.log.bounds().start
    while place < end:
        records = embedded.log.read(place, limit=min(READ_MANY, end - place))
        if not records:
            return
        yield from records
        place = records[-1].offset + 1


def _end_of(row_key: bytes) -> int:
    """Return where the owner ends in the key of a user's row; its kind stands there."""
    end = 1
    for _ in range(2):
        end += 4 + int.from_bytes(row_key[end : end + 4], "big")
    return end


def _split(key: bytes) -> tuple[str, bytes]:
    """Return the tenant and the pseudonym of a record key of an encrypted log."""
    at = 4 + int.from_bytes(key[:4], "big")
    return key[4:at].decode(), key[at + 4 :]
