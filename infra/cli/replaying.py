"""The command that replays: replay."""

from contextlib import ExitStack
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from infra.audit.divergence import Cause
from infra.audit.history import ArchiveSource, EmbeddedSource, Source
from infra.audit.replay import ReplayReport, replay_history
from infra.audit.selection import Selection
from infra.cli.console import (
    CommandError,
    JsonOption,
    clean,
    open_log,
    out,
    print_json,
    print_table,
    progress_bar,
    reported,
)
from infra.cli.kafka_options import BootstrapOption, PrefixOption
from infra.cli.targets import exported_topics
from infra.event_json import to_ms
from infra.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay")(replay)


def replay(
    log: Annotated[Path | None, typer.Option(help="Folder of the embedded log.")] = None,
    archive: Annotated[Path | None, typer.Option(help="Folder of an archive.")] = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    user: Annotated[str | None, typer.Option(help="Only this user.")] = None,
    tenant: Annotated[str, typer.Option(help="The user's tenant.")] = "default",
    partition: Annotated[int | None, typer.Option(min=0, help="Only this partition.")] = None,
    from_offset: Annotated[int | None, typer.Option(min=0, help="Compare from here on.")] = None,
    to_offset: Annotated[int | None, typer.Option(min=0, help="Compare up to here.")] = None,
    from_time: Annotated[
        str | None, typer.Option(help="Compare what was appended from here on (RFC 3339).")
    ] = None,
    to_time: Annotated[str | None, typer.Option(help="Compare what was appended before.")] = None,
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Processes to replay in.")] = 1,
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="End with exit code 1 unless all is identical.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Fold a history again from its first event and compare every fate and every output byte.

    Everything before a range is folded too, since what is decided in it rests on that.

    Example: commitments replay --archive my-archive --jobs 2 --verify
    """
    with reported(as_json=as_json), ExitStack() as scratch:
        if bootstrap is not None and log is None and archive is None:
            with progress_bar("reading topics", as_json=as_json) as update:
                archive = scratch.enter_context(exported_topics(bootstrap, prefix, update))
        source = choose_source(log, archive)
        selection = Selection(
            partition=partition,
            from_offset=from_offset,
            to_offset=to_offset,
            from_ms=_read_time("--from-time", from_time),
            to_ms=_read_time("--to-time", to_time),
        )
        with progress_bar("replaying", as_json=as_json) as update:
            report = replay_history(
                source,
                update,
                selection=selection,
                owner=None if user is None else (tenant, user),
                jobs=jobs,
                keep_bytes=Settings().keep_rejected_bytes,
            )
        if partition is not None and not report.partitions:
            raise CommandError(f"--partition: there is no partition {partition}")
        if user is not None and not report.events:
            raise CommandError(
                f"--user: the selection has no event of {clean(user)} in tenant {clean(tenant)}",
                "write the user, --tenant and any range as they stand in the history",
            )
    show_replay(report, as_json=as_json)
    if verify and not report.clean:
        raise typer.Exit(1)


def choose_source(log: Path | None, archive: Path | None) -> Source:
    """Return the one history that is named."""
    if (log is None) == (archive is None):
        raise CommandError("name one history", "give --log, --archive or --bootstrap, one of them")
    if archive is not None:
        if not archive.is_dir():
            raise CommandError(f"there is no archive in {archive}", "name the folder of an export")
        return ArchiveSource(archive)
    assert log is not None
    open_log(log).close()
    return EmbeddedSource(log)


def show_replay(report: ReplayReport, *, as_json: bool) -> None:
    """Print a replay's report: a table for people, all of it as JSON."""
    if as_json:
        print_json({**asdict(report), "clean": report.clean})
        return
    totals = [
        ("fates that differ" if name == "fates" else name, value)
        for name, value in asdict(report).items()
        if isinstance(value, int | str)
    ]
    print_table("replay", ("", "result"), totals)
    if len(report.partitions) > 1:
        rows = [
            (p.partition, p.events, p.identical, p.missing + p.duplicate + p.divergent + p.fates)
            for p in report.partitions
        ]
        print_table("by partition", ("partition", "events", "identical", "wrong"), rows)
    if report.first is not None:
        _show_cause(report.first)
    elif report.clean and report.outputs:
        out.print("every output is identical, byte for byte")
    elif report.clean:
        out.print("there is no output to compare")
    else:
        out.print("every output is identical, but the rows are not those of the head")


def _show_cause(cause: Cause) -> None:
    where = f"at offset {cause.offset} of partition {cause.partition}"
    if cause.offset < 0:
        where = f"at the end of partition {cause.partition}"
    out.print(f"[red]first difference:[/red] {cause.kind} on {cause.topic} {where}")
    if cause.event_id:
        out.print(
            f"  event  {clean(cause.event_type)} {clean(cause.event_id)} of {clean(cause.user)}"
        )
    out.print(f"  field  {clean(cause.field) or '(the whole record)'}")
    out.print(f"  recorded  {clean(cause.recorded)}")
    out.print(f"  replayed  {clean(cause.replayed)}")
    if cause.rule:
        out.print(f"  rule  {cause.rule}")


def _read_time(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"{option}: {text!r} is no time", "2026-03-01T18:00:00+01:00") from None
    if at.tzinfo is None:
        raise CommandError(f"{option}: {text} has no offset", "write such as +01:00 or Z behind it")
    return to_ms(at)
