"""The console script ``commitments``: its commands and the one way they start."""

import sys

import typer

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


def run() -> None:
    """Run the command line; assertions must be on, since they are invariants."""
    if not __debug__:
        sys.stderr.write("error: do not run with python -O: assertions guard the ledger\n")
        sys.exit(2)
    settings = Settings()
    configure_logs(log_format=settings.log_format, level=settings.log_level)
    app()


if __name__ == "__main__":
    run()
