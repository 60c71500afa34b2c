"""Evaluation in four values: text compiled once to closures, then judged over scopes (spec 2.4).

``evaluate`` judges one text, ``compile_predicate`` a whole predicate with its exception and
zone. Both are pure; compiled forms are kept by text. Comparisons are ``comparison_closures``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from processors.limits import COMPILED_MAX, EVALUATION_STEPS_MAX
from processors.predicates.comparison_closures import compile_comparison
from processors.predicates.expression import (
    And,
    Attested,
    Comparison,
    Exists,
    Expression,
    IsNull,
    Not,
    Operator,
    Or,
    Path,
    Quantified,
    Quantifier,
    Unless,
)
from processors.predicates.operands import Binding, Items, Judge, compile_collection, compile_path
from processors.predicates.rendering import render, render_path
from processors.predicates.scope import (
    CITED,
    VACUOUS,
    Note,
    Notes,
    Problem,
    Scope,
    StepsError,
    spend_steps,
)
from processors.predicates.text import PredicateTextError, parse
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
from processors.predicates.walk import walk_conditions
from schemas.predicate import Predicate

_ATTESTED: Final = {"pass": HOLDS, "fail": FAILS, "error": INVALID}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The verdict on one candidate.

    ``vacuous`` lists the paths of empty lists that a holding quantifier ran over (each adds the
    requirement ``non-empty(path)``), ``cited`` the exchange-rate units used; ``reason`` says
    why a verdict is missing or invalid, else "".
    """

    verdict: Verdict
    vacuous: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    reason: str = ""


Judgement: TypeAlias = Callable[[Scope], Evaluation]

_TWO_LISTS: Final = (Operator.SUBSET_OF, Operator.DISJOINT_FROM)
_TOO_LONG: Final = Evaluation(INVALID, reason=f"more than {EVALUATION_STEPS_MAX} list items")
_HELD: Final = Evaluation(HOLDS)
_FAILED: Final = Evaluation(FAILS)


def evaluate(expression: str | Expression, scope: Scope) -> Evaluation:
    """Return the verdict of an expression over a scope; only ``holds`` satisfies it.

    Raises:
        PredicateTextError: the text is no predicate.

    """
    text = expression if isinstance(expression, str) else render(expression)
    return _compile_text(text, None, None)(scope)


def compile_predicate(predicate: Predicate) -> Judgement:
    """Return the judgement of a predicate with its exception and zone, kept by their text.

    A text that cannot be read gives ``invalid`` for every scope: what is not understood is
    never satisfied (spec 2.4).
    """
    try:
        return _compile_text(predicate.expression, predicate.unless, predicate.zone)
    except PredicateTextError as error:
        broken = Evaluation(INVALID, reason=f"not a predicate: {error}")
        return lambda _scope: broken


def judge(predicate: Predicate, scope: Scope) -> Evaluation:
    """Return the verdict of a predicate on one candidate."""
    return compile_predicate(predicate)(scope)


@lru_cache(maxsize=COMPILED_MAX)
def _compile_text(text: str, unless: str | None, zone: str | None) -> Judgement:
    expression = parse(text)
    if unless is not None:
        expression = Unless(expression, parse(unless))
    check = _compile(expression, Binding(zone))
    start: Callable[[], list[Note]] = Notes if _needs_steps(expression) else list

    def run(scope: Scope) -> Evaluation:
        notes = start()
        try:
            verdict = check(scope, notes, ())
        except ArithmeticError:
            return Evaluation(INVALID, reason="a number that cannot be computed exactly")
        except StepsError:
            return _TOO_LONG
        if not notes:
            if verdict is HOLDS:
                return _HELD
            if verdict is FAILS:
                return _FAILED
        return _conclude(verdict, notes)

    return run


def _needs_steps(expression: Expression) -> bool:
    """Return whether an evaluation may look at more items than the scope has."""
    return any(
        isinstance(node, Quantified)
        or (isinstance(node, Comparison) and node.operator in _TWO_LISTS)
        for node in walk_conditions(expression)
    )


def _conclude(verdict: Verdict, notes: list[Note]) -> Evaluation:
    if len(notes) == 1 and notes[0][0] == verdict:
        return _explain(verdict, notes[0][1])
    vacuous = tuple(sorted({text for tag, text in notes if tag == VACUOUS}))
    cited = tuple(sorted({text for tag, text in notes if tag == CITED}))
    reason = next((text for tag, text in notes if tag == verdict), "")
    return Evaluation(verdict, vacuous if verdict is HOLDS else (), cited, reason)


@lru_cache(maxsize=COMPILED_MAX)
def _explain(verdict: Verdict, reason: str) -> Evaluation:
    return Evaluation(verdict, reason=reason)


def _compile(expression: Expression, binding: Binding) -> Judge:
    match expression:
        case Comparison():
            return compile_comparison(expression, binding)
        case And(items=items):
            return _compile_and(tuple(_compile(item, binding) for item in items))
        case Or(items=items):
            return _compile_or(tuple(_compile(item, binding) for item in items))
        case Not(item=item):
            check = _compile(item, binding)
            return lambda scope, notes, items: negate(check(scope, notes, items))
        case Unless(rule=rule, exception=exception):
            return _compile_unless(_compile(rule, binding), _compile(exception, binding))
        case Quantified():
            return _compile_quantified(expression, binding)
        case Exists(path=path):
            return _compile_presence(path, binding, present=HOLDS, absent=FAILS)
        case IsNull(path=path):
            return _compile_presence(path, binding, present=FAILS, absent=HOLDS)
        case Attested(check=name):
            return _compile_attested(name)


def _compile_and(checks: tuple[Judge, ...]) -> Judge:
    def check_all(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        verdict = HOLDS
        for check in checks:
            found = check(scope, notes, items)
            if found is FAILS:
                return FAILS
            if found is not HOLDS:
                verdict = combine_and(verdict, found)
        return verdict

    return check_all


def _compile_or(checks: tuple[Judge, ...]) -> Judge:
    def check_any(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        # A branch that holds over something is preferred to one that holds over nothing, and
        # only the remarks of the branch that decides are kept.
        verdict = FAILS
        start = len(notes)
        vacuous: list[Note] | None = None
        for check in checks:
            at = len(notes)
            found = check(scope, notes, items)
            if found is HOLDS:
                own = notes[at:]
                if not any(tag == VACUOUS for tag, _ in own):
                    notes[start:] = own
                    return HOLDS
                vacuous = own if vacuous is None else vacuous
            else:
                verdict = combine_or(verdict, found)
        if vacuous is None:
            return verdict
        notes[start:] = vacuous
        return HOLDS

    return check_any


def _compile_unless(rule: Judge, exception: Judge) -> Judge:
    either = _compile_or((rule, exception))

    def check_unless(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        start = len(notes)
        if either(scope, notes, items) is HOLDS:
            return HOLDS
        del notes[start:]
        return rule(scope, notes, items)

    return check_unless


def _compile_quantified(expression: Quantified, binding: Binding) -> Judge:
    domain = _resolve_domain(expression.domain, binding)
    read = compile_collection(expression.domain, binding)
    inner = Binding(
        binding.zone,
        (*binding.variables, expression.variable),
        (*binding.domains, f"{domain}[*]"),
    )
    body = _compile(expression.body, inner)
    remark = (VACUOUS, domain)
    empty, combine = HOLDS, combine_and
    if expression.quantifier is Quantifier.ANY:
        empty, combine = FAILS, combine_or
    turned = expression.quantifier is Quantifier.NONE

    def check_items(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        values = read(scope, notes, items)
        if isinstance(values, Problem):
            notes.append((values.verdict, values.reason))
            return values.verdict
        if not values:
            notes.append(remark)
            return empty
        spend_steps(notes, len(values))
        verdict = empty
        for value in values:
            found = body(scope, notes, (*items, value))
            verdict = combine(verdict, negate(found) if turned else found)
        return verdict

    return check_items


def _resolve_domain(path: Path, binding: Binding) -> str:
    text = render_path(path)
    if path.root in binding.variables:
        return binding.domains[binding.variables.index(path.root)] + text[len(path.root) :]
    return text


def _compile_presence(path: Path, binding: Binding, *, present: Verdict, absent: Verdict) -> Judge:
    read = compile_path(path, binding)

    def check_presence(scope: Scope, notes: list[Note], items: Items) -> Verdict:
        value = read(scope, notes, items)
        if isinstance(value, Problem):
            notes.append((value.verdict, value.reason))
            return value.verdict
        return absent if value is None else present

    return check_presence


def _compile_attested(name: str) -> Judge:
    def check_attested(scope: Scope, notes: list[Note], _items: Items) -> Verdict:
        found = scope.verdicts.get(name)
        if found is None:
            notes.append((MISSING, f"check {name} has no verdict"))
            return MISSING
        verdict = _ATTESTED.get(found, INVALID)
        if verdict is INVALID:
            notes.append((INVALID, f"check {name} ended in {found}"))
        return verdict

    return check_attested
