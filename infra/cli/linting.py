"""The command that lints predicates: lint."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.console import (
    CommandError,
    JsonOption,
    clean,
    out,
    print_json,
    read_file,
    reported,
)
from infra.event_json import EventFormError, parse_object, parse_record
from processors.predicates.lint import LintFinding, LintKind, lint
from processors.predicates.rendering import render
from processors.predicates.text import PredicateTextError, parse, parse_rule
from schemas.catalogue import Catalogue
from schemas.predicate import Predicate, PredicateScope

NO_CATALOGUE = Catalogue("none", (), (), (), ())


@dataclass(frozen=True, slots=True)
class _Line:
    """One predicate of the file, or why it is none."""

    number: int
    predicate: Predicate | None
    error: str


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("lint")(lint_file)


def lint_file(
    file: Annotated[Path, typer.Argument(help="Predicates, one a line: text, or a JSON object.")],
    catalogue: Annotated[
        Path | None, typer.Option(help="Catalogue as JSON; else slots have no declared type.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Find contradictions, vacuity and shadowing among predicates, each with a counterexample.

    A line is a rule such as: slots.channel not_in ["phone"] unless slots.topic == "emergency".
    Each is held against those before it. Exit code 1 when anything is found.

    Example: commitments lint rules.txt --catalogue catalogue.json
    """
    with reported(as_json=as_json):
        content = NO_CATALOGUE if catalogue is None else _read_catalogue(catalogue)
        results = list(_lint_lines(_read_lines(file), content, known=catalogue is not None))
    if as_json:
        print_json({"predicates": results})
    else:
        _show(results)
    if any(result["error"] or result["findings"] for result in results):
        raise typer.Exit(1)


def _read_catalogue(path: Path) -> Catalogue:
    try:
        return parse_record(Catalogue, parse_object(read_file(path)))
    except EventFormError as error:
        raise CommandError(f"{path}: {error}") from None


def _read_lines(path: Path) -> Iterator[_Line]:
    for number, line in enumerate(read_file(path).split("\n"), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            yield _Line(number, _read_predicate(text, number), "")
        except (PredicateTextError, EventFormError) as error:
            yield _Line(number, None, str(error))


def _read_predicate(text: str, number: int) -> Predicate:
    if text.startswith("{"):
        predicate = parse_record(Predicate, parse_object(text))
        parse(predicate.expression)
        if predicate.unless is not None:
            parse(predicate.unless)
        return predicate
    rule, exception = parse_rule(text)
    return Predicate(
        predicate_id=f"line {number}",
        expression=render(rule),
        unless=None if exception is None else render(exception),
        scenes=(),
        subject="",
        scope=PredicateScope.STANDING,
        valid_from_ms=None,
        valid_to_ms=None,
        dimensions=(),
        zone=None,
    )


def _lint_lines(
    lines: Iterator[_Line], catalogue: Catalogue, *, known: bool
) -> Iterator[dict[str, Any]]:
    before: list[Predicate] = []
    for line in lines:
        findings: list[LintFinding] = []
        if line.predicate is not None:
            findings = [
                finding
                for finding in lint(line.predicate, in_force=before, catalogue=catalogue)
                if known or finding.kind is not LintKind.UNMATCHED
            ]
            before.append(line.predicate)
        yield {
            "line": line.number,
            "predicate": line.predicate.predicate_id if line.predicate else None,
            "expression": line.predicate.expression if line.predicate else None,
            "unless": line.predicate.unless if line.predicate else None,
            "error": line.error,
            "findings": [
                {
                    "kind": finding.kind.value,
                    "detail": finding.detail,
                    "counterexample": finding.counterexample,
                    "with": list(finding.predicate_ids),
                }
                for finding in findings
            ],
        }


def _show(results: list[dict[str, Any]]) -> None:
    for result in results:
        if result["error"]:
            out.print(f"line {result['line']}: [red]{clean(result['error'])}[/red]")
            continue
        exception = f" unless {result['unless']}" if result["unless"] else ""
        state = "fine" if not result["findings"] else "doubtful"
        out.print(f"line {result['line']}: {state}: {clean(result['expression'] + exception)}")
        for finding in result["findings"]:
            out.print(f"  {finding['kind']}: {clean(finding['detail'])}")
            if finding["counterexample"]:
                out.print(f"  counterexample: {clean(finding['counterexample'])}")
    out.print(f"{len(results)} predicates, {sum(1 for r in results if r['findings'])} doubtful")
