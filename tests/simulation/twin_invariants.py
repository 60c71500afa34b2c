"""What must hold of a simulated broker after any seed, read from its logs without a client."""

from collections import Counter

from streams.ledger_bytes import GENESIS_CHAIN, decode_head, decode_record, is_sealed
from streams.row_digest import sum_rows
from tests.simulation.subjects import Subject
from tests.simulation.twin_broker import Entry, Partition, TwinBroker


def check_broker(broker: TwinBroker, partitions: int, subject: Subject) -> int:
    """Assert outcomes, rows, head and chain of every partition against the plain fold.

    Returns the number of gaps: offsets that were deleted before any ledger had folded them.
    """
    found = 0
    for partition in range(partitions):
        place = ("events", partition)
        # Of a log that was created anew, what stands rests on the old one, as far as it went.
        log = broker.recreated.get(place, broker.logs[place])
        head = _read_head(broker, partition)
        folded = log.end if place not in broker.recreated else head
        gaps = _check_chain(broker, partition, folded, log)
        events = _read_folded(log, folded, gaps)
        said, rows = subject.fold(events, partition, gaps)
        _check_incomplete(broker, partition, gaps)
        for topic, expected in said.items():
            _check_outputs(broker, topic, partition, expected)
        _check_rows(broker, partition, rows, folded)
        found += len(gaps)
    return found


def _read_head(broker: TwinBroker, partition: int) -> int:
    heads = [e.value for e in broker.logs["rows", partition].committed() if e.key == b"h"]
    return decode_head(heads[-1] or b"").next_offset if heads else 0


def _read_folded(log: Partition, end: int, gaps: list[range]) -> list[Entry]:
    """Return what was folded: all that was ever appended, but for the gaps."""
    told = [*log.deleted, *log.committed()]
    return [e for e in told if e.offset < end and not any(e.offset in gap for gap in gaps)]


def _check_incomplete(broker: TwinBroker, partition: int, gaps: list[range]) -> None:
    """Assert that nothing was committed to behind a gap, as far as outputs say their offset."""
    for entry in broker.logs["commitments", partition].committed() if gaps else ():
        offset = int(dict(entry.headers).get("offset", b"-1"))
        assert offset < gaps[0].stop, f"partition {partition}: a commitment behind a gap"


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
    # What was aborted before its events were deleted cannot be held against anything.
    events = ("events", partition)
    if not broker.logs[events].deleted and events not in broker.recreated:
        assert not copies, f"{where}: an uncommitted copy differs: {next(iter(copies))}"


def _check_rows(broker: TwinBroker, partition: int, rows: dict[bytes, bytes], folded: int) -> None:
    latest = {entry.key: entry.value for entry in broker.logs["rows", partition].committed()}
    head_bytes = latest.pop(b"h", None)
    if not folded:
        return
    assert head_bytes is not None, f"partition {partition}: no head row"
    kept = {(key or b"")[1:]: value for key, value in latest.items() if value is not None}
    head = decode_head(head_bytes)
    expected = sum_rows(sorted(rows.items()))
    assert rows == kept, f"rows of partition {partition} differ"
    assert (expected.count, expected.digest) == (head.row_count, head.row_set_digest)
    assert folded == head.next_offset


def _check_chain(broker: TwinBroker, partition: int, folded: int, log: Partition) -> list[range]:
    """Assert that batches follow each other without a hole, and return the gaps they state."""
    chain, next_offset, gaps = GENESIS_CHAIN, 0, []
    for number, entry in enumerate(broker.logs["ledgers", partition].committed()):
        record = decode_record(entry.value or b"")
        where = f"partition {partition}, batch {number}"
        follows = (record.batch, record.previous, record.gap_from)
        assert (number, chain, next_offset) == follows, f"{where}: the chain breaks"
        assert is_sealed(record)
        if record.gap_from < record.first_offset:
            gaps.append(range(record.gap_from, record.first_offset))
            assert record.first_offset <= log.start, f"{where}: a gap where records stand"
        else:
            events = record.next_offset - record.first_offset
            assert events == len(record.fates), f"{where}: {events} events, other fates"
        chain, next_offset = record.chain, record.next_offset
    assert folded == next_offset
    return gaps
