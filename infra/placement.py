"""Where each record of a history stands among another number of partitions; pure.

Each user's records keep their order, and each control record stays behind the same records of every
user as before. Who reads and writes topics is infra/repartition.py.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from schemas.codec import DecodeError, frame, unframe
from schemas.control import Genesis
from schemas.event import CONTROL_PAYLOADS, Event, UserRefolded
from schemas.identity import record_key
from schemas.partition import partition_of
from streams.ports import LogRecord

_CONTROL_KEY = record_key("", "")


class Placed(NamedTuple):
    """A record and the partitions that it goes to."""

    record: LogRecord
    partitions: Sequence[int]


@dataclass(slots=True)
class Left:
    """Records that have no place in the new set; the old set and its archives keep them."""

    repeated: int = 0
    misplaced: int = 0


class ControlOrderError(Exception):
    """The partitions do not tell the same control records in the same order."""


def place_records(
    histories: Sequence[Iterable[LogRecord]], *, partitions: int, left: Left
) -> Iterator[Placed]:
    """Yield every record with its partitions among so many, in an order to append them in.

    ``histories`` are all partitions of one log, each in its order. Left out and counted are
    control records that a retry had appended twice, and records that stood in a wrong partition
    and were rejected for it.

    Raises:
        ControlOrderError: a control record is missing from some partition, or two partitions
            tell them in different orders.
    """
    streams = [iter(history) for history in histories]
    seen: set[bytes | None] = set()
    while True:
        stops: list[LogRecord | None] = []
        for number, stream in enumerate(streams):
            stop = None
            for record in stream:
                owner = _find_owner(record)
                if owner is None and record.value in seen:
                    left.repeated += 1
                elif owner is None:
                    stop = record
                    break
                elif partition_of(owner, len(streams)) != number:
                    left.misplaced += 1
                else:
                    yield Placed(record, (partition_of(owner, partitions),))
            stops.append(stop)
        told = [stop for stop in stops if stop is not None]
        if not told:
            return
        _refuse_differing(stops)
        seen.add(told[0].value)
        # Behind every copy's time: what each partition took for not ahead of its time still is.
        last = max(told, key=lambda record: record.timestamp_ms)
        yield Placed(last, range(partitions))


def fit_genesis(record: LogRecord, *, partitions: int) -> Event | None:
    """Return the genesis event of a record for another number of partitions, unsigned.

    None for every other record: those go on byte for byte.
    """
    event = _read(record)
    if event is None or not isinstance(event.payload, Genesis):
        return None
    return replace(event, payload=replace(event.payload, partitions=partitions), mac=None)


def refit(record: LogRecord, event: Event) -> LogRecord:
    """Return the record with another event in it."""
    return record._replace(value=frame(event))


def _find_owner(record: LogRecord) -> bytes | None:
    """Return the key by which a record is placed, or None for one that belongs everywhere."""
    event = _read(record) if record.key == _CONTROL_KEY else None
    if event is None or not isinstance(event.payload, CONTROL_PAYLOADS):
        return record.key or b""
    if isinstance(event.payload, UserRefolded):
        return record_key(event.payload.tenant, event.payload.user)
    return None


def _read(record: LogRecord) -> Event | None:
    try:
        return unframe(Event, record.value)[0]
    except DecodeError:
        return None


def _refuse_differing(stops: Sequence[LogRecord | None]) -> None:
    names = [_name(stop) for stop in stops]
    if len(set(names)) > 1:
        shown = ", ".join(f"partition {n}: {name}" for n, name in enumerate(names))
        raise ControlOrderError(
            f"the partitions differ in their next control record ({shown}): it was not appended "
            "everywhere. Append it again, so that every partition has it"
        )


def _name(record: LogRecord | None) -> str:
    if record is None:
        return "none"
    event = _read(record)
    assert event is not None, "only control records end a stretch"
    return event.event_id
