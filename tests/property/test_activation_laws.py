"""Laws of activation on every small problem, against judges that share no code with it."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from processors.activation.problem import COST_MAX, TERM_MAX
from processors.activation.selectors import SELECTORS, select_units
from tests.activation_problems import draw_problems, draw_seeded, find_optimum, judge

NAMES = st.sampled_from(sorted(SELECTORS))
MODES = st.sampled_from(["turn", "result"])
INFINITE = Fraction(10**30)


def greedy_by_definition(problem):
    """Choose by the words of spec 4.2, slowly: scan all units at every step."""
    ids, cost, weights = problem.unit_ids, problem.cost, problem.requirement_weights
    left = {"main": problem.budget_main, "tail": problem.budget_tail}
    chosen, places = [], {}

    def place(unit):
        if problem.tail_witness[unit] and problem.covers[unit] and cost[unit] <= left["tail"]:
            return "tail"
        return "main" if cost[unit] <= left["main"] else None

    def new_weight(unit):
        held = 0
        for other in chosen:
            held |= problem.covers[other]
        return sum(w for r, w in enumerate(weights) if problem.covers[unit] & ~held & 1 << r)

    def gain(unit):
        return judge(problem, (*chosen, unit))[1] - judge(problem, tuple(chosen))[1]

    def per_cost(amount, unit):
        return Fraction(amount, cost[unit]) if cost[unit] else INFINITE

    for measure in (new_weight, gain):
        while True:
            able = [u for u in range(len(ids)) if u not in chosen and place(u) and measure(u) > 0]
            if not able:
                break
            unit = min(able, key=lambda u: (-per_cost(measure(u), u), -gain(u), cost[u], ids[u]))
            places[unit] = place(unit)
            left[places[unit]] -= cost[unit]
            chosen.append(unit)
    reached = judge(problem, tuple(chosen))
    left = {"main": problem.budget_main, "tail": problem.budget_tail}
    singles = [u for u in range(len(ids)) if place(u)]
    if singles:
        single = min(singles, key=lambda u: ([-v for v in judge(problem, (u,))], cost[u], ids[u]))
        if judge(problem, (single,)) > max(reached, (0, 0)):
            return [(ids[single], place(single))]
    return [(ids[unit], places[unit]) for unit in chosen]


@given(draw_problems())
def test_turn_mode_is_greedy_by_definition(problem):
    """Turn mode chooses what the words of spec 4.2 choose, in the same order and places."""
    chosen = select_units(problem).entries

    assert greedy_by_definition(problem) == [(entry.unit_id, entry.place) for entry in chosen]


@given(draw_problems(), NAMES, MODES)
def test_budgets_hold_and_the_reserve_is_for_witnesses_alone(problem, selector, mode):
    """No budget is exceeded; the reserve holds only tail witnesses that cover a requirement."""
    selection = select_units(problem, selector=selector, mode=mode)

    rows = dict(zip(problem.unit_ids, range(len(problem.unit_ids)), strict=True))
    main = [rows[unit_id] for unit_id in selection.main_ids]
    tail = [rows[unit_id] for unit_id in selection.tail_ids]
    merged = selector in {"topk", "mmr", "no_tail_reserve"}
    assert selection.budget_main == problem.budget_main + merged * problem.budget_tail
    assert selection.budget_tail == (0 if merged else problem.budget_tail)
    assert sum(problem.cost[u] for u in main) == selection.main_spent <= selection.budget_main
    assert sum(problem.cost[u] for u in tail) == selection.tail_spent <= selection.budget_tail
    assert all(problem.tail_witness[u] and problem.covers[u] for u in tail)
    assert len({*main, *tail}) == len(main) + len(tail) == len(selection.entries)
    left = selection.budget_tail - selection.tail_spent
    assert not any(
        problem.tail_witness[u] and problem.covers[u] and problem.cost[u] <= left for u in main
    )


@given(draw_problems(), NAMES, MODES)
def test_value_terms_and_masks_follow_the_definition(problem, selector, mode):
    """Value, terms and masks are those of the chosen set by definition, under its own objective."""
    selection = select_units(problem, selector=selector, mode=mode)

    assert judge(problem, selection.units) == selection.value
    assert sum(entry.terms.gain for entry in selection.entries) == selection.value.j
    for requirement in range(len(problem.requirement_weights)):
        met = any(problem.covers[unit] >> requirement & 1 for unit in selection.units)
        assert met == bool(selection.covered >> requirement & 1)


@given(draw_problems(), MODES)
def test_the_optimum_lies_between_value_and_bound(problem, mode):
    """Value <= exact optimum <= bound in covered weight, and in J at that weight."""
    optimum = find_optimum(problem)
    selection = select_units(problem, mode=mode)

    assert selection.value <= optimum
    assert optimum[0] <= selection.bound.covered_weight
    assert optimum[1] <= selection.bound.j
    assert min(selection.gap) >= 0
    if selection.gap == (0, 0):
        assert optimum == selection.value


@given(draw_problems(), NAMES)
def test_every_selector_is_bounded_by_the_optimum_of_its_budgets(problem, selector):
    """The bound of an alternative selector holds for the budgets that it was given."""
    selection = select_units(problem, selector=selector)
    solved = replace(problem, budget_main=selection.budget_main, budget_tail=selection.budget_tail)
    optimum = find_optimum(solved)

    assert optimum[0] <= selection.bound.covered_weight
    assert optimum[1] <= selection.bound.j
    assert min(selection.gap) >= 0


@given(draw_problems(), NAMES)
def test_result_mode_is_never_worse_than_turn_mode(problem, selector):
    """Searching on never loses value: two levels for two_level, J for the rest that search."""
    turn, result = (select_units(problem, selector=selector, mode=m) for m in ("turn", "result"))

    if selector in {"two_level", "no_tail_reserve"}:
        assert turn.value <= result.value
    if selector == "paper_j":
        assert turn.value.j <= result.value.j
    if selector in {"topk", "mmr"}:
        assert turn.entries == result.entries


@given(draw_problems(), NAMES, MODES, st.randoms(use_true_random=False))
def test_the_order_of_rows_decides_nothing(problem, selector, mode, rng):
    """Rows in another order give the same entries, reasons, value and bound."""
    rows = list(range(len(problem.unit_ids)))
    rng.shuffle(rows)
    turned = permute(problem, rows)

    first = select_units(problem, selector=selector, mode=mode)
    second = select_units(turned, selector=selector, mode=mode)

    assert first.units == tuple(rows[unit] for unit in second.units)
    assert first == replace(second, units=first.units)


def test_the_order_of_rows_decides_nothing_at_size():
    """The same on tight instances of 20-60 units, where searches are long."""
    for seed in range(30):
        problem = draw_seeded(seed)
        rows = sorted(range(len(problem.unit_ids)), key=lambda row: problem.unit_ids[row][::-1])
        for mode in ("turn", "result"):
            first = select_units(problem, mode=mode)
            second = select_units(permute(problem, rows), mode=mode)
            assert first == replace(second, units=first.units)


@given(draw_problems(units_max=5, cost_max=COST_MAX // 3, requirements_max=70, term_max=TERM_MAX))
def test_great_numbers_and_many_requirements_keep_the_laws(problem):
    """Beyond 64 requirements and far beyond int64 products the bound holds and budgets too."""
    optimum = find_optimum(problem)
    for mode in ("turn", "result"):
        selection = select_units(problem, mode=mode)
        assert selection.value <= optimum
        assert optimum[0] <= selection.bound.covered_weight
        assert optimum[1] <= selection.bound.j
        assert selection.main_spent <= problem.budget_main
        assert selection.tail_spent <= problem.budget_tail


def permute(problem, rows):
    """Give the same problem with its rows in another order."""
    names = ["unit_ids", "rel", "over", "cost", "tail_witness", "covers", "debt"]
    if problem.tokens:
        names.append("tokens")
    turned = {name: tuple(getattr(problem, name)[row] for row in rows) for name in names}
    return replace(problem, **turned)
