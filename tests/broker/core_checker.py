"""The checker of exactly-once for the core: one plain fold of the input in one dictionary of rows.

No ledger, overlay, batch or store takes part; what the topics hold is read by the checker itself.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from streams.committed import CommittedPartition
from streams.connection import Connection
from streams.core_reducer import CoreReducer
from streams.ledger_bytes import decode_head
from streams.ports import LogRecord
from tests.broker.checker import (
    Verdict,
    chain_holds,
    read_messages,
    read_partition,
    state_matches,
)

OUTCOMES = ("commitments", "repairs", "failures", "packets", "surfaces", "rejections")
Body = tuple[bytes, bytes | None]


class PlainRows(dict[bytes, bytes]):
    """Rows in a dictionary, as a reducer reads them."""

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows below a prefix in order."""
        yield from sorted((k, v) for k, v in self.items() if k.startswith(prefix))


def fold_plainly(
    records: Sequence[LogRecord], partition: int, gaps: Sequence[range] = ()
) -> tuple[dict[str, list[Body]], PlainRows]:
    """Return the outputs of each topic, in order, and all rows that the records lead to.

    ``gaps`` are the offsets that were gone before they were folded.
    """
    reducer, rows = CoreReducer(partition=partition), PlainRows()
    outputs: dict[str, list[Body]] = {topic: [] for topic in OUTCOMES}
    waiting = list(gaps)
    for record in records:
        while waiting and waiting[0].stop <= record.offset:
            gap = waiting.pop(0)
            reducer.gap(rows, missing_from=gap.start, next_offset=gap.stop)
        folded = reducer.fold(rows, record)
        for key, value in folded.changes.items():
            _put(rows, key, value)
        for output in folded.outputs:
            if output.topic in outputs:
                outputs[output.topic].append((output.key, output.value))
    for gap in waiting:
        reducer.gap(rows, missing_from=gap.start, next_offset=gap.stop)
    for key, value in reducer.finish().rows.items():
        _put(rows, key, value)
    return outputs, rows


def check_core(bootstrap_servers: str, prefix: str, partitions: int) -> Verdict:
    """Compare outcomes, rows and chain of every partition with the plain fold of its input."""
    total: Counter[str] = Counter()
    for partition in range(partitions):
        messages = read_messages(bootstrap_servers, f"{prefix}events", partition)
        records = [
            LogRecord(m.offset(), m.key(), m.value(), m.timestamp()[1], tuple(m.headers() or ()))
            for m in messages
        ]
        outputs, rows = fold_plainly(records, partition)
        for topic, expected in outputs.items():
            total += _compare(bootstrap_servers, f"{prefix}{topic}", partition, expected)
        total["wrong_states"] += int(not state_matches(bootstrap_servers, prefix, partition, rows))
        total["broken_chains"] += int(not chain_holds(bootstrap_servers, prefix, partition))
    return Verdict(**{name: total[name] for name in Verdict.__dataclass_fields__})


def is_folded(bootstrap_servers: str, prefix: str, partitions: int) -> bool:
    """Return whether the head row of every partition stands at the end of its input."""
    connection = Connection(bootstrap_servers=bootstrap_servers)
    for partition in range(partitions):
        with CommittedPartition(connection, topic=f"{prefix}events", partition=partition) as events:
            end = events.bounds().end
        with CommittedPartition(connection, topic=f"{prefix}rows", partition=partition) as rows:
            head = rows.read_last(lambda found: found.key() == b"h")
        if end and (head is None or decode_head(head.value()).next_offset < end):
            return False
    return True


def _compare(
    bootstrap_servers: str, topic: str, partition: int, expected: list[Body]
) -> Counter[str]:
    committed = read_partition(bootstrap_servers, topic, partition)
    seen = read_partition(bootstrap_servers, topic, partition, isolation="read_uncommitted")
    counts, wanted = Counter(committed), Counter(expected)
    return Counter(
        expected=len(expected),
        lost=(wanted - counts).total(),
        duplicate=sum(max(0, found - max(1, wanted[body])) for body, found in counts.items()),
        divergent=len(set(seen) - set(expected)),
        disordered=int(counts == wanted and committed != expected),
    )


def _put(rows: PlainRows, key: bytes, value: bytes | None) -> None:
    if value is None:
        rows.pop(key, None)
    else:
        rows[key] = value
