"""The commands that keep signing keys: keys create, keys list."""

from pathlib import Path
from typing import Annotated

import typer

from infra.cli.console import (
    CommandError,
    JsonOption,
    clean,
    out,
    print_json,
    print_table,
    reported,
)
from infra.keys import CONTROL_TENANT, KINDS, SigningKey, create_keys, read_keys

CONTROL_SPELLING = "-"

FileOption = Annotated[Path, typer.Option("--file", help="The key file; only you may read it.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Signing keys for development.", no_args_is_help=True)
    group.command("create", short_help="Add keys of a tenant to a file.")(create)
    group.command("list", short_help="Name keys by fingerprint.")(list_keys)
    app.add_typer(group, name="keys")


def create(
    file: FileOption,
    tenant: Annotated[
        str, typer.Option(help="The tenant; - for control records (genesis and the like).")
    ] = "default",
    kind: Annotated[
        list[str] | None, typer.Option(help=f"One of {', '.join(KINDS)}; default: all.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Add a fresh key for each kind of principal of a tenant; older ones still verify.

    Set COMMITMENTS_KEYS_FILE to the file, then observe, turn and import sign, and run checks.

    Example: commitments keys create --file keys.json --tenant default
    """
    with reported(as_json=as_json):
        chosen = tuple(kind or ())
        if unknown := sorted(frozenset(chosen) - frozenset(KINDS)):
            raise CommandError(f"--kind: {', '.join(unknown)} is none of {', '.join(KINDS)}")
        if tenant == CONTROL_SPELLING:
            fresh = create_keys(file, tenant=CONTROL_TENANT, kinds=chosen or ("operator",))
        else:
            fresh = create_keys(file, tenant=tenant, kinds=chosen or KINDS)
    if as_json:
        print_json({"file": str(file), "created": [_describe(key) for key in fresh]})
    else:
        out.print(f"{len(fresh)} keys added to {clean(str(file))}, readable by you alone")
        out.print("set COMMITMENTS_KEYS_FILE to it; keep a copy apart from the log")


def list_keys(file: FileOption, *, as_json: JsonOption = False) -> None:
    """Name the keys of a file by their fingerprints; never shows a key.

    Example: commitments keys list --file keys.json
    """
    with reported(as_json=as_json):
        found = [_describe(key) for key in read_keys(file)]
    if as_json:
        print_json({"keys": found})
    else:
        rows = [(key["tenant"], key["kind"], key["fingerprint"]) for key in found]
        print_table(str(file), ("tenant", "kind", "fingerprint"), rows)


def _describe(key: SigningKey) -> dict[str, str]:
    tenant = key.tenant or CONTROL_SPELLING
    return {"tenant": tenant, "kind": key.kind, "fingerprint": key.fingerprint}
