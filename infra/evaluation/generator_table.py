"""Several runs side by side: each generator with the table over the fixtures that it ran.

Read from the published tables alone; a run over other fixtures is another row, never a mean.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import polars as pl

from infra.evaluation.tables import TableRow

SHOWN: Final = ("avail", "mcf", "ohcvr", "ecf", "nfer", "repair", "failed", "pass")


class NoRunError(Exception):
    """A folder holds no finished evaluation on fixtures."""


def list_generators(folders: Sequence[Path]) -> list[TableRow]:
    """Return one row per run and variant, the oracle's left out; None is n/a.

    Raises:
        NoRunError: a folder has no tables of an evaluation on fixtures.

    """
    return [row for folder in folders for row in _read_run(folder)]


def _read_run(folder: Path) -> list[TableRow]:
    path = folder / "metrics.parquet"
    if not path.is_file():
        raise NoRunError(f"{folder} holds no finished evaluation on fixtures")
    frame = pl.read_parquet(path).filter(pl.col("variant") != "oracle")
    found = []
    for variant in dict.fromkeys(frame["variant"]):
        own = {
            row["metric"]: row
            for row in frame.filter(pl.col("variant") == variant).iter_rows(named=True)
        }
        run = own["avail"]
        found.append(
            {
                "generator": run["backend"],
                "simulated": run["simulated"],
                "run_id": run["run_id"],
                "variant": variant,
                "fixtures": run["denominator"],
                **{metric: own[metric]["value"] for metric in SHOWN},
            }
        )
    return found
