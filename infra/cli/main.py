"""The console script ``commitments``: its commands and the one way they start."""

import sys
from io import TextIOWrapper

import typer
from pydantic import ValidationError

from infra.cli import (
    activating,
    answering,
    appending,
    archiving,
    asking,
    backfilling,
    certifying,
    chatting,
    demo,
    erasing,
    evaluating,
    explaining,
    extracting,
    folding,
    gateway,
    generating,
    granting,
    keeping,
    linting,
    playing,
    provisioning,
    reading,
    rebuilding,
    replaying,
    serving,
    turning,
)
from infra.logs import configure_logs
from infra.settings import Settings

app = typer.Typer(
    name="commitments",
    help=(
        "Bounded commitments: observations in, validated commitments and repair acts out, "
        "every decision replayable from the log."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
MODULES = (
    demo,
    appending,
    folding,
    gateway,
    turning,
    activating,
    answering,
    extracting,
    generating,
    playing,
    granting,
    archiving,
    asking,
    backfilling,
    certifying,
    chatting,
    evaluating,
    erasing,
    explaining,
    keeping,
    linting,
    provisioning,
    reading,
    rebuilding,
    replaying,
    serving,
)
for module in MODULES:
    module.register(app)


def is_text(argument: str) -> bool:
    """Tell whether an argument has a UTF-8 form; bytes that have none come as lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in argument)


def run() -> None:
    """Run the command line; assertions must be on, since they are invariants."""
    if not __debug__:
        sys.stderr.write("error: do not run with python -O: assertions guard the ledger\n")
        sys.exit(2)
    for place, argument in enumerate(sys.argv[1:], start=1):
        if not is_text(argument):
            sys.stderr.write(f"error: argument {place}: {argument!a} is not UTF-8; retype it\n")
            sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What the terminal's encoding cannot show is spelled out; it ends no command.
            stream.reconfigure(errors="backslashreplace")
    try:
        settings = Settings()
        configure_logs(log_format=settings.log_format, level=settings.log_level)
        app()
    except ValidationError as error:
        sys.stderr.write(f"error: {describe_setting(error)}\n")
        sys.exit(2)
    except OSError as error:
        # Outside every command: usage and help that could not be written.
        sys.stderr.write(f"error: {error.strerror or error}\n")
        sys.exit(2)


def describe_setting(error: ValidationError) -> str:
    """Return which variable of the environment is wrong, and how."""
    first = error.errors(include_input=False, include_url=False)[0]
    names = "_".join(str(part) for part in first["loc"]).upper()
    return f"COMMITMENTS_{names}: {first['msg']}; set another value or unset it"


if __name__ == "__main__":
    run()
