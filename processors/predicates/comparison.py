"""Order and equality of typed values (spec 2.4, 2.5): nothing is coerced, nothing is rounded.

Whole numbers and decimals compare exactly with each other; a date or a local date-time meets
an instant in the zone. Every other pair of types is invalid, never unequal.
"""

import operator
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from types import MappingProxyType
from typing import Any, Final

from processors.predicates.arithmetic import (
    ZERO,
    align_money,
    describe,
    is_number,
    mismatch,
    read_zone,
)
from processors.predicates.expression import Match, Operator
from processors.predicates.instants import to_instant, to_local
from processors.predicates.scope import Problem, Setting
from processors.predicates.strings import contains_words, equal_exact, equal_folded
from processors.predicates.verdict import (
    FAILS,
    HOLDS,
    INVALID,
    MISSING,
    Verdict,
    combine_and,
    negate,
)
from schemas.value import Elapsed, Money, Period, RecordValue, StringSet, Timestamp, Value

ORDERS: Final[Mapping[Operator, Callable[[Any, Any], bool]]] = MappingProxyType(
    {
        Operator.LT: operator.lt,
        Operator.LE: operator.le,
        Operator.GT: operator.gt,
        Operator.GE: operator.ge,
        Operator.EQ: operator.eq,
        Operator.NE: operator.ne,
    }
)


def judge_order(order: Operator, left: Value, right: Value, setting: Setting) -> Verdict:
    """Return the verdict of ``left order right``; null is missing."""
    pair = _align(left, right, setting)
    if isinstance(pair, Problem):
        return note(pair, setting)
    return HOLDS if ORDERS[order](*pair) else FAILS


def judge_equal(left: Value, right: Value, match: Match, setting: Setting) -> Verdict:
    """Return the verdict of ``left == right``; with ``word`` the right side is the pattern."""
    if type(left) is str and type(right) is str:
        return _judge_strings(left, right, match, setting)
    if left is None or right is None:
        return note(Problem(MISSING, "no value"), setting)
    if type(left) is bool and type(right) is bool:
        return HOLDS if left is right else FAILS
    if type(left) is tuple and type(right) is tuple:
        return _judge_lists(left, right, match, setting)
    if type(left) is StringSet and type(right) is StringSet:
        return HOLDS if left.items == right.items else FAILS
    if type(left) is RecordValue and type(right) is RecordValue:
        return _judge_records(left, right, match, setting)
    if type(left) is Period and type(right) is Period:
        return HOLDS if left == right else FAILS
    pair = _align(left, right, setting)
    if isinstance(pair, Problem):
        return note(pair, setting)
    return HOLDS if pair[0] == pair[1] else FAILS


def judge_unequal(left: Value, right: Value, match: Match, setting: Setting) -> Verdict:
    """Return the verdict of ``left != right``: the negation of equality under that match."""
    return negate(judge_equal(left, right, match, setting))


def note(problem: Problem, setting: Setting) -> Verdict:
    """Record why there is no answer, and return the verdict that says so."""
    setting.notes.append((problem.verdict, problem.reason))
    return problem.verdict


def _judge_strings(left: str, right: str, match: Match, setting: Setting) -> Verdict:
    if match is Match.EXACT:
        return HOLDS if equal_exact(left, right) else FAILS
    same = equal_folded(left, right) if match is Match.FOLDED else contains_words(left, right)
    if same is None:
        return note(Problem(INVALID, f"unknown characters or mixed scripts: {left!r:.60}"), setting)
    return HOLDS if same else FAILS


def _judge_lists(
    left: tuple[Value, ...], right: tuple[Value, ...], match: Match, setting: Setting
) -> Verdict:
    if len(left) != len(right):
        return FAILS
    verdict = HOLDS
    for first, second in zip(left, right, strict=True):
        verdict = combine_and(verdict, judge_equal(first, second, match, setting))
    return verdict


def _judge_records(
    left: RecordValue, right: RecordValue, match: Match, setting: Setting
) -> Verdict:
    if [name for name, _ in left.fields] != [name for name, _ in right.fields]:
        return FAILS
    values = tuple(value for _, value in left.fields), tuple(value for _, value in right.fields)
    return _judge_lists(*values, match, setting)


def _align(left: Value, right: Value, setting: Setting) -> tuple[Any, Any] | Problem:
    """Return two values of one ordered type, or why there are none."""
    if is_number(left) and is_number(right):
        return left, right
    if left is None or right is None:
        return Problem(MISSING, "no value")
    if left is ZERO or right is ZERO:
        return _align_zero(left, right)
    if type(left) is Money and type(right) is Money:
        return align_money(left, right, setting)
    kind = type(left)
    if kind is type(right):
        if kind in {date, Timestamp, Elapsed}:
            return left, right
        if kind is Period:
            return _align_periods(left, right)  # type: ignore[arg-type]
        if kind in {time, datetime} and left.tzinfo is None and right.tzinfo is None:  # type: ignore[union-attr]
            return left, right
    if type(right) is Timestamp:
        return _align_instant(left, right, setting)
    if type(left) is Timestamp:
        pair = _align_instant(right, left, setting)
        return pair if isinstance(pair, Problem) else (pair[1], pair[0])
    return mismatch(left, right)


def _align_zero(left: Value, right: Value) -> tuple[Any, Any] | Problem:
    pair: list[Any] = []
    for value in (left, right):
        if value is ZERO:
            pair.append(0)
        elif is_number(value):
            pair.append(value)
        elif type(value) is Money and value.currency:
            pair.append(value.amount)
        elif type(value) is Elapsed:
            pair.append(value.duration_ms)
        else:
            return Problem(INVALID, f"{describe(value)} is no sum")
    return pair[0], pair[1]


def _align_periods(left: Period, right: Period) -> tuple[int, int] | Problem:
    # A month has no fixed number of days: only what differs in one measure has an order.
    if left.months == right.months:
        return left.days, right.days
    if left.days == right.days:
        return left.months, right.months
    return Problem(INVALID, "calendar durations without a common measure")


def _align_instant(value: Value, at: Timestamp, setting: Setting) -> tuple[Any, Any] | Problem:
    """Return a date beside the date of an instant, or a local date-time as an instant."""
    if type(value) not in {date, datetime}:
        return mismatch(value, at)
    zone = read_zone(setting)
    if isinstance(zone, Problem):
        return zone
    try:
        if type(value) is datetime:
            return to_instant(value, zone), at.at_ms
        return value, to_local(at.at_ms, zone).date()
    except (ArithmeticError, ValueError):
        return Problem(INVALID, "an instant outside the years 1 to 9999")
