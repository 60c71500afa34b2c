"""The loop of a conversation: a prompt, a line, what it does, and the panels."""

from contextlib import suppress
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.output import Output
from rich.console import Console

from infra.chat.commands import LineError, run_line
from infra.chat.panels import draw
from infra.chat.session import Session

COMMANDS: Final = (
    "/answer", "/state", "/ask", "/confirm", "/decline", "/revoke", "/scene", "/help", "/quit"
)  # fmt: skip


def converse(
    session: Session,
    console: Console,
    *,
    source: Input | None = None,
    sink: Output | None = None,
) -> None:
    """Talk until /quit or the end of the input; Ctrl-C drops the line and nothing else."""
    prompt: PromptSession[str] = PromptSession(
        history=InMemoryHistory(),
        completer=WordCompleter(list(COMMANDS), sentence=True),
        complete_while_typing=False,
        input=source,
        output=sink,
    )
    draw(session, console)
    while True:
        try:
            line = prompt.prompt("> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        with suppress(_EndedError):
            _take(session, line)
            draw(session, console)
            continue
        return


class _EndedError(Exception):
    """The user has left."""


def _take(session: Session, line: str) -> None:
    try:
        if not run_line(session, line):
            raise _EndedError
    except LineError as error:
        session.lines.append(("log", str(error)))
