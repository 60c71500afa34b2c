"""Evaluation against an independent evaluator, the official Common Expression Language.

Both get the same random typed expressions and the same records, of which any field may be
missing. True, false and error of CEL answer to holds, fails and missing. Deliberate deviations,
none of them generated here but the one marked so:

| case | here | CEL |
|---|---|---|
| null operand | missing | a value: null != "nut" is true, so a rule fails open |
| error as a result | missing or invalid, satisfies nothing | a value that Python holds true |
| wrong type at run time | invalid | false for == of dynamic values, else an error |
| decimals and money | exact | no such type |
| whole numbers beyond 64 bit | refused when written, exact when computed | overflow error |
| strings | NFC, folded for exclusions, words | code points only (lower-case ASCII is used here) |
| exists(path) below an absent record | fails | error (the record is always present here) |
| unless | the rule's verdict when the exception does not hold | no such operator; judged here
  by whether it is satisfied |
| all, none over an empty list | holds, and recorded as vacuous | true |
"""

import random
from datetime import UTC, datetime, timedelta

import pytest
from cel_expr_python import cel

from processors.predicates.evaluation import evaluate
from processors.predicates.scope import Scope
from processors.predicates.verdict import FAILS, HOLDS, MISSING
from schemas.value import Elapsed, Timestamp, build_record

EXPRESSIONS = 3_000
RECORDS = 4
INTS, TEXTS, LISTS, TIMES = ("i", "j", "k"), ("s", "t"), ("x", "y"), ("from_at", "to_at")
LETTERS = ("a", "b", "c")
SIGNS = ("<", "<=", ">", ">=", "==", "!=")
START = datetime(2026, 1, 1, tzinfo=UTC)
START_MS = 1_767_225_600_000

TYPES = {
    **dict.fromkeys(INTS, cel.Type.INT),
    **dict.fromkeys(TEXTS, cel.Type.STRING),
    **dict.fromkeys(LISTS, cel.Type.List(cel.Type.STRING)),
    **dict.fromkeys(TIMES, cel.Type.TIMESTAMP),
    "flag": cel.Type.BOOL,
    "rows": cel.Type.List(cel.Type.Map(cel.Type.STRING, cel.Type.INT)),
    "record": cel.Type.Map(cel.Type.STRING, cel.Type.INT),
}
ENVIRONMENT = cel.NewEnv(variables=TYPES)


def quote(items):
    """Return a list literal, the same in both languages."""
    return (
        "[" + ", ".join(f'"{item}"' if isinstance(item, str) else str(item) for item in items) + "]"
    )


def draw_number(draw):
    """Return a whole number operand in both languages."""
    kind = draw.randrange(5)
    if kind == 0:
        number = str(draw.randrange(-4, 5))
        return number, number
    if kind == 1:
        name = draw.choice(INTS)
        return f"slots.{name} - {draw.choice(INTS)}".replace("- ", "- slots."), None
    if kind == 2:
        name = draw.choice(("x", "y", "rows"))
        return f"count(slots.{name})", f"size({name})"
    if kind == 3:
        field = draw.choice(("a", "b"))
        return f"slots.record.{field}", f"record.{field}"
    name = draw.choice(INTS)
    return f"slots.{name}", name


def draw_pair(draw):
    """Return an operand in both languages, the second one derived where it was left open."""
    text, other = draw_number(draw)
    return text, text.replace("slots.", "") if other is None else other


def draw_condition(draw, variable=None):
    """Return one condition in both languages."""
    kind = draw.randrange(9)
    if variable and kind < 5:
        field, sign, limit = draw.choice(("a", "b")), draw.choice(SIGNS), draw.randrange(-3, 4)
        text = f"{variable}.{field} {sign} {limit}"
        return text, text
    if kind <= 1:
        (one, first), (other, second) = draw_pair(draw), draw_pair(draw)
        sign = draw.choice(SIGNS)
        return f"{one} {sign} {other}", f"{first} {sign} {second}"
    if kind == 2:
        name, letter = draw.choice(TEXTS), draw.choice(LETTERS)
        sign = draw.choice(("==", "!="))
        return f'slots.{name} {sign} "{letter}"', f'{name} {sign} "{letter}"'
    if kind == 3:
        name, items = draw.choice((*TEXTS, *INTS)), None
        items = draw.sample(LETTERS if name in TEXTS else range(-3, 4), draw.randrange(1, 4))
        if draw.randrange(2):
            return f"slots.{name} in {quote(items)}", f"{name} in {quote(items)}"
        return f"slots.{name} not_in {quote(items)}", f"!({name} in {quote(items)})"
    if kind == 4:
        name, letter = draw.choice(LISTS), draw.choice(LETTERS)
        if draw.randrange(2):
            return f'slots.{name} contains "{letter}"', f'"{letter}" in {name}'
        return f'slots.{name} excludes "{letter}"', f'!("{letter}" in {name})'
    if kind == 5:
        return draw_set_condition(draw)
    if kind == 6:
        return draw_time_condition(draw)
    if kind == 7:
        wanted = draw.choice(("true", "false"))
        return f"slots.flag == {wanted}", f"flag == {wanted}"
    field = draw.choice(("a", "b"))
    if draw.randrange(2):
        return f"exists(slots.record.{field})", f"has(record.{field})"
    return f"is_null(slots.record.{field})", f"!has(record.{field})"


def draw_set_condition(draw):
    """Return a condition between a list and several strings."""
    name, items = draw.choice(LISTS), draw.sample(LETTERS, draw.randrange(1, 3))
    if draw.randrange(2):
        return (
            f"slots.{name} subset_of {quote(items)}",
            f"{name}.all(item, item in {quote(items)})",
        )
    return (
        f"slots.{name} disjoint_from {quote(items)}",
        f"!{name}.exists(item, item in {quote(items)})",
    )


def draw_time_condition(draw):
    """Return a condition between instants."""
    sign, seconds = draw.choice(SIGNS), draw.randrange(-3, 4)
    if draw.randrange(2):
        return (
            f"slots.from_at - slots.to_at {sign} elapsed({seconds * 1_000})",
            f"from_at - to_at {sign} duration('{seconds}s')",
        )
    return (
        f"slots.from_at + elapsed({seconds * 1_000}) {sign} slots.to_at",
        f"from_at + duration('{seconds}s') {sign} to_at",
    )


def draw_expression(draw, depth, variable=None):
    """Return an expression in both languages, never one that needs unless."""
    kind = draw.randrange(6) if depth else 0
    if kind <= 1:
        return draw_condition(draw, variable)
    if kind == 2:
        one, other = draw_expression(draw, depth - 1, variable)
        return f"not ({one})", f"!({other})"
    if kind in {3, 4}:
        word, sign = ("and", "&&") if kind == 3 else ("or", "||")
        parts = [draw_expression(draw, depth - 1, variable) for _ in range(draw.randrange(2, 4))]
        return (
            f" {word} ".join(f"({one})" for one, _ in parts),
            f" {sign} ".join(f"({other})" for _, other in parts),
        )
    if variable:
        return draw_condition(draw, variable)
    body, other = draw_expression(draw, depth - 1, "row")
    word = draw.choice(("all", "any", "none"))
    macro = {"all": "rows.all", "any": "rows.exists", "none": "!rows.exists"}[word]
    return f"({word} row in slots.rows: {body})", f"{macro}(row, {other})"


def draw_record(draw):
    """Return the same slots for both, any of them missing but the record itself."""
    here, there = {}, {}
    for name in INTS:
        if draw.randrange(4):
            here[name] = there[name] = draw.randrange(-4, 5)
    for name in TEXTS:
        if draw.randrange(4):
            here[name] = there[name] = draw.choice(LETTERS)
    for name in LISTS:
        if draw.randrange(4):
            there[name] = draw.sample(LETTERS, draw.randrange(4))
            here[name] = tuple(there[name])
    for name in TIMES:
        if draw.randrange(4):
            seconds = draw.randrange(-3, 4)
            there[name] = START + timedelta(seconds=seconds)
            here[name] = Timestamp(START_MS + seconds * 1_000)
    if draw.randrange(4):
        here["flag"] = there["flag"] = bool(draw.randrange(2))
    if draw.randrange(6):
        there["rows"] = [draw_fields(draw) for _ in range(draw.randrange(4))]
        here["rows"] = tuple(build_record(**row) for row in there["rows"])
    there["record"] = draw_fields(draw)
    here["record"] = build_record(**there["record"])
    return here, there


def draw_fields(draw):
    """Return a record of which any field may be missing."""
    return {name: draw.randrange(-3, 4) for name in ("a", "b") if draw.randrange(3)}


def judge_by_cel(program, there):
    """Return the verdict that CEL gives."""
    found = program.eval(ENVIRONMENT.Activation(there))
    if found.type() != cel.Type.BOOL:
        return MISSING
    return HOLDS if found.value() is True else FAILS


@pytest.mark.parametrize("part", range(3))
def test_every_verdict_is_that_of_cel(part):
    """Over typed expressions and records with missing fields both evaluators always agree."""
    draw = random.Random(part)
    seen = {HOLDS: 0, FAILS: 0, MISSING: 0}
    for _ in range(EXPRESSIONS // 3):
        text, other = draw_expression(draw, 3)
        program = ENVIRONMENT.compile(other)
        for _ in range(RECORDS):
            here, there = draw_record(draw)

            found = evaluate(text, Scope(slots=here)).verdict

            assert judge_by_cel(program, there) == found, (text, other, there)
            seen[found] += 1
    assert min(seen.values()) > EXPRESSIONS // 10


def test_unless_is_satisfied_just_when_a_disjunction_is():
    """A rule with an exception is satisfied just when CEL's disjunction of both is true."""
    draw = random.Random(99)
    for _ in range(400):
        (rule, first), (exception, second) = draw_expression(draw, 2), draw_expression(draw, 1)
        program = ENVIRONMENT.compile(f"({first}) || ({second})")
        here, there = draw_record(draw)

        found = evaluate(f"({rule}) unless ({exception})", Scope(slots=here)).verdict

        assert (judge_by_cel(program, there) is HOLDS) == (found is HOLDS)


def test_cel_fails_open_where_this_language_does_not():
    """The first two rows of the table above, shown on the evaluator itself."""
    environment = cel.NewEnv(variables={"s": cel.Type.DYN})
    null = environment.compile("s != 'nut'").eval(environment.Activation({"s": None}))
    error = environment.compile("s != 'nut'").eval(environment.Activation({}))

    assert (True, True) == (null.value(), bool(error.value()))
    assert MISSING == evaluate('slots.s != "nut"', Scope(slots={"s": None})).verdict
    assert MISSING == evaluate('slots.s != "nut"', Scope(slots={})).verdict


def test_elapsed_is_no_number():
    """A duration compared with a number is invalid here, not converted."""
    found = evaluate("slots.d <= 5", Scope(slots={"d": Elapsed(1)}))

    assert "invalid" == found.verdict
