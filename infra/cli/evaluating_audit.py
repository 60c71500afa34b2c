"""Commands over finished evaluations on fixtures: evaluate audit, evaluate generators."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from infra.backends.choosing import FORMS, BackendChoiceError, choose_backend
from infra.cli.console import (
    CommandError,
    JsonOption,
    print_json,
    print_table,
    progress_bar,
    reported,
)
from infra.cli.evaluating_recorded import show_findings, show_value
from infra.evaluation.audit.drawing import CASES, Sheet, draw_rows, write_sheets
from infra.evaluation.audit.judging import Verdicts, judge_sheets
from infra.evaluation.audit.tables import is_weak, measure_fidelity, measure_judge, score_row
from infra.evaluation.evaluation import PRIVATE
from infra.evaluation.generation import SEED
from infra.evaluation.generator_table import NoRunError, list_generators
from infra.evaluation.generators import is_simulated, read_key
from infra.evaluation.histories import read_histories
from infra.evaluation.labelling import read_labels
from infra.evaluation.recorded.page import publish_recorded
from infra.evaluation.recorded.source_log import SourceName
from infra.evaluation.tables import TableRow

NOTES = (
    (
        "Blinded: sheets name no variant, the same fixtures of every variant are shuffled "
        "together. Fidelity is the share of yes among yes and no; intervals by case. By scorer "
        "is what the oracle labels say of the same decisions."
    ),
)


def register(evaluate: typer.Typer) -> None:
    """Add the commands to the group."""
    evaluate.command("audit", short_help="Let a model judge, blinded.")(evaluate_audit)
    evaluate.command("generators", short_help="Put runs side by side.")(evaluate_generators)


def evaluate_generators(
    folders: Annotated[list[Path], typer.Argument(help="Folders of evaluations on fixtures.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Put the generators of several evaluations side by side, each over the fixtures it ran.

    Example: commitments evaluate generators evaluation mine
    """
    with reported(as_json=as_json):
        try:
            rows = list_generators(folders)
        except NoRunError as error:
            raise CommandError(
                str(error), "run commitments evaluate fixtures --out FOLDER"
            ) from None
    if as_json:
        print_json(rows)
        return
    shown = [[show_value(value) for value in row.values()] for row in rows]
    print_table("generators", list(rows[0]) if rows else [], shown)


def evaluate_audit(
    folder: Annotated[Path, typer.Argument(help="Folder of an evaluation on fixtures.")],
    backend: Annotated[str, typer.Option(help=f"Who judges: a model by {FORMS}.")] = "local",
    model: Annotated[str, typer.Option(help="The model's id, for servers with several.")] = "",
    cases: Annotated[int, typer.Option(min=1, help="How many decisions.")] = CASES,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = SEED,
    *,
    as_json: JsonOption = False,
) -> None:
    """Let a model judge decisions without knowing whose they are, and hold it against the scorer.

    A judge that agrees with the scorer hardly better than chance is called weak in every figure.
    Interrupted, the same command goes on where it was. Sheets stay in FOLDER/private.

    Example: commitments evaluate audit evaluation --backend local
    """
    started = time.perf_counter()
    with reported(as_json=as_json):
        if not (folder / "rows.parquet").is_file():
            raise CommandError(f"{folder} holds no finished evaluation",
                               "run commitments evaluate fixtures --out FOLDER")  # fmt: skip
        if is_simulated(backend):
            raise CommandError("--backend simulated: nobody is there to judge",
                               "name a model: openai:URL, local or recorded:FILE")  # fmt: skip
        private = folder / PRIVATE
        rows = draw_rows(pl.read_parquet(folder / "rows.parquet"), seed=seed, cases=cases)
        fixtures = read_histories(private / "fixtures.jsonl")
        labels = read_labels(private / "fixtures.labels.jsonl")
        sheets = write_sheets(rows, fixtures, labels, private / "logs")
        lines = (json.dumps({"sheet": one.number, **one.content}) + "\n" for one in sheets)
        (private / "audit_sheets.jsonl").write_text("".join(lines), "utf-8")
        try:
            judge = choose_backend(backend, model=model, api_key=read_key())
        except BackendChoiceError as error:
            raise CommandError(f"--backend {error}") from None
        try:
            with progress_bar("judging", as_json=as_json) as update:
                kept = private / f"audit_{backend.partition(':')[0]}{model}.jsonl"
                verdicts = judge_sheets(sheets, judge, kept, update)
        finally:
            judge.close()
        found = _publish(folder, sheets, verdicts, f"{backend} {judge.model}".strip())
    show_findings(*found, time.perf_counter() - started, as_json=as_json)


def _publish(
    folder: Path, sheets: Sequence[Sheet], verdicts: Sequence[Verdicts], judge: str
) -> tuple[SourceName, TableRow, dict[str, list[TableRow]], Path]:
    """Write tables and page; every heading says whether judge or answers can be trusted."""
    rows = [sheet.row for sheet in sheets]
    judged = measure_judge(rows, verdicts)
    weak = is_weak(judged)
    simulated = any(row["simulated"] for row in rows)
    word = "weak_judge" if weak else "judge"
    suffix = "_simulated" if simulated else ""
    tables = {
        f"fidelity_by_{word}{suffix}": measure_fidelity(rows, verdicts),
        f"{word}_against_scorer{suffix}": judged,
    }
    run_id = str(rows[0]["run_id"]) if rows else ""
    said = f"blinded audit by a {word.replace('_', ' ')}, {judge}"
    name = SourceName(run_id, f"{said}, over simulated answers" if simulated else said)
    audited = [
        {
            "sheet": sheet.number,
            **{field: sheet.row[field] for field in ("variant", "fixture_id", "turn_id",
                                                     "certificate")},
            **{f"judge_{one}": value for one, value in verdict.items()},
            **{f"scorer_{one}": value for one, value in score_row(sheet.row).items()},
        }
        for sheet, verdict in zip(sheets, verdicts, strict=True)
    ]  # fmt: skip
    page = publish_recorded(folder / "audit", name, audited, tables, NOTES)
    summary = {
        "cases": len(rows),
        "judge": judge,
        "weak": weak,
        "kappa": judged[-1]["kappa"],
        "simulated": simulated,
    }
    return name, summary, tables, page
