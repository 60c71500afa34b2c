"""What an audit comes to: fidelity by variant with intervals, and how far the judge is right.

The scorer knows the right verdict of every dimension. A judge that agrees with it hardly better
than chance is called weak, and so is every figure that comes of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from infra.evaluation.audit.judging import DIMENSIONS, Verdicts

Row = dict[str, Any]
TableRow = dict[str, Any]

KAPPA_LEAST: Final = 0.6
"""Below this agreement beyond chance, over all dimensions, the judge is weak."""
UNSAID_MOST: Final = 0.1
RESAMPLES: Final = 2_000
SEED: Final = 7


def score_row(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the scorer's verdict on each dimension of a row."""
    return {
        "contract": _say(row["violated"], right=False),
        "coverage": _say(row["uncovered"], right=False),
        "witness": _say(row["witness_lost"], right=False),
        "consequence": _say(row["debt_lost"], right=False),
        "repair": _say(row["repair_correct"], right=True),
        "surface": _say(row["surface_mismatches"] > 0 if row["emitted"] else None, right=False),
    }


def measure_judge(rows: Sequence[Row], verdicts: Sequence[Verdicts]) -> list[TableRow]:
    """Return per dimension, and over all, how the judge agrees with the scorer."""
    pairs = {
        name: [(score_row(row)[name], said[name]) for row, said in zip(rows, verdicts, strict=True)]
        for name in DIMENSIONS
    }
    everything = [pair for found in pairs.values() for pair in found]
    return [
        _compare(name, found) for name, found in (*pairs.items(), ("all dimensions", everything))
    ]


def is_weak(judged: Sequence[TableRow]) -> bool:
    """Return whether the judge agrees too little with the scorer, or says too little."""
    overall = judged[-1]
    kappa = overall["kappa"]
    unsaid = overall["no_verdict"] / max(1, overall["asked"])
    return kappa is None or kappa < KAPPA_LEAST or unsaid > UNSAID_MOST


def measure_fidelity(rows: Sequence[Row], verdicts: Sequence[Verdicts]) -> list[TableRow]:
    """Return per variant and dimension the share of yes among yes and no, by judge and scorer.

    Intervals are of the judge's share, bootstrapped by case.
    """
    found = []
    for variant in sorted({row["variant"] for row in rows}):
        own = [pair for pair in zip(rows, verdicts, strict=True) if pair[0]["variant"] == variant]
        for name in DIMENSIONS:
            judged = [(row["case_id"], said[name]) for row, said in own]
            right = [score_row(row)[name] for row, _ in own]
            low, high = _bootstrap(judged)
            found.append(
                {
                    "variant": variant,
                    "dimension": name,
                    "judged": sum(said in {"yes", "no"} for _, said in judged),
                    "fidelity": _share([said for _, said in judged]),
                    "case_low": low,
                    "case_high": high,
                    "by_scorer": _share(right),
                }
            )
    return found


def _say(verdict: bool | None, *, right: bool) -> str:  # noqa: FBT001 - a verdict, not a switch
    if verdict is None:
        return "does_not_apply"
    return "yes" if verdict is right else "no"


def _share(said: Sequence[str | None]) -> float | None:
    counted = [one for one in said if one in {"yes", "no"}]
    return counted.count("yes") / len(counted) if counted else None


def _compare(name: str, pairs: Sequence[tuple[str, str | None]]) -> TableRow:
    known = [(right, said) for right, said in pairs if said is not None]
    agreed = sum(right == said for right, said in known)
    return {
        "dimension": name,
        "asked": len(pairs),
        "no_verdict": len(pairs) - len(known),
        "agreed_with_scorer": agreed,
        "share": agreed / len(known) if known else None,
        "kappa": _find_kappa([(right, str(said)) for right, said in known]),
    }


def _find_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa; None where chance alone would agree always."""
    if not pairs:
        return None
    names = sorted({one for pair in pairs for one in pair})
    count = len(pairs)
    seen = sum(left == right for left, right in pairs) / count
    chance = sum(
        sum(left == name for left, _ in pairs) * sum(right == name for _, right in pairs)
        for name in names
    ) / (count * count)
    return (seen - chance) / (1 - chance) if chance < 1 else None


def _bootstrap(judged: Sequence[tuple[str, str | None]]) -> tuple[float | None, float | None]:
    cases = sorted({case for case, _ in judged})
    parts = np.array(
        [
            [
                sum(said == "yes" for name, said in judged if name == case),
                sum(said in {"yes", "no"} for name, said in judged if name == case),
            ]
            for case in cases
        ],
        dtype=np.float64,
    ).reshape(-1, 2)
    if not parts[:, 1].sum():
        return None, None
    source = np.random.default_rng(SEED)
    drawn = source.multinomial(len(cases), [1 / len(cases)] * len(cases), RESAMPLES) @ parts
    shares = drawn[drawn[:, 1] > 0]
    low, high = np.percentile(shares[:, 0] / shares[:, 1], (2.5, 97.5))
    return float(low), float(high)
