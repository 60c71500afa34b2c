"""The app: every command of ``commitments``, each registered by the file it lives in."""

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
    playing,
    provisioning,
    reading,
    rebuilding,
    replaying,
    serving,
    turning,
)
from infra.cli.layout import Commands

app = typer.Typer(
    name="commitments",
    cls=Commands,
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
