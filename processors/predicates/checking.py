"""Static types of an expression against declared slots: what can never have a verdict.

A finding here is advice before confirmation; an ill-typed predicate that is confirmed anyway
evaluates to invalid or missing. ``read_slots`` is here for its readers, from ``walk``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from processors.predicates.expression import (
    COLLECTION_LEFT,
    COLLECTION_RIGHT,
    EVERY,
    ORDER_OPERATORS,
    SLOTS,
    AsOf,
    Comparison,
    Count,
    Expression,
    Literal,
    Operand,
    Path,
    Quantified,
    Sum,
)
from processors.predicates.rendering import render, render_path
from processors.predicates.walk import read_slots, walk_conditions, walk_paths
from schemas.catalogue import CommitmentType, SlotDeclaration, SlotType
from schemas.value import Elapsed, Money, Period, RecordValue, StringSet, Timestamp, Value

__all__ = ["Finding", "check_types", "declare_slots", "read_slots"]

_LISTED: Final = (SlotType.LIST, SlotType.SET)
_UNORDERED: Final = (
    SlotType.STRING,
    SlotType.BOOL,
    SlotType.RECORD,
    SlotType.LIST,
    SlotType.SET,
)
_OPEN: Final = (SlotType.ANY, SlotType.UNKNOWN)
_NUMBERS: Final = (SlotType.INT, SlotType.DECIMAL)
_INSTANT_LIKE: Final = (SlotType.DATE, SlotType.LOCAL, SlotType.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with an expression, where, and what to write instead."""

    place: str
    detail: str
    remedy: str


def declare_slots(commitment_type: CommitmentType) -> dict[str, SlotDeclaration]:
    """Return a type's declarations by slot name."""
    return {slot.name: slot for slot in commitment_type.slots}


def check_types(
    expression: Expression, slots: Mapping[str, SlotDeclaration]
) -> tuple[Finding, ...]:
    """Return what can be known to be wrong before any value is seen, in reading order.

    Slots that the type does not declare, comparisons whose sides have types that never go
    together, order where there is none, lists where one value is needed and the reverse.
    """
    findings: list[Finding] = []
    for path in walk_paths(expression):
        if path.root == SLOTS and path.steps[0] not in slots:
            known = ", ".join(sorted(slots)) or "none"
            findings.append(
                Finding(render_path(path), "no such slot is declared", f"declared are: {known}")
            )
    for condition in walk_conditions(expression):
        if isinstance(condition, Comparison):
            findings.extend(_check_comparison(condition, slots))
        elif isinstance(condition, Quantified):
            found = _find_type(condition.domain, slots)
            if found not in (*_LISTED, *_OPEN) and EVERY not in condition.domain.steps:
                findings.append(
                    Finding(render_path(condition.domain), f"{found} is no list", "name a list")
                )
    return tuple(dict.fromkeys(findings))


def _check_comparison(
    comparison: Comparison, slots: Mapping[str, SlotDeclaration]
) -> Iterator[Finding]:
    place = render(comparison)
    left, right = _find_type(comparison.left, slots), _find_type(comparison.right, slots)
    operator = comparison.operator
    if operator in COLLECTION_LEFT:
        if left not in (*_LISTED, *_OPEN):
            yield Finding(place, f"{operator} on a slot of type {left}", "compare with == or in")
        return
    if operator in COLLECTION_RIGHT:
        items = _item_types(comparison.right)
        if left not in _OPEN and items and not any(_go_together(left, item) for item in items):
            yield Finding(place, f"{left} is never in a list of {items[0]}", "use its own type")
        return
    if operator in ORDER_OPERATORS:
        for found in (left, right):
            if found in _UNORDERED:
                yield Finding(place, f"{found} has no order", "use ==, in or contains")
                return
    if not _go_together(left, right):
        yield Finding(
            place, f"{left} and {right} are never compared", f"compare with a value of type {left}"
        )


def _go_together(left: SlotType, right: SlotType) -> bool:
    if left in _OPEN or right in _OPEN or left is right:
        return True
    if left in _NUMBERS and right in _NUMBERS:
        return True
    # A date or local date-time meets an instant in the zone.
    return left in _INSTANT_LIKE and right in _INSTANT_LIKE and SlotType.TIMESTAMP in {left, right}


def _find_type(operand: Operand, slots: Mapping[str, SlotDeclaration]) -> SlotType:
    match operand:
        case Literal(value=value):
            return find_value_type(value)
        case Path(root="slots", steps=(str() as name,)) if name in slots:
            return slots[name].slot_type
        case AsOf():
            return SlotType.TIMESTAMP
        case Count():
            return SlotType.INT
        case Sum():
            return SlotType.UNKNOWN
    return SlotType.UNKNOWN


def _item_types(operand: Operand) -> tuple[SlotType, ...]:
    if isinstance(operand, Literal):
        value = operand.value
        items = value.items if isinstance(value, StringSet) else value
        if isinstance(items, tuple):
            return tuple(dict.fromkeys(find_value_type(item) for item in items))
    return ()


_TYPES: Final[Mapping[type, SlotType]] = MappingProxyType(
    {
        bool: SlotType.BOOL,
        int: SlotType.INT,
        str: SlotType.STRING,
        Decimal: SlotType.DECIMAL,
        Money: SlotType.MONEY,
        date: SlotType.DATE,
        time: SlotType.TIME,
        datetime: SlotType.LOCAL,
        Timestamp: SlotType.TIMESTAMP,
        Elapsed: SlotType.ELAPSED,
        Period: SlotType.PERIOD,
        RecordValue: SlotType.RECORD,
        tuple: SlotType.LIST,
        StringSet: SlotType.SET,
    }
)


def find_value_type(value: Value) -> SlotType:
    """Return the declared type that a value has."""
    return _TYPES.get(type(value), SlotType.UNKNOWN)
