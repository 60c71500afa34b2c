"""Aggregates: counts, and no cell that a few people stand in."""

from infra.evaluation.aggregates import CELL_MIN, suppress


def counts_of(**counts):
    """Return what is left of these counts in one group."""
    cells = suppress({("scene", name): count for name, count in counts.items()})
    return {cell.name: cell.count for cell in cells}


def test_a_cell_of_ten_is_shown_and_one_of_nine_is_not():
    """The bound is ten, itself shown."""
    assert {"a": 10, "b": None, "c": None} == counts_of(a=10, b=9, c=9)


def test_a_single_small_cell_takes_the_next_smallest_with_it():
    """One suppressed cell could be had back from a total, so a second one goes."""
    assert {"a": 100, "b": None, "c": None} == counts_of(a=100, b=40, c=3)


def test_small_cells_whose_sum_is_small_take_another_with_them():
    """Their sum would be a small cell itself."""
    assert {"a": 100, "b": None, "c": None, "d": None} == counts_of(a=100, b=50, c=2, d=1)


def test_groups_are_suppressed_apart_and_large_cells_stay():
    """Nothing is hidden where nothing is small."""
    cells = suppress({("x", "a"): CELL_MIN, ("y", "a"): 500, ("y", "b"): 12})

    assert [10, 500, 12] == [cell.count for cell in cells]
