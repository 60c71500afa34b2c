"""Predicates seen from a turn: whom they bind there, what they read and what they fix.

Here live questions about the shape of a predicate only. Whether it holds for a candidate is
``processors.predicates.evaluation``; what follows from a verdict is ``processors.validation``.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from processors.predicates.applies import Occasion, applies
from processors.predicates.expression import (
    SLOTS,
    And,
    Comparison,
    Expression,
    Literal,
    Operand,
    Operator,
    Path,
    Unless,
)
from processors.predicates.text import PredicateTextError, parse
from processors.predicates.walk import read_text_slots
from processors.situation import Situation
from schemas.predicate import Predicate
from schemas.value import Value

_KEPT_MAX: Final = 16_384  # Texts whose reading is kept: 32 users with a full contract.


def applies_to_type(situation: Situation, predicate: Predicate, type_name: str) -> bool:
    """Return whether a predicate of h_t applies to this turn's candidates of a type (spec 2.2)."""
    return applies(predicate, commitment_type=type_name, occasion=name_occasion(situation))


def name_occasion(situation: Situation) -> Occasion:
    """Return the circumstances that decide which predicates apply.

    ``situation.contract`` holds only predicates whose scope is alive.
    """
    return Occasion(
        scene=situation.scene.name,
        as_of_ms=situation.as_of_ms,
        user=situation.user,
        participants=situation.request.participants,
        types=situation.types,
    )


def applies_to_scene(situation: Situation, predicate: Predicate) -> bool:
    """Return whether a predicate applies to candidates of some type of the turn's scene."""
    return any(
        applies_to_type(situation, predicate, name) for name in situation.scene.commitment_types
    )


def find_slots(predicate: Predicate) -> tuple[str, ...]:
    """Return the names of the commitment slots that rule or exception reads, sorted."""
    texts = [predicate.expression]
    if predicate.unless is not None:
        texts.append(predicate.unless)
    names: dict[str, None] = {}
    for text in texts:
        try:
            names.update(dict.fromkeys(read_text_slots(text)))
        except PredicateTextError:
            continue  # Its verdict is invalid; it reads nothing that could be named.
    return tuple(sorted(names))


def find_fixings(predicate: Predicate, slot: str) -> tuple[Comparison, ...]:
    """Return the equalities of the rule that fix this slot's value to a literal.

    Only equalities that the rule as a whole demands count: the rule itself, or a member of its
    conjunction. An exception unfixes nothing that was confirmed together with it.
    """
    demands = _read_demands(predicate.expression)
    return tuple(comparison for name, comparison in demands if name == slot)


def list_fixed(predicate: Predicate) -> tuple[tuple[str, Value], ...]:
    """Return (slot, value) of every equality by which the rule fixes a slot to a literal."""
    fixed = []
    for name, comparison in _read_demands(predicate.expression):
        side = comparison.right if isinstance(comparison.right, Literal) else comparison.left
        assert isinstance(side, Literal), "a demand compares a slot with a literal"
        fixed.append((name, side.value))
    return tuple(fixed)


@lru_cache(maxsize=_KEPT_MAX)
def _read_demands(text: str) -> tuple[tuple[str, Comparison], ...]:
    try:
        return tuple(_find_demands(parse(text)))
    except PredicateTextError:
        return ()


def _find_demands(expression: Expression) -> Iterator[tuple[str, Comparison]]:
    match expression:
        case And(items=items):
            for item in items:
                yield from _find_demands(item)
        case Unless(rule=rule):
            yield from _find_demands(rule)
        case Comparison(operator=Operator.EQ, left=left, right=right):
            name = _read_plain_slot(left) if isinstance(right, Literal) else None
            if name is None and isinstance(left, Literal):
                name = _read_plain_slot(right)
            if name is not None:
                yield name, expression


def _read_plain_slot(operand: Operand) -> str | None:
    if isinstance(operand, Path) and operand.root == SLOTS and len(operand.steps) == 1:
        step = operand.steps[0]
        return step if isinstance(step, str) else None
    return None
