"""The command that reads utterances: extract."""

from dataclasses import asdict

import typer

from infra.cli.console import (
    JsonOption,
    LogOption,
    open_log,
    out,
    print_json,
    progress_bar,
    reported,
)
from infra.extraction.runs import extract_log


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("extract")(extract)


def extract(log: LogOption, *, as_json: JsonOption = False) -> None:
    """Read what users said and append what it may mean, as hints and proposals; by rules alone.

    Nothing of it is in force before the user confirms it. Saying it twice appends nothing new.

    Example: commitments extract --log my-log
    """
    with (
        reported(as_json=as_json),
        open_log(log) as embedded,
        progress_bar("reading", as_json=as_json) as update,
    ):
        counts = extract_log(embedded, progress=update)
    if as_json:
        print_json(asdict(counts))
        return
    out.print(
        f"{counts.proposed} proposals appended from {counts.utterances} utterances, "
        f"{counts.known} were there before; commitments run folds them"
    )
