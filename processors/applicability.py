"""What a predicate reads and fixes, and which commitment types it binds (spec 2.2, 3.3).

Here live questions about the shape of a predicate only. Whether it holds for a candidate is
``processors.predicates.evaluation``; what follows from a verdict is ``processors.validation``.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from processors.predicates.expression import (
    SLOTS,
    And,
    Comparison,
    Count,
    Exists,
    Expression,
    IsNull,
    Literal,
    Minus,
    Not,
    Operand,
    Operator,
    Or,
    Path,
    Plus,
    Quantified,
    Sum,
    Unless,
)
from processors.predicates.text import parse
from processors.situation import Situation
from schemas.predicate import Predicate

_TEXTS_KEPT: Final = 4_096  # Parsed texts kept in memory; a cache of a pure function.


@lru_cache(maxsize=_TEXTS_KEPT)
def read_expression(text: str) -> Expression:
    """Return the tree of a canonical text form; it was parsed whole before it was accepted."""
    return parse(text)


def find_slots(predicate: Predicate) -> tuple[str, ...]:
    """Return the names of the commitment slots that rule or exception reads, sorted."""
    texts = [predicate.expression]
    if predicate.unless is not None:
        texts.append(predicate.unless)
    names = {name: None for text in texts for name in _find_text_slots(text)}
    return tuple(sorted(names))


def find_fixings(predicate: Predicate, slot: str) -> tuple[Comparison, ...]:
    """Return the equalities of the rule that fix this slot's value to a literal.

    Only equalities that the rule as a whole demands count: the rule itself, or a member of its
    conjunction. An exception of the rule unfixes nothing that was confirmed with the rule.
    """
    found = _find_demands(read_expression(predicate.expression))
    return tuple(comparison for name, comparison in found if name == slot)


def applies_to_type(situation: Situation, predicate: Predicate, type_name: str) -> bool:
    """Return whether a live, valid predicate applies to candidates of this type (spec 2.2).

    ``situation.contract`` holds only predicates whose scope is alive and whose validity
    contains as_of; what is left is the subject, the scene, and the slots that the type declares.
    """
    subjects = ("", situation.user, *situation.request.participants)
    if predicate.subject not in subjects:
        return False
    if predicate.scenes:
        return situation.scene.name in predicate.scenes
    declared = situation.types.get(type_name)
    if declared is None:
        return True
    read = find_slots(predicate)
    return any(slot.name in read for slot in declared.slots)


@lru_cache(maxsize=_TEXTS_KEPT)
def _find_text_slots(text: str) -> tuple[str, ...]:
    names = (
        path.steps[0]
        for path in _walk_expression(read_expression(text))
        if path.root == SLOTS and path.steps
    )
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))


def _walk_expression(expression: Expression) -> Iterator[Path]:
    match expression:
        case Comparison(left=left, right=right):
            yield from _walk_operand(left)
            yield from _walk_operand(right)
        case Exists(path=path) | IsNull(path=path):
            yield path
        case Not(item=item):
            yield from _walk_expression(item)
        case And(items=items) | Or(items=items):
            for item in items:
                yield from _walk_expression(item)
        case Unless(rule=rule, exception=exception):
            yield from _walk_expression(rule)
            yield from _walk_expression(exception)
        case Quantified(domain=domain, body=body):
            yield domain
            yield from _walk_expression(body)


def _walk_operand(operand: Operand) -> Iterator[Path]:
    match operand:
        case Path():
            yield operand
        case Sum(path=path) | Count(path=path):
            yield path
        case Plus(left=left, right=right) | Minus(left=left, right=right):
            yield from _walk_operand(left)
            yield from _walk_operand(right)


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
