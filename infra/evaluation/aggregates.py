"""Aggregates: outcomes counted, small cells suppressed, nothing else said (paper, section 5).

A cell under ``CELL_MIN`` is not shown. Where one suppressed cell of a group could be had back
from the group's total, the next smallest cell is suppressed as well.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from infra.records import OUTCOME_TOPICS, read_output
from schemas.outcome import Commitment, RepairAct, TurnFailure
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded

GROUPS: Final = ("variant", "point", "call", "arm")
"""What the rows of an evaluation are grouped by: fixtures, dialogues, calls, memories."""

CELL_MIN: Final = 10


@dataclass(frozen=True, slots=True)
class Cell:
    """One count; None when it is suppressed."""

    group: str
    name: str
    count: int | None


def suppress(counts: Mapping[tuple[str, str], int]) -> tuple[Cell, ...]:
    """Return the cells sorted by group and name, small ones without their count."""
    hidden: set[tuple[str, str]] = set()
    for group in dict.fromkeys(key[0] for key in sorted(counts)):
        cells = sorted((count, key) for key, count in counts.items() if key[0] == group)
        small = [key for count, key in cells if count < CELL_MIN]
        hidden.update(small)
        # One hidden cell, or hidden cells of a small sum, could be had back from a total.
        lost = sum(counts[key] for key in small)
        if small and (len(small) == 1 or lost < CELL_MIN):
            rest = [key for _, key in cells if key not in hidden]
            hidden.update(rest[:1])
    return tuple(
        Cell(*key, None if key in hidden else count) for key, count in sorted(counts.items())
    )


def count_log(folder: Path) -> tuple[Cell, ...]:
    """Return the outcomes of an embedded log by scene and what came of the turn."""
    counts: Counter[tuple[str, str]] = Counter()
    with Embedded(folder, CoreReducer()) as embedded:
        for topic in OUTCOME_TOPICS:
            for output in embedded.outputs(topic):
                record = read_output(topic, output.record.value or b"")
                counts[record.scene, _name(record)] += 1
    return suppress(counts)


def count_run(folder: Path) -> tuple[Cell, ...]:
    """Return the outcomes of an evaluation: by variant, or what recorded data are grouped by."""
    frame = pl.read_parquet(folder / "rows.parquet")
    group = next(name for name in GROUPS if name in frame.columns)
    shown = [name for name in ("kind", "act") if name in frame.columns]
    counts: Counter[tuple[str, str]] = Counter()
    for name, *words in frame.select(group, *shown).iter_rows():
        counts[name, _describe(words)] += 1
    return suppress(counts)


def count_all(folder: Path) -> tuple[Cell, ...]:
    """Return the aggregates of an evaluation's folder, else of a log's."""
    return count_run(folder) if (folder / "rows.parquet").is_file() else count_log(folder)


def list_cells(cells: Iterable[Cell]) -> list[tuple[str, str, str]]:
    """Return cells as people read them; a suppressed one says so."""
    return [
        (cell.group, cell.name, "suppressed" if cell.count is None else str(cell.count))
        for cell in cells
    ]


def _name(record: Commitment | RepairAct | TurnFailure) -> str:
    match record:
        case Commitment():
            return "commitment"
        case RepairAct():
            return _join(record.act.value, record.reason.value)
        case TurnFailure():
            return _join("failure", record.kind.value)


def _describe(words: Sequence[str]) -> str:
    """Return what came of a row; without a word of it, that it is there."""
    if len(words) > 1:
        return _join(*words)
    return next(iter(words), "") or "row"


def _join(kind: str, detail: str) -> str:
    return f"{kind}: {detail}" if detail else kind
