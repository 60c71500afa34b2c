"""Comparisons compiled to closures over two operands of any kind.

The forms that contracts use most have a short way in ``comparison_shortcuts``; the general way
is here and decides whatever the short one leaves.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from processors.predicates.comparison import (
    ORDERS,
    judge_equal,
    judge_order,
    judge_unequal,
)
from processors.predicates.comparison_shortcuts import compile_shortcut
from processors.predicates.expression import (
    ORDER_OPERATORS,
    SLOTS,
    Comparison,
    Literal,
    Match,
    Operand,
    Operator,
    Path,
)
from processors.predicates.operands import (
    Binding,
    Items,
    Judge,
    ReadMany,
    compile_collection,
    compile_operand,
)
from processors.predicates.rendering import render_operand
from processors.predicates.scope import Note, Problem, Scope, Setting, spend_steps
from processors.predicates.verdict import (
    FAILS,
    HOLDS,
    INVALID,
    MISSING,
    Verdict,
    combine_and,
    combine_or,
    negate,
)
from schemas.value import StringSet, Value

_JudgePair: TypeAlias = Callable[[Value, Value, Setting], Verdict]


def compile_comparison(comparison: Comparison, binding: Binding) -> Judge:
    """Return the closure that judges one comparison."""
    general = _compile_general(comparison, binding)
    left, right = comparison.left, comparison.right
    if not isinstance(left, Path) or left.root != SLOTS or len(left.steps) != 1:
        return general
    name = left.steps[0]
    if not isinstance(right, Literal) or not isinstance(name, str):
        return general
    return compile_shortcut(comparison, name, right.value, general)


def _compile_general(comparison: Comparison, binding: Binding) -> Judge:
    operator, match = comparison.operator, comparison.match
    if operator in ORDER_OPERATORS:
        return _compile_pair(
            comparison, binding, lambda a, b, setting: judge_order(operator, a, b, setting)
        )
    if operator is Operator.EQ:
        return _compile_pair(
            comparison, binding, lambda a, b, setting: judge_equal(a, b, match, setting)
        )
    if operator is Operator.NE:
        return _compile_pair(
            comparison, binding, lambda a, b, setting: judge_unequal(a, b, match, setting)
        )
    if operator in {Operator.IN, Operator.NOT_IN}:
        return _compile_membership(comparison, binding)
    if operator in {Operator.CONTAINS, Operator.EXCLUDES}:
        return _compile_containment(comparison, binding)
    return _compile_sets(comparison, binding)


def _compile_pair(comparison: Comparison, binding: Binding, judge_pair: _JudgePair) -> Judge:
    read_left = compile_operand(comparison.left, binding)
    read_right = compile_operand(comparison.right, binding)
    absent_left = Problem(MISSING, f"{render_operand(comparison.left)}: no value")
    absent_right = Problem(MISSING, f"{render_operand(comparison.right)}: no value")
    zone = binding.zone
    place = render_operand(comparison.left)
    compare = ORDERS[comparison.operator]

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        left, right = read_left(scope, notes, items), read_right(scope, notes, items)
        if type(left) is int and type(right) is int:
            return HOLDS if compare(left, right) else FAILS
        problem = _find_problem(left, right, absent_left, absent_right)
        if problem is not None:
            notes.append((problem.verdict, problem.reason))
            return problem.verdict
        start = len(notes)
        verdict = judge_pair(left, right, Setting(scope, zone, notes))  # type: ignore[arg-type]
        if verdict is MISSING or verdict is INVALID:
            notes[start:] = [(tag, f"{place}: {text}") for tag, text in notes[start:]]
        return verdict

    return check


def _find_problem(
    left: Value | Problem, right: Value | Problem, absent_left: Problem, absent_right: Problem
) -> Problem | None:
    if not (left is None or right is None or type(left) is Problem or type(right) is Problem):
        return None
    first = absent_left if left is None else left
    second = absent_right if right is None else right
    problems = [side for side in (first, second) if isinstance(side, Problem)]
    # Invalid outranks missing, as in every conjunction.
    return next((p for p in problems if p.verdict is INVALID), problems[0] if problems else None)


def _read_side(operand: Operand, binding: Binding) -> ReadMany:
    if isinstance(operand, Path):
        return compile_collection(operand, binding)
    assert isinstance(operand, Literal)
    value = operand.value
    items = value.items if isinstance(value, StringSet) else value
    assert isinstance(items, tuple)
    return lambda _scope, _notes, _items: items


def _compile_membership(comparison: Comparison, binding: Binding) -> Judge:
    read_items = _read_side(comparison.right, binding)
    match, excluded = comparison.match, comparison.operator is Operator.NOT_IN

    def judge_pair(left: Value, right: Value, setting: Setting) -> Verdict:
        assert isinstance(right, tuple)
        return _judge_any(right, left, match, setting, excluded=excluded, pattern_first=True)

    return _compile_listed(comparison, binding, read_items, judge_pair)


def _compile_listed(
    comparison: Comparison, binding: Binding, read_items: ReadMany, judge_pair: _JudgePair
) -> Judge:
    read_left = compile_operand(comparison.left, binding)
    place = render_operand(comparison.left)
    absent = Problem(MISSING, f"{place}: no value")
    zone = binding.zone

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        left, right = read_left(scope, notes, items), read_items(scope, notes, items)
        problem = _find_problem(left, right, absent, absent)
        if problem is not None:
            notes.append((problem.verdict, problem.reason))
            return problem.verdict
        return judge_pair(left, right, Setting(scope, zone, notes))  # type: ignore[arg-type]

    return check


def _judge_any(
    items: tuple[Value, ...],
    wanted: Value,
    match: Match,
    setting: Setting,
    *,
    excluded: bool,
    pattern_first: bool,
) -> Verdict:
    """Return whether some item equals the wanted value, or with ``excluded`` whether none does.

    The literal side is the pattern of a word match: the items of ``in``, the item of
    ``contains``. An item of another type makes the answer invalid unless it is settled.
    """
    verdict = HOLDS if excluded else FAILS
    for item in items:
        data, pattern = (wanted, item) if pattern_first else (item, wanted)
        found = judge_equal(data, pattern, match, setting)
        verdict = combine_and(verdict, negate(found)) if excluded else combine_or(verdict, found)
    return verdict


def _compile_containment(comparison: Comparison, binding: Binding) -> Judge:
    assert isinstance(comparison.left, Path)
    read_items = compile_collection(comparison.left, binding)
    match, excluded = comparison.match, comparison.operator is Operator.EXCLUDES

    def judge_pair(wanted: Value, items: Value, setting: Setting) -> Verdict:
        assert isinstance(items, tuple)
        return _judge_any(items, wanted, match, setting, excluded=excluded, pattern_first=False)

    turned = Comparison(comparison.operator, comparison.right, comparison.left, match)
    return _compile_listed(turned, binding, read_items, judge_pair)


def _compile_sets(comparison: Comparison, binding: Binding) -> Judge:
    """Every item on the left must be in the right list, or with disjoint_from must not."""
    assert isinstance(comparison.left, Path)
    read_left = compile_collection(comparison.left, binding)
    read_right = _read_side(comparison.right, binding)
    match, excluded = comparison.match, comparison.operator is Operator.DISJOINT_FROM
    zone = binding.zone

    def check(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        left, right = read_left(scope, notes, items), read_right(scope, notes, items)
        problem = _find_problem(left, right, _UNREAD, _UNREAD)
        if problem is not None:
            notes.append((problem.verdict, problem.reason))
            return problem.verdict
        setting = Setting(scope, zone, notes)
        verdict = HOLDS
        assert isinstance(left, tuple)
        assert isinstance(right, tuple)
        spend_steps(notes, len(left) * len(right))
        for item in left:
            found = _judge_any(right, item, match, setting, excluded=excluded, pattern_first=True)
            verdict = combine_and(verdict, found)
        return verdict

    return check


_UNREAD: Final = Problem(MISSING, "no list")
