"""What an evaluation of recorded data publishes: Parquet tables and one HTML page, no raw text."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from infra.evaluation.recorded.source_log import SourceName
from infra.evaluation.report import STYLE, render_table
from infra.evaluation.tables import TableRow, write_table

TRACED = (
    "Rows name turn, topic and offset: commitments explain TURN --log private/log shows the "
    "outcome there with its certificate, whose digest the row repeats."
)


def publish_recorded(
    out: Path,
    name: SourceName,
    rows: Sequence[Any],
    tables: Mapping[str, Sequence[TableRow]],
    notes: Sequence[str],
) -> Path:
    """Write rows (frozen records, or by name) and tables, and return the path of the page."""
    out.mkdir(parents=True, exist_ok=True)
    plain = [dict(row) if isinstance(row, Mapping) else asdict(row) for row in rows]
    write_table(out, "rows", plain, name)
    for title, found in tables.items():
        write_table(out, title, found, name)
    page = out / "report.html"
    page.write_text(render_page(name, tables, notes), "utf-8")
    return page


def render_page(
    name: SourceName, tables: Mapping[str, Sequence[TableRow]], notes: Sequence[str]
) -> str:
    """Return the page."""
    title = f"Evaluation on {name.source}"
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1><p>run {escape(name.run_id)}</p>",
        *(f"<p>{escape(note)}</p>" for note in (*notes, TRACED)),
    ]
    for heading, rows in tables.items():
        parts.append(f"<h2>{escape(heading.replace('_', ' '))}</h2>")
        parts.append(f"<p>From {escape(heading)}.parquet; rows in rows.parquet.</p>")
        parts.append(render_table(rows) if rows else "<p>none</p>")
    return "".join([*parts, "</body></html>\n"])
