"""Typed values that slots, units and literals carry: no floats, no maps, nothing coerced.

Python natives stand for themselves where they are exact: ``None``, ``bool``, ``int`` (64 bit),
``str``, ``Decimal`` (at most 38 digits), ``date``, ``time``, naive ``datetime`` (a local
date-time) and ``tuple`` (a list). The frozen classes below are the other types of spec 2.3.
"""

from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Final, TypeAlias

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1
DECIMAL_DIGITS_MAX: Final = 38
VALUE_DEPTH_MAX: Final = 8  # Lists and records inside each other; bounds every recursion.


@dataclass(frozen=True, slots=True)
class Money:
    """An exact amount in one ISO 4217 currency; ``currency`` "" means the unit is unknown."""

    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """An instant, in milliseconds since the Unix epoch."""

    at_ms: int


@dataclass(frozen=True, slots=True, order=True)
class Elapsed:
    """An elapsed duration in milliseconds; independent of any zone."""

    duration_ms: int


@dataclass(frozen=True, slots=True)
class Period:
    """A calendar duration; adding it to an instant needs a zone (spec 2.5)."""

    months: int
    days: int


@dataclass(frozen=True, slots=True)
class StringSet:
    """A set of strings, kept as a sorted tuple without duplicates."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordValue:
    """A record: (name, value) pairs sorted by name, names unique."""

    fields: tuple[tuple[str, "Value"], ...]

    def get(self, name: str) -> "Value":
        """Return the field's value, or None when it is absent."""
        for key, value in self.fields:
            if key == name:
                return value
        return None


Value: TypeAlias = (
    bool
    | int
    | str
    | Decimal
    | Money
    | date
    | time
    | datetime
    | Timestamp
    | Elapsed
    | Period
    | StringSet
    | RecordValue
    | tuple["Value", ...]
    | None
)


def build_record(**fields: Value) -> RecordValue:
    """Return the record with these fields, sorted by name."""
    return RecordValue(tuple(sorted(fields.items(), key=lambda item: item[0])))


def build_set(*items: str) -> StringSet:
    """Return the set of these strings."""
    return StringSet(tuple(sorted(dict.fromkeys(items))))
