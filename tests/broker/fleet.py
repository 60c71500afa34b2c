"""Workers, load and topics of the tests of exactly once: real processes on a real broker."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path

from confluent_kafka import Producer

from infra.broker import Broker
from infra.provision import TopicSet, apply, plan
from schemas.partition import partition_of
from streams.connection import Connection
from tests.broker.checker import assert_exact, count_committed
from tests.broker.workers import WorkerProcess, await_true

WORKER = Path(__file__).with_name("counting_worker.py")
PARTITIONS = 4
SESSION_S = 3.0
USERS = 50

KAFKA_POINTS = (
    "fenced",
    "position_read",
    "rows_restored",
    "events_polled",
    "batch_read",
    "batch_folded",
    "transaction_begun",
    "first_produced",
    "last_produced",
    "transaction_committed",
    "rows_written",
    "commit_answered",
)


Told = tuple[bytes, bytes]
"""Key and value of a record that a load appends."""


class Load:
    """A producer that appends records at a steady rate until it is stopped."""

    def __init__(
        self, broker: Broker, prefix: str, records: Iterator[Told], *, per_second: int
    ) -> None:
        self.sent = 0
        self._topic = f"{prefix}events"
        self._records = records
        self._pause_s = 10 / per_second
        self._producer = Producer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "enable.idempotence": True,
                "log_level": 0,
            }
        )
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._append, daemon=True)
        self._thread.start()

    def _append(self) -> None:
        while not self._stopped.is_set():
            for key, value in islice(self._records, 10):
                self._producer.produce(self._topic, value, key, partition_of(key, PARTITIONS))
                self.sent += 1
            self._producer.poll(0)
            time.sleep(self._pause_s)

    def stop(self) -> int:
        """Return how many records it has put on the log."""
        self._stopped.set()
        self._thread.join()
        assert 0 == self._producer.flush(30)
        return self.sent


def tell_counted() -> Iterator[Told]:
    """Yield events of some users for the counting reducer, without end."""
    for number in count():
        yield b"user %d" % (number * 7919 % USERS), b"event %d" % number


@dataclass
class Fleet:
    """The workers of one test on one set of topics."""

    broker: Broker
    prefix: str
    home: Path
    started: int = 0
    session_s: float = SESSION_S
    script: Path = WORKER
    live: list[WorkerProcess] = field(default_factory=list)

    def start(self, folder: str, *, crash_at: str = "", instance: str = "-") -> WorkerProcess:
        """Start a worker on one of the state folders, with a static id or without."""
        self.started += 1
        state = self.home / folder
        arguments = [
            self.broker.bootstrap_servers,
            self.prefix,
            str(PARTITIONS),
            str(state),
            str(self.session_s),
            instance,
        ]
        environment = {"CRASH_AT": crash_at} if crash_at else {}
        log = self.home / f"worker-{self.started}.log"
        worker = WorkerProcess(self.script, arguments, log=log, environment=environment)
        self.live.append(worker)
        return worker

    def await_outputs(self, expected: int, *, timeout_s: float = 60) -> None:
        """Wait until a read_committed reader has seen as many outputs as there were events."""
        topic = f"{self.prefix}commitments"

        def arrived() -> bool:
            time.sleep(0.5)
            servers = self.broker.bootstrap_servers
            return count_committed(servers, topic, PARTITIONS) >= expected

        await_true(arrived, timeout_s=timeout_s, what=f"{expected} outcomes")

    def stop(self, *workers: WorkerProcess) -> None:
        """Stop workers in order, each of which must end well within the time it promises."""
        for worker in workers:
            await_true(
                lambda w=worker: any("worker_joining" in line for line in w.lines()),
                timeout_s=60,
                what="a worker that listens to signals",
            )
            assert 0 == worker.stop()

    def check(self) -> None:
        """Fail with the checker's counts unless every outcome is there once and exact."""
        assert_exact(self.broker.bootstrap_servers, self.prefix, PARTITIONS)

    def end(self) -> None:
        """End every worker that still runs, whatever its state."""
        while self.live:
            self.live.pop().end()


def build_fleet_on(broker: Broker, prefix: str, home: Path, *, script: Path = WORKER) -> Fleet:
    """Provision a set of topics and return its fleet, without a worker."""
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    wanted = TopicSet(prefix=prefix, partitions=PARTITIONS, replication=1, insync_min=1)
    apply(connection, wanted, plan(connection, wanted))
    return Fleet(broker, prefix, home, script=script)
