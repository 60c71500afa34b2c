"""The start of a ledger: what it refuses, what it calls damage, and how it passes a gap."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from streams.failures import LedgerBrokenError, LogGapError, LogShortenedError, StoreDamagedError
from streams.local_log import LocalLog
from streams.ports import LogBounds, LogRecord, NewRecord
from streams.position import STORE_FORMAT
from tests.simulation.counting import CountingReducer
from tests.simulation.ledgers import IDENTITY, fold_all, make_ledger, make_log, number_records
from tests.simulation.memory_store import MemoryStore


def test_a_shortened_log_stops_the_start() -> None:
    """A log that ends before the last folded event is refused, not folded from its end."""
    store = MemoryStore()
    fold_all(make_ledger(make_log(number_records(5)), store))
    with pytest.raises(LogShortenedError, match="up to 4 are folded"):
        make_ledger(make_log(number_records(4)), store)


def test_a_replaced_log_stops_the_start() -> None:
    """A log with another event at the last folded offset is refused."""
    store = MemoryStore()
    fold_all(make_ledger(make_log(number_records(5)), store))
    other = [*number_records(4), NewRecord(b"key 1", b"edited")]
    with pytest.raises(LogShortenedError, match="offset 4"):
        make_ledger(make_log(other), store)


def test_rows_of_another_log_or_core_are_damage() -> None:
    """Rows of another log's identity, or of another core version, are to be folded anew."""
    store = MemoryStore()
    fold_all(make_ledger(make_log(number_records(5)), store))
    with pytest.raises(StoreDamagedError, match="another log"):
        make_ledger(make_log(number_records(5), identity=b"another identity"), store)
    newer = CountingReducer()
    newer.version = "counting-2"
    with pytest.raises(StoreDamagedError, match="counting-2"):
        make_ledger(make_log(number_records(5)), store, reducer=newer)


def test_rows_of_a_newer_format_are_never_wiped() -> None:
    """A build that meets the rows of a newer one stops instead of folding them anew."""
    store = MemoryStore()
    fold_all(make_ledger(make_log(number_records(5)), store))
    assert store.stored_head is not None
    store.stored_head = replace(store.stored_head, store_format=STORE_FORMAT + 1)
    with pytest.raises(LedgerBrokenError, match="newer build"):
        make_ledger(make_log(number_records(5)), store)


def test_each_start_counts_a_take_over() -> None:
    """The ledger records say how often the partition was taken over."""
    store = MemoryStore()
    log = make_log(number_records(1))
    for _ in range(3):
        fold_all(make_ledger(log, store))
        log.append(number_records(1))
    assert [0, 1, 2] == [record.take_overs for record in store.batches]


class ShortLog:
    """A log that has lost its first records."""

    identity = IDENTITY

    def __init__(self, log: LocalLog, start: int) -> None:
        """Hide what lies before start."""
        self._log, self._start = log, start

    def bounds(self) -> LogBounds:
        """Return the bounds that are left."""
        return LogBounds(self._start, self._log.bounds().end)

    def read(self, first: int, *, limit: int) -> Sequence[LogRecord]:
        """Read behind the gap."""
        assert first >= self._start
        return self._log.read(first, limit=limit)


def test_a_gap_is_written_to_the_ledger() -> None:
    """Records that are gone are named in the ledger and told to the reducer; folding goes on."""
    store = MemoryStore()
    log = make_log(number_records(20))
    ledger = make_ledger(ShortLog(log, 12), store)
    assert [8] == fold_all(ledger)
    assert b"0-12" == store.rows[b"gap"]
    assert [(0, 12, 12), (12, 12, 20)] == [
        (b.gap_from, b.first_offset, b.next_offset) for b in store.batches
    ]
    assert 20 == make_ledger(ShortLog(log, 15), store).head.next_offset


def test_a_gap_stops_a_reducer_that_cannot_go_on() -> None:
    """Without a rule for gaps the ledger stops and says what is missing."""

    class StrictReducer(CountingReducer):
        gap = None  # type: ignore[assignment]

    with pytest.raises(LogGapError, match="events 0 to 11"):
        make_ledger(
            ShortLog(make_log(number_records(20)), 12), MemoryStore(), reducer=StrictReducer()
        )
