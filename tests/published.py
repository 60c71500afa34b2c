"""What an evaluation published, as one text: its page and every table; nothing private."""

import polars as pl


def read_published(folder):
    """Return the page and all tables of a folder, the private one left out."""
    tables = [pl.read_parquet(path) for path in sorted(folder.glob("*.parquet"))]
    cells = [str(value) for table in tables for column in table.get_columns() for value in column]
    return "\n".join([(folder / "report.html").read_text("utf-8"), *cells])
