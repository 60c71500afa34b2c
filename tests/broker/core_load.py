"""Records for the core: observations of Zipf-distributed users, and turns."""

from collections.abc import Iterator

from benchmarks.history import zipf_history
from infra.appending import seal_event
from infra.broker import Broker
from infra.kafka_appending import EventProducer
from streams.connection import Connection
from tests.broker.fleet import PARTITIONS, Told

EVENTS_MAX = 200_000


def begin_history(broker: Broker, prefix: str, *, seed: int) -> Iterator[Told]:
    """Put a genesis record on every partition, and return what a seeded history goes on with."""
    history = zipf_history(events=EVENTS_MAX, users=60, turns=EVENTS_MAX // 10, seed=seed)
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    EventProducer(connection, prefix=prefix, partitions=PARTITIONS).append([next(history)])
    return ((record.key or b"", record.value or b"") for record in map(seal_event, history))
