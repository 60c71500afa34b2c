"""The tables of a run as Parquet, each written whole or not at all; ids and counts, no text.

Every row begins with the run it belongs to and says whether its generator is simulated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from infra.evaluation.bootstrap import (
    MEAN_FAILURE,
    Interval,
    by_case,
    by_fixture,
    compare_pairs,
    find_intervals,
)
from infra.evaluation.metrics import find_mean_failure, measure_all
from infra.evaluation.scoring import Row

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

TableRow = dict[str, Any]
Grouped = Mapping[str, Sequence[Row]]
"""Rows by variant, in the order of the variants."""

FULL: Final = "cbea_lcv"


@dataclass(frozen=True, slots=True)
class RunName:
    """What every row of every table begins with."""

    run_id: str
    backend: str
    simulated: bool
    seed: int


def list_rows(grouped: Grouped) -> list[TableRow]:
    """Return the scored rows, one per variant and fixture."""
    return [
        {name: getattr(value, "value", value) for name, value in asdict(row).items()}
        for rows in grouped.values()
        for row in rows
    ]


def list_metrics(grouped: Grouped) -> list[TableRow]:
    """Return every metric of every variant with its denominator and both intervals."""
    found = []
    for variant, rows in grouped.items():
        ratios = measure_all(rows)
        cases = find_intervals(rows, unit=by_case)
        fixtures = find_intervals(rows, unit=by_fixture)
        values: list[tuple[str, int | None, int | None, float | None]] = [
            (metric, ratio.numerator, ratio.denominator, ratio.value)
            for metric, ratio in ratios.items()
        ]
        values.append((MEAN_FAILURE, None, None, find_mean_failure(ratios)))
        for metric, numerator, denominator, value in values:
            found.append(
                {
                    "variant": variant,
                    "metric": metric,
                    "numerator": numerator,
                    "denominator": denominator,
                    "value": value,
                    **_spread("case", cases[metric]),
                    **_spread("fixture", fixtures[metric]),
                }
            )
    return found


def list_comparisons(grouped: Grouped, reference: str = FULL) -> list[TableRow]:
    """Return the paired difference of each variant from the reference, with its intervals."""
    found = []
    own = grouped[reference]
    own_values = {metric: ratio.value for metric, ratio in measure_all(own).items()}
    for variant, rows in grouped.items():
        if variant == reference:
            continue
        names = {row.fixture_id: None for row in rows}
        paired = [row for row in own if row.fixture_id in names]
        cases = compare_pairs(rows, paired, unit=by_case)
        fixtures = compare_pairs(rows, paired, unit=by_fixture)
        values = {metric: ratio.value for metric, ratio in measure_all(rows).items()}
        for metric, value in values.items():
            against = own_values[metric]
            known = value is not None and against is not None
            found.append(
                {
                    "variant": variant,
                    "reference": reference,
                    "metric": metric,
                    "difference": value - against if known else None,  # type: ignore[operator]
                    **_spread("case", cases[metric]),
                    **_spread("fixture", fixtures[metric]),
                }
            )
    return found


def write_table(
    folder: Path, name: str, rows: Sequence[TableRow], run: "DataclassInstance"
) -> Path:
    """Write one table; a table without rows has a file all the same.

    ``run`` is the frozen record whose fields every row begins with.
    """
    named = [{**asdict(run), **row} for row in rows] or [asdict(run)]
    frame = pl.DataFrame(named, infer_schema_length=None)
    if not rows:
        frame = frame.clear()
    path = folder / f"{name}.parquet"
    unfinished = folder / f".{name}.parquet"
    frame.write_parquet(unfinished)
    unfinished.replace(path)
    return path


def _spread(name: str, interval: Interval | None) -> TableRow:
    return {
        f"{name}_low": None if interval is None else interval.low,
        f"{name}_high": None if interval is None else interval.high,
    }
