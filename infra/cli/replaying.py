"""The command that replays: replay."""

from dataclasses import asdict
from typing import Annotated

import typer

from infra.audit.replay import replay as replay_log
from infra.cli.console import (
    JsonOption,
    LogOption,
    open_log,
    out,
    print_json,
    print_table,
    progress_bar,
    reported,
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay")(replay)


def replay(
    log: LogOption,
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="End with exit code 1 unless all is identical.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Fold the log again from its first event and compare every output byte.

    Example: commitments replay --log my-log --verify
    """
    with (
        reported(as_json=as_json),
        open_log(log) as embedded,
        progress_bar("replaying", as_json=as_json) as update,
    ):
        report = replay_log(embedded, update)
    if as_json:
        print_json(asdict(report))
    else:
        rows = [(name, count) for name, count in asdict(report).items() if name != "first"]
        print_table("replay", ("", "count"), rows)
        if report.first is not None:
            out.print(
                f"first difference: {report.first.kind} on {report.first.topic} "
                f"at offset {report.first.offset}"
            )
        else:
            out.print("every output is identical, byte for byte")
    if verify and not report.clean:
        raise typer.Exit(1)
