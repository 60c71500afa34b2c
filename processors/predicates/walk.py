"""What an expression reads: its paths, its checks, its instants. No value is looked at."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from processors.limits import COMPILED_MAX
from processors.predicates.expression import (
    AMENDED,
    SLOTS,
    STATE,
    UNIT,
    After,
    And,
    Attested,
    Comparison,
    Count,
    Exists,
    Expression,
    IsNull,
    Minus,
    Not,
    Operand,
    Or,
    Path,
    Plus,
    Quantified,
    Sum,
    Unless,
)
from processors.predicates.text import parse


@dataclass(frozen=True, slots=True)
class Reads:
    """The names that an expression reads, each tuple sorted and without duplicates."""

    slots: tuple[str, ...]
    state: tuple[str, ...]
    units: tuple[str, ...]
    amended: tuple[str, ...]
    checks: tuple[str, ...]


@lru_cache(maxsize=COMPILED_MAX)
def read_text_slots(text: str) -> tuple[str, ...]:
    """Return the commitment slots that a text reads, of the new or the amended commitment.

    Raises:
        PredicateTextError: the text is no predicate.

    """
    return read_slots(parse(text))


def read_slots(expression: Expression) -> tuple[str, ...]:
    """Return the commitment slots that an expression reads, sorted (the rule "applies" of 2.2).

    A slot of the commitment being amended counts: it is a slot of the same type.
    """
    reads = collect_reads(expression)
    return tuple(sorted({*reads.slots, *reads.amended}))


def collect_reads(expression: Expression) -> Reads:
    """Return everything that an expression reads."""
    found: dict[str, dict[str, None]] = {root: {} for root in (SLOTS, STATE, UNIT, AMENDED)}
    for path in walk_paths(expression):
        if path.root in found and isinstance(path.steps[0], str):
            found[path.root][path.steps[0]] = None
    checks = {node.check for node in walk_conditions(expression) if isinstance(node, Attested)}
    return Reads(
        slots=tuple(sorted(found[SLOTS])),
        state=tuple(sorted(found[STATE])),
        units=tuple(sorted(found[UNIT])),
        amended=tuple(sorted(found[AMENDED])),
        checks=tuple(sorted(checks)),
    )


def walk_conditions(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and every condition inside it, outermost first."""
    yield expression
    match expression:
        case And(items=items) | Or(items=items):
            for item in items:
                yield from walk_conditions(item)
        case Not(item=item):
            yield from walk_conditions(item)
        case Unless(rule=rule, exception=exception):
            yield from walk_conditions(rule)
            yield from walk_conditions(exception)
        case Quantified(body=body):
            yield from walk_conditions(body)


def walk_operands(expression: Expression) -> Iterator[Operand]:
    """Yield every operand of every comparison, differences before their parts."""
    for condition in walk_conditions(expression):
        if isinstance(condition, Comparison):
            yield from _walk_operand(condition.left)
            yield from _walk_operand(condition.right)


def walk_paths(expression: Expression) -> Iterator[Path]:
    """Yield every path, variables and the lists of quantifiers included."""
    for condition in walk_conditions(expression):
        match condition:
            case Exists(path=path) | IsNull(path=path) | Quantified(domain=path):
                yield path
            case Comparison(left=left, right=right):
                for operand in (*_walk_operand(left), *_walk_operand(right)):
                    match operand:
                        case Path():
                            yield operand
                        case Sum(path=path) | Count(path=path):
                            yield path


def is_relative(expression: Expression) -> bool:
    """Return whether a threshold is still relative to the confirmation."""
    return any(isinstance(operand, After) for operand in walk_operands(expression))


def _walk_operand(operand: Operand) -> Iterator[Operand]:
    yield operand
    if isinstance(operand, Plus | Minus):
        yield from _walk_operand(operand.left)
        yield from _walk_operand(operand.right)
