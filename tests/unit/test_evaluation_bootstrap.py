"""Bootstrap intervals: seeded, over fixtures or whole cases, in pairs."""

from dataclasses import replace

import pytest

from infra.evaluation.bootstrap import by_case, by_fixture, compare_pairs, find_intervals
from infra.evaluation.scoring import score
from tests.labelled import LABELS, label, right_runs


def rows(count=30, passed=20):
    """Return rows of ten cases with three fixtures each, the first ones passed."""
    row = score(right_runs()[0], LABELS[0])
    return [
        replace(
            row, fixture_id=f"f{n}", case_id=f"c{n // 3}", passed=n < passed, emitted=n < passed
        )
        for n in range(count)
    ]


def test_intervals_hold_the_value_and_are_the_same_every_time():
    """The interval lies around the ratio, and equal rows give equal intervals."""
    found = find_intervals(rows())["pass"]

    assert found.low < 20 / 30 < found.high
    assert found == find_intervals(rows())["pass"]


def test_whole_cases_vary_more_than_fixtures():
    """Where a case's fixtures agree, drawing cases gives a wider interval than drawing rows."""
    cases, fixtures = (find_intervals(rows(), unit=unit)["pass"] for unit in (by_case, by_fixture))

    assert cases.high - cases.low > fixtures.high - fixtures.low


def test_a_metric_without_denominator_has_no_interval():
    """Rows without any witness have no interval for it."""
    bare = [replace(row, witness_lost=None) for row in rows()]

    assert find_intervals(bare)["wit"] is None


def test_a_variant_differs_from_itself_by_nothing():
    """Pairs are resampled alike, so equal rows have the interval [0, 0]."""
    found = compare_pairs(rows(), rows(), unit=by_case)["pass"]

    assert (0, 0) == (found.low, found.high)


def test_a_difference_beyond_chance_keeps_away_from_zero():
    """A variant that never passes is below one that mostly does, whatever is drawn."""
    found = compare_pairs(rows(passed=0), rows(passed=28), unit=by_case)["pass"]

    assert found.high < 0


def test_pairs_need_the_same_fixtures():
    """Rows of different fixtures are no pairs, and the message says what to do."""
    with pytest.raises(ValueError, match="same fixtures"):
        compare_pairs(rows(30), rows(27), unit=by_fixture)


def test_a_label_names_its_case():
    """The unit of the clusters is the label's case."""
    row = score(right_runs()[0], label("a-1"))

    assert ("a", "a-1") == (by_case(row), by_fixture(row))
