"""The command that folds: run."""

import time
from dataclasses import asdict

import typer

from infra.authority import describe_authority
from infra.cli.console import (
    JsonOption,
    LogOption,
    clean,
    err,
    open_log,
    out,
    print_json,
    print_table,
    progress_bar,
    reported,
)
from infra.expiry import expire_turns
from infra.opening import describe_mode
from infra.summary import summarise
from infra.unfinished_erasure import list_unfinished_erasures
from streams.clean_close import Proof


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


def run(log: LogOption, *, as_json: JsonOption = False) -> None:
    """Fold everything pending and put out the outcomes; safe to interrupt at any moment.

    Turns past their deadline end as expired. Totals are those of the whole log. Erasures that were
    asked for on an encrypted log and not completed are named with what completes them.

    Example: commitments run --log my-log
    """
    with reported(as_json=as_json), open_log(log) as embedded:
        authority = describe_authority(embedded)
        mode = describe_mode(embedded.path)
        if not as_json:
            err.print(authority)
            err.print(mode)
        started = time.perf_counter()
        with progress_bar("folding", as_json=as_json) as update:
            folded = embedded.fold_pending(update, Proof.OF_ALL_ROWS).events
            if expire_turns(embedded):
                folded += embedded.fold_pending(update).events
        seconds = time.perf_counter() - started
        summary = asdict(summarise(embedded)) | {"authority": authority, "mode": mode}
        unfinished = list_unfinished_erasures(embedded)
    if as_json:
        told = [asdict(one) | {"message": one.tell(str(log))} for one in unfinished]
        print_json(summary | {"unfinished_erasures": told})
        return
    print_table("the log so far", ("", "count"), list(summary.items()))
    for one in unfinished:
        err.print(f"[red]warning:[/red] {clean(one.tell(str(log)))}")
    out.print(f"{folded} events folded in {seconds:.1f} s; every record is on disk (fsync)")
