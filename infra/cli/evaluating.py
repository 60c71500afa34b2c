"""The commands that evaluate: evaluate fixtures, evaluate aggregates; others join the group."""

import time
from pathlib import Path
from typing import Annotated

import typer

from infra.backends.choosing import FORMS
from infra.cli import evaluating_audit, evaluating_memory, evaluating_recorded
from infra.cli.console import CommandError, JsonOption, out, print_json, print_table, reported
from infra.evaluation.aggregates import CELL_MIN, count_all, list_cells
from infra.evaluation.answering import TOKENS_MAX
from infra.evaluation.evaluation import (
    EvaluationError,
    Plan,
    prepare,
    run_all,
    run_budgets,
    score_all,
    score_budgets,
    weigh_payload,
)
from infra.evaluation.generation import SEED
from infra.evaluation.generators import UnknownGeneratorError, is_simulated
from infra.evaluation.publication import MAIN, Findings, find_all, publish, write_texts
from infra.evaluation.tables import RunName

evaluate = typer.Typer(
    help="Measure the pipeline: fixtures of the paper's protocol, real data, aggregates.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
SHOWN = ("avail", "mcf", "ohcvr", "ecf", "nfer", "repair", "pass", "cost")


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    evaluating_recorded.register(evaluate)
    evaluating_memory.register(evaluate)
    evaluating_audit.register(evaluate)
    app.add_typer(evaluate, name="evaluate")


@evaluate.command("fixtures", short_help="Run the variants over the fixtures.")
def evaluate_fixtures(
    folder: Annotated[
        Path, typer.Option("--out", help="Folder for tables, report and logs.")
    ] = Path("evaluation"),
    backend: Annotated[
        str, typer.Option(help=f"Who answers: simulated, or a model by {FORMS}.")
    ] = "simulated",
    model: Annotated[str, typer.Option(help="The model's id, for servers with several.")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the fixtures.")] = SEED,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many fixtures, taken evenly; default all.")
    ] = None,
    variant: Annotated[
        list[str] | None, typer.Option(help="Only this variant; may be repeated.")
    ] = None,
    tokens: Annotated[
        int, typer.Option(min=1, max=TOKENS_MAX, help="Output tokens of an answer, at most.")
    ] = TOKENS_MAX,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    record: Annotated[
        Path | None, typer.Option(help="File for a model's replies, for --backend recorded:FILE.")
    ] = None,
    *,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a run stopped.")] = False,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Also write what was committed to, in plain.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run nine variants, two of them also gated, and the ablations over the fixtures; score all.

    Example: commitments evaluate fixtures --backend simulated --out evaluation
    """
    started = time.perf_counter()
    plan = Plan(seed=seed, backend=backend, model=model, limit=limit,
                variants=tuple(variant or ()), tokens_max=tokens)  # fmt: skip

    def tell(name: str, done: int, total: int) -> None:
        if not as_json:
            out.print(f"  {done}/{total} {name}  {time.perf_counter() - started:.0f} s")

    with reported(as_json=as_json):
        workers = workers if is_simulated(backend) else 1  # A local model takes every core.
        try:
            prepare(plan, folder, resume=resume)
            runs = run_all(plan, folder, workers=workers, progress=tell, record=record)
            whole = not plan.variants and limit is None
            budgets = run_budgets(plan, folder, workers=workers, progress=tell) if whole else {}
        except (EvaluationError, UnknownGeneratorError) as error:
            raise CommandError(str(error)) from None
        grouped = score_all(folder, runs)
        payload = weigh_payload(plan, folder, grouped)
        findings = find_all(grouped, score_budgets(folder, budgets), payload)
        named = _name_run(plan)
        report = publish(folder, named, grouped, findings)
        if with_text:
            write_texts(folder, named, runs)
    _show(named, findings, report, time.perf_counter() - started, as_json=as_json)


@evaluate.command("aggregates", short_help="Count outcomes; nothing else.")
def evaluate_aggregates(
    folder: Annotated[Path, typer.Argument(help="Folder of a log, or of an evaluation.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Count outcomes and nothing else; cells under ten are suppressed.

    Example: commitments evaluate aggregates my-log
    """
    with reported(as_json=as_json):
        if not folder.is_dir():
            raise CommandError(f"there is no folder {folder}", "name a log or an evaluation")
        cells = count_all(folder)
    if as_json:
        print_json([{"group": c.group, "name": c.name, "count": c.count} for c in cells])
        return
    print_table(f"outcomes, cells under {CELL_MIN} suppressed", ("group", "outcome", "count"),
                list_cells(cells))  # fmt: skip


def _name_run(plan: Plan) -> RunName:
    backend = f"{plan.backend} {plan.model}".strip()
    return RunName(plan.run_id, backend, simulated=is_simulated(plan.backend), seed=plan.seed)


def _show(run: RunName, findings: Findings, report: Path, seconds: float, *, as_json: bool) -> None:
    found = {(row["variant"], row["metric"]): row["value"] for row in findings.metrics}
    variants = list(dict.fromkeys(variant for variant, _ in found))
    if as_json:
        print_json(
            {
                "run_id": run.run_id,
                "backend": run.backend,
                "simulated": run.simulated,
                "metrics": {v: {m: found[v, m] for m in SHOWN} for v in variants},
                "ablations": findings.tables["ablations"],
                "selectors": findings.tables["selectors"],
                "report": str(report),
                "seconds": round(seconds, 1),
            }
        )
        return
    title = run.backend
    main = [name for name in variants if name in MAIN]
    for name, shown in (("variants", main), ("ablations", [v for v in variants if v not in MAIN])):
        rows = [(v, *(_render(found[v, m]) for m in SHOWN)) for v in shown]
        if rows:
            print_table(f"{title}: {name}", ("variant", *SHOWN), rows)
    out.print(f"{report} written in {seconds:.0f} s")


def _render(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}" if value < 10 else f"{value:.0f}"
