"""The command that checks certificates: check."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.archive.reading import Archive
from infra.audit.certificates import Checked, check_certificates
from infra.audit.stated import CertificateError, read_certificates
from infra.cli.console import CommandError, JsonOption, clean, out, print_json, reported

SHOWN_MAX = 20


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check")(check)


def check(
    certificate: Annotated[Path, typer.Argument(help="Outcomes as outputs --json prints them.")],
    archive: Annotated[Path, typer.Option(help="Folder of the archive.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Fold what an outcome rests on again, from an archive alone, and name the first difference.

    One JSON object, or one a line. Exit code 1 if any certificate is wrong. With --json also the
    inclusion proofs of the outcome and of every event that it rests on.

    Example: commitments check certificates.jsonl --archive my-archive
    """
    with reported(as_json=as_json):
        if not archive.is_dir():
            raise CommandError(f"there is no archive in {archive}", "name the folder of an export")
        try:
            stated = read_certificates(certificate)
        except CertificateError as error:
            raise CommandError(str(error)) from None
        checked = check_certificates(Archive(archive), stated)
    wrong = [one for one in checked if one.differences]
    if as_json:
        print_json(
            {
                "checked": len(checked),
                "wrong": len(wrong),
                "certificates": [_render(one) for one in checked],
            }
        )
    else:
        _show(checked, wrong)
    if wrong:
        raise typer.Exit(1)


def _render(one: Checked) -> dict[str, Any]:
    differences = [difference._asdict() for difference in one.differences]
    return {**asdict(one), "right": not differences, "differences": differences}


def _show(checked: list[Checked], wrong: list[Checked]) -> None:
    for one in wrong[:SHOWN_MAX]:
        first = one.differences[0]
        out.print(
            f"[red]wrong:[/red] line {one.line}, turn {clean(one.turn_id)} of {clean(one.user)}: "
            f"{clean(first.path)} states {clean(first.stated)[:80]}, "
            f"folding again gives {clean(first.found)[:80]}"
        )
    if len(wrong) > SHOWN_MAX:
        out.print(f"and {len(wrong) - SHOWN_MAX} more")
    events = sum(len(one.inclusions) for one in checked)
    out.print(
        f"{len(checked) - len(wrong)} of {len(checked)} certificates are right; "
        f"{events} frames proven to be in the archive"
    )
