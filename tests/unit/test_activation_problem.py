"""A problem outside the law is refused by field, unit and remedy (spec 4.2)."""

from dataclasses import replace

import pytest

from processors.activation.problem import ProblemError, Weights
from processors.activation.selectors import select_units
from tests.activation_problems import make_problem


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cost": (5, -1)}, "cost of unit 'b' is -1: at least 0"),
        ({"budget_main": -1}, "budget_main is -1"),
        ({"budget_tail": -5}, "budget_tail is -5"),
        ({"rel": (1, 0.5)}, "rel of unit 'b' is 0.5: give a whole number"),
        ({"unit_ids": ("a", "a")}, "unit id 'a' repeats in row 1"),
        ({"over": (1,)}, "over has 1 rows for 2 unit ids"),
        ({"covers": (0, 8)}, "covers of unit 'b' sets a bit beyond the 1 declared"),
        ({"debt": (1, 0)}, "debt of unit 'a' sets a bit beyond the 0 declared"),
        ({"requirement_weights": (0,)}, "weight of requirement 0 is 0"),
        ({"tail_witness": (True, 1)}, "tail_witness"),
        ({"tokens": (frozenset(),)}, "tokens has 1 rows"),
        ({"obligations": -1}, "obligations is -1"),
    ],
)
def test_a_problem_outside_the_law_is_refused_by_name(change, words):
    """A wrong problem is refused with the field, the unit and the remedy."""
    problem = make_problem(
        [{"id": "a", "cost": 1}, {"id": "b", "cost": 1}], requirement_weights=(1,), budget_main=1
    )

    with pytest.raises(ProblemError, match=words):
        replace(problem, **change)


def test_an_unknown_name_is_refused_with_the_known_ones():
    """Selector, mode and weight are checked by name; mmr says that it needs tokens."""
    problem = make_problem([{"id": "a", "cost": 1}], budget_main=1)

    with pytest.raises(ProblemError, match=r"best.*mmr, no_coverage"):
        select_units(problem, selector="best")
    with pytest.raises(ProblemError, match="mode is 'fast'"):
        select_units(problem, mode="fast")
    with pytest.raises(ProblemError, match="mmr needs tokens"):
        select_units(problem, selector="mmr")
    with pytest.raises(ProblemError, match="weight tail is -1"):
        Weights(tail=-1)
