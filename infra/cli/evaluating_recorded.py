"""The commands that evaluate on recorded data: evaluate sgd, evaluate tau."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.console import (
    CommandError,
    JsonOption,
    out,
    print_json,
    print_table,
    progress_bar,
    reported,
)
from infra.evaluation.recorded import sgd_tables, tau_tables
from infra.evaluation.recorded.page import publish_recorded
from infra.evaluation.recorded.policy_examples import (
    count_examples,
    judge_examples,
    list_exceptions,
    read_examples,
    sum_examples,
)
from infra.evaluation.recorded.sgd_agreement import compare_all
from infra.evaluation.recorded.source_log import (
    RecordedError,
    SourceName,
    begin_folder,
    list_outcomes,
    name_source,
    read_outcomes,
    tell_and_fold,
)
from infra.evaluation.recorded.tau_calls import compare_call, judge_cancellations
from infra.evaluation.tables import TableRow, write_table
from infra.importers.sgd import CANDIDATES, import_sgd, label_sgd
from infra.importers.sources import SourceError
from infra.importers.tau import import_tau, label_tau
from schemas.event import Event

PathsArgument = Annotated[
    list[Path], typer.Argument(help="Folders or files of that format.", show_default=False)
]


def register(evaluate: typer.Typer) -> None:
    """Add the commands to the group."""
    evaluate.command("sgd", short_help="Hold acts against annotated ones.")(evaluate_sgd)
    evaluate.command("tau", short_help="Count recorded calls that are blocked.")(evaluate_tau)


def evaluate_sgd(
    paths: PathsArgument,
    folder: Annotated[
        Path, typer.Option("--out", help="Folder for tables, report and log.")
    ] = Path("evaluation-sgd"),
    candidates: Annotated[
        str,
        typer.Option(help=f"Which calls are offered, comma-separated: {', '.join(CANDIDATES)}."),
    ] = ",".join(CANDIDATES),
    *,
    as_json: JsonOption = False,
) -> None:
    """Hold the pipeline's act against the annotated one at every transactional decision point.

    Dialogues become events on a log, the log is folded, outcomes are joined to the annotation by
    turn. Interrupted, the same command goes on where it was.

    Example: commitments evaluate sgd data/sgd/dev --out evaluation-sgd
    """
    started = time.perf_counter()
    kinds = frozenset(part.strip() for part in candidates.split(",") if part.strip())
    with reported(as_json=as_json), sources_named():
        name = name_source("Schema-Guided Dialogue", paths, sorted(kinds))
        next(label_sgd(paths, kinds), None)  # What is no source is refused before a folder is made.
        log = begin_folder(folder, name)
        _tell(log, lambda: import_sgd(paths, kinds), as_json=as_json)
        rows = compare_all(label_sgd(paths, kinds), list_outcomes(log))
        tables = sgd_tables.build_tables(rows)
        page = publish_recorded(folder, name, rows, tables, sgd_tables.NOTES)
    show_findings(name, sgd_tables.summarise(rows), tables, page, time.perf_counter() - started,
                  as_json=as_json)  # fmt: skip


def evaluate_tau(
    path: Annotated[
        Path, typer.Argument(help="Folder of recorded airline runs.", show_default=False)
    ],
    folder: Annotated[
        Path, typer.Option("--out", help="Folder for tables, report and log.")
    ] = Path("evaluation-tau"),
    *,
    as_json: JsonOption = False,
) -> None:
    """Count which recorded mutating calls policy and user limits block, gold and not.

    Example: commitments evaluate tau data/tau-airline --out evaluation-tau
    """
    started = time.perf_counter()
    with reported(as_json=as_json), sources_named():
        name = name_source("tau-bench airline", [path])
        labels = list(label_tau(path))
        log = begin_folder(folder, name)
        _tell(log, lambda: import_tau(path), as_json=as_json)
        outcomes = read_outcomes(log)
        clauses = judge_cancellations(import_tau(path), labels)
        rows = [compare_call(label, outcomes[label.turn_id], clauses) for label in labels]
        tables = tau_tables.build_tables(rows)
        summary = tau_tables.summarise(rows)
        if examples := read_examples(path):
            with progress_bar("policy examples", as_json=as_json) as update:
                judged = judge_examples(examples, log.with_name("examples"), update)
            tables["policy_examples"] = count_examples(judged)
            tables["examples_not_as_labelled"] = list_exceptions(judged)
            summary = {**summary, **sum_examples(judged)}
            tables["summary"] = [{"figure": one, "value": summary[one]} for one in summary]
            write_table(folder, "examples", [asdict(row) for row in judged], name)
        page = publish_recorded(folder, name, rows, tables, tau_tables.NOTES)
    show_findings(name, summary, tables, page, time.perf_counter() - started, as_json=as_json)


@contextmanager
def sources_named() -> Iterator[None]:
    """Turn what is wrong with the data or the folder into a message with its remedy."""
    try:
        yield
    except SourceError as error:
        raise CommandError(f"{error.place}: {error.detail}", error.remedy) from None
    except RecordedError as error:
        raise CommandError(str(error)) from None


def show_findings(
    name: SourceName,
    summary: Mapping[str, Any],
    tables: Mapping[str, Sequence[TableRow]],
    page: Path,
    seconds: float,
    *,
    as_json: bool,
) -> None:
    """Print all tables but the rows, as JSON or for people."""
    if as_json:
        found = {title: rows for title, rows in tables.items() if title not in {"summary", "arms"}}
        print_json(
            {
                "run_id": name.run_id,
                "source": name.source,
                "summary": summary,
                **found,
                "report": str(page),
                "seconds": round(seconds, 1),
            }
        )
        return
    for title, rows in tables.items():
        if not rows:
            out.print(f"{title.replace('_', ' ')}: none")
            continue
        # An act that never came is a column of noughts: people need not see it.
        names = [
            name
            for name in rows[0]
            if name not in sgd_tables.ACTS or any(row[name] for row in rows)
        ]
        shown = [tuple(show_value(row[name]) for name in names) for row in rows]
        print_table(title.replace("_", " "), [name.replace("_", " ") for name in names], shown)
    out.print(f"{page} written in {seconds:.0f} s")


def _tell(log: Path, read: Callable[[], Iterator[Event]], *, as_json: bool) -> None:
    with progress_bar("folding", as_json=as_json) as update:
        tell_and_fold(log, read(), update)


def show_value(value: Any) -> Any:
    """Return a cell as people read it: n/a for None, four digits of a ratio."""
    if value is None:
        return "n/a"
    return f"{value:.4f}" if isinstance(value, float) else value
