"""An independent checker of exactly-once: reads every topic itself and folds the input purely.

It shares no code with the ledger but the encoding of head row and ledger record.
"""

import time
from collections import Counter
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from streams.ledger_bytes import GENESIS_CHAIN, decode_head, decode_record, is_sealed
from streams.row_digest import sum_rows

Body = tuple[bytes, bytes]
MARKERS_S = 5


@dataclass(frozen=True)
class Verdict:
    """What the checker found, as counts; all but `expected` are zero when all is well."""

    expected: int
    lost: int
    duplicate: int
    divergent: int
    disordered: int
    wrong_states: int
    broken_chains: int

    @property
    def faults(self) -> int:
        """Return the sum of everything that must not happen."""
        return (
            self.lost
            + self.duplicate
            + self.divergent
            + self.disordered
            + self.wrong_states
            + self.broken_chains
        )


def read_partition(
    bootstrap_servers: str, topic: str, partition: int, *, isolation: str = "read_committed"
) -> list[tuple[bytes, bytes | None]]:
    """Return (key, value) of every record of a partition, from its start to its end."""
    messages = read_messages(bootstrap_servers, topic, partition, isolation=isolation)
    return [(message.key() or b"", message.value()) for message in messages]


def read_messages(
    bootstrap_servers: str, topic: str, partition: int, *, isolation: str = "read_committed"
) -> list[Message]:
    """Return every message of a partition, from its start to its end."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "checker",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "isolation.level": isolation,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 10,
            "log_level": 0,
        }
    )
    end = _ask_end(consumer, TopicPartition(topic, partition))
    consumer.assign([TopicPartition(topic, partition, 0)])
    found: list[Message] = []
    deadline = time.monotonic() + 60
    settled_at: float | None = None
    try:
        while time.monotonic() < deadline:
            if settled_at is not None and time.monotonic() > settled_at:
                return found
            for message in consumer.consume(5000, 0.2):
                error = message.error()
                # Under load a partition is never seen to end; what came later is not asked for.
                if error is None and message.offset() >= end:
                    return found
                if error is None:
                    found.append(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    if message.offset() >= end:
                        return found
                    # The marker of a commit comes after its answer; an open transaction's never.
                    settled_at = time.monotonic() + MARKERS_S
        raise AssertionError(f"{topic}-{partition} was not read to its end")
    finally:
        consumer.close()


def _ask_end(consumer: Consumer, place: TopicPartition) -> int:
    """Return the end of the partition; a new or moving one has no leader for a moment."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return int(consumer.get_watermark_offsets(place, 10)[1])
        except KafkaException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def count_committed(bootstrap_servers: str, topic: str, partitions: int) -> int:
    """Return how many records a read_committed reader sees in all partitions."""
    return sum(
        len(read_partition(bootstrap_servers, topic, partition)) for partition in range(partitions)
    )


def check_counting(bootstrap_servers: str, prefix: str, partitions: int) -> Verdict:
    """Compare outputs, rows and chain of every partition with a fold of its input."""
    total: Counter[str] = Counter()
    for partition in range(partitions):
        events = read_partition(bootstrap_servers, f"{prefix}events", partition)
        expected, rows = _fold(events)
        topic = f"{prefix}commitments"
        committed = [(k, v or b"") for k, v in read_partition(bootstrap_servers, topic, partition)]
        seen = read_partition(bootstrap_servers, topic, partition, isolation="read_uncommitted")
        counts = Counter(committed)
        total["expected"] += len(expected)
        total["lost"] += sum(1 for body in expected if not counts[body])
        total["duplicate"] += sum(count - 1 for count in counts.values())
        total["divergent"] += len({(k, v or b"") for k, v in seen} - set(expected))
        total["disordered"] += int(sorted(committed) == sorted(expected) and committed != expected)
        total["wrong_states"] += int(not state_matches(bootstrap_servers, prefix, partition, rows))
        total["broken_chains"] += int(not chain_holds(bootstrap_servers, prefix, partition))
    names = ("expected", "lost", "duplicate", "divergent", "disordered")
    states = ("wrong_states", "broken_chains")
    return Verdict(**{name: total[name] for name in (*names, *states)})


def _fold(events: list[tuple[bytes, bytes | None]]) -> tuple[list[Body], dict[bytes, bytes]]:
    seen: Counter[bytes] = Counter()
    outputs: list[Body] = []
    for key, value in events:
        seen[key] += 1
        outputs.append((key, b"%d %b" % (seen[key], value or b"")))
    return outputs, {key: b"%d" % count for key, count in seen.items()}


def state_matches(
    bootstrap_servers: str, prefix: str, partition: int, rows: dict[bytes, bytes]
) -> bool:
    """Return whether the topic's rows, and the digest in its head row, are those of the fold."""
    latest = dict(read_partition(bootstrap_servers, f"{prefix}rows", partition))
    head_bytes = latest.pop(b"h", None)
    if head_bytes is None:
        return not rows and not latest
    head = decode_head(head_bytes)
    expected = sum_rows(sorted(rows.items()))
    kept = {key[1:]: value for key, value in latest.items() if value is not None}
    stated = (head.row_count, head.row_set_digest)
    return kept == rows and stated == (expected.count, expected.digest)


def chain_holds(bootstrap_servers: str, prefix: str, partition: int) -> bool:
    """Return whether the ledger records follow each other without gap or overlap."""
    chain, next_offset = GENESIS_CHAIN, 0
    for number, (_, value) in enumerate(
        read_partition(bootstrap_servers, f"{prefix}ledgers", partition)
    ):
        record = decode_record(value or b"")
        follows = (record.batch, record.previous, record.first_offset)
        if follows != (number, chain, next_offset) or not is_sealed(record):
            return False
        chain, next_offset = record.chain, record.next_offset
    return True


def assert_exact(bootstrap_servers: str, prefix: str, partitions: int = 1) -> None:
    """Fail with the counts unless every outcome is there once and exact."""
    verdict = check_counting(bootstrap_servers, prefix, partitions)
    assert verdict.faults == 0, verdict
