"""Calendar arithmetic: dates, local date-times and instants in a zone (spec 2.5).

Rules, stated once. A month added to a day that the target month lacks gives that month's last
day. A local time that summer time skips is read with the offset before the change, so it lies
later by the skipped span; one that occurs twice is the earlier. A duration of nothing changes
nothing. Zones come from the ``tzdata`` package only, never from the machine, so that every
replay under one lock file reads the same tables.
"""

from calendar import monthrange
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from importlib import resources
from typing import Final
from zoneinfo import ZoneInfo

import tzdata  # type: ignore[import-untyped]

from schemas.value import Period

_TABLES: Final = resources.files(tzdata) / "zoneinfo"
UNIVERSAL: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The instant from which all milliseconds count."""
_MILLISECOND: Final = timedelta(milliseconds=1)
_NAME_CHARACTERS: Final = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-"
)
_NAME_MAX: Final = 64
_OFFSET_MINUTES_MAX: Final = 18 * 60


@lru_cache(maxsize=1_024)
def find_zone(name: str) -> tzinfo | None:
    """Return the zone of an IANA name or of a fixed offset such as ``+02:00``; None if unknown."""
    if len(name) > _NAME_MAX:
        return None
    if name[:1] in {"+", "-"}:
        return _find_offset(name)
    parts = name.split("/")
    if not all(part and _NAME_CHARACTERS.issuperset(part) for part in parts):
        return None
    table = _TABLES.joinpath(*parts)
    if not table.is_file():
        return None
    try:
        with table.open("rb") as stream:
            return ZoneInfo.from_file(stream, key=name)
    except ValueError:
        return None  # A file of the package that is no zone table, such as its list of names.


def _find_offset(name: str) -> tzinfo | None:
    hours, minutes = name[1:3], name[4:6]
    if len(name) != 6 or name[3] != ":" or not (hours + minutes).isascii():
        return None
    if not (hours.isdigit() and minutes.isdigit()) or int(minutes) > 59:
        return None
    total = int(hours) * 60 + int(minutes)
    if total > _OFFSET_MINUTES_MAX:
        return None
    return timezone(timedelta(minutes=-total if name[0] == "-" else total))


def to_local(at_ms: int, zone: tzinfo) -> datetime:
    """Return the local date-time of an instant.

    Raises:
        OverflowError: outside the years 1 to 9999.

    """
    return (UNIVERSAL + timedelta(milliseconds=at_ms)).astimezone(zone).replace(tzinfo=None)


def to_instant(local: datetime, zone: tzinfo) -> int:
    """Return the instant of a local date-time: skipped times lie later, double ones earlier."""
    aware = local.replace(tzinfo=zone, fold=0)
    return (aware - UNIVERSAL) // _MILLISECOND


def add_period(at_ms: int, period: Period, zone: tzinfo) -> int:
    """Return the instant a calendar duration after another.

    Raises:
        OverflowError, ValueError: outside the years 1 to 9999.

    """
    if period.months == 0 and period.days == 0:
        return at_ms
    return to_instant(shift_local(to_local(at_ms, zone), period), zone)


def shift_local(local: datetime, period: Period) -> datetime:
    """Return a local date-time moved by a calendar duration; months first, then days."""
    return datetime.combine(shift_date(local.date(), period), local.time())


def shift_date(day: date, period: Period) -> date:
    """Return a date moved by a calendar duration; months first, then days."""
    index = day.year * 12 + day.month - 1 + period.months
    year, month = index // 12, index % 12 + 1
    if not 1 <= year <= 9999:
        raise OverflowError("outside the years 1 to 9999")
    last = monthrange(year, month)[1]
    return day.replace(year=year, month=month, day=min(day.day, last)) + timedelta(period.days)
