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
    VALUE_DEPTH_MAX,
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
    parse_money,
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
    """Return the Avro structure of a typed value, its branch named.

    Raises:
        RecordError: no such type, or a value that reading would refuse or change: nothing is
            rounded, cut, sorted out or moved to another zone on its way.

    """
    kind = type(value)
    if kind in _CHECKED:
        check_value(value)
    return _build_structure(value)


def _build_structure(value: Value) -> Any:
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
    Timestamp: ("Timestamp", lambda v: {"at_ms": check_long(v.at_ms)}),
    Elapsed: ("Elapsed", lambda v: {"duration_ms": check_long(v.duration_ms)}),
    Period: ("Period", lambda v: {"months": check_long(v.months), "days": check_long(v.days)}),
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
    if _build_structure(value) != datum:
        raise RecordError(f"value of type {name}: {str(body)[:60]} is not its canonical form")
    return value


def _read_composite(body: dict[str, str]) -> Value:
    value = parse_json(body["json"])
    if type(value) is not tuple and type(value) is not RecordValue:
        raise ValueFormatError("neither list nor record")
    return value


_READERS: Final[dict[str, Convert]] = {
    "Decimal": lambda d: parse_decimal(d["text"]),
    "Money": lambda d: parse_money(f"{d['amount']} {d['currency']}"),
    "Date": lambda d: date.fromisoformat(d["text"]),
    "TimeOfDay": lambda d: time.fromisoformat(d["text"]),
    "LocalDateTime": lambda d: datetime.fromisoformat(d["text"]),
    "Timestamp": lambda d: Timestamp(int(d["at_ms"])),
    "Elapsed": lambda d: Elapsed(int(d["duration_ms"])),
    "Period": lambda d: Period(int(d["months"]), int(d["days"])),
    "StringSet": lambda d: StringSet(tuple(sorted(dict.fromkeys(d["items"])))),
    "Composite": _read_composite,
}


_CHECKED: Final = frozenset({Decimal, Money, datetime, time, StringSet, RecordValue, tuple})


def check_value(value: Value, depth: int = 0) -> None:
    """Refuse a value that its bytes could not give back.

    Raises:
        RecordError: naming what is wrong with it.

    """
    if depth > VALUE_DEPTH_MAX:
        raise RecordError(f"nested deeper than {VALUE_DEPTH_MAX}")
    match value:
        case tuple():
            for item in value:
                check_value(item, depth + 1)
        case RecordValue(fields=fields):
            names = [name for name, _ in fields]
            if len(set(names)) < len(names) or any(n == "" or n.startswith("$") for n in names):
                raise RecordError(f"field names {names!r:.60}: each once, not empty, without $")
            for _, item in fields:
                check_value(item, depth + 1)
        case StringSet(items=items):
            if list(items) != sorted(dict.fromkeys(items)):
                raise RecordError(f"set {items!r:.60}: sort it, each item once")
        case Decimal() | Money():
            _check_amount(value)
        case datetime() | time():
            if value.tzinfo is not None or value.microsecond % 1_000:
                raise RecordError(
                    f"{value.isoformat()}: a local time has no zone and whole milliseconds; "
                    "write an instant as a timestamp"
                )
        case _:
            _build_structure(value)


def _check_amount(value: Decimal | Money) -> None:
    number, currency = (value.amount, value.currency) if isinstance(value, Money) else (value, "")
    if not number.is_finite():
        raise RecordError(f"{number} is no number")
    try:
        parse_money(f"{render_decimal(number)} {currency}")
    except ValueFormatError as error:
        raise RecordError(str(error)) from None


def check_long(value: Any) -> int:
    """Return a 64-bit whole number; bool and anything else is refused."""
    if type(value) is not int or not INT64_MIN <= value <= INT64_MAX:
        raise RecordError(f"{value!r:.40} is no 64-bit whole number")
    return value
