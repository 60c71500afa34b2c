"""Events for the core at a steady rate: observations of Zipf-distributed users, and turns."""

import threading
import time

from confluent_kafka import Producer

from benchmarks.history import zipf_history
from infra.appending import seal_event
from infra.broker import Broker
from infra.kafka_appending import EventProducer
from schemas.partition import partition_of
from streams.connection import Connection
from tests.broker.fleet import PARTITIONS

EVENTS_MAX = 200_000


class CoreLoad:
    """Appends a seeded history until it is stopped."""

    def __init__(self, broker: Broker, prefix: str, *, per_second: int, seed: int) -> None:
        self.sent = 0
        self._topic = f"{prefix}events"
        self._pause_s = 10 / per_second
        self._history = zipf_history(events=EVENTS_MAX, users=60, turns=EVENTS_MAX // 10, seed=seed)
        connection = Connection(bootstrap_servers=broker.bootstrap_servers)
        # The genesis record goes to every partition, before all else.
        EventProducer(connection, prefix=prefix, partitions=PARTITIONS).append(
            [next(self._history)]
        )
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
            for _ in range(10):
                record = seal_event(next(self._history))
                place = partition_of(record.key or b"", PARTITIONS)
                self._producer.produce(self._topic, record.value, record.key, place)
                self.sent += 1
            self._producer.poll(0)
            time.sleep(self._pause_s)

    def stop(self) -> int:
        """Return how many events are on the log, the genesis records apart."""
        self._stopped.set()
        self._thread.join()
        assert 0 == self._producer.flush(30)
        return self.sent
