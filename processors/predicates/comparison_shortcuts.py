"""Short ways for comparisons of one slot with a literal, the forms that contracts use most.

A short way answers only when the value has exactly the type at hand, else it asks the general
way; both give the same verdicts (a property test holds them together).
"""

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from processors.predicates.comparison import ORDERS
from processors.predicates.expression import (
    COLLECTION_RIGHT,
    SLOTS,
    Comparison,
    Match,
    Operator,
    Path,
)
from processors.predicates.operands import Items, Judge
from processors.predicates.rendering import render_path
from processors.predicates.scope import Note, Scope
from processors.predicates.strings import contains_words, equal_exact, equal_folded, fold
from processors.predicates.verdict import FAILS, HOLDS, MISSING, Verdict
from schemas.value import Elapsed, Money, StringSet, Timestamp, Value

_NUMBER_TYPES: Final = (int, Decimal)
_ORDERED_TYPES: Final = (date, Timestamp, Elapsed)
_MATCHES: Final[Mapping[Match, Callable[[str, str], bool | None]]] = MappingProxyType(
    {Match.EXACT: equal_exact, Match.FOLDED: equal_folded, Match.WORD: contains_words}
)


def compile_shortcut(comparison: Comparison, name: str, literal: Value, general: Judge) -> Judge:
    """Return the short way of ``slots.NAME operator literal``, or the general way itself."""
    operator, match, kind = comparison.operator, comparison.match, type(literal)
    if operator in ORDERS:
        if kind in _NUMBER_TYPES:
            return _compile_number(operator, name, literal, general)
        if isinstance(literal, Money):
            return _compile_money(operator, name, literal, general)
        if kind in _ORDERED_TYPES:
            return _compile_ordered(operator, name, literal, general)
    if operator in {Operator.EQ, Operator.NE}:
        if isinstance(literal, bool):
            return _compile_truth(name, literal is (operator is Operator.EQ), general)
        if isinstance(literal, str):
            return _compile_string(comparison, name, literal, general)
    if operator is Operator.EXCLUDES and isinstance(literal, str):
        return _compile_exclusion(match, name, literal, general)
    if match is not Match.WORD and operator in COLLECTION_RIGHT:
        return _compile_choice(comparison, name, literal, general)
    return general


def _compile_number(operator: Operator, name: str, limit: Value, general: Judge) -> Judge:
    compare = ORDERS[operator]

    absent = (MISSING, f"{render_path(Path(SLOTS, (name,)))}: no value")

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        value = scope.slots.get(name)
        if type(value) is int or (type(value) is Decimal and value.is_finite()):
            return HOLDS if compare(value, limit) else FAILS
        if value is None:
            notes.append(absent)
            return MISSING
        return general(scope, notes, items)

    return check


def _compile_money(operator: Operator, name: str, limit: Money, general: Judge) -> Judge:
    compare, amount, currency = ORDERS[operator], limit.amount, limit.currency

    absent = (MISSING, f"{render_path(Path(SLOTS, (name,)))}: no value")

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        value = scope.slots.get(name)
        if type(value) is Money and value.currency == currency and value.amount.is_finite():
            return HOLDS if compare(value.amount, amount) else FAILS
        if value is None:
            notes.append(absent)
            return MISSING
        return general(scope, notes, items)

    return check


def _compile_truth(name: str, wanted: bool, general: Judge) -> Judge:  # noqa: FBT001 - the literal
    absent = (MISSING, f"{render_path(Path(SLOTS, (name,)))}: no value")

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        value = scope.slots.get(name)
        if type(value) is bool:
            return HOLDS if value is wanted else FAILS
        if value is None:
            notes.append(absent)
            return MISSING
        return general(scope, notes, items)

    return check


def _compile_ordered(operator: Operator, name: str, limit: Value, general: Judge) -> Judge:
    compare, kind = ORDERS[operator], type(limit)
    absent = (MISSING, f"{render_path(Path(SLOTS, (name,)))}: no value")

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        value = scope.slots.get(name)
        if type(value) is kind:
            return HOLDS if compare(value, limit) else FAILS
        if value is None:
            notes.append(absent)
            return MISSING
        return general(scope, notes, items)

    return check


def _compile_string(comparison: Comparison, name: str, literal: str, general: Judge) -> Judge:
    equal = _MATCHES[comparison.match]
    same, other = (HOLDS, FAILS) if comparison.operator is Operator.EQ else (FAILS, HOLDS)
    absent = (MISSING, f"{render_path(Path(SLOTS, (name,)))}: no value")

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        value = scope.slots.get(name)
        if type(value) is str:
            found = equal(value, literal)
            if found is not None:
                return same if found else other
        elif value is None:
            notes.append(absent)
            return MISSING
        return general(scope, notes, items)

    return check


def _compile_exclusion(match: Match, name: str, literal: str, general: Judge) -> Judge:
    equal = _MATCHES[match]
    absent = (MISSING, f"{render_path(Path(SLOTS, (name,)))}: no value")

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        value = scope.slots.get(name)
        if type(value) is tuple:
            for item in value:
                if type(item) is not str or equal(item, literal) is not False:
                    break
            else:
                return HOLDS
        elif value is None:
            notes.append(absent)
            return MISSING
        return general(scope, notes, items)

    return check


def _compile_choice(comparison: Comparison, name: str, literal: Value, general: Judge) -> Judge:
    choices = literal.items if isinstance(literal, StringSet) else literal
    if not isinstance(choices, tuple) or not all(type(choice) is str for choice in choices):
        return general
    known = frozenset(_fold_ascii(c, comparison.match) for c in choices if isinstance(c, str))
    if comparison.operator in {Operator.SUBSET_OF, Operator.DISJOINT_FROM}:
        return _compile_sets(comparison, name, known, general)
    match = comparison.match
    found, other = (HOLDS, FAILS) if comparison.operator is Operator.IN else (FAILS, HOLDS)
    absent = (MISSING, f"{render_path(Path(SLOTS, (name,)))}: no value")

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        value = scope.slots.get(name)
        if type(value) is str and value.isascii():
            key = _fold_ascii(value, match)
            if key is not None:
                return found if key in known else other
        elif value is None:
            notes.append(absent)
            return MISSING
        return general(scope, notes, items)

    return check


def _compile_sets(
    comparison: Comparison, name: str, known: frozenset[str | None], general: Judge
) -> Judge:
    match, inside = comparison.match, comparison.operator is Operator.SUBSET_OF

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        value = scope.slots.get(name)
        if type(value) is tuple:
            for item in value:
                if type(item) is not str or not item.isascii():
                    break
                key = _fold_ascii(item, match)
                if key is None or (key in known) is not inside:
                    break
            else:
                return HOLDS
        return general(scope, notes, items)

    return check


def _fold_ascii(text: str, match: Match) -> str | None:
    """Return what ASCII strings are compared by: they are composed already."""
    return text if match is Match.EXACT else fold(text)
