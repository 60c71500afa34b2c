"""The command that creates and verifies topics: provision."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

import typer
from kafka.errors import InvalidReplicationFactorError, KafkaError

from infra.cli.console import CommandError, JsonOption, clean, out, print_json, reported
from infra.cli.kafka_options import BootstrapOption, PrefixOption, read_settings
from infra.kafka_settings import KafkaSettings
from infra.provision import (
    Change,
    ProvisionRefusedError,
    Step,
    TopicSet,
    apply,
    describe_durability,
    plan,
)
from infra.registry import Registry, RegistryRefusedError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("provision")(provision)


def provision(
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    partitions: Annotated[int | None, typer.Option(min=1, help="Fixed for ever.")] = None,
    replication: Annotated[int | None, typer.Option(min=1, help="Copies of each record.")] = None,
    insync_min: Annotated[int | None, typer.Option(min=1, help="Copies an ack waits for.")] = None,
    registry: Annotated[
        str | None, typer.Option(help="Schema registry to register all public schemas with.")
    ] = None,
    *,
    encrypted: Annotated[
        bool, typer.Option("--encrypted", help="A new set: seal events, outputs and rows.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan only.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Create and verify all topics; refuses what would lose history, and shows its plan first.

    Example: commitments provision --bootstrap 127.0.0.1:9092 --partitions 16 --dry-run
    """
    with reported(as_json=as_json):
        settings = read_settings(
            bootstrap=bootstrap, prefix=prefix, partitions=partitions, replication=replication,
            insync_min=insync_min, registry=registry,
        )  # fmt: skip
        wanted = replace(settings.topics(), encrypted=encrypted)
        connection = settings.connect()
        subjects: dict[str, int] = {}
        try:
            changes = plan(connection, wanted)
            if not as_json:
                for change in changes:
                    out.print(clean(str(change)))
            if not dry_run:
                apply(connection, wanted, changes)
                subjects = _register(settings)
        except ProvisionRefusedError as error:
            raise CommandError(str(error), "use another --prefix, or repartition") from None
        except RegistryRefusedError as error:
            raise CommandError(str(error), "see --registry and the registry's own log") from None
        except InvalidReplicationFactorError:
            raise CommandError(
                f"{settings.bootstrap}: fewer than {settings.replication} brokers are there",
                "add brokers; or for development --replication 1 --insync-min 1",
            ) from None
        except KafkaError as error:
            raise CommandError(
                f"{settings.bootstrap}: {type(error).__name__}", "is a broker listening there?"
            ) from None
    _show(changes, wanted, subjects, dry_run=dry_run, as_json=as_json)


def _show(
    changes: Sequence[Change],
    wanted: TopicSet,
    subjects: Mapping[str, int],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    if as_json:
        listed = [{"step": c.step.value, "topic": c.name, "reason": c.reason} for c in changes]
        print_json(
            {"changes": listed, "applied": not dry_run, "durability": describe_durability(wanted),
             "subjects": subjects}
        )  # fmt: skip
    else:
        refused = any(change.step is Step.REFUSE for change in changes)
        done = "planned" if dry_run else "made"
        out.print(f"{len(changes)} changes {done}; {describe_durability(wanted)}")
        if subjects:
            out.print(f"{len(subjects)} schemas registered")
        if dry_run and refused:
            raise typer.Exit(1)


def _register(settings: KafkaSettings) -> dict[str, int]:
    """Register all public schemas where a registry is named; return the id of each subject."""
    if settings.registry is None:
        return {}
    return Registry(settings.registry, prefix=settings.prefix).register()
