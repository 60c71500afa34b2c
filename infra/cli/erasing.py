"""The commands of erasure: erase, rotate-keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.console import (
    CommandError,
    JsonOption,
    TenantOption,
    UserOption,
    open_log,
    out,
    print_json,
    reported,
)
from infra.cli.kafka_options import BootstrapOption, PrefixOption, read_settings
from infra.cli.targets import AnyLogOption, choose_one
from infra.erasing import EmbeddedErasable, ErasableLog, ErasureError
from infra.erasing import erase as erase_from
from infra.gateway.port import ControlError
from infra.kafka_erasing import KafkaErasable
from infra.opening import PLAIN_MODE, open_key_store
from schemas.topics import EVENTS, name_topic
from streams.kafka_log import describe_topic_id


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("erase")(erase)
    app.command("rotate-keys")(rotate_keys)


def erase(
    user: UserOption,
    events: Annotated[
        list[str] | None, typer.Argument(help="Ids of the user's events; none: all of the user.")
    ] = None,
    operator: Annotated[
        str | None, typer.Option(help="The operator who asks; without one the user asks.")
    ] = None,
    tenant: TenantOption = "default",
    log: AnyLogOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Erase events of a user, or all of a user, with all that is derived from them.

    On an encrypted log their keys are destroyed; a plain log keeps every byte of the events.
    On Kafka (--bootstrap) workers must run, since they fold request and completion.

    Example: commitments erase --log my-log --user ada --operator ops
    """
    with reported(as_json=as_json), _open(log, bootstrap, prefix) as erasable:
        try:
            report = erase_from(
                erasable,
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


@contextmanager
def _open(log: Path | None, bootstrap: str | None, prefix: str | None) -> Iterator[ErasableLog]:
    choose_one(log, bootstrap)
    if log is not None:
        with open_log(log) as embedded:
            yield EmbeddedErasable(embedded)
        return
    settings = read_settings(bootstrap=bootstrap, prefix=prefix)
    connection = settings.connect()
    _, partitions = describe_topic_id(connection, name_topic(EVENTS, prefix=settings.prefix))
    try:
        erasable = KafkaErasable(connection, prefix=settings.prefix, partitions=partitions)
    except ControlError as error:
        raise CommandError(error.message, error.remedy) from None
    try:
        yield erasable
    finally:
        erasable.close()


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
