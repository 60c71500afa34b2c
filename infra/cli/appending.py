"""Commands that put events on a log: init, import, observe."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from infra.archive.reading import Archive
from infra.archive.restoring import restore_archive
from infra.archive.writing import ArchiveError
from infra.authority import AUTHENTICATED_MODE, OPEN_MODE
from infra.cli.console import (
    CommandError,
    JsonOption,
    clean,
    err,
    open_log,
    out,
    print_json,
    progress_bar,
    read_file,
    reported,
)
from infra.cli.kafka_options import BootstrapOption, PrefixOption, read_settings
from infra.cli.targets import AnyLogOption, open_target
from infra.event_json import EventFormError, parse_object, parse_record
from infra.genesis import Authority, build_genesis
from infra.importers.jsonl import WrongLine, read_lines
from infra.importers.registry import IMPORTERS
from infra.importers.sources import SourceError
from infra.keys import configured_keys
from infra.opening import (
    ENCRYPTED_MODE,
    PLAIN_MODE,
    mark_encrypted,
    open_key_store,
    open_topics,
)
from schemas.catalogue import Catalogue
from schemas.event import Event

ARCHIVE = "archive"
"""Records as they stood on a log, not events to be written anew; see infra/archive/restoring.py."""
KINDS = (ARCHIVE, *sorted(IMPORTERS))
CANDIDATE_KINDS = ("gold", "stale", "unconfirmed", "missing", "premature")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("init")(init)
    app.command("import")(import_)
    app.command("observe")(observe)


def init(
    catalogue: Annotated[Path, typer.Option(help="Catalogue as JSON: scenes and types.")],
    log: AnyLogOption = None,
    operator: Annotated[
        list[str] | None, typer.Option(help="Operator id with the rights to confirm and operate.")
    ] = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    *,
    encrypted: Annotated[
        bool, typer.Option("--encrypted", help="Seal events and outputs, so that keys erase them.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Begin a log: its genesis record with catalogue, default weights and budgets.

    With keys configured (COMMITMENTS_KEYS_FILE) the log is authenticated: only signed events
    count. Without, it is open. An encrypted log keeps its keys in COMMITMENTS_KEY_STORE.

    Example: commitments init --log my-log --catalogue catalogue.json --operator ops
    """
    with reported(as_json=as_json):
        authority = Authority.OPEN if configured_keys() is None else Authority.AUTHENTICATED
        try:
            data = parse_object(read_file(catalogue))
            content = parse_record(Catalogue, data)
        except EventFormError as error:
            raise CommandError(f"{catalogue}: {error}") from None
        genesis = build_genesis(content, operators=tuple(operator or ()), authority=authority)
        if log is not None and log.is_dir() and any(log.iterdir()):
            raise CommandError(f"{log} is not empty", "name a new folder")
        encrypted = _choose_mode(log, bootstrap, prefix, encrypted=encrypted)
        with open_target(log, bootstrap, prefix, must_exist=False) as append:
            append([genesis], None)
        if encrypted and log is not None:
            mark_encrypted(log)
    where = str(log or bootstrap)
    mode = "encrypted" if encrypted else "plain"
    if as_json:
        print_json({"log": where, "authority": authority.value, "mode": mode})
        return
    out.print(f"log begun in {clean(where)}")
    out.print(OPEN_MODE if authority is Authority.OPEN else AUTHENTICATED_MODE)
    out.print(ENCRYPTED_MODE if encrypted else PLAIN_MODE)


def _choose_mode(
    log: Path | None, bootstrap: str | None, prefix: str | None, *, encrypted: bool
) -> bool:
    """Return whether the log is encrypted: topics were provisioned so, or not."""
    if log is None and bootstrap is not None:
        settings = read_settings(bootstrap=bootstrap, prefix=prefix)
        sealed = open_topics(settings.connect(), prefix=settings.prefix).hides
        if encrypted and not sealed:
            raise CommandError(
                "--encrypted: these topics were provisioned for a log in the clear",
                "commitments provision --encrypted, under a prefix that has no topics yet",
            )
        return sealed
    if encrypted:
        open_key_store().close()
    return encrypted


def import_(
    kind: Annotated[str, typer.Argument(help=f"One of {', '.join(KINDS)}.")],
    sources: Annotated[list[Path], typer.Argument(help="Files or folders of that format.")],
    log: AnyLogOption = None,
    candidates: Annotated[
        str, typer.Option(help="Comma-separated, of gold, stale, unconfirmed, missing, premature.")
    ] = "gold",
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Turn recorded histories into events on a log.

    Example: commitments import sgd data/sgd/dev --log my-log --candidates gold,stale
    """
    with reported(as_json=as_json):
        kinds = frozenset(part.strip() for part in candidates.split(",") if part.strip())
        if unknown := sorted(kinds - frozenset(CANDIDATE_KINDS)):
            raise CommandError(
                f"--candidates: {', '.join(unknown)} is none of {', '.join(CANDIDATE_KINDS)}"
            )
        read = IMPORTERS.get(kind)
        if read is None and kind != ARCHIVE:
            raise CommandError(f"{kind!r} is none of {', '.join(KINDS)}")
        wrong: list[WrongLine] = []
        try:
            with progress_bar("importing", as_json=as_json) as update:
                if read is None:
                    count = _restore(log, sources, lambda done: update(done, 0))
                else:
                    events = read(sources, kinds, wrong)
                    with open_target(log, bootstrap, prefix, must_exist=False) as append:
                        count = append(events, lambda done: update(done, 0))
        except SourceError as error:
            raise CommandError(f"{error.place}: {error.detail}", error.remedy) from None
        except ArchiveError as error:
            raise CommandError(str(error)) from None
    report(count, wrong, as_json=as_json)


def _restore(log: Path | None, sources: Sequence[Path], progress: Callable[[int], None]) -> int:
    if log is None:
        raise CommandError("an archive is restored into a folder", "give --log FOLDER")
    archives = [Archive(source) for source in sources]  # A wrong one begins no log.
    with open_log(log, must_exist=False) as embedded:
        return sum(restore_archive(embedded, archive, progress) for archive in archives)


def observe(
    source: Annotated[str, typer.Argument(help="File of JSON lines, or - for standard input.")],
    log: AnyLogOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Append events given as JSON, one a line; each wrong one is named, the others go in.

    Example: echo '{"user":"ada","at":"2026-03-01T09:00:00+01:00","payload":
    {"type":"UtteranceObserved","text":"no calls, please"}}' | commitments observe --log my-log -
    """
    wrong: list[WrongLine] = []
    with reported(as_json=as_json), open_target(log, bootstrap, prefix) as append:
        count = append(_read(source, wrong), None)
    report(count, wrong, as_json=as_json)


def _read(source: str, wrong: list[WrongLine]) -> Iterator[Event]:
    opened = nullcontext(sys.stdin.buffer) if source == "-" else Path(source).open("rb")  # noqa: SIM115
    with opened as stream:
        yield from read_lines(stream, source, wrong)


def report(count: int, wrong: Sequence[WrongLine], *, as_json: bool) -> None:
    """Say how many events went in and name every line that did not; exit code 1 if any."""
    if as_json:
        print_json({"appended": count, "wrong": [asdict(line) for line in wrong]})
    else:
        for line in wrong:
            err.print(f"{clean(line.source)}, line {line.line}: {clean(line.reason)}")
        out.print(f"{count} events appended, {len(wrong)} lines wrong")
    if wrong:
        raise typer.Exit(1)
