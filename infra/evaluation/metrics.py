"""The metrics of the protocol with their denominators; an empty denominator is n/a, never 0.

Every metric is a ratio of two sums over rows, kept per row, so that the same numbers give the
value and its bootstrap.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from infra.evaluation.scoring import Row

Parts = tuple[int, int]
"""What a row adds to numerator and denominator."""


def _count(verdict: bool | None) -> Parts:  # noqa: FBT001 - a verdict, not a switch
    return (0, 0) if verdict is None else (int(verdict), 1)


METRICS: Final[Mapping[str, Callable[[Row], Parts]]] = MappingProxyType(
    {
        "avail": lambda row: (int(row.emitted), 1),
        "ohcvr": lambda row: _count(row.violated),
        "ecf": lambda row: _count(row.uncovered),
        "wit": lambda row: _count(row.witness_lost),
        "cons": lambda row: _count(row.debt_lost),
        "nfer": lambda row: _count(row.infeasible_emission),
        "repair": lambda row: _count(row.repair_correct),
        "pass": lambda row: (int(row.passed), 1),
        "failed": lambda row: (int(row.system_failure), 1),
        "cost": lambda row: (row.cost, 1),
        "control": lambda row: (row.control_shown, row.control_total),
        "shadow_shown": lambda row: (row.uncompiled_shown, row.uncompiled_total),
        "shadow_recalled": lambda row: (row.uncompiled_recalled, row.uncompiled_total),
        "intrusive": lambda row: (row.intrusive_shown, row.intrusive_total),
    }
)
"""Avail, OHCVR, NFER and repair correctness as in the paper (5.2); ECF, Wit and Cons over
D_emit; pass over attempted; ``control`` is the typed evidence retained by what was shown."""

FAILURES: Final = ("ohcvr", "ecf", "wit", "cons", "nfer")
"""The metrics whose mean, over those with a denominator, is the mean control failure."""

MEANINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "avail": "structured commitments / attempted",
        "ohcvr": "commitments that violate h* / commitments",
        "ecf": "commitments without a dimension of E* / commitments",
        "wit": "commitments without a tail witness of E* / those of fixtures that have one",
        "cons": "commitments that leave a labelled obligation out / commitments",
        "nfer": "commitments / fixtures with empty F*",
        "repair": "right repair acts / fixtures whose label expects one",
        "mcf": "mean of the five failures that have a denominator",
        "pass": "outcomes equal to the label / attempted",
        "failed": "system failures / attempted",
        "cost": "cost units shown / attempted",
        "control": "labelled typed evidence shown / labelled typed evidence",
        "shadow_shown": "uncompiled visible facts shown / uncompiled visible facts",
        "shadow_recalled": "uncompiled visible facts cited / uncompiled visible facts",
        "intrusive": "intrusive units shown / intrusive units",
    }
)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A value and what it is made of; None when nothing is in the denominator."""

    numerator: int
    denominator: int

    @property
    def value(self) -> float | None:
        """The ratio, or None."""
        return self.numerator / self.denominator if self.denominator else None


def measure(rows: Sequence[Row], metric: str) -> Ratio:
    """Return one metric over rows."""
    parts = [METRICS[metric](row) for row in rows]
    return Ratio(sum(part[0] for part in parts), sum(part[1] for part in parts))


def measure_all(rows: Sequence[Row]) -> dict[str, Ratio]:
    """Return every metric over rows."""
    return {metric: measure(rows, metric) for metric in METRICS}


def find_mean_failure(ratios: Mapping[str, Ratio]) -> float | None:
    """Return the mean control failure: over the failures with a denominator, else None."""
    values = [ratios[name].value for name in FAILURES]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
