"""The commands an auditor asks with: history, blast-radius, enforcement, diff."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from infra.audit.blast_radius import BlastRadius, find_users, measure_blast_radius
from infra.audit.contract_history import ContractHistory, read_contract_history
from infra.audit.differing import NothingToCompareError, compare_evaluations
from infra.audit.enforcement import read_enforcement
from infra.audit.history import History
from infra.cli.console import (
    CommandError,
    JsonOption,
    TenantOption,
    clean,
    out,
    print_json,
    print_table,
    reported,
)
from infra.cli.replaying import choose_source
from infra.event_json import render_record, to_ms

LogFolder = Annotated[Path | None, typer.Option("--log", help="Folder of the embedded log.")]
ArchiveFolder = Annotated[Path | None, typer.Option("--archive", help="Folder of an archive.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("history")(history)
    app.command("blast-radius")(blast_radius)
    app.command("enforcement")(enforcement)
    app.command("diff")(diff)


def history(
    user: Annotated[str, typer.Argument(help="The user.")],
    log: LogFolder = None,
    archive: ArchiveFolder = None,
    as_of: Annotated[
        str | None, typer.Option(help="Only up to this time (RFC 3339), and what held then.")
    ] = None,
    tenant: TenantOption = "default",
    *,
    as_json: JsonOption = False,
) -> None:
    """Show the versions of a user's contract: who confirmed what, when, and what ended it.

    Example: commitments history ada --log my-log --as-of 2026-03-01T18:00:00+01:00
    """
    with reported(as_json=as_json), _opened(log, archive) as opened:
        moment = None if as_of is None else _read_time(as_of)
        found = read_contract_history(opened, tenant, user, as_of_ms=moment)
        if found is None:
            raise _unknown_user(tenant, user)
    if as_json:
        print_json(
            {
                "changes": [asdict(change) for change in found.changes],
                "in_force": [render_record(row) for row in found.in_force],
                "contract_digest": found.contract_digest.hex(),
            }
        )
    else:
        _show_history(found)


def blast_radius(
    event: Annotated[str, typer.Argument(help="The id of the event.")],
    log: LogFolder = None,
    archive: ArchiveFolder = None,
    user: Annotated[str | None, typer.Option(help="Whose event it is.")] = None,
    tenant: TenantOption = "default",
    *,
    as_json: JsonOption = False,
) -> None:
    """Show what rests on one event, and which verdicts and endings flip without it.

    Example: commitments blast-radius e2 --log my-log
    """
    with reported(as_json=as_json), _opened(log, archive) as opened:
        owner = (tenant, user) if user is not None else _find_owner(opened, event)
        found = measure_blast_radius(opened, *owner, event)
        if found is None:
            raise CommandError(f"no accepted event {event} of user {owner[1]}")
    if as_json:
        print_json({"event": event, "tenant": owner[0], "user": owner[1], **asdict(found)})
    else:
        _show_blast(event, found)


def enforcement(
    user: Annotated[str, typer.Argument(help="The user.")],
    log: LogFolder = None,
    archive: ArchiveFolder = None,
    tenant: TenantOption = "default",
    *,
    as_json: JsonOption = False,
) -> None:
    """Show how far each statement of a user reaches: enforced, evidence only, uncompiled.

    Example: commitments enforcement ada --log my-log
    """
    with reported(as_json=as_json), _opened(log, archive) as opened:
        found = read_enforcement(opened, tenant, user)
        if found is None:
            raise _unknown_user(tenant, user)
    if as_json:
        print_json(asdict(found))
        return
    rows = [(s.status.value, s.name, s.text[:70], s.because) for s in found.statements]
    print_table(f"statements of {user}", ("reaches", "where", "says", "because"), rows)
    print_table("in all", ("", "statements"), list(found.counts.items()))
    percent = f"{found.uncompiled_rate / 10_000:.1f} %"
    out.print(f"{percent} of what is visible is uncompiled: it can be missed")


def diff(
    first: Annotated[Path, typer.Argument(help="Folder of a backfill, a log or an archive.")],
    second: Annotated[Path, typer.Argument(help="Another one.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Hold two evaluations against each other: turns that end otherwise. Exit code 1 if any.

    Example: commitments diff no-reserve freer
    """
    with reported(as_json=as_json):
        try:
            found = compare_evaluations(first, second)
        except NothingToCompareError as error:
            raise CommandError(str(error)) from None
    if as_json:
        print_json(asdict(found) | {"kinds": found.count_kinds()})
    else:
        rows = [(d.user, d.turn_id, d.first or "-", d.second or "-") for d in found.differences]
        print_table("turns that end otherwise", ("user", "turn", "first", "second"), rows)
        print_table("by kind", ("first -> second", "turns"), list(found.count_kinds().items()))
        out.print(f"{found.turns} turns on both sides, {found.same} end alike")
    if found.differences:
        raise typer.Exit(1)


@contextmanager
def _opened(log: Path | None, archive: Path | None) -> Iterator[History]:
    with choose_source(log, archive)() as opened:
        yield opened


def _unknown_user(tenant: str, user: str) -> CommandError:
    return CommandError(
        f"there is no user {user} of tenant {tenant} in it",
        "name --tenant; of a user who was erased nothing is left to show",
    )


def _find_owner(opened: History, event: str) -> tuple[str, str]:
    owners = find_users(opened, event)
    if not owners:
        raise CommandError(f"there is no event {event} in it")
    if len(owners) > 1:
        named = ", ".join(f"{user} of {tenant}" for tenant, user in owners[:5])
        raise CommandError(f"{len(owners)} users have an event {event}: {named}", "name --user")
    return owners[0]


def _read_time(text: str) -> int:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--as-of: {text!r} is no time", "2026-03-01T18:00:00+01:00") from None
    if at.tzinfo is None:
        raise CommandError(f"--as-of: {text} has no offset", "write such as +01:00 or Z behind it")
    return to_ms(at)


def _show_history(found: ContractHistory) -> None:
    print_table(
        "contract versions",
        ("version", "at", "change", "predicate", "rule", "by", "event"),
        [
            (c.version, _show_time(c.at_ms), c.change, c.predicate_id, _show_rule(c.expression,
             c.unless), c.by, c.event_id)
            for c in found.changes
        ],
    )  # fmt: skip
    print_table(
        f"in force, contract {found.contract_digest.hex()[:12]}",
        ("predicate", "rule", "since seq"),
        [
            (row.predicate.predicate_id, _show_rule(row.predicate.expression,
             row.predicate.unless), row.seq)
            for row in found.in_force
        ],
    )  # fmt: skip


def _show_rule(expression: str, unless: str | None) -> str:
    return expression if unless is None else f"{expression} unless {unless}"


def _show_time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1_000, UTC).isoformat(timespec="seconds")


def _show_blast(event: str, found: BlastRadius) -> None:
    resting = [
        (kind, name)
        for kind in ("derived", "commitments", "acts", "questions", "obligations")
        for name in getattr(found, kind)
    ]
    print_table(f"what rests on {event}", ("kind", "id"), resting)
    print_table(
        "verdicts that flip without it",
        ("turn", "candidate", "predicate", "with", "without"),
        [
            (v.turn_id, v.candidate[:12], v.predicate_id, v.recorded or "-", v.without or "-")
            for v in found.verdicts
        ],
    )
    print_table(
        "turns that end otherwise without it",
        ("turn", "with", "without"),
        [(e.turn_id, clean(e.recorded), clean(e.without)) for e in found.endings],
    )
