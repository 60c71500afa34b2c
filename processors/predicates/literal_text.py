"""Literals of the text form: numbers and the named ones such as ``money("4.50 EUR")``.

What is refused here would never hold or would depend on a machine: amounts without currency,
times without zone where an instant is meant, numbers beyond 64 bit or 38 digits.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from processors.predicates.tokens import PredicateTextError, Token, refuse
from schemas.value import INT64_MAX, INT64_MIN, Elapsed, Period, Timestamp, Value
from schemas.value_json import ValueFormatError, from_json, parse_decimal

LITERAL_NAMES: Final = (
    "money", "date", "time", "local", "timestamp", "elapsed", "period", "decimal"
)  # fmt: skip
_EXAMPLES: Final = {
    "money": 'money("95.00 EUR")',
    "date": 'date("2026-03-01")',
    "time": 'time("11:30")',
    "local": 'local("2026-03-01T11:30")',
    "timestamp": 'timestamp(1770737400000) or timestamp("2026-03-01T11:30+01:00")',
    "elapsed": 'elapsed(3600000) or elapsed("PT1H")',
    "period": 'period("P30D")',
    "decimal": 'decimal("450")',
}
_UNIT_MS: Final = {"H": 3_600_000, "M": 60_000, "S": 1_000}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read_number(token: Token, *, sign: str) -> int | Decimal:
    """Return the exact number of a token: whole numbers in 64 bit, else a decimal."""
    if token.kind == "decimal":
        number = Decimal(sign + token.text)
        return abs(number) if number.is_zero() else number
    whole = int(sign + token.text)
    if not INT64_MIN <= whole <= INT64_MAX:
        refuse(token.position, "a whole number beyond 64 bit", f'write decimal("{token.text}")')
    return whole


def read_named_literal(name: Token, argument: Token, *, sign: str) -> Value:
    """Return the value of ``name(argument)``; a number argument may carry a sign."""
    if argument.kind == "integer" and name.text in {"timestamp", "elapsed"}:
        number = int(sign + argument.text)
        if abs(number) <= INT64_MAX:
            return Timestamp(number) if name.text == "timestamp" else Elapsed(number)
    if argument.kind == "string" and not sign:
        value = _read_text(name.text, argument.text)
        if value is not None:
            return value
        if name.text == "money" and " " not in argument.text.strip():
            refuse(argument.position, "an amount without currency", 'write money("95.00 EUR")')
    raise PredicateTextError(
        argument.position,
        f"{name.text} does not read {argument.text!r:.40}",
        f"write {_EXAMPLES[name.text]}",
    )


def _read_text(name: str, text: str) -> Value:
    if name == "timestamp":
        return _read_timestamp(text)
    if name == "elapsed":
        return _read_elapsed(text)
    try:
        if name == "decimal":
            return parse_decimal(text)
        value = from_json({f"${name}": text})
    except ValueFormatError:
        return None
    if name == "money":
        return value if getattr(value, "currency", "") else None
    return value if not isinstance(value, Period) or _is_period(value) else None


def _is_period(period: Period) -> bool:
    return abs(period.months) <= 120_000 and abs(period.days) <= 3_660_000


def _read_timestamp(text: str) -> Timestamp | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    if at.tzinfo is None or at.microsecond % 1_000:
        return None
    return Timestamp((at - _EPOCH) // timedelta(milliseconds=1))


def _read_elapsed(text: str) -> Elapsed | None:
    """Return an elapsed duration such as PT720H, PT1H30M or PT0.250S."""
    negative = text.startswith("-")
    body = text[1:] if negative else text
    if not body.startswith("PT") or len(body) < 4:
        return None
    total = 0
    digits = ""
    units = "HMS"
    for character in body[2:]:
        if character in units:
            part = _read_part(digits, character)
            if part is None:
                return None
            total += part
            units = units[units.index(character) + 1 :]
            digits = ""
        else:
            digits += character
    if digits or total > INT64_MAX:
        return None
    return Elapsed(-total if negative else total)


def _read_part(digits: str, unit: str) -> int | None:
    whole, dot, fraction = digits.partition(".")
    if not (whole.isascii() and whole.isdigit()) or len(whole) > 15:
        return None
    if dot and (
        unit != "S" or len(fraction) != 3 or not (fraction.isascii() and fraction.isdigit())
    ):
        return None
    return int(whole) * _UNIT_MS[unit] + int(fraction or 0)
