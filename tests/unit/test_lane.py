"""Laws of when a ledger on Kafka folds, and of what a failed one does next."""

from types import SimpleNamespace
from typing import cast

import pytest

from streams.failures import (
    CommitUnknownError,
    FencedError,
    LedgerBrokenError,
    LogShortenedError,
    StoreDamagedError,
    StoreUnavailableError,
    TooManyHaltsError,
)
from streams.kafka_log import KafkaLog
from streams.lane import (
    BACKOFF_MAX_S,
    BACKOFF_MIN_S,
    FAILURES_IN_ROW_MAX,
    FEW,
    PACE_NS,
    Lane,
    Treatment,
    describe,
    draw_pause_ns,
    judge,
)


@pytest.mark.parametrize(
    "error",
    [
        StoreUnavailableError("x"),
        CommitUnknownError("x"),
        StoreDamagedError("x"),
        OSError(24, "Too many open files"),
        MemoryError(),
    ],
)
def test_a_failure_of_the_world_is_tried_again_then_ends_the_process(error: Exception) -> None:
    """What another try may mend is tried again, but not for ever: others may fare better."""
    assert Treatment.AGAIN is judge(error, failures=1)
    assert Treatment.EXIT is judge(error, failures=FAILURES_IN_ROW_MAX)


def test_a_fenced_ledger_never_ends_the_process() -> None:
    """Fencing is no fault of this worker: it waits for its lease, however often that happens."""
    assert Treatment.AGAIN is judge(FencedError("x"), failures=100)


@pytest.mark.parametrize(
    "error",
    [StoreUnavailableError("No space left on device"), OSError(5, "Input/output error")],
)
def test_a_failing_disk_ends_the_process_at_once(error: Exception) -> None:
    """ENOSPC and EIO are not tried again on the same disk."""
    assert Treatment.EXIT is judge(error, failures=1)


@pytest.mark.parametrize(
    "error",
    [LedgerBrokenError("x"), LogShortenedError("x"), TooManyHaltsError("x"), RuntimeError("x")],
)
def test_what_nobody_else_mends_stays_stopped(error: Exception) -> None:
    """A broken ledger, a cut log and a fault of the core wait for a person."""
    assert Treatment.STOP is judge(error, failures=1)


def test_a_reason_repeats_no_value_of_a_foreign_exception() -> None:
    """Our own failures are told whole; of others the type and the place, not the message."""
    try:
        int("what ada wrote")
    except ValueError as error:
        foreign = describe(error)

    assert "StoreDamagedError: wipe the rows" == describe(StoreDamagedError("wipe the rows"))
    assert "OSError: [Errno 5] Input/output error" == describe(OSError(5, "Input/output error"))
    assert "KeyError" == describe(KeyError("what ada wrote"))
    assert foreign.startswith("ValueError in test_a_reason_repeats_no_value")
    assert "ada" not in foreign


@pytest.mark.parametrize("failures", [1, 2, 5, 5_000])
def test_pauses_grow_to_their_bound(failures: int) -> None:
    """A pause lies between half and all of a bound that doubles from 0.5 to 30 seconds."""
    bound_ns = min(BACKOFF_MAX_S, BACKOFF_MIN_S * 2 ** (min(failures, 20) - 1)) * 1e9

    assert bound_ns / 2 <= draw_pause_ns(failures) <= bound_ns


def test_few_records_wait_for_the_pace_and_many_do_not() -> None:
    """A lane with few records begins a batch once per pace; with many, or a half batch, at once."""
    lane = Lane(0, log=cast("KafkaLog", SimpleNamespace(buffered=1)))

    assert lane.begin_batch(now_ns=0)
    assert not lane.begin_batch(now_ns=PACE_NS - 1)
    assert lane.begin_batch(now_ns=PACE_NS)
    lane.more = True
    assert lane.begin_batch(now_ns=PACE_NS + 1)
    lane.more, lane.log = False, cast("KafkaLog", SimpleNamespace(buffered=FEW))
    assert lane.begin_batch(now_ns=PACE_NS + 2)
