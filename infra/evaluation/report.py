"""The report of a run: one HTML page, figures with denominators and intervals, no raw text.

Every table names the Parquet file that it is drawn from; rows there name log, topic and offset,
by which ``commitments explain`` shows the certificate.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from infra.evaluation.bootstrap import MEAN_FAILURE
from infra.evaluation.metrics import MEANINGS
from infra.evaluation.plot import Point, draw_points
from infra.evaluation.tables import FULL, RunName, TableRow

COLUMNS: Final = (
    "avail", "ohcvr", "ecf", "wit", "cons", "nfer", MEAN_FAILURE, "repair", "pass", "failed",
    "cost", "shadow_recalled",
)  # fmt: skip
STYLES: Final = {"oracle": "oracle", FULL: "full", "raw": "raw"}

STYLE: Final = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:.6rem 0 1.6rem;font-size:13px}
th,td{padding:.25rem .55rem;border-bottom:1px solid #ddd;text-align:right;vertical-align:top}
th:first-child,td:first-child{text-align:left}small{color:#666;display:block;font-size:11px}
svg{max-width:46rem;font-size:11px;fill:#333}.grid{stroke:#e5e5e5}.bar{stroke:#999}
.lead{stroke:#ccc;stroke-dasharray:2 2}.mid{text-anchor:middle}.end{text-anchor:end}
.oracle{fill:#2a9d4a}.full{fill:#1f5fbf}.raw{fill:#c0392b}.gated{fill:#e08a1e}.other{fill:#8a8a8a}
.simulated{background:#fff3cd;border:1px solid #e0c060;padding:.5rem .8rem}
"""


def render_report(
    run: RunName,
    metrics: Sequence[TableRow],
    shown: Sequence[str],
    extra: Mapping[str, Sequence[TableRow]],
    notes: Sequence[str],
) -> str:
    """Return the page; ``shown`` are the variants of the main table, ``extra`` further tables."""
    title = f"Evaluation on fixtures, {run.backend}"
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        f"<p>run {escape(run.run_id)}, seed {run.seed}</p>",
    ]
    if run.simulated:
        parts.append(
            "<p class='simulated'><b>simulated</b>: every answer was drawn by a seeded generator "
            "with chosen error rates (infra/evaluation/error_rates.py), no model was asked. "
            "Figures compare interfaces under these rates and say nothing about a model.</p>"
        )
    parts.extend(f"<p>{escape(note)}</p>" for note in notes)
    label = " (simulated)" if run.simulated else ""
    parts.append(f"<h2>Operating points{label}</h2>")
    parts.append(draw_points(list_points(metrics, shown)))
    parts.append(f"<h2>Variants{label}</h2>")
    parts.append("<p>Values, numerator/denominator, 95 % case-cluster bootstrap interval. ")
    parts.append("From metrics.parquet; rows in rows.parquet.</p>")
    parts.append(_render_metrics(metrics, shown))
    parts.append(
        "<ul>" + "".join(f"<li><b>{name}</b>: {text}</li>" for name, text in MEANINGS.items())
        + "</ul>"
    )  # fmt: skip
    for name, rows in extra.items():
        parts.append(f"<h2>{escape(name.replace('_', ' '))}{label}</h2>")
        parts.append(f"<p>From {escape(name)}.parquet.</p>")
        parts.append(render_table(rows))
    parts.append("</body></html>\n")
    return "".join(parts)


def list_points(metrics: Sequence[TableRow], shown: Sequence[str]) -> list[Point]:
    """Return the points of the variants that have both coordinates."""
    found = {(row["variant"], row["metric"]): row for row in metrics}
    points = []
    for variant in shown:
        across, up = found[variant, "avail"], found[variant, MEAN_FAILURE]
        if across["value"] is None or up["value"] is None:
            continue
        style = STYLES.get(variant, "gated" if variant.endswith("_gated") else "other")
        points.append(
            Point(
                variant,
                across["value"],
                up["value"],
                style,
                *(_bound(across, side) for side in ("low", "high")),
                *(_bound(up, side) for side in ("low", "high")),
            )
        )
    return points


def render_table(rows: Sequence[TableRow]) -> str:
    """Return rows as a table; None is n/a."""
    if not rows:
        return "<p>n/a</p>"
    names = list(rows[0])
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{_show(row[name])}</td>" for name in names) + "</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _render_metrics(metrics: Sequence[TableRow], shown: Sequence[str]) -> str:
    found = {(row["variant"], row["metric"]): row for row in metrics}
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    lines = []
    for variant in shown:
        cells = "".join(f"<td>{_show_metric(found[variant, name])}</td>" for name in COLUMNS)
        lines.append(f"<tr><td>{escape(variant)}</td>{cells}</tr>")
    return f"<table><tr><th>variant</th>{head}</tr>{''.join(lines)}</table>"


def _show_metric(row: TableRow) -> str:
    if row["value"] is None:
        return "n/a"
    shown = _show(row["value"])
    if row["denominator"] is not None:
        shown += f"<small>{row['numerator']}/{row['denominator']}</small>"
    if row["case_low"] is not None:
        shown += f"<small>[{_show(row['case_low'])}, {_show(row['case_high'])}]</small>"
    return shown


def _bound(row: TableRow, side: str) -> float:
    bound = row[f"case_{side}"]
    return float(row["value"] if bound is None else bound)


def _show(value: object) -> str:
    if value is None:
        return "n/a"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"
    return escape(str(value))
