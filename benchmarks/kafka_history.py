"""One seeded history on a topic, and all that must come of it by one plain fold."""

import time
from collections import Counter
from dataclasses import dataclass, field

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.history import zipf_history
from benchmarks.kafka_runtimes.folding import TableRows, build_reducer
from benchmarks.kafka_runtimes.state import digest_rows
from infra.appending import seal_event
from infra.kafka_appending import EventProducer
from schemas.codec import unframe
from schemas.partition import partition_of
from streams.connection import Connection
from streams.ports import LogRecord
from streams.row_store import COMPACTED

USERS = 2_000


@dataclass
class History:
    """Sealed records in the order of their appending, and what the broker said of each."""

    records: list
    turns: dict[str, int]
    genesis: object
    partitions: int
    stamps: dict[int, int] = field(default_factory=dict)

    @classmethod
    def draw(cls, *, events, turns, partitions, seed=1):
        """Return a history of about so many events, of which turns take two each."""
        told = zipf_history(events=max(1, events - 2 * turns), users=USERS, turns=turns, seed=seed)
        genesis = next(told)
        records, asked = [], {}
        for number, event in enumerate(told):
            if type(event.payload).__name__ == "TurnRequested":
                asked[event.event_id] = number
            record = seal_event(event)
            records.append((record.key, record.value, partition_of(record.key, partitions)))
        return cls(records, asked, genesis, partitions)

    def append(self, bootstrap, prefix, *, per_second=None, first=0, count=None, stopped=None):
        """Append records at once, or at a steady rate; return the seconds that it took."""
        connection = Connection(bootstrap_servers=bootstrap)
        if first == 0:
            EventProducer(connection, prefix=prefix, partitions=self.partitions).append(
                [self.genesis]
            )
        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 1,
                "queue.buffering.max.messages": 1_000_000,
            }
        )
        chosen = self.records[first:] if count is None else self.records[first : first + count]
        began = time.monotonic()
        for place, (key, value, part) in enumerate(chosen):
            if per_second is not None and place % 10 == 0:
                producer.poll(0)
                time.sleep(max(0.0, began + place / per_second - time.monotonic()))
            if stopped is not None and stopped.is_set():
                break
            producer.produce(
                f"{prefix}events", value, key, part, on_delivery=self._note(first + place)
            )
            if place % 1_000 == 0:
                producer.poll(0)
        assert producer.flush(120) == 0
        return time.monotonic() - began

    def stamp_of(self, topic, value):
        """Return when the event was appended that an output came from, or None if untold."""
        if topic == "packets":
            from schemas.packet import Packet  # noqa: PLC0415  # only where the core folds

            number = self.turns.get(unframe(Packet, value)[0].turn_id)
        elif topic == "commitments" and value[:1].isdigit():
            number = self._numbers().get(value.split(b" ", 1)[1])
        else:
            return None
        return None if number is None else self.stamps.get(number)

    def _numbers(self):
        if not hasattr(self, "_by_value"):
            self._by_value = {value: number for number, (_, value, _) in enumerate(self.records)}
        return self._by_value

    def _note(self, number):
        def note(error, message):
            assert error is None, error
            self.stamps[number] = message.timestamp()[1]

        return note


@dataclass(frozen=True)
class Expected:
    """What a plain fold of the topic says: outputs as a multiset, and the digest of all rows."""

    outputs: Counter
    rows: tuple[int, str]


def read_records(bootstrap, topic, partition, *, isolation="read_committed"):
    """Return every record of a partition, to its end as it stands."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0)])
    found, quiet = [], 0
    while quiet < 50:
        messages = consumer.consume(10_000, 0.2)
        quiet = 0 if messages else quiet + 1
        for message in messages:
            if message.error() is None:
                found.append(message)
            else:
                consumer.close()
                return found
    raise AssertionError(f"{topic}-{partition} was not read to its end")


def fold_plainly(bootstrap, prefix, partitions, kind):
    """Fold the topic in dictionaries, each event a batch of its own."""
    outputs, rows = Counter(), {}
    for part in range(partitions):
        reducer, table = build_reducer(kind, part), TableRows({}, [])
        for message in read_records(bootstrap, f"{prefix}events", part):
            record = LogRecord(
                message.offset(), message.key(), message.value(), message.timestamp()[1], ()
            )
            folded = reducer.fold(table, record)
            for key, value in folded.changes.items():
                table.put(key, value)
            for output in folded.outputs:
                if output.topic not in COMPACTED:
                    outputs[output.topic, output.key, output.value] += 1
        for key, value in reducer.finish().rows.items():
            table.put(key, value)
        rows |= {(part, key): value for key, value in table.table.items()}
    return Expected(outputs, digest_rows(rows))
