"""Events onto an embedded log, in the form the log takes; nothing is judged here.

Each is signed on its way when keys are configured.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from infra.keys import configured_keys, sign_event
from schemas.codec import frame
from schemas.event import Event
from schemas.identity import record_key
from streams.authentication import KeyRing
from streams.embedded import Embedded
from streams.opening import Opener
from streams.ports import NewRecord
from streams.sealing import SealedOpener

EVENTS_PER_APPEND: Final = 2_000


def seal_event(event: Event, keys: KeyRing | None = None) -> NewRecord:
    """Return the record of an event: the user's key and the framed body, signed if keys are given.

    Raises:
        KeysError: there are keys, but none for the event's tenant and principal kind.
    """
    return NewRecord(record_key(event.tenant, event.user), frame(sign_event(event, keys)))


def seal_events(opener: Opener, events: Iterable[Event], keys: KeyRing | None) -> list[NewRecord]:
    """Return the records of events as a log with this opener takes them, signed if keys are given.

    Raises:
        KeysError: there are keys, but none for some event.
        ErasedIdReusedError: the log is encrypted, and an event of some id was erased.
    """
    if isinstance(opener, SealedOpener):
        return opener.seal_events(sign_event(event, keys) for event in events)
    return [seal_event(event, keys) for event in events]


def append_events(
    embedded: Embedded, events: Iterable[Event], progress: Callable[[int], None] | None = None
) -> int:
    """Append events durably in chunks and return how many there were.

    Raises:
        KeysError: keys are configured, but none for some event; the chunks before it are in.
        ErasedIdReusedError: the log is encrypted, and an event of some id was erased.
    """
    keys = configured_keys()
    source = iter(events)
    count = 0
    while chunk := list(islice(source, EVENTS_PER_APPEND)):
        embedded.append(seal_events(embedded.opener, chunk, keys))
        count += len(chunk)
        if progress is not None:
            progress(count)
    return count
