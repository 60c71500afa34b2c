"""How long a worker takes to stand where it stood: `python -m benchmarks.restore`, `make restore`.

The same seeded history is folded once on a real broker; then the partition is opened from the
topics (empty folder), from local rows (folder kept), and from nothing (the topic of rows is lost
too: the recorded batches are folded again). Progress goes to standard error, figures to standard
output. A time counts only if the restored rows are those that the head row states.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka.admin import AdminClient
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks.history import zipf_history
from infra.broker import open_broker
from infra.kafka_appending import EventProducer
from infra.provision import TopicSet, apply, plan
from infra.rebuilding import rebuild
from streams.clock import SystemClock
from streams.collection import collecting_rarely
from streams.connection import Connection
from streams.core_reducer import CoreReducer
from streams.kafka_log import EventReader, describe_topic_id
from streams.kafka_store import KafkaStore, Place
from streams.starting import start_ledger
from streams.transactions import ask_cluster_id

PREFIX = "restore."
Update = Callable[[int, int], None]


@contextmanager
def bar(title: str) -> Iterator[Update]:
    """Yield what draws progress: done, left."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=False) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, left: progress.update(task, completed=done, total=done + left)


class Partition:
    """The one partition of the history, as a worker opens it."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self.connection = connection
        self.folder = folder
        self.cluster_id = ask_cluster_id(connection)
        self.topic = f"{PREFIX}events"
        self.topic_id, _ = describe_topic_id(connection, self.topic)

    def open(self, title: str) -> tuple[KafkaStore, float]:
        """Return the store and how long opening took: fenced, restored and proved."""
        store = KafkaStore(
            Place(
                connection=self.connection, cluster_id=self.cluster_id, prefix=PREFIX,
                partition=0, folder=self.folder,
            )
        )  # fmt: skip
        began = time.perf_counter()
        with bar(title) as update:
            store.open(update)
        return store, time.perf_counter() - began

    def fold(self, store: KafkaStore, events: int, title: str) -> float:
        """Prove the position and fold up to so many events; return the seconds."""
        reader = EventReader(
            self.connection, topic=self.topic, topic_id=self.topic_id, group=f"{PREFIX}bench"
        )
        began = time.perf_counter()
        try:
            ledger = start_ledger(store, reader.open(0), CoreReducer(), SystemClock())
            with bar(title) as update, collecting_rarely():
                while ledger.head.next_offset < events:
                    reader.pull(0.05)
                    ledger.fold_batch()
                    update(ledger.head.next_offset, events - ledger.head.next_offset)
        finally:
            reader.close()
        return time.perf_counter() - began


def lose_rows(connection: Connection, wanted: TopicSet) -> None:
    """Delete the topic of rows and create it empty."""
    admin = AdminClient({"bootstrap.servers": connection.bootstrap_servers})
    name = f"{PREFIX}rows"
    admin.delete_topics([name])[name].result(30)
    until = time.monotonic() + 60
    while name in admin.list_topics(timeout=10).topics and time.monotonic() < until:
        time.sleep(0.2)
    apply(connection, wanted, plan(connection, wanted))


def measure(events: int, users: int, turns: int) -> dict[str, float]:
    """Return the seconds of each way, and what they were measured over."""
    with open_broker(os.environ) as broker, tempfile.TemporaryDirectory() as home:
        connection = Connection(bootstrap_servers=broker.bootstrap_servers)
        wanted = TopicSet(prefix=PREFIX, partitions=1, replication=1, insync_min=1)
        apply(connection, wanted, plan(connection, wanted))
        with bar("appending") as update:
            told = EventProducer(connection, prefix=PREFIX, partitions=1).append(
                zipf_history(events=events - 2 * turns - 1, users=users, turns=turns),
                lambda done: update(done, max(0, events - done)),
            )
        partition = Partition(connection, Path(home) / "rows")
        store, _ = partition.open("first start")
        first = partition.fold(store, told, "first fold")
        head = store.head()
        store.close()
        assert head is not None
        kept, local = partition.open("from local rows")
        kept.close()
        shutil.rmtree(partition.folder)
        fresh, topics = partition.open("from topics")
        proved = fresh.head() == head
        fresh.close()
        lose_rows(connection, wanted)
        began = time.perf_counter()
        with bar("from nothing") as update:
            (rebuilt,) = rebuild(
                connection, prefix=PREFIX, archive=None, partitions=None, progress=update
            )
        nothing = time.perf_counter() - began
        again, _ = partition.open("after it")
        proved = proved and again.head() is not None and again.head().chain == head.chain
        again.close()
    if not proved:
        sys.exit("void: the restored rows are not those that were folded")
    return {
        "events": told, "rows": rebuilt.rows, "first_fold_s": round(first, 1),
        "from_local_rows_s": round(local, 2), "from_topics_s": round(topics, 2),
        "from_nothing_s": round(nothing, 1),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.restore", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--turns", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.events < 2 * given.turns + 2:
        parser.error("--events: use more than twice --turns")
    found = measure(given.events, given.users, given.turns)
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:20} {value:>12,}")


if __name__ == "__main__":
    main()
