"""The command that reads utterances: extract."""

from dataclasses import asdict
from typing import Annotated

import typer

from infra.backends.choosing import FORMS
from infra.cli.console import (
    JsonOption,
    LogOption,
    open_log,
    out,
    print_json,
    progress_bar,
    reported,
)
from infra.cli.generating import PLAIN, open_generator
from infra.extraction.pointing import PointingExtractor
from infra.extraction.runs import extract_log


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("extract")(extract)


def extract(
    log: LogOption,
    backend: Annotated[
        str | None, typer.Option(help=f"Let a model point at words besides the rules: {FORMS}.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Read what users said and append what it may mean, as hints and proposals.

    Nothing of it is in force before the user confirms it. By rules alone a second run appends
    nothing new. A model only quotes: the rules read the value from the user's own words.

    Example: commitments extract --log my-log
    """
    with (
        reported(as_json=as_json),
        open_log(log) as embedded,
        progress_bar("reading", as_json=as_json) as update,
    ):
        if backend is None:
            counts = extract_log(embedded, progress=update)
        else:
            with open_generator(backend, PLAIN) as generator:
                pointing = PointingExtractor(generator.backend)
                counts = extract_log(embedded, pointing, progress=update)
    if as_json:
        print_json(asdict(counts))
        return
    out.print(
        f"{counts.proposed} proposals appended from {counts.utterances} utterances, "
        f"{counts.known} were there before; commitments run folds them"
    )
