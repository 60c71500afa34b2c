"""Exact arithmetic over typed values: sums, differences and currency conversion (spec 2.3, 2.4).

No binary fraction, no rounding: a result that would be rounded is a problem, never a number.
Order and equality are ``comparison``.
"""

from datetime import date, datetime, tzinfo
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from typing import Final, TypeAlias

from processors.predicates.instants import (
    add_period,
    find_zone,
    shift_date,
    shift_local,
    to_instant,
)
from processors.predicates.scope import CITED, Problem, Setting, UnitValue, find_rate
from processors.predicates.verdict import INVALID, MISSING
from schemas.value import Elapsed, Money, Period, Timestamp, Value

EXACT: Final = Context(prec=400, traps=[Inexact, InvalidOperation, DivisionByZero, Overflow])
"""Wide enough for every sum of 38-digit decimals and their conversion; rounding raises."""

ZERO: Final = Money(Decimal(0), "*")
"""The sum of an empty list: nothing, of whatever type it is compared with."""

Number: TypeAlias = int | Decimal

TYPE_NAMES: Final[dict[type, str]] = {
    bool: "a truth value", int: "a whole number", str: "a string", Decimal: "a decimal",
    Money: "an amount of money", date: "a date", datetime: "a local date-time",
    Timestamp: "an instant", Elapsed: "an elapsed duration", Period: "a calendar duration",
    tuple: "a list",
}  # fmt: skip


def describe(value: object) -> str:
    """Return the name of a value's type for people."""
    return TYPE_NAMES.get(type(value), type(value).__name__.lower())


def is_number(value: object) -> bool:
    """Return whether a value is a whole number or a finite decimal; a truth value is none."""
    kind = type(value)
    return kind is int or (kind is Decimal and value.is_finite())  # type: ignore[attr-defined]


def mismatch(left: object, right: object) -> Problem:
    """Return the problem of two types that have nothing to do with each other."""
    return Problem(INVALID, f"{describe(left)} does not go with {describe(right)}")


def add_values(left: Value, right: Value, setting: Setting) -> Value | Problem:
    """Return left + right; durations move dates and instants, numbers and amounts add up."""
    if isinstance(left, Period | Elapsed) and not isinstance(right, Period | Elapsed):
        left, right = right, left
    return _combine(left, right, 1, setting)


def subtract_values(left: Value, right: Value, setting: Setting) -> Value | Problem:
    """Return left - right; of two instants the elapsed, of two dates the calendar duration."""
    return _combine(left, right, -1, setting)


def _combine(left: Value, right: Value, sign: int, setting: Setting) -> Value | Problem:
    if right is ZERO:
        return left
    try:
        if left is ZERO:
            return right if sign > 0 else _negate(right)
        if is_number(left) and is_number(right):
            return _add_numbers(left, right, sign)  # type: ignore[arg-type]
        if type(left) is Money and type(right) is Money:
            return _add_money(left, right, sign, setting)
        if type(left) is Elapsed and type(right) is Elapsed:
            return Elapsed(left.duration_ms + sign * right.duration_ms)
        if type(left) is Period and type(right) is Period:
            return Period(left.months + sign * right.months, left.days + sign * right.days)
        if type(right) is Period:
            return _move(left, Period(sign * right.months, sign * right.days), setting)
        if type(left) is date and type(right) is date and sign < 0:
            return Period(0, (left - right).days)
        return _combine_instants(left, right, sign, setting)
    except (ArithmeticError, ValueError):
        return Problem(INVALID, "a result outside the range of its type")


def _negate(value: Value) -> Value | Problem:
    if type(value) is Money:
        return Money(-value.amount, value.currency)
    if type(value) is Elapsed:
        return Elapsed(-value.duration_ms)
    if is_number(value):
        return -value  # type: ignore[operator]
    return Problem(INVALID, f"{describe(value)} is no sum")


def _add_numbers(left: Number, right: Number, sign: int) -> Number:
    if type(left) is int and type(right) is int:
        return left + sign * right
    first, second = Decimal(left), Decimal(right)
    return EXACT.add(first, second) if sign > 0 else EXACT.subtract(first, second)


def _add_money(left: Money, right: Money, sign: int, setting: Setting) -> Value | Problem:
    converted = convert_money(right, left.currency, setting)
    if isinstance(converted, Problem):
        return converted
    total = _add_numbers(left.amount, converted.amount, sign)
    return Money(Decimal(total), left.currency)


def _move(value: Value, period: Period, setting: Setting) -> Value | Problem:
    if type(value) is date:
        return shift_date(value, period)
    if type(value) is datetime and value.tzinfo is None:
        return shift_local(value, period)
    if type(value) is Timestamp:
        zone = read_zone(setting)
        if isinstance(zone, Problem):
            return zone
        return Timestamp(add_period(value.at_ms, period, zone))
    return mismatch(value, period)


def _combine_instants(left: Value, right: Value, sign: int, setting: Setting) -> Value | Problem:
    first = read_instant(left, setting)
    if isinstance(first, Problem):
        return first
    if type(right) is Elapsed:
        return Timestamp(first.at_ms + sign * right.duration_ms)
    second = read_instant(right, setting)
    if isinstance(second, Problem):
        return second
    if sign > 0:
        return mismatch(left, right)
    return Elapsed(first.at_ms - second.at_ms)


def read_instant(value: Value, setting: Setting) -> Timestamp | Problem:
    """Return the instant of a timestamp, or of a local date-time in the zone."""
    if type(value) is Timestamp:
        return value
    if type(value) is datetime and value.tzinfo is None:
        zone = read_zone(setting)
        return zone if isinstance(zone, Problem) else Timestamp(to_instant(value, zone))
    return Problem(INVALID, f"{describe(value)} is no instant")


def read_zone(setting: Setting) -> tzinfo | Problem:
    """Return the predicate's zone, else the event's; none is missing, an unknown one invalid."""
    name = setting.zone or setting.scope.zone
    if name is None:
        return Problem(MISSING, "no zone for a date or calendar duration")
    zone = find_zone(name)
    return Problem(INVALID, f"unknown zone {name:.40}") if zone is None else zone


def convert_money(value: Money, currency: str, setting: Setting) -> Money | Problem:
    """Return the amount in that currency by a direct exchange rate; its unit counts as cited.

    Without currency an amount is invalid; without a rate another currency is missing.
    """
    for amount in (value.currency, currency):
        if amount == "":
            return Problem(INVALID, "an amount without currency")
    if value.currency == currency:
        return value
    unit = find_rate(setting, source=value.currency, target=currency)
    if unit is None:
        return Problem(MISSING, f"no exchange rate from {value.currency} to {currency}")
    return _multiply(value, unit, currency, setting)


def _multiply(value: Money, unit: UnitValue, currency: str, setting: Setting) -> Money | Problem:
    rate = unit.value
    if not is_number(rate) or rate <= 0 or not value.amount.is_finite():  # type: ignore[operator]
        return Problem(INVALID, f"unit {unit.unit_id} is no exchange rate")
    setting.notes.append((CITED, unit.unit_id))
    return Money(EXACT.multiply(value.amount, Decimal(rate)), currency)  # type: ignore[arg-type]


def align_money(left: Money, right: Money, setting: Setting) -> tuple[Decimal, Decimal] | Problem:
    """Return both amounts in one currency, the same whichever of the two comes first.

    The rate from the currency that comes first in the alphabet is tried before the other.
    """
    if "" in {left.currency, right.currency}:
        return Problem(INVALID, "an amount without currency")
    if left.currency == right.currency:
        return left.amount, right.amount
    forward = left.currency < right.currency
    first, second = (left, right) if forward else (right, left)
    converted = convert_money(first, second.currency, setting)
    pair: tuple[Money, Money]
    if not isinstance(converted, Problem):
        pair = (converted, second)
    elif converted.verdict is INVALID:
        return converted
    else:
        converted = convert_money(second, first.currency, setting)
        if isinstance(converted, Problem):
            return converted
        pair = (first, converted)
    one, other = pair if forward else (pair[1], pair[0])
    return one.amount, other.amount


def sum_values(items: tuple[Value, ...], setting: Setting) -> Value | Problem:
    """Return the exact sum of numbers, amounts or elapsed durations; null items are missing.

    Amounts of several currencies add up in the first one, by alphabet, that all convert to.
    """
    if not items:
        return ZERO
    if any(item is None for item in items):
        return Problem(MISSING, "an item without value")
    if all(type(item) is Money for item in items):
        return _sum_money(tuple(i for i in items if isinstance(i, Money)), setting)
    if not (all(is_number(i) for i in items) or all(type(i) is Elapsed for i in items)):
        return Problem(INVALID, "a sum of something else than numbers, amounts or durations")
    total = items[0]
    for item in items[1:]:
        added = add_values(total, item, setting)
        if isinstance(added, Problem):
            return added
        total = added
    return total


def _sum_money(items: tuple[Money, ...], setting: Setting) -> Value | Problem:
    currencies = sorted(dict.fromkeys(item.currency for item in items))
    if currencies[0] == "":
        return Problem(INVALID, "an amount without currency")
    for currency in currencies:
        start = len(setting.notes)
        total = Decimal(0)
        for item in items:
            converted = convert_money(item, currency, setting)
            if isinstance(converted, Problem):
                del setting.notes[start:]
                break
            total = EXACT.add(total, converted.amount)
        else:
            return Money(total, currency)
    return Problem(MISSING, f"no exchange rates between {', '.join(currencies)}")
