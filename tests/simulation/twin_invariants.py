"""What must hold of a simulated broker after any seed, read from its logs without a client."""

from collections import Counter

from streams.ledger_bytes import GENESIS_CHAIN, decode_head, decode_record, is_sealed
from streams.row_digest import sum_rows
from tests.simulation.subjects import Subject
from tests.simulation.twin_broker import TwinBroker


def check_broker(broker: TwinBroker, partitions: int, subject: Subject) -> None:
    """Assert outcomes, rows, head and chain of every partition against the plain fold."""
    for partition in range(partitions):
        events = list(broker.logs["events", partition].committed())
        said, rows = subject.fold(events, partition)
        for topic, expected in said.items():
            _check_outputs(broker, topic, partition, expected)
        _check_rows(broker, partition, rows, len(events))
        _check_chain(broker, partition, len(events))


def _check_outputs(
    broker: TwinBroker, topic: str, partition: int, expected: list[tuple[bytes, bytes | None]]
) -> None:
    log = broker.logs[topic, partition]
    seen = [(entry.key or b"", entry.value) for entry in log.committed()]
    counts, wanted = Counter(seen), Counter(expected)
    lost, extra = wanted - counts, counts - wanted
    double = Counter({body: n for body, n in extra.items() if body in wanted})
    where = f"{topic}, partition {partition}"
    assert not lost, f"{where}: {lost.total()} lost, such as {next(iter(lost))}"
    assert not double, f"{where}: {double.total()} double, such as {next(iter(double))}"
    assert not extra, f"{where}: {extra.total()} divergent, such as {next(iter(extra))}"
    assert expected == seen, f"{where}: not in the order of the log"
    copies = {(e.key or b"", e.value) for e in log.entries if not e.marker} - set(expected)
    assert not copies, f"{where}: an uncommitted copy differs: {next(iter(copies))}"


def _check_rows(broker: TwinBroker, partition: int, rows: dict[bytes, bytes], events: int) -> None:
    latest = {entry.key: entry.value for entry in broker.logs["rows", partition].committed()}
    head_bytes = latest.pop(b"h", None)
    if not events:
        return
    assert head_bytes is not None, f"partition {partition}: no head row"
    kept = {(key or b"")[1:]: value for key, value in latest.items() if value is not None}
    head = decode_head(head_bytes)
    expected = sum_rows(sorted(rows.items()))
    assert rows == kept, f"rows of partition {partition} differ"
    assert (expected.count, expected.digest) == (head.row_count, head.row_set_digest)
    assert events == head.next_offset


def _check_chain(broker: TwinBroker, partition: int, events: int) -> None:
    chain, next_offset = GENESIS_CHAIN, 0
    for number, entry in enumerate(broker.logs["ledgers", partition].committed()):
        record = decode_record(entry.value or b"")
        follows = (record.batch, record.previous, record.first_offset)
        assert (number, chain, next_offset) == follows, f"partition {partition}: the chain breaks"
        assert is_sealed(record)
        chain, next_offset = record.chain, record.next_offset
    assert events == next_offset
