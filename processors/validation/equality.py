"""When two typed values are the same, and the plain values inside a value.

Nothing is coerced: whole numbers and decimals compare exactly with each other, strings by their
composed form, everything else only with its own type (spec 2.5). Comparisons inside predicates
belong to ``processors.predicates``.
"""

from collections.abc import Iterator
from decimal import Decimal

from processors.predicates.strings import equal_exact
from schemas.value import RecordValue, StringSet, Value


def same(left: Value, right: Value) -> bool:
    """Return whether two values are equal without any coercion."""
    kind = type(left)
    if kind is str:
        return type(right) is str and equal_exact(left, right)  # type: ignore[arg-type]
    if kind is int or kind is Decimal:
        return type(right) in {int, Decimal} and left == right
    if kind is not type(right):
        return False
    if isinstance(left, tuple):
        assert isinstance(right, tuple)
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, StringSet):
        assert isinstance(right, StringSet)
        return same(left.items, right.items)
    if isinstance(left, RecordValue):
        assert isinstance(right, RecordValue)
        return len(left.fields) == len(right.fields) and all(
            one[0] == other[0] and same(one[1], other[1])
            for one, other in zip(left.fields, right.fields, strict=True)
        )
    return left == right


def list_leaves(value: Value) -> Iterator[Value]:
    """Yield the plain values inside lists, sets and records, in order; null is none."""
    if isinstance(value, tuple):
        for item in value:
            yield from list_leaves(item)
    elif isinstance(value, StringSet):
        yield from value.items
    elif isinstance(value, RecordValue):
        for _, item in value.fields:
            yield from list_leaves(item)
    elif value is not None:
        yield value


def measure_depth(value: Value) -> int:
    """Return how deep lists and records stand inside each other; a plain value has depth 0."""
    if isinstance(value, tuple):
        return 1 + max((measure_depth(item) for item in value), default=0)
    if isinstance(value, RecordValue):
        return 1 + max((measure_depth(item) for _, item in value.fields), default=0)
    return 0
