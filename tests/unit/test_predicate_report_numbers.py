"""Reported faults of numbers in rules: overflow, rounding, and order that depends on the side.

Each test takes one public report (named by its number in the collection) at the level of a
predicate.
"""

from decimal import Decimal

import pytest

from processors.predicates.evaluation import evaluate
from processors.predicates.scope import Scope
from schemas.value import build_record


def judge(text, **slots):
    """Return the verdict of a text over these slots."""
    return evaluate(text, Scope(slots=slots)).verdict


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (Decimal(500), "holds"),
        (Decimal("500.01"), "fails"),
        (10**350, "fails"),
        (float("nan"), "invalid"),
        (Decimal("NaN"), "invalid"),
        (float("inf"), "invalid"),
        (Decimal("Infinity"), "invalid"),
        (Decimal(-1), "fails"),
        (Decimal("1E+3"), "fails"),
        (True, "invalid"),
    ],
)
def test_r73_no_number_slips_through_a_cap(budget, expected):
    """Huge numbers, no-numbers and truth values satisfy no budget; the arithmetic is exact."""
    assert expected == judge("slots.budget <= 500 and slots.budget >= 0", budget=budget)


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_r73_what_is_no_number_compares_with_nothing(operator):
    """NaN is neither equal nor unequal to a number, whichever way it is asked."""
    assert "invalid" == judge(f"slots.budget {operator} 500", budget=Decimal("NaN"))
    assert "invalid" == judge(f"slots.budget {operator} slots.cap", budget=Decimal("NaN"), cap=1)


@pytest.mark.parametrize(
    ("items", "rule", "expected"),
    [
        (("1.10", "2.20"), "sum(slots.items[*].price) <= 3.30", "holds"),
        (("0.2", "0.7"), "sum(slots.items[*].price) >= 0.9", "holds"),
        (("1.10", "2.21"), "sum(slots.items[*].price) <= 3.30", "fails"),
        (("0.1",) * 10, "sum(slots.items[*].price) == 1.0", "holds"),
    ],
)
def test_r74_a_running_total_meets_its_limit_exactly(items, rule, expected):
    """Sums are exact: there is no tolerance because none is needed."""
    rows = tuple(build_record(price=Decimal(item)) for item in items)

    assert expected == judge(rule, items=rows)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.5 < 7", "holds"),
        ("7 < 2.5", "fails"),
        ("7 > 2.5", "holds"),
        ("3 == 3.0", "holds"),
        ("3.0 == 3", "holds"),
        ("9007199254740993 == 9007199254740992.0", "fails"),
        ("9007199254740993 <= 9007199254740992.0", "fails"),
        ("1.10 == 1.1", "holds"),
        ('decimal("1.10") in [1, 1.1]', "holds"),
    ],
)
def test_r83_whole_numbers_and_decimals_compare_exactly(text, expected):
    """The order of the two sides makes no difference, and no digit is lost."""
    assert expected == evaluate(text, Scope(slots={})).verdict
