"""The command that lists permissions: acls."""

from dataclasses import asdict
from typing import Annotated

import typer

from infra.acls import ROLES, list_acls, render_command
from infra.cli.console import CommandError, JsonOption, print_json, reported
from infra.cli.kafka_options import BootstrapOption, PrefixOption, read_settings
from streams.transactions import ask_cluster_id


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("acls")(acls)


def acls(
    role: Annotated[
        list[str] | None, typer.Option(help=f"One of {', '.join(ROLES)}; default: all.")
    ] = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    cluster_id: Annotated[
        str | None, typer.Option(help="The cluster's id; default: the brokers are asked.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Print the access-control lists of each role, by least privilege; nothing is granted here.

    Example: commitments acls --role ledger --bootstrap 127.0.0.1:9092 --prefix prod.
    """
    with reported(as_json=as_json):
        settings = read_settings(bootstrap=bootstrap, prefix=prefix)
        for name in role or ():
            if name not in ROLES:
                raise CommandError(f"--role: {name} is none of {', '.join(ROLES)}")
        cluster = cluster_id or ask_cluster_id(settings.connect())
        found = {
            name: list_acls(name, prefix=settings.prefix, cluster_id=cluster)
            for name in role or ROLES
        }
    if as_json:
        print_json({name: [asdict(acl) for acl in listed] for name, listed in found.items()})
        return
    for name, listed in found.items():
        typer.echo(f"# {name}: {ROLES[name]}")
        for acl in listed:
            typer.echo(render_command(acl, principal=name, bootstrap=settings.bootstrap))
