"""The JSON form of typed values, used at every edge and inside Avro for lists and records.

Plain JSON stands for null, bool, int, string, list and record; every other type is an object
with one ``$`` key: ``{"$decimal": "4.50"}``, ``{"$money": "95.00 EUR"}``,
``{"$date": "2026-03-01"}``, ``{"$time": "11:30"}``, ``{"$local": "2026-03-01T11:30"}``,
``{"$timestamp": 1770737400000}``, ``{"$elapsed": 3600000}`` (ms), ``{"$period": "P1M2D"}``,
``{"$set": ["a", "b"]}``. A JSON number with a fraction or exponent is refused.
"""

import json
import re
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final, NoReturn

from schemas.value import (
    DECIMAL_DIGITS_MAX,
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

_DECIMAL: Final = re.compile(r"-?[0-9]{1,38}(\.[0-9]{1,38})?([eE][+-]?[0-9]{1,2})?", re.ASCII)
_PERIOD: Final = re.compile(r"(-?)P(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME: Final = re.compile(r"\d{2}:\d{2}(:\d{2}(\.\d{3})?)?", re.ASCII)
_CURRENCY: Final = re.compile(r"[A-Z]{3}", re.ASCII)


class ValueFormatError(ValueError):
    """A value is not in its form; the message names the place and the remedy."""


def parse_decimal(text: str) -> Decimal:
    """Return the exact decimal of a number in digits.

    Raises:
        ValueFormatError: NaN, blanks, or more than 38 digits once written without exponent.

    """
    if not _DECIMAL.fullmatch(text):
        raise ValueFormatError(f"not a decimal: {text[:40]!r}; write digits such as 4.50")
    number = Decimal(format(Decimal(text), "f"))
    if len(number.as_tuple().digits) > DECIMAL_DIGITS_MAX:
        raise ValueFormatError(f"more than {DECIMAL_DIGITS_MAX} digits")
    return abs(number) if number.is_zero() else number


def render_decimal(number: Decimal) -> str:
    """Return plain digits, never an exponent; the scale is kept."""
    return format(abs(number) if number.is_zero() else number, "f")


def parse_period(text: str) -> Period:
    """Return a calendar duration such as P1Y2M3W4D; at least one part is needed."""
    match = _PERIOD.fullmatch(text)
    if match is None or not any(match.groups()[1:]):
        raise ValueFormatError(f"not a calendar duration: {text[:40]!r}; write P30D or P1M")
    sign = -1 if match[1] else 1
    years, months, weeks, days = (int(part or 0) for part in match.groups()[1:])
    return Period(sign * (12 * years + months), sign * (7 * weeks + days))


def render_period(period: Period) -> str:
    """Return the canonical text of a calendar duration."""
    sign = "-" if period.months < 0 or period.days < 0 else ""
    months = f"{abs(period.months)}M" if period.months else ""
    days = f"{abs(period.days)}D" if period.days or not period.months else ""
    return f"{sign}P{months}{days}"


def to_json(value: Value) -> Any:
    """Return the plain JSON structure of a value."""
    match value:
        case None | bool() | int() | str():
            return value
        case Decimal():
            return {"$decimal": render_decimal(value)}
        case Money():
            return {"$money": f"{render_decimal(value.amount)} {value.currency}".rstrip()}
        case datetime():
            return {"$local": render_local(value)}
        case date():
            return {"$date": value.isoformat()}
        case time():
            return {"$time": render_time(value)}
        case Timestamp():
            return {"$timestamp": value.at_ms}
        case Elapsed():
            return {"$elapsed": value.duration_ms}
        case Period():
            return {"$period": render_period(value)}
        case StringSet():
            return {"$set": list(value.items)}
        case RecordValue():
            return {name: to_json(item) for name, item in value.fields}
        case tuple():
            return [to_json(item) for item in value]
    raise ValueFormatError(f"not a value: {type(value).__name__}")


def render_time(value: time) -> str:
    """Return hh:mm, with seconds or milliseconds only where they are not zero."""
    spec = "milliseconds" if value.microsecond else "seconds" if value.second else "minutes"
    return value.isoformat(timespec=spec)


def render_local(value: datetime) -> str:
    """Return a local date-time without zone, its time as ``render_time``."""
    return f"{value.date().isoformat()}T{render_time(value.time())}"


def from_json(data: Any, place: str = "value", depth: int = 0) -> Value:
    """Return the value of a plain JSON structure.

    Raises:
        ValueFormatError: naming the place, what is wrong and the form that is right.

    """
    if depth > VALUE_DEPTH_MAX:
        raise ValueFormatError(f"{place}: nested deeper than {VALUE_DEPTH_MAX}")
    if data is None or type(data) is bool or type(data) is str:
        return data
    if type(data) is int:
        if not INT64_MIN <= data <= INT64_MAX:
            raise ValueFormatError(f'{place}: outside 64 bit; write {{"$decimal": "..."}}')
        return data
    if isinstance(data, float):
        raise ValueFormatError(f'{place}: binary fraction; write {{"$decimal": "..."}}')
    if isinstance(data, list | tuple):
        return tuple(from_json(v, f"{place}[{n}]", depth + 1) for n, v in enumerate(data))
    if isinstance(data, dict):
        return _from_object(data, place, depth)
    raise ValueFormatError(f"{place}: {type(data).__name__} is no JSON value")


def _from_object(data: dict[str, Any], place: str, depth: int) -> Value:
    tag = next(iter(data), "")
    if len(data) == 1 and isinstance(tag, str) and tag.startswith("$"):
        return _from_tagged(tag, data[tag], place)
    for name in data:
        if not isinstance(name, str) or name == "" or name.startswith("$"):
            raise ValueFormatError(f"{place}: {name!r} is no field name")
    pairs = sorted(data.items(), key=lambda item: item[0])
    return RecordValue(tuple((k, from_json(v, f"{place}.{k}", depth + 1)) for k, v in pairs))


def _from_tagged(tag: str, body: Any, place: str) -> Value:
    try:
        if tag in {"$timestamp", "$elapsed"} and type(body) is int:
            from_json(body)  # The range check.
            return Timestamp(body) if tag == "$timestamp" else Elapsed(body)
        if tag == "$set" and isinstance(body, list) and all(type(v) is str for v in body):
            return StringSet(tuple(sorted(dict.fromkeys(body))))
        if type(body) is str:
            return _from_text(tag, body)
    except ValueFormatError as error:
        raise ValueFormatError(f"{place}: {error}") from None
    except ValueError:
        raise ValueFormatError(f"{place}: {tag} does not read {body!r:.40}") from None
    raise ValueFormatError(f"{place}: {tag} does not take {type(body).__name__}")


def _from_text(tag: str, text: str) -> Value:
    if tag == "$decimal":
        return parse_decimal(text)
    if tag == "$money":
        return parse_money(text)
    if tag == "$period":
        return parse_period(text)
    if tag == "$date" and _DATE.fullmatch(text):
        return date.fromisoformat(text)
    if tag == "$time" and _TIME.fullmatch(text):
        return time.fromisoformat(text)
    if tag == "$local" and len(text) > 10 and text[10] == "T" and _TIME.fullmatch(text[11:]):
        return datetime.fromisoformat(text)
    raise ValueFormatError(f"{tag} does not read {text[:40]!r}")


def parse_money(text: str) -> Money:
    """Return the amount of ``95.00 EUR``; without a currency the unit is unknown."""
    amount, _, currency = text.partition(" ")
    if currency and not _CURRENCY.fullmatch(currency):
        raise ValueFormatError(f"not a currency code: {currency[:10]!r}; write 95.00 EUR")
    return Money(parse_decimal(amount), currency)


def render_json(value: Value) -> str:
    """Return the canonical JSON text: sorted names, no blanks, no escapes beyond JSON's own."""
    return json.dumps(to_json(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def parse_json(text: str) -> Value:
    """Return the value of a JSON text; duplicate names, NaN and fractions are refused.

    Raises:
        ValueFormatError: naming what is wrong.

    """
    try:
        data = json.loads(
            text, object_pairs_hook=unique_pairs, parse_constant=_refuse, parse_float=_refuse
        )
    except RecursionError:
        raise ValueFormatError(f"nested deeper than {VALUE_DEPTH_MAX}") from None
    except json.JSONDecodeError as error:
        raise ValueFormatError(f"not JSON at character {error.pos}: {error.msg}") from None
    except ValueFormatError:
        raise
    except ValueError:
        raise ValueFormatError("a whole number with thousands of digits") from None
    return from_json(data)


def unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs; a duplicate name at any depth is refused."""
    data: dict[str, Any] = {}
    for name, item in pairs:
        if name in data:
            raise ValueFormatError(f"duplicate_key {name}")
        data[name] = item
    return data


def _refuse(token: str) -> NoReturn:
    raise ValueFormatError(f'{token} is no exact number; write {{"$decimal": "..."}}')
