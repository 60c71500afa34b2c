"""The commands that build anew from history on Kafka: rebuild and repartition."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from kafka.errors import KafkaError

from infra.archive.reading import Archive
from infra.archive.verification import verify_archive
from infra.archive.writing import ArchiveError
from infra.cli.console import (
    CommandError,
    JsonOption,
    clean,
    out,
    print_json,
    print_table,
    progress_bar,
    reported,
)
from infra.cli.kafka_options import BootstrapOption, PrefixOption, read_settings
from infra.kafka_settings import KafkaSettings
from infra.placement import ControlOrderError
from infra.provision import ProvisionRefusedError, TopicSet
from infra.rebuilding import WorkersRunningError, rebuild
from infra.repartition import Moved, RepartitionRefusedError, repartition
from schemas.topics import EVENTS, name_topic
from streams.kafka_log import describe_topic_id
from streams.rebuilding import Rebuilt

ArchiveOption = Annotated[
    Path | None,
    typer.Option("--archive", help="Export that holds what the log no longer does."),
]
ReplicationOption = Annotated[int | None, typer.Option(min=1, help="Copies of each record.")]
InsyncOption = Annotated[int | None, typer.Option(min=1, help="Copies an ack waits for.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("rebuild")(rebuild_rows)
    app.command("repartition")(repartition_topics)


def rebuild_rows(
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    archive: ArchiveOption = None,
    into: Annotated[
        str | None,
        typer.Option(help="Prefix of a new set: needed where a gap stands in the ledger."),
    ] = None,
    partition: Annotated[
        list[int] | None, typer.Option(min=0, help="Only these; default: all.")
    ] = None,
    replication: ReplicationOption = None,
    insync_min: InsyncOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Build lost or damaged rows anew from the log; stop the workers first.

    The recorded batches are folded again, nothing is put out, and nothing is written unless the
    outcomes are those that stand. Deleted events come from --archive. Where outcomes were decided
    without them (a gap), --into writes the whole history into a new set of topics, to be folded
    there: the same outcomes up to the gap, and no history_incomplete behind it.

    Example: commitments rebuild --bootstrap 127.0.0.1:9092 --archive my-archive
    """
    moved: Moved | None = None
    rebuilt: list[Rebuilt] = []
    with _reported(as_json=as_json), progress_bar("rebuilding", as_json=as_json) as update:
        settings = read_settings(
            bootstrap=bootstrap, prefix=prefix, replication=replication, insync_min=insync_min
        )
        found = _open_archive(archive)
        if into is not None:
            if partition:
                raise CommandError("--partition: a new set holds all", "leave out --partition")
            name = name_topic(EVENTS, prefix=settings.prefix)
            _, partitions = describe_topic_id(settings.connect(), name)
            moved = _move(settings, into, partitions, found, update)
        else:
            rebuilt = rebuild(
                settings.connect(), prefix=settings.prefix, archive=found,
                partitions=partition or None, progress=update,
            )  # fmt: skip
    if into is not None and moved is not None:
        _show_moved(moved, into, as_json=as_json)
    elif as_json:
        print_json({"partitions": [asdict(one) for one in rebuilt]})
    else:
        rows = [(one.partition, one.events, one.batches, one.rows, one.removed) for one in rebuilt]
        print_table("rebuilt", ("partition", "events", "batches", "rows", "removed"), rows)


def repartition_topics(
    into: Annotated[str, typer.Option(help="Prefix of the new set of topics.")],
    partitions: Annotated[int, typer.Option(min=1, max=10_000, help="Its partitions.")],
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    archive: ArchiveOption = None,
    replication: ReplicationOption = None,
    insync_min: InsyncOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Write a history into a new set of topics with other partitions; never in place.

    Stop producers and workers first, then point them at the new prefix. The old set is only read.
    Outcomes keep their ids and bodies, so a consumer that drops known ids sees none twice.

    Example: commitments repartition --bootstrap 127.0.0.1:9092 --partitions 64 --into v2.
    """
    with _reported(as_json=as_json), progress_bar("writing", as_json=as_json) as update:
        settings = read_settings(
            bootstrap=bootstrap, prefix=prefix, replication=replication, insync_min=insync_min
        )
        moved = _move(settings, into, partitions, _open_archive(archive), update)
    _show_moved(moved, into, as_json=as_json)


def _move(
    settings: KafkaSettings, into: str, partitions: int, archive: Archive | None, update: object
) -> Moved:
    wanted = TopicSet(
        prefix=into,
        partitions=partitions,
        replication=settings.replication,
        insync_min=settings.insync_min,
    )
    return repartition(
        settings.connect(), source=settings.prefix, wanted=wanted, archive=archive,
        progress=update,  # type: ignore[arg-type]
    )  # fmt: skip


def _open_archive(folder: Path | None) -> Archive | None:
    """Return the archive, every byte of it checked: rows must not rest on damaged events."""
    if folder is None:
        return None
    if not folder.is_dir():
        raise CommandError(f"there is no archive in {folder}", "name the folder of an export")
    fault = verify_archive(folder).fault
    if fault is not None:
        raise CommandError(f"{folder}, {fault.segment}: {fault.kind}: {fault.detail}",
                           "use another copy of the archive")  # fmt: skip
    return Archive(folder)


def _show_moved(moved: Moved, into: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"prefix": into, **asdict(moved)})
        return
    print_table(f"new set {into}", ("", "count"), list(asdict(moved).items()))
    out.print(f"fold it with: commitments serve --prefix {clean(into)}")


@contextmanager
def _reported(*, as_json: bool) -> Iterator[None]:
    with reported(as_json=as_json):
        try:
            yield
        except (
            ArchiveError, ControlOrderError, ProvisionRefusedError, RepartitionRefusedError,
            WorkersRunningError,
        ) as error:  # fmt: skip
            raise CommandError(str(error)) from None
        except KafkaError as error:
            raise CommandError(f"{type(error).__name__}: {error}") from None
        except ValueError as error:
            raise CommandError(str(error), "see commitments rebuild --help") from None
