"""What the simulated workers fold: small tallies, or the core on a seeded history.

Each says which events come, which reducer folds them, and what a plain fold of a log leads to.
"""

from random import Random
from typing import Protocol

from benchmarks.history import zipf_history
from infra.appending import seal_event
from infra.genesis import build_genesis
from schemas.partition import partition_of
from streams.core_reducer import CoreReducer
from streams.ports import LogRecord, Reducer
from tests.broker.core_checker import fold_plainly
from tests.simulation.tallying import Said, TallyReducer, fold_purely
from tests.simulation.twin_broker import Entry, TwinBroker

KEYS = 7
CORE_EVENTS = 1_000
CORE_USERS = 6


class Subject(Protocol):
    """Events, reducer and plain fold of one kind."""

    def begin(self, broker: TwinBroker, partitions: int) -> None:
        """Append what a log must begin with."""
        ...

    def draw(self, chance: Random, number: int) -> tuple[int, bytes, bytes]:
        """Return partition, key and value of the next event."""
        ...

    def build_reducer(self, partition: int) -> Reducer:
        """Return the reducer of a partition."""
        ...

    def fold(
        self, entries: list[Entry], partition: int, gaps: list[range]
    ) -> tuple[dict[str, list[Said]], dict[bytes, bytes]]:
        """Return outputs by topic, and all rows, by one fold in dictionaries.

        ``gaps`` are the offsets that were gone before they were folded, in order.
        """
        ...


class Tallies:
    """Counts, deletions, and now and then an event at which the core raises."""

    def begin(self, broker: TwinBroker, partitions: int) -> None:
        """Begin with nothing; each partition may meet one raising event."""
        self._partitions = partitions
        self._raising = set(range(partitions))

    def draw(self, chance: Random, number: int) -> tuple[int, bytes, bytes]:
        """Return an event of one of a few keys."""
        partition = chance.randrange(self._partitions)
        value = b"event %d" % number
        if partition in self._raising and chance.random() < 0.02:
            self._raising.discard(partition)
            value = b"raise"
        return partition, b"key %d" % chance.randrange(KEYS), value

    def build_reducer(self, partition: int) -> Reducer:
        """Return the tallying reducer."""
        return TallyReducer()

    def fold(
        self, entries: list[Entry], partition: int, gaps: list[range]
    ) -> tuple[dict[str, list[Said]], dict[bytes, bytes]]:
        """Fold tallies plainly."""
        return fold_purely([(e.offset, e.key or b"", e.value or b"") for e in entries], gaps)


class CoreHistory:
    """Observations and turns of a few users, folded by the core."""

    def begin(self, broker: TwinBroker, partitions: int) -> None:
        """Begin every partition with the genesis record."""
        self._partitions = partitions
        told = zipf_history(
            events=CORE_EVENTS, users=CORE_USERS, turns=CORE_EVENTS // 8, seed=partitions
        )
        genesis = seal_event(build_genesis(next(told).payload.catalogue, partitions=partitions))
        for partition in range(partitions):
            broker.append(("events", partition), genesis.key, genesis.value)
        self._records = [seal_event(event) for event in told]

    def draw(self, chance: Random, number: int) -> tuple[int, bytes, bytes]:
        """Return the next event; one that comes again is a duplicate."""
        again = number > 20 and chance.random() < 0.05
        place = chance.randrange(number) if again else number
        record = self._records[place % len(self._records)]
        key = record.key or b""
        return partition_of(key, self._partitions), key, record.value or b""

    def build_reducer(self, partition: int) -> Reducer:
        """Return the core."""
        return CoreReducer(partition=partition)

    def fold(
        self, entries: list[Entry], partition: int, gaps: list[range]
    ) -> tuple[dict[str, list[Said]], dict[bytes, bytes]]:
        """Fold with the core in dictionaries, without batches."""
        records = [LogRecord(e.offset, e.key, e.value, e.stamp_ms, ()) for e in entries]
        said, rows = fold_plainly(records, partition, gaps)
        return said, dict(rows)
