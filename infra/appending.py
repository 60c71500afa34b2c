"""Events onto an embedded log, in the form the log takes; nothing is judged here."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from schemas.codec import frame
from schemas.event import Event
from schemas.identity import record_key
from streams.embedded import Embedded
from streams.ports import NewRecord

EVENTS_PER_APPEND: Final = 2_000


def seal_event(event: Event) -> NewRecord:
    """Return the record of an event: the user's key and the framed body."""
    return NewRecord(record_key(event.tenant, event.user), frame(event))


def append_events(
    embedded: Embedded, events: Iterable[Event], progress: Callable[[int], None] | None = None
) -> int:
    """Append events durably in chunks and return how many there were."""
    source = iter(events)
    count = 0
    while chunk := [seal_event(event) for event in islice(source, EVENTS_PER_APPEND)]:
        embedded.append(chunk)
        count += len(chunk)
        if progress is not None:
            progress(count)
    return count
