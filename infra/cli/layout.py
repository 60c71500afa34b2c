"""How the command line as a whole reads: its list of commands, and the answer to a wrong line.

What a single command says stands in that command; here is one line for each of them.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import typer
from typer.core import TyperGroup

from infra.cli.console import is_output_closed
from infra.cli.main import CLOSED

GROUPS: Final = {
    "Begin a log and feed it": {
        "init": "Begin a log with its catalogue and settings.",
        "import": "Turn recorded histories into events.",
        "observe": "Append events given as JSON, one a line.",
        "extract": "Propose what users' words may mean.",
        "answer": "Answer an open question as the user.",
        "activate": "Append a control record to every partition.",
    },
    "Decide": {
        "turn": "Ask for one outcome.",
        "run": "Fold what is pending and put out outcomes.",
        "generate": "Let a model answer the pending packets.",
        "play": "Play recorded dialogues, answered by a model.",
        "chat": "Talk as a user and see every decision.",
        "gateway": "Serve events and turns over HTTP.",
        "demo": "Run the shipped dialogues through everything.",
    },
    "Look into it": {
        "outputs": "Show the records of an output topic.",
        "explain": "Say what a turn was decided on.",
        "history": "Show the versions of a user's contract.",
        "enforcement": "Show how far each statement reaches.",
        "blast-radius": "Show what rests on one event.",
        "lint": "Find contradictions among predicates.",
    },
    "Prove it": {
        "replay": "Fold a history again and compare every byte.",
        "export": "Write a log into an archive.",
        "verify": "Check every byte of an archive.",
        "check": "Fold what an outcome rests on again.",
        "checkpoint": "Sign what an archive is now.",
        "checkpoint-key": "Make a key for checkpoints.",
    },
    "Compare": {
        "backfill": "Recompute every decision under other settings.",
        "diff": "Name the turns that end otherwise.",
        "evaluate": "Measure on fixtures and on recorded data.",
    },
    "Keys and erasure": {
        "keys": "Make and list signing keys.",
        "erase": "Erase events of a user, or the user.",
        "rotate-keys": "Give every user of the key store a new key.",
    },
    "Kafka": {
        "provision": "Create and verify all topics.",
        "acls": "Print the access-control lists of each role.",
        "serve": "Serve a role until it is stopped.",
        "rebuild": "Build lost or damaged rows anew.",
        "repartition": "Write a history into topics of other partitions.",
    },
}


class Commands(TyperGroup):
    """The commands by what they are for; a line that is wrong is answered in one line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the library's
        """List every command under its heading, one line each."""
        for heading, texts in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([item for item in texts.items() if item[0] in self.commands])

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read the line; help that nobody reads ends as the shell expects."""
        with _ended_by_reader():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Invoke a command; one whose reader has left ends as the shell expects."""
        with _ended_by_reader():
            return super().invoke(ctx)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - the library's own signature
        windows_expand_args: bool = True,  # noqa: FBT001, FBT002 - the library's own signature
        **extra: Any,
    ) -> Any:
        """Run a command line; what is wrong with it is said as every other mistake is."""
        given = sys.argv[1:] if args is None else list(args)
        try:
            code = super().main(given, prog_name, complete_var, False, windows_expand_args, **extra)
        except typer.TyperException as error:
            if not standalone_mode:
                raise
            say_wrong_line(error, as_json="--json" in given)
            sys.exit(2)
        except typer.Abort:
            if not standalone_mode:
                raise
            sys.stderr.write("error: the input ended; nothing more was done\n")
            sys.exit(2)
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def _ended_by_reader() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        if is_output_closed():
            raise typer.Exit(CLOSED) from None
        raise


def say_wrong_line(error: typer.TyperException, *, as_json: bool) -> None:
    """Write what is wrong with a command line and where its help is; alone, help is shown."""
    said = error.format_message()
    context = getattr(error, "ctx", None)
    if context is not None and said == context.get_help():
        sys.stderr.write(f"{said}\n")
        return
    said = " ".join(said.split()).rstrip(".")
    remedy = "" if context is None else f"see {context.command_path} --help"
    if as_json:
        sys.stderr.write(json.dumps({"error": said, "remedy": remedy}) + "\n")
    else:
        sys.stderr.write("; ".join(part for part in (f"error: {said}", remedy) if part) + "\n")
