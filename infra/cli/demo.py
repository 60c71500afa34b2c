"""The demo: real dialogues in, commitments and repair acts out, one explained, all replayed."""

import tempfile
import time
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.appending import append_events
from infra.audit.explanation import explain_turn
from infra.audit.replay import replay
from infra.cli.console import (
    JsonOption,
    clean,
    open_log,
    out,
    print_json,
    print_table,
    progress_bar,
    reported,
)
from infra.cli.explaining import show
from infra.cli.reading import describe
from infra.importers.sgd import import_sgd
from infra.records import OUTCOME_TOPICS, read_output
from infra.summary import summarise
from streams.embedded import Embedded

CANDIDATES = frozenset({"gold", "stale", "unconfirmed", "missing", "premature"})


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    log: Annotated[Path | None, typer.Option(help="Keep the log here; default: nowhere.")] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Run the shipped dialogues through the whole pipeline, on this machine alone.

    Example: commitments demo
    """
    with reported(as_json=as_json), tempfile.TemporaryDirectory(prefix="commitments-") as scratch:
        folder = Path(scratch) / "log" if log is None else log
        sample = resources.files("infra") / "sample"
        with resources.as_file(sample) as path, open_log(folder, must_exist=False) as embedded:
            _tell(as_json, "1. Import: annotated dialogues become events on a durable log.")
            started = time.perf_counter()
            count = append_events(embedded, import_sgd([path], CANDIDATES))
            _tell(as_json, f"   {count} events.")
            _tell(as_json, "2. Fold, activate, validate: every turn ends in exactly one outcome.")
            with progress_bar("folding", as_json=as_json) as update:
                embedded.fold_pending(update)
            acts = _pick_acts(embedded)
            summary = asdict(summarise(embedded))
            if not as_json:
                print_table("one of each", ("topic", "user", "what", "said"), acts)
                print_table("all outcomes", ("", "count"), list(summary.items()))
            _tell(as_json, "3. Explain: what one of them rests on.")
            if not as_json:
                _explain_one(embedded)
            _tell(as_json, "4. Replay: fold again from the first event and compare every byte.")
            with progress_bar("replaying", as_json=as_json) as update:
                report = asdict(replay(embedded, update))
        seconds = time.perf_counter() - started
    if as_json:
        print_json({"summary": summary, "replay": report, "seconds": round(seconds, 1)})
        return
    rows = [(name, count) for name, count in report.items() if isinstance(count, int)]
    print_table("replay", ("", "count"), rows)
    out.print(f"done in {seconds:.1f} s; see README.md for your own data")


def _tell(as_json: bool, line: str) -> None:  # noqa: FBT001 - one switch of the whole command
    if not as_json:
        out.print(f"[bold]{line}[/bold]")


def _pick_acts(embedded: Embedded) -> list[tuple[str, str, str, str]]:
    """Return the first outcome of each kind and reason."""
    first: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    for topic in OUTCOME_TOPICS:
        for output in embedded.outputs(topic):
            record = read_output(topic, output.record.value or b"")
            user, what, detail = describe(record)
            kind = what if topic != "commitments" else "commitment"
            said = getattr(record, "text", "") or detail
            first.setdefault((topic, kind), (topic, user, clean(what), clean(said)[:100]))
    return [first[key] for key in sorted(first)]


def _explain_one(embedded: Embedded) -> None:
    record: Any = None
    for output in embedded.outputs("commitments"):
        record = read_output("commitments", output.record.value or b"")
        break
    if record is not None:
        for explanation in explain_turn(embedded, record.turn_id, record.user):
            show(explanation)
