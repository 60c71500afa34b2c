"""What a backfill came to in numbers, from its tables alone."""

from pathlib import Path
from typing import Any

import polars as pl

from infra.backfill.tables import read_table


def summarise(folder: Path) -> dict[str, Any]:
    """Return counts of turns, outcomes and flips, and sums over all packets and candidates."""
    decisions = read_table(folder, "decisions")
    vectors = read_table(folder, "vectors")
    return {
        "turns": decisions.height,
        "flipped": int(decisions["flipped"].sum()),
        "recorded": _count(decisions, "recorded_outcome", "recorded_reason"),
        "recomputed": _count(decisions, "outcome", "reason"),
        "flips": _count_flips(read_table(folder, "flips")),
        "required": int(decisions["required"].sum()),
        "covered": int(decisions["covered"].sum()),
        "objective": int(decisions["objective"].sum()),
        "gap": int(decisions["gap"].sum()),
        "candidates": vectors.height,
        "supported": int(vectors["supported"].sum()),
        "feasible": vectors.filter(
            pl.col("supported") & (pl.col("nu_h") == 0) & (pl.col("nu_c") == 0)
        ).height,
    }


def _count(decisions: pl.DataFrame, outcome: str, reason: str) -> dict[str, int]:
    counted = decisions.group_by(outcome, reason).len().sort(outcome, reason)
    return {_name(*row[:2]): row[2] for row in counted.iter_rows()}


def _count_flips(flips: pl.DataFrame) -> dict[str, int]:
    columns = ("from_outcome", "from_reason", "to_outcome", "to_reason")
    counted = flips.group_by(columns).len().sort(columns)
    return {f"{_name(*row[:2])} -> {_name(*row[2:4])}": row[4] for row in counted.iter_rows()}


def _name(outcome: str, reason: str) -> str:
    return f"{outcome}:{reason}" if reason else outcome
