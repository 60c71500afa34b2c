"""Reports R17 and R22 at the kernel: a budget is no reason to drop, nor to spend (spec 4)."""

import pytest

from processors.activation.objective import Value
from processors.activation.problem import MILLION
from processors.activation.selectors import select_units
from tests.activation_problems import make_problem

MODES = ("turn", "result")
LONG_RECORD = [
    {"id": "e1", "cost": 2_400, "rel": 950_000, "tail": True, "covers": 0b1},
    {"id": "e2", "cost": 60, "rel": 300_000},
    {"id": "e3", "cost": 60, "rel": 250_000},
]
PROFILE = [
    *({"id": f"e{k}", "cost": 60, "rel": 50_000, "over": 300_000} for k in range(1, 6)),
    {"id": "e6", "cost": 60, "rel": 800_000, "over": 0},
]


@pytest.mark.parametrize("mode", MODES)
def test_r17_a_required_record_too_long_leaves_its_requirement_open(mode):
    """Without room the record is not chosen, no budget is exceeded, and no set covers more."""
    problem = make_problem(LONG_RECORD, requirement_weights=(1,), budget_main=900, budget_tail=0)

    selection = select_units(problem, mode=mode)

    assert "e1" not in selection.main_ids + selection.tail_ids
    assert 0 == selection.covered
    assert selection.main_spent <= 900
    assert 0 == selection.gap.covered_weight


@pytest.mark.parametrize("mode", MODES)
def test_r17_the_reserve_holds_the_required_record(mode):
    """With a reserve that holds it the record is chosen, and the short notes stay in main."""
    problem = make_problem(
        LONG_RECORD, requirement_weights=(1,), budget_main=900, budget_tail=2_500
    )

    selection = select_units(problem, mode=mode)

    assert 0b1 == selection.covered
    assert (("e1",), ("e2", "e3")) == (selection.tail_ids, selection.main_ids)
    assert (120, 2_400) == (selection.main_spent, selection.tail_spent)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("noise", [0, 1, 20, 400])
def test_r17_no_amount_of_short_noise_drops_a_required_record(mode, noise):
    """Covered weight is bought first, so the best hits cannot fill the budget before it."""
    hits = [{"id": f"n{k}", "cost": 5, "rel": MILLION} for k in range(noise)]
    problem = make_problem([*hits, LONG_RECORD[0]], requirement_weights=(1,), budget_main=2_400)

    selection = select_units(problem, mode=mode)

    assert 0b1 == selection.covered
    assert ("e1",) == selection.main_ids


@pytest.mark.parametrize("mode", MODES)
def test_r22_a_spare_budget_is_no_reason_to_spend_it(mode):
    """Records that cost more in penalty than they add stay out; J is 0.8, proven optimal."""
    problem = make_problem(PROFILE, budget_main=400)

    selection = select_units(problem, mode=mode)

    assert ("e6",) == selection.main_ids
    assert Value(0, 800_000) == selection.value
    assert Value(0, 0) == selection.gap
