"""The command for a conversation in the terminal: chat."""

import time
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console

from infra.backends.choosing import FORMS
from infra.chat.session import Session
from infra.chat.terminal import converse
from infra.cli.console import (
    CommandError,
    JsonOption,
    LogOption,
    TenantOption,
    err,
    open_log,
    reported,
)
from infra.cli.generating import PLAIN, open_generator
from infra.gateway.embedded_control import EmbeddedControl
from infra.gateway.port import ControlError
from infra.gateway.speaking import Speaker
from schemas.catalogue import Catalogue


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("chat")(chat)


def chat(
    log: LogOption,
    user: Annotated[str, typer.Option(help="Who talks.")] = "me",
    scene: Annotated[str | None, typer.Option(help="Where to begin; default: the first.")] = None,
    backend: Annotated[
        str | None, typer.Option(help=f"Who makes candidates: {FORMS}; default: nobody.")
    ] = None,
    zone: Annotated[
        str | None, typer.Option(help="Your IANA time zone; default: this machine's offset.")
    ] = None,
    tenant: TenantOption = "default",
    *,
    as_json: JsonOption = False,
) -> None:
    """Talk as a user, and see contract, packet and decision beside the dialogue.

    What is said goes through extraction, and its proposals wait for /confirm. A simulated
    backend calls no model. With --json an error that keeps it from starting is JSON.

    Example: commitments chat --log my-log --user ada --backend simulated
    """
    with reported(as_json=as_json), open_log(log) as embedded:
        control = EmbeddedControl(embedded)
        catalogue = control.find_catalogue()
        if catalogue is None:
            raise CommandError(f"{log} has no catalogue yet", "begin it with commitments init")
        offset = datetime.now(UTC).astimezone().utcoffset()
        minutes = 0 if offset is None else int(offset.total_seconds() // 60)
        speaker = Speaker(tenant, user, None if zone else minutes, zone)
        chosen = open_generator(backend, PLAIN) if backend is not None else nullcontext()
        if backend is not None and backend.startswith("simulated"):
            err.print("[bold]candidates are simulated: no model is asked[/bold]")
        with chosen as generator:
            session = Session(
                control, catalogue, speaker, choose_scene(catalogue, scene),
                now_ms=lambda: time.time_ns() // 1_000_000, answerer=generator,
            )  # fmt: skip
            try:
                converse(session, Console(highlight=False))
            except ControlError as error:
                raise CommandError(error.message, error.remedy) from None


def choose_scene(catalogue: Catalogue, name: str | None) -> str:
    """Return the scene to begin in.

    Raises:
        CommandError: there is none of that name.

    """
    known = [scene.name for scene in catalogue.scenes]
    if name is None and known:
        return known[0]
    if name not in known:
        raise CommandError(f"--scene: {name!r} is no scene", f"choose from {', '.join(known)}")
    return name
