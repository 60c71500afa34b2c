"""Bootstrap intervals: rows drawn one by one or by whole cases, and differences in pairs.

Seeded; the same rows give the same intervals. Resamples without a denominator are left out, and
where all are, there is no interval.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from infra.evaluation.metrics import FAILURES, METRICS
from infra.evaluation.scoring import Row

RESAMPLES: Final = 2_000
SEED: Final = 7
LEVELS: Final = (2.5, 97.5)
MEAN_FAILURE: Final = "mcf"

Floats = npt.NDArray[np.float64]
Unit = Callable[[Row], str]


@dataclass(frozen=True, slots=True)
class Interval:
    """A percentile interval of 95 %."""

    low: float
    high: float


def by_fixture(row: Row) -> str:
    """Return the unit of the paired bootstrap."""
    return row.fixture_id


def by_case(row: Row) -> str:
    """Return the unit of the case-cluster bootstrap."""
    return row.case_id


def find_intervals(
    rows: Sequence[Row], *, unit: Unit = by_case, seed: int = SEED
) -> dict[str, Interval | None]:
    """Return an interval for every metric and for the mean control failure."""
    names, members = _group(rows, unit)
    weights = _draw(len(names), seed)
    sampled = _resample(members, weights)
    return {metric: _cut(values) for metric, values in sampled.items()}


def compare_pairs(
    left: Sequence[Row], right: Sequence[Row], *, unit: Unit, seed: int = SEED
) -> dict[str, Interval | None]:
    """Return intervals of (left - right), both resampled alike over the same units.

    Raises:
        ValueError: the two do not have the same fixtures.

    """
    if sorted(map(by_fixture, left)) != sorted(map(by_fixture, right)):
        raise ValueError("paired rows need the same fixtures on both sides: filter them first")
    names, ours = _group(left, unit)
    _, theirs = _group(right, unit)
    weights = _draw(len(names), seed)
    one, other = _resample(ours, weights), _resample(theirs, weights)
    return {metric: _cut(one[metric] - other[metric]) for metric in one}


def _group(rows: Sequence[Row], unit: Unit) -> tuple[list[str], Mapping[str, Floats]]:
    """Return the units, sorted, and per metric their summed numerators and denominators."""
    names = sorted({unit(row): None for row in rows})
    place = {name: index for index, name in enumerate(names)}
    sums = {metric: np.zeros((len(names), 2)) for metric in METRICS}
    for row in rows:
        for metric, part in METRICS.items():
            sums[metric][place[unit(row)]] += part(row)
    return names, sums


def _draw(units: int, seed: int) -> Floats:
    """Return how often each unit is drawn in each resample."""
    source = np.random.default_rng(seed)
    share = np.full(units, 1 / units) if units else np.zeros(0)
    return source.multinomial(units, share, size=RESAMPLES).astype(np.float64)


def _resample(sums: Mapping[str, Floats], weights: Floats) -> dict[str, Floats]:
    sampled = {}
    for metric, parts in sums.items():
        drawn = weights @ parts
        with np.errstate(invalid="ignore", divide="ignore"):
            sampled[metric] = np.where(drawn[:, 1] > 0, drawn[:, 0] / drawn[:, 1], np.nan)
    stacked = np.stack([sampled[metric] for metric in FAILURES])
    known = (~np.isnan(stacked)).sum(axis=0)
    total = np.nansum(stacked, axis=0)
    sampled[MEAN_FAILURE] = np.where(known > 0, total / np.maximum(known, 1), np.nan)
    return sampled


def _cut(values: Floats) -> Interval | None:
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    low, high = np.percentile(known, LEVELS)
    return Interval(float(low), float(high))
