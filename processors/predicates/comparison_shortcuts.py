"""Short ways for comparisons of one slot with a literal, the forms that contracts use most.

A short way answers only when the value has exactly the type at hand, else it asks the general
way; both give the same verdicts (a property test holds them together).
"""

from decimal import Decimal
from typing import Final

from processors.predicates.comparison import ORDERS
from processors.predicates.expression import SLOTS, Comparison, Match, Operator, Path
from processors.predicates.operands import Items, Judge
from processors.predicates.rendering import render_path
from processors.predicates.scope import Note, Scope
from processors.predicates.strings import equal_exact, fold
from processors.predicates.verdict import FAILS, HOLDS, MISSING, Verdict
from schemas.value import Money, StringSet, Value

_NUMBER_TYPES: Final = (int, Decimal)


def compile_shortcut(comparison: Comparison, name: str, literal: Value, general: Judge) -> Judge:
    """Return the short way of ``slots.NAME operator literal``, or the general way itself."""
    operator, match = comparison.operator, comparison.match
    if operator in ORDERS and type(literal) in _NUMBER_TYPES:
        return _compile_number(operator, name, literal, general)
    if operator in ORDERS and type(literal) is Money:
        return _compile_money(operator, name, literal, general)
    if operator in {Operator.EQ, Operator.NE} and type(literal) is bool:
        return _compile_truth(name, literal is (operator is Operator.EQ), general)
    exact = match is Match.EXACT
    if operator in {Operator.EQ, Operator.NE} and type(literal) is str and exact:
        return _compile_string(name, literal, operator is Operator.EQ, general)
    if operator is Operator.EXCLUDES and type(literal) is str and match is Match.FOLDED:
        return _compile_exclusion(name, literal, general)
    if operator in {Operator.IN, Operator.NOT_IN} and match is not Match.WORD:
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


def _compile_string(name: str, literal: str, equal: bool, general: Judge) -> Judge:  # noqa: FBT001
    same, other = (HOLDS, FAILS) if equal else (FAILS, HOLDS)

    absent = (MISSING, f"{render_path(Path(SLOTS, (name,)))}: no value")

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        value = scope.slots.get(name)
        if type(value) is str:
            return same if value == literal or equal_exact(value, literal) else other
        if value is None:
            notes.append(absent)
            return MISSING
        return general(scope, notes, items)

    return check


def _compile_exclusion(name: str, literal: str, general: Judge) -> Judge:
    wanted = fold(literal)

    absent = (MISSING, f"{render_path(Path(SLOTS, (name,)))}: no value")

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        value = scope.slots.get(name)
        if type(value) is tuple:
            for item in value:
                if type(item) is not str:
                    break
                folded = fold(item)
                if folded is None or folded == wanted:
                    break
            else:
                return HOLDS
        if value is None:
            notes.append(absent)
            return MISSING
        return general(scope, notes, items)

    return check


def _compile_choice(comparison: Comparison, name: str, literal: Value, general: Judge) -> Judge:
    choices = literal.items if isinstance(literal, StringSet) else literal
    if not isinstance(choices, tuple) or not all(type(choice) is str for choice in choices):
        return general
    folded = comparison.match is Match.FOLDED
    known = frozenset(fold(c) if folded else c for c in choices if isinstance(c, str))
    found, other = (HOLDS, FAILS) if comparison.operator is Operator.IN else (FAILS, HOLDS)

    absent = (MISSING, f"{render_path(Path(SLOTS, (name,)))}: no value")

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        value = scope.slots.get(name)
        if type(value) is str and value.isascii():
            key = fold(value) if folded else value
            if key is not None:
                return found if key in known else other
        if value is None:
            notes.append(absent)
            return MISSING
        return general(scope, notes, items)

    return check
