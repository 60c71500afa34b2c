"""Comparisons of bounds and slot differences as ``left - right <= bound`` (spec 2.7).

Every ordered type becomes a line of exact numbers: amounts in one currency, days of dates,
milliseconds of instants. What is no difference of at most two slots is not translated.
"""

from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import Final

from processors.predicates.atoms import (
    DATE,
    DAYS,
    ELAPSED,
    LOCAL,
    MONEY,
    NUMBER,
    TIME,
    TIMESTAMP,
    UNKNOWN,
    Difference,
    Exact,
    Formula,
    Unequal,
    require_every,
)
from processors.predicates.expression import (
    EVERY,
    ROOTS,
    AsOf,
    Comparison,
    Count,
    Literal,
    Minus,
    Operand,
    Operator,
    Path,
    Plus,
    Sum,
)
from processors.predicates.rendering import render_operand, render_path
from schemas.value import Elapsed, Money, Period, Timestamp, Value

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - local date-times have no zone
_DAY_MS: Final = 86_400_000

_NEGATED: Final = {
    Operator.LT: Operator.GE,
    Operator.LE: Operator.GT,
    Operator.GT: Operator.LE,
    Operator.GE: Operator.LT,
    Operator.EQ: Operator.NE,
    Operator.NE: Operator.EQ,
}
_POINTS: Final = (TIMESTAMP, LOCAL, DATE, TIME)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The slots and literals of a side, each with its sign."""

    slots: tuple[tuple[str, int], ...]
    literals: tuple[tuple[Value, int], ...]


def translate_linear(comparison: Comparison, *, positive: bool) -> Formula:
    """Return the bounds that make an order or equality hold, or fail when not positive."""
    left, right = _split(comparison.left, 1), _split(comparison.right, -1)
    if left is None or right is None:
        return UNKNOWN
    slots = _cancel((*left.slots, *right.slots))
    plus = [name for name, sign in slots if sign > 0]
    minus = [name for name, sign in slots if sign < 0]
    line = _find_line((*left.literals, *right.literals), slots)
    if line is None or len(plus) > 1 or len(minus) > 1:
        return UNKNOWN
    constant, scale = line
    operator = comparison.operator if positive else _NEGATED[comparison.operator]
    return _bound("".join(plus), "".join(minus), operator, -constant, scale)


def _bound(plus: str, minus: str, operator: Operator, bound: Exact, scale: str | None) -> Formula:
    # Two slots a calendar duration apart may be instants: then only their days are known.
    exact = not (scale == DATE and plus and minus)
    if operator is Operator.NE:
        return Unequal(plus, minus, bound, scale) if exact else UNKNOWN
    below = Difference(plus, minus, bound, exact and operator is Operator.LT, scale)
    above = Difference(minus, plus, -bound, exact and operator is Operator.GT, scale)
    if operator in {Operator.LT, Operator.LE}:
        return below
    return above if operator is not Operator.EQ else require_every((below, above))


def measure(value: Value) -> tuple[Exact, str] | None:
    """Return where a value lies on the line of its type, and the line; None when it has none."""
    match value:
        case bool():
            return None
        case int():
            return value, NUMBER
        case Decimal():
            return (Fraction(value), NUMBER) if value.is_finite() else None
        case Money():
            return Fraction(value.amount), f"{MONEY}{value.currency}"
        case datetime():
            return _count_ms(value), LOCAL
        case date():
            return value.toordinal(), DATE
        case time():
            return _count_ms(datetime.combine(_EPOCH.date(), value)), TIME
        case Timestamp():
            return value.at_ms, TIMESTAMP
        case Elapsed():
            return value.duration_ms, ELAPSED
        case Period(months=0):
            return value.days, DAYS
    return None


def name_operand(operand: Operand) -> str | None:
    """Return the variable that an operand is; None inside quantifiers and for anything else."""
    match operand:
        case Path(root=root, steps=steps) if root in ROOTS and EVERY not in steps:
            return render_path(operand)
        case Sum(path=path) | Count(path=path) if path.root in ROOTS:
            return render_operand(operand)
        case AsOf():
            return "as_of"
    return None


def _count_ms(local: datetime) -> int:
    span = local - _EPOCH
    return span.days * _DAY_MS + span.seconds * 1_000 + span.microseconds // 1_000


def _split(operand: Operand, sign: int) -> _Parts | None:
    match operand:
        case Literal(value=value):
            return _Parts((), ((value, sign),))
        case Plus(left=left, right=right):
            return _join(_split(left, sign), _split(right, sign))
        case Minus(left=left, right=right):
            return _join(_split(left, sign), _split(right, -sign))
    name = name_operand(operand)
    return None if name is None else _Parts(((name, sign),), ())


def _join(first: _Parts | None, second: _Parts | None) -> _Parts | None:
    if first is None or second is None:
        return None
    return _Parts((*first.slots, *second.slots), (*first.literals, *second.literals))


def _cancel(slots: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    left = list(slots)
    for name, sign in slots:
        if (name, sign) in left and (name, -sign) in left:
            left.remove((name, sign))
            left.remove((name, -sign))
    return tuple(left)


def _find_line(
    literals: tuple[tuple[Value, int], ...], slots: tuple[tuple[str, int], ...]
) -> tuple[Exact, str | None] | None:
    """Return the constant and the scale of the slots; None when the types have no line."""
    if not literals:
        counted = any(name.startswith("count(") for name, _ in slots)
        return 0, NUMBER if counted else None
    constant: Exact = 0
    scales: list[str] = []
    for value, sign in literals:
        place = measure(value)
        if place is None:
            return None
        constant += sign * place[0]
        scales.append(place[1])
        # An instant stands on the other side of its slot: slots.x <= date("2026-03-01").
        if place[1] in _POINTS and [sign] != [-s for _, s in slots]:
            return None
    if sum(scale in _POINTS for scale in scales) > 1:
        return None
    return _join_scales(tuple(dict.fromkeys(scales)), constant, len(slots))


def _join_scales(
    scales: tuple[str, ...], constant: Exact, slots: int
) -> tuple[Exact, str | None] | None:
    if scales == (ELAPSED,):
        return constant, TIMESTAMP if slots > 1 else ELAPSED
    if scales == (DAYS,):
        return constant, DATE if slots > 1 else DAYS
    if len(scales) == 1:
        return constant, scales[0]
    for point, span in ((TIMESTAMP, ELAPSED), (DATE, DAYS)):
        if sorted(scales) == sorted((point, span)):
            return constant, point
    return None
