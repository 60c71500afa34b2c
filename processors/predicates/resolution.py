"""Relative thresholds resolved at confirmation (spec 2.5).

``after("P30D")`` means thirty days after the confirmation, and becomes a literal instant then:
what was confirmed does not move. ``as_of`` stays: it means the instant of each later turn.
"""

from processors.predicates.expression import (
    After,
    And,
    Comparison,
    Expression,
    Literal,
    Minus,
    Not,
    Operand,
    Or,
    Plus,
    Quantified,
    Unless,
)
from processors.predicates.instants import add_period, find_zone
from schemas.value import Elapsed, Timestamp


class ResolutionError(ValueError):
    """A relative threshold cannot be resolved; the message says what is missing."""


def resolve(expression: Expression, effective_ms: int, zone: str | None) -> Expression:
    """Return the expression with every ``after(...)`` as an instant.

    ``effective_ms`` is the confirmation's effective time, ``zone`` the predicate's zone or
    else the event's.

    Raises:
        ResolutionError: a calendar duration without a known zone, or years out of range.

    """
    match expression:
        case Comparison(operator=operator, left=left, right=right, match=match):
            return Comparison(
                operator,
                _resolve_operand(left, effective_ms, zone),
                _resolve_operand(right, effective_ms, zone),
                match,
            )
        case And(items=items):
            return And(_resolve_all(items, effective_ms, zone))
        case Or(items=items):
            return Or(_resolve_all(items, effective_ms, zone))
        case Not(item=item):
            return Not(resolve(item, effective_ms, zone))
        case Unless(rule=rule, exception=exception):
            return Unless(*_resolve_all((rule, exception), effective_ms, zone))
        case Quantified(quantifier=quantifier, variable=variable, domain=domain, body=body):
            resolved = resolve(body, effective_ms, zone)
            return Quantified(quantifier, variable, domain, resolved)
    return expression


def _resolve_all(
    items: tuple[Expression, ...], effective_ms: int, zone: str | None
) -> tuple[Expression, ...]:
    return tuple(resolve(item, effective_ms, zone) for item in items)


def _resolve_operand(operand: Operand, effective_ms: int, zone: str | None) -> Operand:
    match operand:
        case After(duration=Elapsed(duration_ms=duration_ms)):
            return Literal(Timestamp(effective_ms + duration_ms))
        case After(duration=period):
            table = None if zone is None else find_zone(zone)
            if table is None:
                raise ResolutionError(
                    f"a calendar duration needs a zone, and {zone or 'none'} is none; "
                    "give the predicate an IANA zone such as Europe/Berlin"
                )
            assert not isinstance(period, Elapsed)
            try:
                return Literal(Timestamp(add_period(effective_ms, period, table)))
            except (OverflowError, ValueError):
                raise ResolutionError("outside the years 1 to 9999; shorten it") from None
        case Plus(left=left, right=right):
            return Plus(
                _resolve_operand(left, effective_ms, zone),
                _resolve_operand(right, effective_ms, zone),
            )
        case Minus(left=left, right=right):
            return Minus(
                _resolve_operand(left, effective_ms, zone),
                _resolve_operand(right, effective_ms, zone),
            )
    return operand
