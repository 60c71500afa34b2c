"""The command that recomputes a history under other settings: backfill."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.backfill.plan import BackfillError, Feedback, Plan, read_candidates
from infra.backfill.run import backfill
from infra.cli.console import (
    CommandError,
    JsonOption,
    clean,
    out,
    print_json,
    print_table,
    progress_bar,
    reported,
)
from infra.cli.kafka_options import BootstrapOption, PrefixOption
from infra.cli.replaying import choose_source
from infra.cli.targets import exported_topics
from processors.activation.selectors import SELECTORS
from processors.ruleset import RULESETS
from processors.whatif import Override
from schemas.control import Weights


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("backfill")(run_backfill)


def run_backfill(
    to: Annotated[Path, typer.Option("--out", help="Folder for the tables, new or to go on in.")],
    log: Annotated[Path | None, typer.Option(help="Folder of the embedded log.")] = None,
    archive: Annotated[Path | None, typer.Option(help="Folder of an archive.")] = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    ruleset: Annotated[int | None, typer.Option(help="Decide under this ruleset.")] = None,
    weights: Annotated[
        str | None, typer.Option(help="Five weights r,c,w,d,o of J, e.g. 1,2,2,1,1.")
    ] = None,
    budget: Annotated[str | None, typer.Option(help="MAIN,TAIL cost units, e.g. 8000,0.")] = None,
    selector: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(sorted(SELECTORS))}.")
    ] = None,
    without_predicate: Annotated[
        list[str] | None, typer.Option(help="A predicate that is in no contract.")
    ] = None,
    candidates: Annotated[
        Path | None, typer.Option(help="JSON lines: user, turn and other candidates.")
    ] = None,
    feedback: Annotated[
        Feedback, typer.Option(help="Whose consequences the history goes on with.")
    ] = Feedback.RECORDED,
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Processes to work in.")] = 1,
    *,
    as_json: JsonOption = False,
) -> None:
    """Recompute every decision under other settings into Parquet tables; publish nothing.

    Interrupted, the same command goes on where it was. Tables: decisions, flips, vectors, terms.

    Example: commitments backfill --log my-log --budget 8000,0 --out no-reserve
    """
    with reported(as_json=as_json), ExitStack() as scratch:
        try:
            main, tail = _read_budget(budget)
            plan = Plan(
                override=Override(
                    ruleset=_check_ruleset(ruleset),
                    weights=_read_weights(weights),
                    selector=_check_selector(selector),
                    without=tuple(sorted(without_predicate or ())),
                    budget_main=main,
                    budget_tail=tail,
                ),
                feedback=feedback,
                candidates={} if candidates is None else read_candidates(candidates),
            )
            if bootstrap is not None and log is None and archive is None:
                with progress_bar("reading topics", as_json=as_json) as update:
                    archive = scratch.enter_context(exported_topics(bootstrap, prefix, update))
            source = choose_source(log, archive)
            with progress_bar("recomputing", as_json=as_json) as update:
                summary = backfill(source, plan, to, update, jobs=jobs)
        except BackfillError as error:
            raise CommandError(str(error)) from None
    print_json(summary) if as_json else _show(summary, to)


def _check_ruleset(number: int | None) -> int | None:
    if number is not None and number not in RULESETS:
        known = ", ".join(str(key) for key in sorted(RULESETS))
        raise CommandError(f"--ruleset: this build knows {known}, not {number}")
    return number


def _check_selector(name: str | None) -> str | None:
    if name is not None and name not in SELECTORS:
        raise CommandError(f"--selector: {name} is none of {', '.join(sorted(SELECTORS))}")
    return name


def _read_weights(text: str | None) -> Weights | None:
    if text is None:
        return None
    return Weights(*_read_numbers("--weights", text, names="r,c,w,d,o", most=1_000))


def _read_budget(text: str | None) -> tuple[int | None, int | None]:
    if text is None:
        return None, None
    main, tail = _read_numbers("--budget", text, names="MAIN,TAIL", most=2**40)
    return main, tail


def _read_numbers(option: str, text: str, *, names: str, most: int) -> list[int]:
    parts = text.split(",")
    if len(parts) != len(names.split(",")) or not all(
        part.isascii() and part.isdigit() and int(part) <= most for part in parts
    ):
        raise CommandError(f"{option}: {text!r} is not {names}, whole numbers from 0 to {most}")
    return [int(part) for part in parts]


def _show(summary: dict[str, Any], to: Path) -> None:
    plain = {name: value for name, value in summary.items() if isinstance(value, int | str)}
    print_table("backfill", ("", "result"), list(plain.items()))
    outcomes = sorted(summary["recorded"].keys() | summary["recomputed"].keys())
    print_table(
        "outcomes",
        ("outcome", "recorded", "recomputed"),
        [(n, summary["recorded"].get(n, 0), summary["recomputed"].get(n, 0)) for n in outcomes],
    )
    print_table("flips", ("from -> to", "turns"), list(summary["flips"].items()))
    out.print(f"tables in {clean(str(to))}: decisions, flips, vectors, terms (Parquet)")
