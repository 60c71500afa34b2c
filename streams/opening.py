"""How the event of a log record is read, and under which key a user's records and rows stand.

A plain log holds events as they are. An encrypted one has its own opener (streams/sealing.py).
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from schemas.codec import unframe
from schemas.event import Event
from schemas.identity import record_key
from streams.ports import LogRecord


class Opened(NamedTuple):
    """An event, its Avro body, and the digest by which chain and certificates name it."""

    event: Event
    body: bytes
    digest: bytes


class ErasedEventError(Exception):
    """The event's key was erased, with a receipt; ``seq`` is the one it had, if it had one."""

    def __init__(self, *, digest: bytes, tenant: str, seq: int | None) -> None:
        """Keep what is still known of the event."""
        super().__init__("the event was erased")
        self.digest = digest
        self.tenant = tenant
        self.seq = seq


class Opener(Protocol):
    """Reads records, names users, and seals what is put out."""

    @property
    def hides(self) -> bool:
        """Tell whether nothing personal may stand in the clear."""
        ...

    def open(self, record: LogRecord) -> Opened:
        """Return the event of a record.

        Raises:
            DecodeError: the value is no event.
            ErasedEventError: its key was erased.
            KeyStoreFailedError: its key cannot be had, and there is no receipt.
        """
        ...

    def key_of(self, tenant: str, user: str) -> bytes:
        """Return the record key of a user, which is also the key of the user's rows."""
        ...

    def seal(self, value: bytes, *, tenant: str, user: str, name: Sequence[str]) -> bytes | None:
        """Return an output as it is put out, under the data key of that name; None if erased."""
        ...

    def unseal(self, value: bytes) -> bytes | None:
        """Return an output as its reader sees it; None if its key was erased."""
        ...


class PlainOpener:
    """The opener of a log whose events stand in the clear."""

    hides = False

    def open(self, record: LogRecord) -> Opened:
        """Return the event of a record."""
        event, body = unframe(Event, record.value)
        return Opened(event, body, hashlib.sha256(body).digest())

    def key_of(self, tenant: str, user: str) -> bytes:
        """Return the length-prefixed tenant and user."""
        return record_key(tenant, user)

    def seal(self, value: bytes, *, tenant: str, user: str, name: Sequence[str]) -> bytes | None:
        """Return the value as it is."""
        del tenant, user, name
        return value

    def unseal(self, value: bytes) -> bytes | None:
        """Return the value as it is."""
        return value
