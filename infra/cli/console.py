"""What every command shares: options, tables or JSON, and errors said plainly.

With ``--json`` standard output carries JSON only and an error is one JSON object on standard
error; without it people see tables and sentences. Exit codes: 0 fine, 1 the answer is "no"
(a difference, a wrong line), 2 the command cannot run.
"""

import errno
import json
import os
import select
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from infra.keys import KeysError
from infra.opening import open_embedded
from schemas.record import RecordError
from streams.embedded import Embedded
from streams.failures import StreamsError
from streams.sealing import ErasedIdReusedError

LogOption = Annotated[
    Path, typer.Option("--log", help="Folder of the embedded log.", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
TenantOption = Annotated[str, typer.Option("--tenant", help="The tenant.")]
UserOption = Annotated[str, typer.Option("--user", help="The user.")]


class _Out(Console):
    """Standard output, whose reader may leave."""

    def on_broken_pipe(self) -> None:
        """Leave the end to the one place that ends commands."""
        raise BrokenPipeError(errno.EPIPE, "the reader of standard output left")


out = _Out(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

PIPED_WIDTH = 200
"""Columns of a table that no terminal bounds: ids and numbers stay whole there."""

_CURES = {
    errno.ENOSPC: "free space, then run it again; what was acknowledged is kept",
    errno.EDQUOT: "free space, then run it again; what was acknowledged is kept",
    errno.EROFS: "make the folder writable, or copy it to where it is",
    errno.EACCES: "give yourself the right to it, or name another path",
    errno.EISDIR: "name a file, or move the folder away that stands in its place",
    errno.ENOTDIR: "name a folder",
    errno.ENOENT: "check the path",
}
"""What to do about a failure of the operating system."""


class Exit(StrEnum):
    """Why a command ended; the exit code of each."""

    NO = "no"
    CANNOT = "cannot"


class CommandError(Exception):
    """A user's mistake or a state of the world: what, and what to do; no traceback."""

    def __init__(self, message: str, remedy: str = "") -> None:
        """Say what is wrong and how to mend it."""
        super().__init__(message)
        self.message = message
        self.remedy = remedy


def fail(error: CommandError, *, as_json: bool) -> NoReturn:
    """Say the error and end the command."""
    if as_json:
        sys.stderr.write(json.dumps({"error": error.message, "remedy": error.remedy}) + "\n")
    else:
        err.print(f"[red]error:[/red] {escape(error.message)}")
        if error.remedy:
            err.print(f"  remedy: {escape(error.remedy)}")
    raise typer.Exit(2)


@contextmanager
def reported(*, as_json: bool) -> Iterator[None]:
    """Turn errors that are no fault of the program into messages."""
    try:
        yield
    except CommandError as error:
        fail(error, as_json=as_json)
    except (StreamsError, KeysError, ErasedIdReusedError, RecordError) as error:
        fail(CommandError(str(error)), as_json=as_json)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and is_output_closed():
            raise  # Whoever read has enough: no mistake of anybody.
        place = f"{error.filename}: " if error.filename else ""
        message = f"{place}{error.strerror or error}"
        fail(CommandError(message, _CURES.get(error.errno or 0, "")), as_json=as_json)


def is_output_closed() -> bool:
    """Tell whether the reader of standard output has left."""
    polled = select.poll()
    polled.register(sys.stdout, 0)  # What is wrong is reported without being asked for.
    return any(found & (select.POLLERR | select.POLLHUP) for _, found in polled.poll(0))


def read_file(path: Path) -> str:
    """Return the text of a file that a user named.

    Raises:
        CommandError: it is no UTF-8 text.
        OSError: it cannot be read.

    """
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{path}: not UTF-8 at byte {error.start}", "give a text file, not compressed"
        ) from None


def print_json(data: Any) -> None:
    """Write one JSON document on one line."""
    # Where the stream is not UTF-8, the escapes of JSON say what its encoding cannot.
    plain = str(sys.stdout.encoding).lower().replace("-", "") != "utf8"
    sys.stdout.write(json.dumps(data, ensure_ascii=plain, sort_keys=False) + "\n")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table; numbers stand right, and nothing a user wrote is taken as markup."""
    table = Table(title=title, title_justify="left", header_style="bold")
    listed = [tuple(row) for row in rows]
    for place, column in enumerate(columns):
        numeric = bool(listed) and all(isinstance(row[place], int) for row in listed)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in listed:
        table.add_row(*(clean(str(cell)) for cell in row))
    if not out.is_terminal and "COLUMNS" not in os.environ:
        options = out.options.update(max_width=PIPED_WIDTH)
        table.width = Measurement.get(out, options, table).maximum
    out.print(table)


def say_count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural but for one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def clean(text: str) -> str:
    """Return text that is safe to show: control characters named, markup taken literally."""
    shown = "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)
    return escape(shown)


def holds_log(folder: Path) -> bool:
    """Tell whether a folder is a log, be it a damaged one; any other folder is left as it is."""
    return folder.is_dir() and any((folder / part).exists() for part in ("manifest.json", "log"))


def open_log(folder: Path, *, must_exist: bool = True) -> Embedded:
    """Open the embedded log of a folder."""
    if must_exist and not holds_log(folder):
        raise CommandError(
            f"there is no log in {folder}",
            "name the folder of a log with --log, or make one with commitments import or init",
        )
    return open_embedded(folder)


@contextmanager
def progress_bar(title: str, *, as_json: bool) -> Iterator[Any]:
    """Yield a function (done, left) that draws a progress bar on standard error."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=as_json) as progress:
        task = progress.add_task(title, total=None)

        def update(done: int, left: int) -> None:
            progress.update(task, completed=done, total=done + left)

        yield update
