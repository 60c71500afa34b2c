"""Where a command's events go, or its history comes from: a folder, or topics of Kafka."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from infra.appending import append_events
from infra.archive.kafka_source import KafkaSource
from infra.cli.console import CommandError, open_log
from infra.cli.kafka_options import read_settings
from infra.kafka_appending import EventProducer
from schemas.event import Event
from schemas.topics import EVENTS, name_topic
from streams.kafka_log import describe_topic_id

AnyLogOption = Annotated[
    Path | None, typer.Option("--log", help="Folder of the embedded log.", show_default=False)
]
Append = Callable[[Iterable[Event], Callable[[int], None] | None], int]


def choose_one(log: Path | None, bootstrap: str | None) -> None:
    """Refuse a command that names no log, or two."""
    if (log is None) == (bootstrap is None):
        raise CommandError("name one log", "give either --log FOLDER or --bootstrap HOST:PORT")


@contextmanager
def open_target(
    log: Path | None, bootstrap: str | None, prefix: str | None, *, must_exist: bool = True
) -> Iterator[Append]:
    """Yield what appends events durably: to the folder's log, or to the topic ``events``."""
    choose_one(log, bootstrap)
    if log is not None:
        with open_log(log, must_exist=must_exist) as embedded:
            yield partial(append_events, embedded)
        return
    settings = read_settings(bootstrap=bootstrap, prefix=prefix)
    connection = settings.connect()
    topic = name_topic(EVENTS, prefix=settings.prefix)
    _, partitions = describe_topic_id(connection, topic)
    producer = EventProducer(connection, prefix=settings.prefix, partitions=partitions)
    yield producer.append


@contextmanager
def exported_topics(
    bootstrap: str, prefix: str | None, progress: Callable[[int, int], None]
) -> Iterator[Path]:
    """Yield an archive of what the topics hold now; it goes away afterwards."""
    settings = read_settings(bootstrap=bootstrap, prefix=prefix)
    with tempfile.TemporaryDirectory(prefix="commitments-topics-") as scratch:
        folder = Path(scratch) / "archive"
        KafkaSource(settings.connect(), prefix=settings.prefix).export(folder, progress)
        yield folder
