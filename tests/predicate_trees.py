"""Random expressions and scopes for the tests of the predicate language.

Trees are drawn as the parser would build them, so that text and tree can be told apart only by
a fault. Values include the awkward ones: empty lists, mixed lists, other currencies.
"""

from datetime import date, datetime
from decimal import Decimal
from functools import cache

from hypothesis import strategies as st

from processors.predicates.expression import (
    EVERY,
    And,
    AsOf,
    Attested,
    Comparison,
    Count,
    Exists,
    Expression,
    IsNull,
    Literal,
    Match,
    Minus,
    Not,
    Operator,
    Or,
    Path,
    Plus,
    Quantified,
    Quantifier,
    Sum,
    Unless,
    default_match,
)
from processors.predicates.scope import Scope, UnitValue
from schemas.value import Elapsed, Money, Period, Timestamp, build_record, build_set

NAMES = ("a", "b", "c", "unit price")
WORDS = ("peanut", "Peanut", "soy", "jalapeño", "落花生", "olive oil", "x")

decimals = st.decimals(min_value=-1000, max_value=1000, allow_nan=False, places=2)
whole = st.integers(min_value=-1000, max_value=1000)
amounts = st.builds(Money, decimals, st.sampled_from(("EUR", "USD")))
moments = st.one_of(
    st.dates(date(2020, 1, 1), date(2030, 1, 1)),
    st.times().map(lambda at: at.replace(microsecond=0, fold=0)),
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)).map(  # noqa: DTZ001
        lambda at: at.replace(microsecond=0, fold=0)
    ),
    st.integers(min_value=0, max_value=2**41).map(Timestamp),
    st.integers(min_value=-(2**40), max_value=2**40).map(Elapsed),
    st.builds(Period, st.integers(0, 30), st.integers(0, 90)),
)
ordered = st.one_of(whole, decimals, amounts, moments)
scalars = st.one_of(ordered, st.booleans(), st.sampled_from(WORDS))
collections = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=3).map(tuple),
    st.lists(st.sampled_from(WORDS), max_size=3).map(lambda items: build_set(*items)),
    st.lists(whole, max_size=3).map(tuple),
    st.lists(scalars, max_size=3).map(tuple),
)
values = st.one_of(st.none(), scalars, collections, st.builds(build_record, a=whole))


@cache
def draw_paths(variables: tuple[str, ...]) -> st.SearchStrategy[Path]:
    """Return single-valued paths from the roots and the variables in reach."""
    steps = st.lists(st.one_of(st.sampled_from(NAMES), st.integers(0, 2)), max_size=1).map(tuple)
    root = st.sampled_from(("slots", "slots", "state", "unit", "amended"))
    rooted = st.builds(
        lambda at, name, rest: Path(at, (name, *rest)), root, st.sampled_from(NAMES), steps
    )
    if not variables:
        return rooted
    bound = st.builds(Path, st.sampled_from(variables), steps)
    return st.one_of(rooted, bound)


@cache
def draw_lists(variables: tuple[str, ...]) -> st.SearchStrategy[Path]:
    """Return paths of collections, some of them flattened."""
    flat = st.builds(
        lambda name, field: Path("slots", (name, EVERY, field)),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
    )
    return st.one_of(draw_paths(variables), draw_paths(variables), flat)


@cache
def draw_operands(variables: tuple[str, ...], literals: st.SearchStrategy) -> st.SearchStrategy:
    """Return operands of a single value."""
    plain = st.one_of(draw_paths(variables), literals.map(Literal), st.just(AsOf()))
    lists = draw_lists(variables)
    listed = st.one_of(st.builds(Sum, lists), st.builds(Count, lists))
    moved = st.one_of(
        st.builds(Plus, plain, ordered.map(Literal)),
        st.builds(Minus, plain, draw_paths(variables)),
    )
    return st.one_of(plain, plain, listed, moved)


@cache
def draw_listed(variables: tuple[str, ...]) -> st.SearchStrategy:
    """Return what may stand right of a membership: a literal set or a path."""
    sets = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(
        lambda items: Literal(build_set(*items))
    )
    return st.one_of(sets, draw_lists(variables))


@cache
@st.composite
def draw_comparisons(draw: st.DrawFn, variables: tuple[str, ...]) -> Comparison:
    """Return one comparison that the parser accepts."""
    operator = draw(st.sampled_from(Operator))
    match = draw(st.sampled_from((default_match(operator), *Match)))
    if operator in {Operator.LT, Operator.LE, Operator.GT, Operator.GE}:
        sides = draw_operands(variables, ordered)
        return Comparison(operator, draw(sides), draw(sides), default_match(operator))
    if operator in {Operator.EQ, Operator.NE}:
        sides = draw_operands(variables, scalars)
        return Comparison(operator, draw(sides), draw(sides), match)
    listed = draw_listed(variables)
    if operator in {Operator.IN, Operator.NOT_IN}:
        left = draw(draw_operands(variables, scalars))
        return Comparison(operator, left, draw(listed), match)
    left = draw(draw_lists(variables))
    if operator in {Operator.CONTAINS, Operator.EXCLUDES}:
        right = draw(draw_operands(variables, scalars))
        return Comparison(operator, left, right, match)
    return Comparison(operator, left, draw(listed), match)


@cache
@st.composite
def draw_expressions(
    draw: st.DrawFn, depth: int = 3, variables: tuple[str, ...] = ()
) -> Expression:
    """Return an expression as the parser builds it: conjunctions inside each other are one."""
    kind = draw(st.integers(0, 9)) if depth else 0
    if kind < 4:
        return draw(draw_comparisons(variables))
    if kind == 4:
        paths = draw_paths(variables)
        calls = st.one_of(st.builds(Exists, paths), st.builds(IsNull, paths))
        return draw(st.one_of(calls, st.sampled_from(WORDS).map(Attested)))
    if kind == 5:
        return Not(draw(draw_expressions(depth - 1, variables)))
    if kind in {6, 7}:
        node = And if kind == 6 else Or
        items = draw(st.lists(draw_expressions(depth - 1, variables), min_size=2, max_size=3))
        flat = [sub for item in items for sub in (item.items if type(item) is node else (item,))]
        return node(tuple(flat))
    if kind == 8:
        parts = draw_expressions(depth - 1, variables)
        return Unless(draw(parts), draw(parts))
    variable = f"d{len(variables)}"
    body = draw(draw_expressions(depth - 1, (*variables, variable)))
    domain = draw(draw_lists(variables))
    return Quantified(draw(st.sampled_from(Quantifier)), variable, domain, body)


def draw_slots() -> st.SearchStrategy[dict]:
    """Return slots of which any may be absent, null or of an unexpected type."""
    rows = st.lists(st.builds(build_record, a=values, b=whole), max_size=2).map(tuple)
    return st.dictionaries(st.sampled_from(NAMES), st.one_of(values, rows), max_size=4)


def draw_scopes() -> st.SearchStrategy[Scope]:
    """Return scopes with and without exchange rates, zone, as_of and amended commitment."""
    rate = UnitValue("1#0", "rate:USD/EUR", Decimal("0.90"))
    units = st.builds(UnitValue, st.just("2#0"), st.sampled_from(NAMES), values)
    return st.builds(
        Scope,
        slots=draw_slots(),
        state=draw_slots(),
        units=st.lists(units, max_size=2).map(tuple),
        evidence=st.sampled_from(((), (rate,))),
        amended=st.one_of(st.none(), draw_slots()),
        as_of_ms=st.one_of(st.none(), st.just(1_770_737_400_000)),
        zone=st.sampled_from((None, "Europe/Berlin", "+02:00")),
        verdicts=st.dictionaries(
            st.sampled_from(WORDS), st.sampled_from(("pass", "fail", "error")), max_size=2
        ),
    )
