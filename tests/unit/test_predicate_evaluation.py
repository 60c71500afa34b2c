"""Evaluation: operators over typed values, quantifiers, operands, and what is recorded."""

from datetime import date, datetime, time
from decimal import Decimal

import pytest

from processors.predicates.evaluation import evaluate, judge
from processors.predicates.scope import Scope, UnitValue
from processors.predicates.verdict import HOLDS
from schemas.predicate import Predicate, PredicateScope
from schemas.value import (
    Elapsed,
    Money,
    Period,
    StringSet,
    Timestamp,
    build_record,
    build_set,
)

NINE_BERLIN = 1_794_211_200_000  # 2026-11-09T09:00+01:00


def verdict(text, scope=None, **slots):
    """Return the verdict of a text over these slots."""
    return evaluate(text, scope or Scope(slots=slots)).verdict


@pytest.mark.parametrize(
    ("text", "slots", "expected"),
    [
        ("slots.a == 1", {"a": 1}, "holds"),
        ("slots.a == 1", {"a": Decimal("1.0")}, "holds"),
        ("slots.a == 1", {"a": True}, "invalid"),
        ("slots.a == true", {"a": 1}, "invalid"),
        ("slots.a != 1", {"a": "1"}, "invalid"),
        ('slots.a == "é"', {"a": "e\u0301"}, "holds"),
        ('slots.a == "é"', {"a": "E\u0301"}, "fails"),
        ('slots.a == folded "É"', {"a": "e\u0301"}, "holds"),
        ('slots.a != "Phone"', {"a": "phone"}, "fails"),
        ('slots.a != exact "Phone"', {"a": "phone"}, "holds"),
        ('slots.a == word "two"', {"a": "One, TWO; three"}, "holds"),
        ('slots.a in ["x", "y"]', {"a": "y"}, "holds"),
        ('slots.a in folded ["x"]', {"a": "X"}, "holds"),
        ('slots.a not_in ["x"]', {"a": "X"}, "fails"),
        ("slots.a in []", {"a": 1}, "fails"),
        ("slots.a not_in [1]", {"a": "1"}, "invalid"),
        ("slots.a in slots.b", {"a": 2, "b": (1, 2)}, "holds"),
        ("slots.a in slots.b", {"a": 2, "b": ()}, "fails"),
        ("slots.a contains 2", {"a": (1, 2)}, "holds"),
        ('slots.a contains "x"', {"a": build_set("x")}, "holds"),
        ('slots.a contains "x"', {"a": ()}, "fails"),
        ('slots.a contains "x"', {"a": ("x", None)}, "holds"),
        ('slots.a excludes "x"', {"a": ("y", None)}, "missing"),
        ('slots.a subset_of ["x", "y"]', {"a": ("x",)}, "holds"),
        ('slots.a subset_of ["x", "y"]', {"a": ("x", "z")}, "fails"),
        ('slots.a subset_of ["x"]', {"a": ("x", 1)}, "invalid"),
        ('slots.a disjoint_from ["x"]', {"a": ("Y",)}, "holds"),
        ('slots.a disjoint_from ["x"]', {"a": ("X",)}, "fails"),
        ('slots.a == set("x", "y")', {"a": build_set("y", "x")}, "holds"),
        ('slots.a == ["x"]', {"a": build_set("x")}, "invalid"),
        ("slots.a == slots.b", {"a": build_record(n=1), "b": build_record(n=Decimal(1))}, "holds"),
        ("slots.a < slots.b", {"a": "x", "b": "y"}, "invalid"),
        ("slots.a < slots.b", {"a": False, "b": True}, "invalid"),
        ('slots.a < date("2026-03-02")', {"a": date(2026, 3, 1)}, "holds"),
        ('slots.a < date("2026-03-02")', {"a": datetime(2026, 3, 1)}, "invalid"),  # noqa: DTZ001
        ('slots.a >= time("11:30")', {"a": time(11, 30)}, "holds"),
        ('slots.a < local("2026-03-02T08:00")', {"a": datetime(2026, 3, 1)}, "holds"),  # noqa: DTZ001
        ("slots.a <= elapsed(5)", {"a": Elapsed(5)}, "holds"),
        ("slots.a <= elapsed(5)", {"a": 5}, "invalid"),
        ('slots.a < period("P2M")', {"a": Period(1, 0)}, "holds"),
        ('slots.a < period("P2M")', {"a": Period(0, 40)}, "invalid"),
        ("exists(slots.a)", {"a": ()}, "holds"),
        ("exists(slots.a)", {"a": None}, "fails"),
        ("exists(slots.a.b)", {"a": 1}, "invalid"),
        ("is_null(slots.a)", {}, "holds"),
        ("is_null(slots.a)", {"a": 0}, "fails"),
        ("slots.a[1] == 2", {"a": (1, 2)}, "holds"),
        ("slots.a[2] == 2", {"a": (1, 2)}, "missing"),
        ("slots.a.b == 2", {"a": (1, 2)}, "invalid"),
        ("count(slots.a) == 2", {"a": StringSet(("x", "y"))}, "holds"),
        ("count(slots.a) == 0", {"a": ()}, "holds"),
        ("count(slots.a) == 0", {}, "missing"),
        ("sum(slots.a) == 6", {"a": (1, 2, 3)}, "holds"),
        ("sum(slots.a) == 6", {"a": (1, None)}, "missing"),
        ("sum(slots.a) == 6", {"a": (1, "2")}, "invalid"),
        ("sum(slots.a) <= 6", {"a": ()}, "holds"),
        ('sum(slots.a) <= money("1 EUR")', {"a": ()}, "holds"),
        ('sum(slots.a) > money("1 EUR")', {"a": ()}, "fails"),
        ('sum(slots.a) == date("2026-03-01")', {"a": ()}, "invalid"),
        ("slots.a - slots.b == 0.1", {"a": Decimal("0.3"), "b": Decimal("0.2")}, "holds"),
        ("slots.a - slots.b == 1", {"a": 1}, "missing"),
        ("slots.a - slots.b == 1", {"a": 1, "b": "x"}, "invalid"),
        ('slots.a - slots.b == period("P2D")',
         {"a": date(2026, 3, 1), "b": date(2026, 2, 27)}, "holds"),
        ('slots.a + period("P1M") == date("2026-02-28")', {"a": date(2026, 1, 31)}, "holds"),
        ("slots.a + elapsed(5) == timestamp(6)", {"a": Timestamp(1)}, "holds"),
    ],
)  # fmt: skip
def test_an_operator_follows_its_table(text, slots, expected):
    """Every operator gives one of the four verdicts; a wrong type never passes."""
    assert expected == verdict(text, **slots)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("slots.yes == 1 and slots.none == 1", "missing"),
        ("slots.no == 1 and slots.none == 1", "fails"),
        ("slots.none == 1 and slots.bad == 1", "invalid"),
        ("slots.bad == 1 and slots.no == 1", "fails"),
        ("slots.yes == 1 or slots.bad == 1", "holds"),
        ("slots.no == 1 or slots.none == 1", "missing"),
        ("slots.none == 1 or slots.bad == 1", "invalid"),
        ("not slots.none == 1", "missing"),
        ("not slots.bad == 1", "invalid"),
        ("not slots.no == 1", "holds"),
        ("slots.no == 1 unless slots.yes == 1", "holds"),
        ("slots.no == 1 unless slots.none == 1", "fails"),
        ("slots.none == 1 unless slots.bad == 1", "missing"),
        ("slots.bad == 1 unless slots.no == 1", "invalid"),
        ("slots.yes == 1 unless slots.bad == 1", "holds"),
    ],
)
def test_connectives_rank_the_four_values(text, expected):
    """and, or, not and unless combine verdicts as the specification ranks them."""
    assert expected == verdict(text, yes=1, no=2, none=None, bad="x")


def test_operands_reach_state_units_and_the_amended_commitment():
    """State slots, cited units, the amended commitment and as_of are operands."""
    scope = Scope(
        slots={"city": "Bonn", "price": Decimal("80.00"), "cabin": "basic"},
        state={"home_city": "Bonn"},
        units=(UnitValue("3#0", "price", Decimal("80.0")),),
        amended={"cabin": "business"},
        as_of_ms=5,
    )

    assert "holds" == verdict("slots.city == state.home_city", scope)
    assert "holds" == verdict("slots.price == unit.price", scope)
    assert "missing" == verdict("slots.price == unit.fare", scope)
    assert "fails" == verdict("slots.cabin == amended.cabin", scope)
    assert "holds" == verdict("as_of <= timestamp(5)", scope)
    assert "missing" == verdict("as_of <= timestamp(5)", Scope(slots={}))
    assert "missing" == verdict("slots.cabin == amended.cabin", Scope(slots={"cabin": "x"}))


def test_state_may_be_a_function():
    """State slots are read through a function where a caller gives one."""
    scope = Scope(slots={"city": "Bonn"}, state={"home_city": "Bonn"}.get)

    assert "holds" == verdict("slots.city == state.home_city", scope)


def test_cited_units_that_differ_decide_nothing():
    """Two cited units with different values of one slot make the operand invalid."""
    units = (UnitValue("3#0", "price", 1), UnitValue("4#0", "price", 2))

    assert "invalid" == verdict("unit.price <= 5", Scope(slots={}, units=units))
    assert "holds" == verdict("unit.price <= 5", Scope(slots={}, units=units[:1] * 2))


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ({}, "missing"),
        ({"USD/EUR": Decimal("0.9")}, "holds"),
        ({"EUR/USD": Decimal("1.2")}, "holds"),
        ({"EUR/USD": Decimal("0.5")}, "fails"),
        ({"USD/EUR": Decimal(0)}, "invalid"),
        ({"USD/EUR": "0.9"}, "invalid"),
    ],
)
def test_a_rate_converts_in_the_direction_it_states(rates, expected):
    """Conversion multiplies by the stated rate, from whichever side it can; it never divides."""
    units = tuple(UnitValue(f"{n}#0", f"rate:{pair}", rate) for n, (pair, rate) in
                  enumerate(rates.items()))  # fmt: skip
    scope = Scope(slots={"price": Money(Decimal("110.00"), "USD")}, evidence=units)

    assert expected == verdict('slots.price <= money("100.00 EUR")', scope)
    assert expected == verdict('money("100.00 EUR") >= slots.price', scope)


def test_sums_of_several_currencies_need_their_rates():
    """A sum converts to a currency that all its items reach, exactly."""
    items = (Money(Decimal("10.00"), "EUR"), Money(Decimal("10.00"), "USD"))
    rate = UnitValue("1#0", "rate:USD/EUR", Decimal("0.90"))

    plain = evaluate('sum(slots.i) == money("19 EUR")', Scope(slots={"i": items}))
    found = evaluate('sum(slots.i) == money("19 EUR")', Scope(slots={"i": items}, evidence=(rate,)))

    assert ("missing", "holds") == (plain.verdict, found.verdict)
    assert ("1#0",) == found.cited


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("slots.day >= as_of", "Europe/Berlin", "holds"),
        ("slots.day > as_of", "Europe/Berlin", "fails"),
        ("slots.day > as_of", "Pacific/Auckland", "fails"),
        ("slots.day < as_of", "Pacific/Auckland", "fails"),
        ("slots.day >= as_of", None, "missing"),
        ("slots.day >= as_of", "Mars/Base", "invalid"),
        ("slots.at == as_of", "Europe/Berlin", "holds"),
        ("slots.at == as_of", "+01:00", "holds"),
        ("slots.at == as_of", "+02:00", "fails"),
        ('slots.day >= as_of + period("P1D")', "Europe/Berlin", "fails"),
        ('slots.day >= as_of + period("P1D")', None, "missing"),
    ],
)
def test_dates_meet_instants_in_a_zone(text, zone, expected):
    """A date or local date-time is compared with an instant where a zone says how."""
    slots = {"day": date(2026, 11, 9), "at": datetime(2026, 11, 9, 9)}  # noqa: DTZ001

    assert expected == verdict(text, Scope(slots=slots, as_of_ms=NINE_BERLIN, zone=zone))


def test_the_zone_of_the_predicate_goes_first():
    """A predicate with a zone reads dates there, whatever zone the event has."""
    predicate = Predicate(
        "P", "slots.at == as_of", None, (), "", PredicateScope.STANDING, None, None, (), "+01:00"
    )
    slots = {"at": datetime(2026, 11, 9, 9)}  # noqa: DTZ001
    scope = Scope(slots=slots, as_of_ms=NINE_BERLIN, zone="+05:00")

    assert HOLDS == judge(predicate, scope).verdict


def test_an_exception_stays_with_its_predicate():
    """A predicate's own exception admits what its rule forbids."""
    predicate = Predicate(
        "P", 'slots.channel != "phone"', 'slots.role == "carer"', (), "",
        PredicateScope.STANDING, None, None, (), None,
    )  # fmt: skip

    assert HOLDS == judge(predicate, Scope(slots={"channel": "phone", "role": "carer"})).verdict
    assert "fails" == judge(predicate, Scope(slots={"channel": "phone"})).verdict


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("slots.gone <= 5", "slots.gone: no value"),
        ('slots["a b"] <= 5', 'slots["a b"]: no value'),
        ("slots.name <= 5", "slots.name: a string does not go with a whole number"),
        ('slots.price <= money("1 EUR")', "slots.price: no exchange rate from USD to EUR"),
        ("slots.name.x == 5", "slots.name.x: a string where a record is expected"),
        ("after(elapsed(5)) <= as_of", "after() was not resolved at confirmation"),
    ],
)
def test_a_verdict_without_answer_says_why(text, reason):
    """Missing and invalid name the operand and the cause."""
    slots = {"name": "x", "price": Money(Decimal(1), "USD")}

    assert reason == evaluate(text, Scope(slots=slots)).reason
