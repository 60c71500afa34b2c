"""The commands of erasure: erase, rotate-keys."""

from dataclasses import asdict
from typing import Annotated

import typer

from infra.cli.console import (
    CommandError,
    JsonOption,
    LogOption,
    TenantOption,
    UserOption,
    out,
    print_json,
    reported,
)
from infra.cli.console import open_log as open_any
from infra.erasing import ErasureError
from infra.erasing import erase as erase_from
from infra.opening import PLAIN_MODE, open_key_store


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("erase")(erase)
    app.command("rotate-keys")(rotate_keys)


def erase(
    log: LogOption,
    user: UserOption,
    events: Annotated[
        list[str] | None, typer.Argument(help="Ids of the user's events; none: all of the user.")
    ] = None,
    operator: Annotated[
        str | None, typer.Option(help="The operator who asks; without one the user asks.")
    ] = None,
    tenant: TenantOption = "default",
    *,
    as_json: JsonOption = False,
) -> None:
    """Erase events of a user, or all of a user, with all that is derived from them.

    On an encrypted log their keys are destroyed; a plain log keeps every byte of the events.

    Example: commitments erase --log my-log --user ada --operator ops
    """
    with reported(as_json=as_json), open_any(log) as embedded:
        try:
            report = erase_from(
                embedded,
                tenant=tenant,
                user=user,
                event_ids=tuple(events or ()),
                operator=operator,
            )
        except ErasureError as error:
            raise CommandError(str(error)) from None
    if as_json:
        print_json(asdict(report))
        return
    if not report.receipt:
        out.print(f"withdrawn from every later decision; {PLAIN_MODE}")
        return
    out.print(f"{report.events} events and the outputs of {report.turns} turns are erased")
    out.print(f"receipt {report.receipt}")
    if report.kept:
        out.print(f"answers to what showed them stay: {', '.join(report.kept)}; name them too")


def rotate_keys(*, as_json: JsonOption = False) -> None:
    """Give every user of the key store a new key and wrap the data keys by it.

    No log changes. The store is the folder that COMMITMENTS_KEY_STORE names.

    Example: commitments rotate-keys
    """
    with reported(as_json=as_json):
        store = open_key_store()
        users, keys = store.rotate()
        store.close()
    if as_json:
        print_json({"users": users, "data_keys": keys})
    else:
        out.print(f"{users} users have new keys, {keys} data keys are wrapped by them")
