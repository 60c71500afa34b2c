"""What is reported as a conflict is one: no commitment that evaluation admits is ruled out."""

import random
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from processors.predicates.conflict import Constraint, find_conflict
from processors.predicates.evaluation import evaluate
from processors.predicates.example import find_example
from processors.predicates.expression import Literal
from processors.predicates.rendering import render, render_operand
from processors.predicates.scope import Scope, UnitValue
from processors.predicates.text import PredicateTextError, parse
from processors.predicates.verdict import HOLDS
from schemas.value import Elapsed, Money, Period, Timestamp
from tests.predicate_trees import draw_expressions, draw_scopes

START = datetime(2026, 3, 28)  # noqa: DTZ001 - local; summer time begins the next day
START_MS = 1_774_656_000_000
SIGNS = ("<", "<=", ">", ">=", "==", "!=", "== exact", "!= exact")


@settings(max_examples=150, deadline=None)
@given(draw_scopes(), st.lists(draw_expressions(depth=2), min_size=2, max_size=8))
def test_what_holds_together_is_no_conflict(scope, expressions):
    """Expressions that all hold over one scope are never reported as a conflict."""
    held = []
    for expression in expressions:
        text = render(expression)
        try:
            parse(text)
        except PredicateTextError:
            continue
        held.extend(
            each for each in (text, f"not ({text})") if evaluate(each, scope).verdict is HOLDS
        )
    constraints = [Constraint(f"P{n}", text) for n, text in enumerate(held)]

    assert find_conflict(constraints) is None


def draw_value(draw, kind):
    """Return a value of a kind, close to others of it."""
    step = draw.randrange(-3, 4)
    hours = timedelta(hours=draw.randrange(60))
    return {
        "number": Decimal(step) / 2,
        "whole": step,
        "money": Money(Decimal(step), draw.choice(("EUR", "USD"))),
        "date": date(2026, 3, 28) + timedelta(days=step),
        "local": START + hours,
        "instant": Timestamp(START_MS + draw.randrange(60) * 3_600_000),
        "elapsed": Elapsed(step * 3_600_000),
        "time": time(draw.randrange(24)),
        "period": Period(draw.randrange(2), step),
        "string": draw.choice(("a", "A", "b", "a b")),
        "list": tuple(draw.choice(("a", "A", "b")) for _ in range(draw.randrange(3))),
    }[kind]


KINDS = ("number", "whole", "money", "date", "local", "instant", "elapsed", "time", "period",
         "string", "list")  # fmt: skip
MOMENTS = ("date", "local", "instant", "instant", "elapsed", "period")


def draw_text(draw, kinds):
    """Return a comparison of slots and literals of any kinds."""
    literal = render_operand(Literal(draw_value(draw, draw.choice(kinds))))
    name, other = draw.sample(("a", "b", "c"), 2)
    sign = draw.choice(SIGNS)
    forms = (
        f"slots.{name} {sign} {literal}",
        f"slots.{name} {sign} {literal}",
        f"{literal} {sign} slots.{name}",
        f"slots.{name} {sign} slots.{other}",
        f"slots.{name} - slots.{other} {sign} {literal}",
        f"slots.{name} + {literal} {sign} slots.{other}",
        f"slots.{name} contains {literal}",
        f"slots.{name} excludes {literal}",
        f"slots.{name} in [{literal}]",
        f"slots.{name} not_in [{literal}]",
    )
    return draw.choice(forms)


def test_no_admitted_value_of_any_type_is_ruled_out():
    """Over dates, instants, durations, amounts and strings mixed at will no conflict is invented.

    Slots have no declared types here, so a date may meet instants and currencies may meet rates.
    """
    draw = random.Random(7)
    rates = (UnitValue("1#0", "rate:USD/EUR", Decimal("0.5")),)
    held_in_all = 0
    for case in range(500):
        kinds = MOMENTS if case % 2 else KINDS
        slots = {name: draw_value(draw, draw.choice(kinds)) for name in ("a", "b", "c")}
        scope = Scope(slots=slots, evidence=rates, zone="Europe/Berlin")
        held = []
        for _ in range(24):
            text = draw_text(draw, kinds)
            try:
                parse(text)
            except PredicateTextError:
                continue
            held.extend(t for t in (text, f"not {text}") if evaluate(t, scope).verdict is HOLDS)
        held_in_all += len(held)

        found = find_conflict([Constraint(text, text) for text in held])

        assert found is None, (slots, found)
    assert held_in_all > 1_000


@settings(max_examples=150, deadline=None)
@given(draw_expressions(depth=2))
def test_an_example_is_one(expression):
    """An example found for an expression is admitted by it."""
    try:
        read = parse(render(expression))
    except PredicateTextError:
        return
    example = find_example(holding=[read], types={})

    assert example is None or HOLDS == evaluate(read, Scope(slots=example)).verdict
