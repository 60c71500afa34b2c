"""What activation chooses and what it says about it, one law per test (spec 4)."""

from dataclasses import replace

import pytest

from processors.activation.objective import Terms, Value
from processors.activation.problem import MILLION, Weights
from processors.activation.selectors import SELECTORS, select_units
from tests.activation_problems import make_problem

MODES = ("turn", "result")


def ids(selection):
    """Return the ids of the units chosen, sorted."""
    return sorted(entry.unit_id for entry in selection.entries)


@pytest.mark.parametrize("mode", MODES)
def test_coverage_goes_before_relevance(mode):
    """A requirement that the budget allows is covered, whatever the plain objective prefers."""
    problem = make_problem(
        [
            {"id": "dull witness", "cost": 100, "covers": 0b1},
            {"id": "charming", "cost": 60, "rel": MILLION},
            {"id": "pleasing", "cost": 40, "rel": MILLION},
            {"id": "amusing", "cost": 40, "rel": MILLION, "debt": 0b1},
        ],
        requirement_weights=(1,),
        obligations=1,
        budget_main=100,
    )

    chosen, plain = (select_units(problem, selector=s, mode=mode) for s in ("two_level", "paper_j"))

    assert ["dull witness"] == ids(chosen)
    assert ["amusing", "pleasing"] == ids(plain)
    assert Value(1, 2 * MILLION) == chosen.value
    assert Value(0, 3 * MILLION) == plain.value


def test_each_entry_carries_its_five_terms_in_order_of_entry():
    """Terms are what a unit adds at its entry: a requirement and a debt count for the first."""
    problem = make_problem(
        [
            {"id": "a", "cost": 10, "rel": 500_000, "over": 100_000, "covers": 0b11, "debt": 1},
            {"id": "b", "cost": 20, "rel": 900_000, "covers": 0b10, "debt": 1, "tail": True},
        ],
        requirement_weights=(1, 3),
        obligations=1,
        budget_main=50,
    )

    selection = select_units(problem)

    assert [
        ("a", "main", Terms(500_000, 8 * MILLION, 0, MILLION, -100_000)),
        ("b", "main", Terms(900_000, 0, 2 * MILLION, 0, 0)),
    ] == [tuple(entry) for entry in selection.entries]
    assert selection.value.j == sum(entry.terms.gain for entry in selection.entries)
    assert Value(0, 0) == selection.gap


@pytest.mark.parametrize("mode", MODES)
def test_a_witness_uses_the_reserve_first_and_main_when_the_reserve_is_full(mode):
    """Tail witnesses that cover a requirement fill the reserve; the next one goes to main."""
    problem = make_problem(
        [
            {"id": "first", "cost": 30, "covers": 0b01, "tail": True},
            {"id": "second", "cost": 40, "covers": 0b10, "tail": True},
        ],
        requirement_weights=(1, 1),
        budget_main=40,
        budget_tail=45,
    )

    selection = select_units(problem, mode=mode)

    assert ["first", "second"] == ids(selection)
    assert len(selection.main_ids) == 1 == len(selection.tail_ids)
    assert selection.main_spent <= 40
    assert selection.tail_spent <= 45


@pytest.mark.parametrize("mode", MODES)
def test_a_witness_of_nothing_required_is_ordinary(mode):
    """A tail witness that covers no requirement earns no tail term and no place in the reserve."""
    problem = make_problem(
        [{"id": "idle", "cost": 30, "rel": 700_000, "tail": True}],
        budget_main=0,
        budget_tail=100,
    )

    assert [] == ids(select_units(problem, mode=mode))
    raised = select_units(replace(problem, budget_main=30), mode=mode)
    assert ("idle",) == raised.main_ids
    assert Terms(700_000, 0, 0, 0, 0) == raised.entries[0].terms


def test_only_gain_enters():
    """A unit whose relevance is below its penalty stays out, however much budget is left."""
    problem = make_problem(
        [
            {"id": "worthless", "cost": 1, "rel": 300_000, "over": 300_000},
            {"id": "useful", "cost": 1, "rel": 300_001, "over": 300_000},
        ],
        budget_main=1_000,
    )

    assert ["useful"] == ids(select_units(problem))


def test_the_best_single_unit_beats_a_worse_bargain():
    """Greedy by ratio takes the cheap unit first; the dear one alone is worth more."""
    problem = make_problem(
        [
            {"id": "cheap", "cost": 1, "rel": 30_000},
            {"id": "dear", "cost": 100, "rel": MILLION},
        ],
        budget_main=100,
    )

    assert ["dear"] == ids(select_units(problem))


def test_a_unit_of_cost_nothing_has_an_infinite_ratio():
    """What costs nothing enters first, also under budgets of 0."""
    problem = make_problem(
        [
            {"id": "free", "cost": 0, "rel": 1},
            {"id": "free witness", "cost": 0, "covers": 0b1},
            {"id": "paid", "cost": 1, "rel": MILLION},
        ],
        requirement_weights=(1,),
        budget_main=0,
    )

    selection = select_units(problem)

    assert ["free witness", "free"] == [entry.unit_id for entry in selection.entries]


def test_equal_units_enter_by_id():
    """Ties in ratio, gain and cost are broken by unit id."""
    problem = make_problem(
        [{"id": name, "cost": 10, "rel": 5} for name in ("c", "a", "b")], budget_main=20
    )

    assert ["a", "b"] == [entry.unit_id for entry in select_units(problem).entries]


def test_result_mode_swaps_one_for_one():
    """Greedy keeps the better ratio; one swap brings the better set."""
    problem = make_problem(
        [
            {"id": "lean", "cost": 40, "rel": 410_000},
            {"id": "also lean", "cost": 50, "rel": 500_000},
            {"id": "rich", "cost": 60, "rel": 580_000},
        ],
        budget_main=110,
    )

    assert ["also lean", "lean"] == ids(select_units(problem, mode="turn"))
    assert ["also lean", "rich"] == ids(select_units(problem, mode="result"))


def test_result_mode_finds_a_cover_that_greedy_misses():
    """The cheap cover of one requirement blocks both; result mode takes the dear cover of two."""
    problem = make_problem(
        [
            {"id": "cheap", "cost": 30, "covers": 0b01},
            {"id": "both", "cost": 90, "covers": 0b11},
            {"id": "filler", "cost": 60, "rel": MILLION},
        ],
        requirement_weights=(1, 1),
        budget_main=100,
    )

    result = select_units(problem, mode="result")

    assert ["both"] == ids(result)
    assert 0 == result.gap.covered_weight


def test_selectors_differ_by_what_they_are_named_for():
    """Each named alternative drops its one idea and nothing else."""
    problem = make_problem(
        [
            {"id": "witness", "cost": 50, "covers": 0b1, "tail": True},
            {"id": "owed", "cost": 50, "debt": 0b1},
            {"id": "liked", "cost": 50, "rel": 900_000},
            {"id": "liked twin", "cost": 50, "rel": 890_000},
            {"id": "other", "cost": 50, "rel": 300_000},
        ],
        requirement_weights=(1,),
        obligations=1,
        budget_main=100,
        budget_tail=50,
        tokens=tuple(map(frozenset, ({"w"}, {"o"}, {"l", "m"}, {"l", "m"}, {"x"}))),
    )

    chosen = {name: ids(select_units(problem, selector=name)) for name in SELECTORS}

    assert {
        "two_level": ["liked", "owed", "witness"],
        "paper_j": ["liked", "owed", "witness"],
        "no_coverage": ["liked", "owed", "witness"],
        "no_tail_reserve": ["liked", "owed", "witness"],
        "no_debt": ["liked", "liked twin", "witness"],
        "topk": ["liked", "liked twin", "other"],
        "mmr": ["liked", "other", "owed"],
    } == chosen
    tight = replace(problem, budget_main=50, budget_tail=50, weights=Weights(tail=0))
    assert ["owed", "witness"] == ids(select_units(tight))
    assert ["owed"] == ids(select_units(tight, selector="no_coverage"))


@pytest.mark.parametrize("selector", sorted(SELECTORS))
@pytest.mark.parametrize("mode", MODES)
def test_no_units_are_a_legal_problem(selector, mode):
    """Without units nothing is chosen, no requirement is covered, and the gap is 0."""
    problem = make_problem([], requirement_weights=(1, 2), budget_main=0)

    selection = select_units(problem, selector=selector, mode=mode)

    assert () == selection.entries
    assert 0 == selection.covered
    assert Value(0, 0) == selection.gap
