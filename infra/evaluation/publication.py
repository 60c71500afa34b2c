"""What an evaluation publishes: Parquet tables and the report, from scored rows.

Nothing here reads a history; texts go out only where the caller asks for them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infra.evaluation.diagnostics import (
    break_down,
    check_ablations,
    compare_payload,
    compare_selectors,
)
from infra.evaluation.embedding import MODEL
from infra.evaluation.metrics import find_mean_failure, measure_all
from infra.evaluation.observing import Run
from infra.evaluation.report import render_report
from infra.evaluation.scoring import Row
from infra.evaluation.tables import (
    FULL,
    Grouped,
    RunName,
    TableRow,
    list_comparisons,
    list_metrics,
    list_rows,
    write_table,
)
from infra.evaluation.variants import GATED, NINE
from schemas.value_json import to_json

SELECTORS: Final = {
    "two_level": FULL,
    "paper_j": "paper_j",
    "mmr": "mmr",
    "topk": "without_cbea",
    "no_coverage": "no_coverage",
    "no_tail_reserve": "no_tail_reserve",
    "no_debt": "no_debt",
}
MAIN: Final = tuple(variant.name for variant in (*NINE, *GATED))

LOST: Final = (
    "LCV itself requires the evidence of R_t to be cited here, so a selector that loses evidence "
    "costs availability behind the gate, not coverage; what it loses shows in the ungated rows "
    "and in the table of selectors."
)

TRACED: Final = (
    "A row names turn, log, topic and offset: commitments explain TURN --log private/logs/LOG "
    "shows the outcome there with its certificate, whose digest the row repeats."
)

Payload = Mapping[str, Mapping[str, Sequence[int]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All tables of one evaluation, by the name of their file."""

    metrics: list[TableRow]
    tables: dict[str, list[TableRow]]


def find_all(grouped: Grouped, budgets: Grouped, payload: Payload) -> Findings:
    """Return every table that scored rows, output budgets and payloads give."""
    tables = {
        "paired_differences": list_comparisons(grouped) if FULL in grouped else [],
        "ablations": check_ablations(grouped),
        "selectors": compare_selectors(grouped, SELECTORS),
        "long_history_payload": compare_payload(payload),
        "output_budgets": _list_budgets(budgets),
        "breakdown": break_down({name: grouped[name] for name in MAIN if name in grouped}),
    }
    return Findings(metrics=list_metrics(grouped), tables=tables)


def publish(out: Path, run: RunName, grouped: Grouped, findings: Findings) -> Path:
    """Write all tables and the report, and return the report's path."""
    out.mkdir(parents=True, exist_ok=True)
    write_table(out, "rows", list_rows(grouped), run)
    write_table(out, "metrics", findings.metrics, run)
    for name, rows in findings.tables.items():
        write_table(out, name, rows, run)
    shown = [name for name in MAIN if name in grouped]
    extra = {name: _shorten(name, rows) for name, rows in findings.tables.items()}
    page = render_report(run, findings.metrics, shown, extra, _list_notes(grouped))
    report = out / "report.html"
    report.write_text(page, "utf-8")
    return report


def write_texts(out: Path, run: RunName, runs: Mapping[str, Sequence[Run]]) -> Path:
    """Write what was committed to, slot by slot: only where raw content was asked for."""
    rows = [
        {
            "variant": variant,
            "fixture_id": one.fixture_id,
            "slots": json.dumps({slot.name: to_json(slot.value) for slot in one.slots}),
            "cited": list(one.cited),
            "shown": list(one.shown),
        }
        for variant, found in runs.items()
        for one in found
    ]
    return write_table(out, "texts", rows, run)


def _list_budgets(budgets: Grouped) -> list[TableRow]:
    found = []
    for tokens, rows in budgets.items():
        ratios = measure_all(rows)
        found.append(
            {
                "tokens_max": int(tokens),
                "attempted": len(rows),
                "availability": ratios["avail"].value,
                "system_failures": ratios["failed"].numerator,
                "pass": ratios["pass"].value,
                "mean_control_failure": find_mean_failure(ratios),
            }
        )
    return found


def _shorten(name: str, rows: list[TableRow]) -> list[TableRow]:
    """Return the rows that the page shows: of differences only those of the main metrics."""
    if name != "paired_differences":
        return rows
    shown = ("avail", "ohcvr", "ecf", "nfer", "pass", "cost")
    return [row for row in rows if row["metric"] in shown and row["variant"] in MAIN]


def _list_notes(grouped: Mapping[str, Sequence[Row]]) -> list[str]:
    attempted = sum(len(rows) for rows in grouped.values())
    main = sum(len(grouped[name]) for name in MAIN if name in grouped)
    return [
        f"{attempted} scored rows, {main} of them in the main table.",
        "Every variant but long context has the same budget of evidence.",
        "Gated variants share their candidates with the ungated.",
        f"Dense retrieval: {MODEL}. Tool/memory: agentrecall, SQLite keyword recall.",
        "Oracle: the label's own outcome, no run.",
        LOST,
        TRACED,
    ]
