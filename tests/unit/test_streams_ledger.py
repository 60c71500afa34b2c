"""The ledger: when a batch closes, what a failure leaves, and what stops it."""

import pytest

from streams.clock import SimulatedClock
from streams.failures import (
    CommitAbortedError,
    LedgerBrokenError,
    StoreDamagedError,
    StoreUnavailableError,
    TooManyHaltsError,
)
from streams.ledger import (
    EVENTS_PER_BATCH_MAX,
    HALTS_PER_MINUTE_MAX,
    OUTPUT_BYTES_PER_BATCH_MAX,
)
from streams.ports import Batch, Finished, Folded, LogRecord, NewRecord, RowReader
from tests.simulation.counting import CountingReducer
from tests.simulation.ledgers import fold_all, make_ledger, make_log, number_records
from tests.simulation.memory_store import MemoryStore


def test_a_batch_takes_what_is_at_hand() -> None:
    """Whatever waits is folded in one batch; at the end of the log nothing happens."""
    store = MemoryStore()
    ledger = make_ledger(make_log(number_records(10)), store)
    assert [10] == fold_all(ledger)
    assert {b"key 0": b"4", b"key 1": b"3", b"key 2": b"3"} == store.rows
    assert 10 == len(store.outputs("counts"))
    assert 0 == ledger.fold_batch()


def test_a_batch_closes_at_its_number_of_events() -> None:
    """No batch has more than EVENTS_PER_BATCH_MAX events."""
    ledger = make_ledger(make_log(number_records(EVENTS_PER_BATCH_MAX + 1)), MemoryStore())
    assert [EVENTS_PER_BATCH_MAX, 1] == fold_all(ledger)


def test_a_batch_closes_after_its_time() -> None:
    """Folding for 20 ms closes a batch, so that its first event is not kept waiting."""
    ledger = make_ledger(
        make_log(number_records(10)), MemoryStore(), clock=SimulatedClock(step_ms=5)
    )
    assert [4, 4, 2] == fold_all(ledger)


def test_a_batch_closes_at_its_output_bytes() -> None:
    """Outputs of 8 MB close a batch, so that memory and commit stay bounded."""
    value = bytes(OUTPUT_BYTES_PER_BATCH_MAX // 2)
    ledger = make_ledger(make_log([NewRecord(b"key", value)] * 5), MemoryStore())
    assert [2, 2, 1] == fold_all(ledger)


def test_a_raising_event_is_rejected_alone() -> None:
    """The event at which the core raises is rejected; every other one is folded as without it."""
    records = number_records(9)
    store = MemoryStore()
    with_fault = [*records[:4], NewRecord(b"key 1", b"raise"), *records[4:]]
    assert [4, 1, 5] == fold_all(make_ledger(make_log(with_fault), store))
    assert {b"key 0": b"3", b"key 1": b"3", b"key 2": b"3"} == store.rows
    assert [b"RuntimeError"] == [o.record.value for o in store.outputs("rejections")]
    assert [b""] * 4 + [b"core_fault"] + [b""] * 5 == [f for b in store.batches for f in b.fates]


def test_more_halts_than_the_bound_stop_the_ledger() -> None:
    """When more events raise within a minute than the bound, the core is at fault, not they."""
    raising = [NewRecord(b"key", b"raise")] * (HALTS_PER_MINUTE_MAX + 1)
    store = MemoryStore()
    ledger = make_ledger(make_log(raising), store)
    with pytest.raises(TooManyHaltsError, match="offset 10"):
        fold_all(ledger)
    assert HALTS_PER_MINUTE_MAX == len(store.outputs("rejections"))


def test_halts_spread_over_time_do_not_stop_the_ledger() -> None:
    """Halts more than a minute apart are counted apart."""
    clock = SimulatedClock()
    log = make_log([NewRecord(b"key", b"raise")] * (3 * HALTS_PER_MINUTE_MAX))
    ledger = make_ledger(log, MemoryStore(), clock=clock)
    for _ in range(3 * HALTS_PER_MINUTE_MAX):
        assert 1 == ledger.fold_batch()
        clock.advance(10_000)


def test_a_failing_world_blames_no_event() -> None:
    """A store or a disk that fails, wherever it is asked, stops the ledger and rejects nothing."""

    class FailingFold(CountingReducer):
        def fold(self, rows: RowReader, record: LogRecord) -> Folded:
            raise self.error

    class FailingFinish(CountingReducer):
        def finish(self) -> Finished:
            raise self.error

    class FailingFault(CountingReducer):
        def fold(self, rows: RowReader, record: LogRecord) -> Folded:
            raise RuntimeError

        def fault(self, rows: RowReader, record: LogRecord, error: Exception) -> Folded:
            raise self.error

    for failing in (FailingFold, FailingFinish, FailingFault):
        for error in (
            StoreUnavailableError("disk"),
            StoreDamagedError("block"),
            OSError(5, "I/O"),
            MemoryError(),
        ):
            store, reducer = MemoryStore(), failing()
            reducer.error = error
            ledger = make_ledger(make_log(number_records(3)), store, reducer=reducer)
            with pytest.raises(type(error)):
                ledger.fold_batch()
            assert [] == store.batches
            with pytest.raises(LedgerBrokenError):
                ledger.fold_batch()


def test_an_aborted_commit_is_folded_again_in_halves() -> None:
    """Aborted commits change nothing; after two in a row the batch is halved down to one event."""
    sizes: list[int] = []

    def refuse_large(batch: Batch) -> None:
        sizes.append(len(batch.record.fates))
        if sizes[-1] > 1:
            raise CommitAbortedError("too large")

    store = MemoryStore(refuse_large)
    ledger = make_ledger(make_log(number_records(8)), store)
    assert 1 == ledger.fold_batch()
    assert [8, 8, 4, 2, 1] == sizes
    store.before_commit = lambda _: None
    assert [2, 4, 1] == fold_all(ledger)
    plain = MemoryStore()
    fold_all(make_ledger(make_log(number_records(8)), plain))
    assert (plain.rows, plain.placed) == (store.rows, store.placed)


def test_an_unknown_result_needs_a_new_start() -> None:
    """Whether a commit of unknown result happened or not, the next start goes on exactly."""
    for hook in ("before_commit", "after_commit"):
        store, log = MemoryStore(), make_log(number_records(5))
        ledger = make_ledger(log, store)

        def lose_answer(_: Batch) -> None:
            raise TimeoutError

        setattr(store, hook, lose_answer)
        with pytest.raises(TimeoutError):
            ledger.fold_batch()
        with pytest.raises(LedgerBrokenError):
            ledger.fold_batch()
        setattr(store, hook, lambda _: None)
        fold_all(make_ledger(log, store))
        assert [b"1 0", b"1 1", b"1 2", b"2 3", b"2 4"] == [
            o.record.value for o in store.outputs("counts")
        ]


def test_an_event_that_cannot_even_be_rejected_stops_the_ledger() -> None:
    """When the core raises while it rejects, nothing is left that would be right to write."""

    class HopelessReducer(CountingReducer):
        def fault(self, rows: RowReader, record: LogRecord, error: Exception) -> Folded:
            raise ValueError

    store = MemoryStore()
    ledger = make_ledger(make_log([NewRecord(b"key", b"raise")]), store, reducer=HopelessReducer())
    with pytest.raises(LedgerBrokenError, match="offset 0"):
        ledger.fold_batch()
    assert [] == store.batches
