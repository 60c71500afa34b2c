"""Typed values in Avro: one union, every branch named, lists and records as JSON text.

No Avro schema refers to itself (see ``record``), so composite values are canonical JSON.
"""

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from schemas.value import (
    INT64_MAX,
    INT64_MIN,
    Elapsed,
    Money,
    Period,
    RecordValue,
    StringSet,
    Timestamp,
    Value,
)
from schemas.value_json import (
    ValueFormatError,
    parse_decimal,
    parse_json,
    render_decimal,
    render_json,
    render_local,
    render_time,
)

NAMESPACE: Final = "commitments.v1"
NAMESPACE_DOT: Final = NAMESPACE + "."

Convert = Callable[[Any], Any]


class RecordError(ValueError):
    """A record does not have its declared shape; the message names the field."""


def _text_record(name: str, field: str = "text") -> dict[str, Any]:
    return {
        "type": "record",
        "name": f"{NAMESPACE}.{name}",
        "fields": [{"name": field, "type": "string"}],
    }


def _long_record(name: str, *names: str) -> dict[str, Any]:
    return {
        "type": "record",
        "name": f"{NAMESPACE}.{name}",
        "fields": [{"name": field, "type": "long"} for field in names],
    }


VALUE_BRANCHES: Final[tuple[Any, ...]] = (
    "null",
    "boolean",
    "long",
    "string",
    _text_record("Decimal"),
    {
        "type": "record",
        "name": f"{NAMESPACE}.Money",
        "fields": [{"name": "amount", "type": "string"}, {"name": "currency", "type": "string"}],
    },
    _text_record("Date"),
    _text_record("TimeOfDay"),
    _text_record("LocalDateTime"),
    _long_record("Timestamp", "at_ms"),
    _long_record("Elapsed", "duration_ms"),
    _long_record("Period", "months", "days"),
    {
        "type": "record",
        "name": f"{NAMESPACE}.StringSet",
        "fields": [{"name": "items", "type": {"type": "array", "items": "string"}}],
    },
    _text_record("Composite", "json"),
)


def write_value(value: Value) -> Any:
    """Return the Avro structure of a typed value, its branch named."""
    kind = type(value)
    if value is None:
        return None
    if kind is str:
        return ("string", value)
    if kind is bool:
        return ("boolean", value)
    if kind is int:
        return ("long", check_long(value))
    branch = _VALUE_WRITERS.get(kind)
    if branch is None:
        raise RecordError(f"{kind.__name__} is no typed value")
    return (f"{NAMESPACE}.{branch[0]}", branch[1](value))


_VALUE_WRITERS: Final[dict[type, tuple[str, Convert]]] = {
    Decimal: ("Decimal", lambda v: {"text": render_decimal(v)}),
    Money: ("Money", lambda v: {"amount": render_decimal(v.amount), "currency": v.currency}),
    date: ("Date", lambda v: {"text": v.isoformat()}),
    time: ("TimeOfDay", lambda v: {"text": render_time(v)}),
    datetime: ("LocalDateTime", lambda v: {"text": render_local(v)}),
    Timestamp: ("Timestamp", lambda v: {"at_ms": v.at_ms}),
    Elapsed: ("Elapsed", lambda v: {"duration_ms": v.duration_ms}),
    Period: ("Period", lambda v: {"months": v.months, "days": v.days}),
    StringSet: ("StringSet", lambda v: {"items": list(v.items)}),
    RecordValue: ("Composite", lambda v: {"json": render_json(v)}),
    tuple: ("Composite", lambda v: {"json": render_json(v)}),
}


def read_value(datum: Any) -> Value:
    """Return the typed value of an Avro structure.

    Raises:
        RecordError: a text that is not in its canonical form.

    """
    if type(datum) is not tuple:
        return datum  # type: ignore[no-any-return]
    name, body = datum
    try:
        value: Value = _READERS[name.removeprefix(NAMESPACE_DOT)](body)
    except ValueError as error:
        raise RecordError(f"value of type {name}: {error}") from None
    if write_value(value) != datum:
        raise RecordError(f"value of type {name}: {str(body)[:60]} is not its canonical form")
    return value


def _read_composite(body: dict[str, str]) -> Value:
    value = parse_json(body["json"])
    if type(value) is not tuple and type(value) is not RecordValue:
        raise ValueFormatError("neither list nor record")
    return value


_READERS: Final[dict[str, Convert]] = {
    "Decimal": lambda d: parse_decimal(d["text"]),
    "Money": lambda d: Money(parse_decimal(d["amount"]), d["currency"]),
    "Date": lambda d: date.fromisoformat(d["text"]),
    "TimeOfDay": lambda d: time.fromisoformat(d["text"]),
    "LocalDateTime": lambda d: datetime.fromisoformat(d["text"]),
    "Timestamp": lambda d: Timestamp(int(d["at_ms"])),
    "Elapsed": lambda d: Elapsed(int(d["duration_ms"])),
    "Period": lambda d: Period(int(d["months"]), int(d["days"])),
    "StringSet": lambda d: StringSet(tuple(sorted(dict.fromkeys(d["items"])))),
    "Composite": _read_composite,
}


def check_long(value: Any) -> int:
    """Return a 64-bit whole number; bool and anything else is refused."""
    if type(value) is not int or not INT64_MIN <= value <= INT64_MAX:
        raise RecordError(f"{value!r:.40} is no 64-bit whole number")
    return value
