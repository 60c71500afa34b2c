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
from streams.ports import NewRecord
from streams.sealing import SealedOpener

EVENTS_PER_APPEND: Final = 2_000


def seal_event(event: Event, keys: KeyRing | None = None) -> NewRecord:
    """Return the record of an event: the user's key and the framed body, signed if keys are given.

    Raises:
        KeysError: there are keys, but none for the event's tenant and principal kind.
    """
    return NewRecord(record_key(event.tenant, event.user), frame(sign_event(event, keys)))


def append_events(
    embedded: Embedded, events: Iterable[Event], progress: Callable[[int], None] | None = None
) -> int:
    """Append events durably in chunks and return how many there were.

    Raises:
        KeysError: keys are configured, but none for some event; the chunks before it are in.
        EventErasedError: the log is encrypted, and an event of some id was erased.
    """
    keys = configured_keys()
    opener = embedded.opener
    source = iter(events)
    count = 0
    while chunk := [sign_event(event, keys) for event in islice(source, EVENTS_PER_APPEND)]:
        if isinstance(opener, SealedOpener):
            embedded.append(opener.seal_events(chunk))
        else:
            embedded.append([seal_event(event) for event in chunk])
        count += len(chunk)
        if progress is not None:
            progress(count)
    return count
