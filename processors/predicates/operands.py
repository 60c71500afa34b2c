"""Operands compiled to closures: how a path, a literal or a difference gets its value.

A closure takes (scope, notes, items), ``items`` being the values that quantifiers have bound,
and returns a value, None for absent or null, or a ``Problem``. Verdicts are ``evaluation``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from processors.predicates.arithmetic import add_values, describe, subtract_values, sum_values
from processors.predicates.expression import (
    AMENDED,
    EVERY,
    SLOTS,
    STATE,
    UNIT,
    After,
    AsOf,
    Count,
    Every,
    Literal,
    Minus,
    Operand,
    Path,
    Plus,
    Step,
    Sum,
)
from processors.predicates.rendering import render_path
from processors.predicates.scope import Note, Problem, Scope, Setting, spend_steps
from processors.predicates.verdict import INVALID, MISSING, Verdict
from schemas.value import RecordValue, StringSet, Timestamp, Value

Items: TypeAlias = tuple[Value, ...]
Read: TypeAlias = Callable[[Scope, list[Note], Items], "Value | Problem"]
Judge: TypeAlias = Callable[[Scope, list[Note], Items], Verdict]
ReadMany: TypeAlias = Callable[[Scope, list[Note], Items], "tuple[Value, ...] | Problem"]


@dataclass(frozen=True, slots=True)
class Binding:
    """What is known while compiling: the predicate's zone, the variables and their lists."""

    zone: str | None = None
    variables: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()


def compile_operand(operand: Operand, binding: Binding) -> Read:
    """Return the closure that reads one value."""
    match operand:
        case Literal(value=value):
            return lambda _scope, _notes, _items: value
        case Path():
            return compile_path(operand, binding)
        case AsOf():
            return _read_as_of
        case After():
            problem = Problem(INVALID, "after() was not resolved at confirmation")
            return lambda _scope, _notes, _items: problem
        case Sum(path=path):
            return _compile_sum(path, binding)
        case Count(path=path):
            return _compile_count(path, binding)
        case Plus(left=left, right=right):
            return _compile_arithmetic(add_values, left, right, binding)
        case Minus(left=left, right=right):
            return _compile_arithmetic(subtract_values, left, right, binding)


def compile_path(path: Path, binding: Binding) -> Read:
    """Return the closure that reads the single value of a path without ``[*]``."""
    start, steps = _compile_root(path, binding)
    if not steps:
        return start
    text = render_path(path)

    def read(scope: Scope, notes: list[Note], items: Items) -> Value | Problem:
        value = start(scope, notes, items)
        for step in steps:
            if value is None or isinstance(value, Problem):
                return value
            value = _take_step(value, step, text)
        return value

    return read


def compile_collection(path: Path, binding: Binding) -> ReadMany:
    """Return the closure that reads the items of a list, of a set or of a path with ``[*]``."""
    read_items = _compile_items(path, binding)
    if not binding.variables:
        return read_items

    def read_again(scope: Scope, notes: list[Note], items: Items) -> tuple[Value, ...] | Problem:
        # Inside a quantifier a list is read once for each item of the list outside.
        values = read_items(scope, notes, items)
        if type(values) is tuple:
            spend_steps(notes, len(values))
        return values

    return read_again


def _compile_items(path: Path, binding: Binding) -> ReadMany:
    text = render_path(path)
    absent = Problem(MISSING, f"{text}: no value")
    if EVERY in path.steps:
        return _compile_flattened(path, binding, text, absent)
    read = compile_path(path, binding)

    def read_items(scope: Scope, notes: list[Note], items: Items) -> tuple[Value, ...] | Problem:
        value = read(scope, notes, items)
        if type(value) is tuple:
            return value
        return _list_items(value, text, absent)

    return read_items


def _compile_flattened(path: Path, binding: Binding, text: str, absent: Problem) -> ReadMany:
    start, steps = _compile_root(path, binding)

    def read_items(scope: Scope, notes: list[Note], items: Items) -> tuple[Value, ...] | Problem:
        first = start(scope, notes, items)
        if isinstance(first, Problem):
            return first
        values: list[Value] = [first]
        for step in steps:
            following: list[Value] = []
            for value in values:
                if isinstance(step, Every):
                    listed = _list_items(value, text, absent)
                    if isinstance(listed, Problem):
                        return listed
                    following.extend(listed)
                    continue
                taken = absent if value is None else _take_step(value, step, text)
                if isinstance(taken, Problem):
                    return taken
                following.append(taken)
            values = following
        return tuple(values)

    return read_items


def _list_items(
    value: "Value | Problem", text: str, absent: Problem
) -> tuple[Value, ...] | Problem:
    if type(value) is tuple:
        return value
    if type(value) is StringSet:
        return value.items
    if value is None:
        return absent
    if isinstance(value, Problem):
        return value
    return Problem(INVALID, f"{text}: {describe(value)} where a list is expected")


def _take_step(value: Value, step: Step, text: str) -> "Value | Problem":
    if type(step) is str and type(value) is RecordValue:
        return value.get(step)
    if type(step) is int and type(value) is tuple:
        return value[step] if step < len(value) else None
    expected = "a list" if type(step) is int else "a record"
    return Problem(INVALID, f"{text}: {describe(value)} where {expected} is expected")


def _compile_root(path: Path, binding: Binding) -> tuple[Read, tuple[Step, ...]]:
    if path.root in binding.variables:
        at = binding.variables.index(path.root)
        return (lambda _scope, _notes, items: items[at]), path.steps
    name = path.steps[0]
    assert isinstance(name, str)
    if path.root == SLOTS:
        return (lambda scope, _notes, _items: scope.slots.get(name)), path.steps[1:]
    if path.root == STATE:
        return (lambda scope, _notes, _items: _read_state(scope, name)), path.steps[1:]
    if path.root == AMENDED:
        return (
            lambda scope, _notes, _items: None if scope.amended is None else scope.amended.get(name)
        ), path.steps[1:]
    assert path.root == UNIT
    return (lambda scope, _notes, _items: _read_unit(scope, name)), path.steps[1:]


def _read_state(scope: Scope, name: str) -> Value:
    state = scope.state
    return state(name) if callable(state) else state.get(name)


def _read_unit(scope: Scope, name: str) -> "Value | Problem":
    """Return the value of the cited unit of that slot; two that differ are invalid."""
    found: list[Value] = [unit.value for unit in scope.units if unit.slot == name]
    if not found:
        return None
    first = found[0]
    for other in found[1:]:
        if type(other) is not type(first) or other != first:
            return Problem(INVALID, f"unit.{name}: cited units state different values")
    return first


def _read_as_of(scope: Scope, _notes: list[Note], _items: Items) -> "Value | Problem":
    return None if scope.as_of_ms is None else Timestamp(scope.as_of_ms)


def _compile_sum(path: Path, binding: Binding) -> Read:
    read = compile_collection(path, binding)
    zone = binding.zone

    def read_sum(scope: Scope, notes: list[Note], items: Items) -> Value | Problem:
        values = read(scope, notes, items)
        if isinstance(values, Problem):
            return values
        return sum_values(values, Setting(scope, zone, notes))

    return read_sum


def _compile_count(path: Path, binding: Binding) -> Read:
    read = compile_collection(path, binding)

    def read_count(scope: Scope, notes: list[Note], items: Items) -> Value | Problem:
        values = read(scope, notes, items)
        return values if isinstance(values, Problem) else len(values)

    return read_count


def _compile_arithmetic(
    combine: Callable[[Value, Value, Setting], "Value | Problem"],
    left: Operand,
    right: Operand,
    binding: Binding,
) -> Read:
    read_left, read_right = compile_operand(left, binding), compile_operand(right, binding)
    zone = binding.zone

    def read(scope: Scope, notes: list[Note], items: Items) -> Value | Problem:
        first, second = read_left(scope, notes, items), read_right(scope, notes, items)
        # Invalid outranks missing, as in every conjunction.
        for side in (first, second):
            if isinstance(side, Problem) and side.verdict is INVALID:
                return side
        for side in (first, second):
            if isinstance(side, Problem) or side is None:
                return side
        return combine(first, second, Setting(scope, zone, notes))  # type: ignore[arg-type]

    return read
