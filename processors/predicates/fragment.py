"""Expressions translated into the fragment in which conflict is decided (spec 2.7).

``translate`` says what must be so for an expression to hold, or to fail. Both need every value
that decides to be present and of its type, for missing and invalid satisfy nothing.
"""

from functools import lru_cache
from typing import Final

from processors.limits import COMPILED_MAX
from processors.predicates.atoms import (
    NOTHING,
    UNKNOWN,
    Contains,
    Every,
    Formula,
    OneOf,
    Pair,
    Presence,
    Some,
    Text,
    Truth,
    Within,
    require_every,
    require_some,
)
from processors.predicates.expression import (
    COLLECTION_LEFT,
    EXCLUSIONS,
    ORDER_OPERATORS,
    And,
    Attested,
    Comparison,
    Exists,
    Expression,
    IsNull,
    Literal,
    Match,
    Not,
    Operand,
    Operator,
    Or,
    Path,
    Quantified,
    Quantifier,
    Unless,
)
from processors.predicates.linear import name_operand, translate_linear
from processors.predicates.rendering import render_path
from processors.predicates.text import parse
from schemas.value import StringSet, Value


@lru_cache(maxsize=COMPILED_MAX)
def translate_text(text: str, unless: str | None) -> Formula:
    """Return what must be so for a predicate to hold.

    Raises:
        PredicateTextError: a text is no predicate.

    """
    expression = parse(text)
    if unless is not None:
        expression = Unless(expression, parse(unless))
    return translate(expression, positive=True)


def translate(expression: Expression, *, positive: bool) -> Formula:
    """Return what must be so for an expression to hold, or to fail when not positive."""
    match expression:
        case Not(item=item):
            return translate(item, positive=not positive)
        case And(items=items) | Or(items=items):
            parts = [translate(item, positive=positive) for item in items]
            return (
                require_every(parts)
                if isinstance(expression, And) is positive
                else (require_some(parts))
            )
        case Unless(rule=rule, exception=exception):
            if positive:
                parts = [translate(rule, positive=True), translate(exception, positive=True)]
                return require_some(parts)
            # It fails when the rule fails and the exception does not hold, which may also be
            # missing: only the first half is in the fragment.
            return translate(rule, positive=False)
        case Comparison():
            return _translate_comparison(expression, positive=positive)
        case Exists(path=path):
            return _require_presence(path, positive=positive)
        case IsNull(path=path):
            return _require_presence(path, positive=not positive)
        case Attested(check=check):
            return Truth(f"attested({check})", positive)
        case Quantified():
            return _translate_quantified(expression, positive=positive)


def _require_presence(path: Path, *, positive: bool) -> Formula:
    name = name_operand(path)
    return UNKNOWN if name is None else Presence(name, positive)


def _translate_quantified(expression: Quantified, *, positive: bool) -> Formula:
    # Bodies are outside the fragment; that there is a list to run over is not.
    name = name_operand(expression.domain)
    needs = positive or expression.quantifier is not Quantifier.ANY
    return Presence(name, True) if name is not None and needs else UNKNOWN


def _translate_comparison(comparison: Comparison, *, positive: bool) -> Formula:
    operator = comparison.operator
    if operator in ORDER_OPERATORS:
        return translate_linear(comparison, positive=positive)
    if operator in EXCLUSIONS:
        positive = not positive
    if operator in {Operator.EQ, Operator.NE}:
        return _translate_equality(comparison, positive=positive)
    if operator in COLLECTION_LEFT:
        return _translate_collection(comparison, positive=positive)
    items = _list_literals(comparison.right)
    if items is None:
        return UNKNOWN
    name = name_operand(comparison.left)
    strings = tuple(item for item in items if isinstance(item, str))
    if positive and name is not None and strings and len(strings) == len(items):
        return OneOf(name, comparison.match, strings)
    parts = [
        _translate_equality(
            Comparison(Operator.EQ, comparison.left, Literal(item), comparison.match),
            positive=positive,
        )
        for item in items
    ]
    return (
        require_some(parts)
        if positive and parts
        else require_every(parts)
        if parts
        else (Some(()) if positive else _require_some_value(name))
    )


def _require_some_value(name: str | None) -> Formula:
    return UNKNOWN if name is None else Presence(name, True)


def _translate_equality(comparison: Comparison, *, positive: bool) -> Formula:
    """Return what makes two operands equal, or unequal when not positive."""
    left, right, match = comparison.left, comparison.right, comparison.match
    if isinstance(left, Literal) and not isinstance(right, Literal):
        if match is Match.WORD:
            return UNKNOWN  # The pattern of a word match is its right side.
        left, right = right, left
    name = name_operand(left)
    if isinstance(right, Literal) and name is not None:
        value = right.value
        if isinstance(value, str):
            return Text(name, match, value, positive)
        if isinstance(value, bool):
            return Truth(name, value is positive)
        if isinstance(value, StringSet):
            return _equal_set(name, value, match) if positive else Presence(name, True)
        if isinstance(value, tuple):
            return Presence(name, True)
    other = name_operand(right)
    if name is not None and other is not None:
        return UNKNOWN if name == other else Pair(name, other, match, positive)
    plain = Comparison(Operator.EQ, left, right, match)
    return translate_linear(plain, positive=positive)


def _equal_set(name: str, value: StringSet, match: Match) -> Formula:
    del match  # Sets are equal by their exact items.
    items: list[Formula] = [Contains(name, Match.EXACT, item, True) for item in value.items]
    return require_every([Within(name, Match.EXACT, value.items), *items])


def _translate_collection(comparison: Comparison, *, positive: bool) -> Formula:
    assert isinstance(comparison.left, Path)
    if comparison.left.root not in _ROOTS:
        return UNKNOWN
    name = render_path(comparison.left)
    match = comparison.match
    if comparison.operator in {Operator.CONTAINS, Operator.EXCLUDES}:
        if not isinstance(comparison.right, Literal):
            return UNKNOWN
        return Contains(name, match, comparison.right.value, positive)
    items = _list_literals(comparison.right)
    if items is None:
        return UNKNOWN
    if comparison.operator is Operator.SUBSET_OF:
        # Some item outside the list is all that is known when it fails.
        return Within(name, match, items) if positive else Presence(name, True)
    # ``positive`` is turned for an exclusion: the lists meet, or no item is shared.
    parts: list[Formula] = [Contains(name, match, item, positive) for item in items]
    if positive:
        return require_some(parts) if parts else Some(())
    return require_every([*parts, Presence(name, True)])


def _list_literals(operand: Operand) -> tuple[Value, ...] | None:
    if not isinstance(operand, Literal):
        return None
    value = operand.value
    items = value.items if isinstance(value, StringSet) else value
    return items if isinstance(items, tuple) else None


_ROOTS: Final = ("slots", "state", "unit", "amended")

__all__ = ["NOTHING", "Every", "translate", "translate_text"]
