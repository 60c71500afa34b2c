"""How the event of a log record is read, and under which key a user's records and rows stand.

A plain log holds events as they are. A sealed one has its own opener (streams/sealing.py).
"""

from typing import Protocol

from schemas.codec import unframe
from schemas.event import Event
from schemas.identity import record_key
from streams.ports import LogRecord


class Opener(Protocol):
    """Reads records and names users."""

    def open(self, record: LogRecord) -> tuple[Event, bytes]:
        """Return the event and its Avro body.

        Raises:
            DecodeError: the value is no event.
        """
        ...

    def key_of(self, tenant: str, user: str) -> bytes:
        """Return the record key of a user, which is also the key of the user's rows."""
        ...


class PlainOpener:
    """The opener of a log whose events stand in the clear."""

    def open(self, record: LogRecord) -> tuple[Event, bytes]:
        """Return the event and its Avro body."""
        return unframe(Event, record.value)

    def key_of(self, tenant: str, user: str) -> bytes:
        """Return the length-prefixed tenant and user."""
        return record_key(tenant, user)
