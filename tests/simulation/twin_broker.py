"""A broker in memory: partitions, transactions with epochs, late markers, compaction.

Weaker than Kafka where a ledger must not rely on it: a fence may return before the markers of the
predecessor's transaction are written. Nothing here waits; whoever asks is told to ask again.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from random import Random

DELETE_RETENTION_MS = 7 * 24 * 3_600_000
Place = tuple[str, int]


class Answer(Enum):
    """What a coordinator or leader says besides a value."""

    DONE = "done"
    CONCURRENT = "another transaction of this id is being ended: ask again"
    FENCED = "a newer epoch is known"


@dataclass(slots=True)
class Entry:
    """One record, or the marker that ends a transaction in its partition."""

    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    stamp_ms: int
    producer: int = -1
    marker: bool = False
    aborted: bool = False


@dataclass
class Partition:
    """The log of one partition, with what its leader knows of producers."""

    entries: list[Entry] = field(default_factory=list)
    start: int = 0
    end: int = 0
    deleted: list[Entry] = field(default_factory=list)
    open: dict[int, int] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=dict)

    @property
    def stable(self) -> int:
        """Return the last stable offset."""
        return min(self.open.values(), default=self.end)

    def append(self, entry: Entry) -> int:
        """Place an entry at the end."""
        entry.offset = self.end
        self.entries.append(entry)
        self.end += 1
        return entry.offset

    def cut_head(self, start: int) -> None:
        """Delete every record before an offset; what is gone is kept for the checker alone."""
        self.start = max(self.start, start)
        self.deleted += [entry for entry in self.entries if entry.offset < start]
        self.entries = [entry for entry in self.entries if entry.offset >= start]

    def close_transaction(self, producer: int, epoch: int, marker: Entry) -> None:
        """Write the marker that decides an open transaction."""
        first = self.open.pop(producer, self.end)
        self.epochs[producer] = max(epoch, self.epochs.get(producer, -1))
        if marker.aborted:
            for entry in self.entries:
                if entry.producer == producer and entry.offset >= first:
                    entry.aborted = True
        self.append(marker)

    def committed(self, first: int = 0) -> Iterator[Entry]:
        """Yield the data that a read_committed reader sees from an offset on."""
        stable = self.stable
        for place in range(bisect_left(self.entries, first, key=_offset), len(self.entries)):
            entry = self.entries[place]
            if entry.offset >= stable:
                return
            if not entry.marker and not entry.aborted:
                yield entry

    def compact(self, now_ms: int) -> None:
        """Keep the last committed record of each key, and tombstones for a week."""
        stable = self.stable
        last = {entry.key: entry.offset for entry in self.committed()}
        self.entries = [
            entry
            for entry in self.entries
            if entry.offset >= stable
            or (
                not entry.marker
                and not entry.aborted
                and last[entry.key] == entry.offset
                and (entry.value is not None or now_ms - entry.stamp_ms < DELETE_RETENTION_MS)
            )
        ]


@dataclass
class Transaction:
    """What the coordinator knows of one transactional id."""

    producer: int
    epoch: int = 0
    partitions: list[Place] = field(default_factory=list)
    pending: list[Place] = field(default_factory=list)
    aborting: bool = False
    began_ms: int = 0


class TwinBroker:
    """One cluster; `now_ms` stamps what is appended."""

    def __init__(self, topics: list[str], partitions: int, now_ms: Callable[[], int]) -> None:
        self.partitions = partitions
        self.logs = {(t, p): Partition() for t in topics for p in range(partitions)}
        self.transactions: dict[str, Transaction] = {}
        self.topic_ids = {topic: f"id of {topic}" for topic in topics}
        self.recreated: dict[Place, Partition] = {}
        self.delayed: list[tuple[str, int, int, bool]] = []
        self.now_ms = now_ms
        self.kept_open_ms = 30_000
        self.counts = dict.fromkeys(("fencings", "aborts", "late_ends", "compactions"), 0)

    def append(self, place: Place, key: bytes | None, value: bytes | None) -> int:
        """Append outside any transaction."""
        return self.logs[place].append(Entry(0, key, value, (), self.now_ms()))

    def recreate(self, topic: str) -> None:
        """Delete a topic and create it anew, empty; the old logs are kept for the checker alone."""
        self.topic_ids[topic] += " anew"
        for place in [place for place in self.logs if place[0] == topic]:
            self.recreated[place] = self.logs[place]
            self.logs[place] = Partition()

    def init_producer(self, name: str, *, hasty: bool) -> tuple[int, int] | Answer:
        """Fence the predecessor and return producer id and epoch.

        A hasty coordinator answers while markers are still under way.
        """
        found = self.transactions.get(name)
        if found is None:
            found = self.transactions[name] = Transaction(len(self.transactions))
            return found.producer, found.epoch
        if found.partitions:
            self.counts["fencings"] += 1
            self._end(found, epoch=found.epoch + 1, aborting=True)
        if found.pending and not hasty:
            return Answer.CONCURRENT
        found.epoch += 1
        return found.producer, found.epoch

    def join(self, name: str, epoch: int, place: Place) -> Answer:
        """Add a partition to the transaction of a producer."""
        found = self.transactions[name]
        if found.epoch != epoch:
            return Answer.FENCED
        if found.pending:
            return Answer.CONCURRENT
        if not found.partitions:
            found.began_ms = self.now_ms()
        if place not in found.partitions:
            found.partitions.append(place)
        return Answer.DONE

    def produce(self, name: str, epoch: int, place: Place, entry: Entry) -> Answer:
        """Append a record of an open transaction; the leader knows epochs by markers alone."""
        log = self.logs[place]
        producer = self.transactions[name].producer
        if log.epochs.get(producer, -1) > epoch:
            return Answer.FENCED
        entry.producer, entry.stamp_ms = producer, self.now_ms()
        log.open.setdefault(producer, log.end)
        log.append(entry)
        return Answer.DONE

    def end(self, name: str, epoch: int, *, commit: bool) -> Answer:
        """Decide the transaction; its markers are written later."""
        found = self.transactions[name]
        if found.epoch != epoch:
            return Answer.FENCED
        if found.pending:
            return Answer.CONCURRENT if found.aborting == commit else Answer.DONE
        if found.partitions:
            self._end(found, epoch=epoch, aborting=not commit)
        return Answer.DONE

    def end_late(self, name: str, epoch: int, *, commit: bool, chance: Random) -> None:
        """Keep a request that is still under way."""
        self.delayed.insert(chance.randint(0, len(self.delayed)), (name, epoch, 0, commit))

    def deliver_late(self) -> None:
        """Let the oldest request that was under way arrive."""
        if self.delayed:
            name, epoch, _, commit = self.delayed.pop(0)
            self.counts["late_ends"] += self.end(name, epoch, commit=commit) is Answer.DONE

    def write_marker(self, chance: Random) -> bool:
        """Write one marker that is under way; return whether there was one."""
        waiting = [(t, place) for t in self.transactions.values() for place in t.pending]
        if not waiting:
            return False
        transaction, place = chance.choice(waiting)
        transaction.pending.remove(place)
        marker = Entry(0, None, None, (), self.now_ms(), marker=True, aborted=transaction.aborting)
        self.logs[place].close_transaction(transaction.producer, transaction.epoch, marker)
        return True

    def expire(self) -> None:
        """Abort what has been open for too long, under a new epoch."""
        for found in self.transactions.values():
            if found.partitions and self.now_ms() - found.began_ms > self.kept_open_ms:
                self._end(found, epoch=found.epoch + 1, aborting=True)

    def compact(self, place: Place) -> None:
        """Let the cleaner pass over a partition."""
        self.counts["compactions"] += 1
        self.logs[place].compact(self.now_ms())

    def _end(self, found: Transaction, *, epoch: int, aborting: bool) -> None:
        found.epoch, found.aborting = epoch, aborting
        found.pending, found.partitions = found.partitions, []
        self.counts["aborts"] += aborting


def _offset(entry: Entry) -> int:
    return entry.offset
