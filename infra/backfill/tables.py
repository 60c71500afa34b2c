"""The tables of a backfill: their columns, and their files, each written whole or not at all.

Every row begins with the run id and the versions it rests on. Parquet, so that DuckDB, polars and
the like read them.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from infra.backfill.turns import Row, Turn, build_decision, build_flip, build_terms, build_vectors

_TEXTS: Final = pl.List(pl.String)

VERSIONS: Final[dict[str, Any]] = {
    "run_id": pl.String,
    "core_version": pl.String,
    "ruleset": pl.Int64,
    "feedback": pl.String,
}
_TURN: Final[dict[str, Any]] = {
    "tenant": pl.String,
    "user": pl.String,
    "turn_id": pl.String,
    "scene": pl.String,
    "requested_seq": pl.Int64,
}
TABLES: Final[dict[str, dict[str, Any]]] = {
    "decisions": VERSIONS | _TURN | {
        "seq": pl.Int64, "outcome": pl.String, "reason": pl.String, "chosen": pl.String,
        "utility": pl.Int64, "recorded_outcome": pl.String, "recorded_reason": pl.String,
        "recorded_chosen": pl.String, "flipped": pl.Boolean, "candidates": pl.Int64,
        "packets": pl.Int64, "evidence_ids": _TEXTS, "required": pl.Int64, "covered": pl.Int64,
        "uncovered": _TEXTS, "objective": pl.Int64, "gap": pl.Int64, "cost_main": pl.Int64,
        "cost_tail": pl.Int64, "contract_version": pl.Int64, "contract_digest": pl.String,
        "catalogue_digest": pl.String,
    },
    "flips": VERSIONS | _TURN | {
        "from_outcome": pl.String, "from_reason": pl.String, "from_chosen": pl.String,
        "to_outcome": pl.String, "to_reason": pl.String, "to_chosen": pl.String,
    },
    "vectors": VERSIONS | _TURN | {
        "place": pl.Int64, "candidate": pl.String, "commitment_type": pl.String,
        "chosen": pl.Boolean, "supported": pl.Boolean, "unsupported": _TEXTS, "nu_h": pl.Int64,
        "nu_c": pl.Int64, "nu_0": pl.Int64, "utility": pl.Int64, "violated": _TEXTS,
        "unmet": _TEXTS, "cited": _TEXTS,
    },
    "terms": VERSIONS | _TURN | {
        "round": pl.Int64, "place": pl.Int64, "unit_id": pl.String, "part": pl.String,
        "cost": pl.Int64, "relevance": pl.Int64, "coverage": pl.Int64, "tail": pl.Int64,
        "debt": pl.Int64, "over": pl.Int64, "gain": pl.Int64,
    },
}  # fmt: skip


def build_rows(turns: Iterable[Turn], versions: Row) -> dict[str, list[Row]]:
    """Return the rows of every table for these turns, in their order."""
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    for turn in turns:
        stated = versions | {"ruleset": turn.ruleset}
        rows["decisions"].append(stated | build_decision(turn))
        if turn.flipped:
            rows["flips"].append(stated | build_flip(turn))
        rows["vectors"].extend(stated | row for row in build_vectors(turn))
        rows["terms"].extend(stated | row for row in build_terms(turn))
    return rows


def write_table(path: Path, name: str, rows: Sequence[Row]) -> None:
    """Replace one file of a table; who reads meanwhile sees the old one or the new one."""
    frame = pl.DataFrame(rows, schema=TABLES[name], orient="row")
    draft = path.with_name(path.name + ".draft")
    frame.write_parquet(draft)
    draft.replace(path)


def read_table(folder: Path, name: str) -> pl.DataFrame:
    """Return a whole table of a backfill's folder, in the order of partitions and lanes."""
    files = sorted((folder / name).glob("*.parquet"))
    if not files:
        return pl.DataFrame(schema=TABLES[name])
    return pl.concat([pl.read_parquet(file) for file in files])
