"""The ledger without rules: group commit and durable append against the bare disk, fold throughput.

Each figure is a ratio within its own run, with both sides taken in turn, because the disk of a
shared machine changes from second to second. `measure()` is what `make bench` calls.
"""

import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.figures import Figure
from streams.batch_draft import Draft, close_draft
from streams.clock import SystemClock
from streams.embedded import Embedded
from streams.files import DiskFiles
from streams.ledger import Ledger
from streams.local_log import LocalLog
from streams.overlay import Overlay
from streams.ports import Batch, LogBounds, LogRecord, NewRecord
from streams.row_store import open_writer
from streams.segments import encode_frames
from tests.simulation.counting import CountingReducer

EVENT_BYTES: Final = 400
EVENTS_PER_COMMIT: Final = 500
ROUNDS: Final = 40
EVENTS: Final = 100_000
KEYS: Final = 5_000
IDENTITY: Final = b"identity-of-log!"


def make_records(count: int, *, keys: int, first: int = 0) -> list[NewRecord]:
    """Return events of a fixed size, spread over the keys."""
    filling = b"." * (EVENT_BYTES - 24)
    return [
        NewRecord(b"user-%07d" % (n * 7919 % keys), b"%024d" % n + filling)
        for n in range(first, first + count)
    ]


def time_call(call: Callable[[], object]) -> float:
    """Return how many seconds a call takes."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def append_raw(handle: int, content: bytes) -> None:
    """Append and sync, as cheaply as the system offers."""
    os.write(handle, content)
    os.fdatasync(handle)


def measure_append(folder: Path, records_per_call: int) -> dict[str, float]:
    """Return the cost of a durable append over that of the same bytes written and synced."""
    (folder / "log").mkdir(parents=True)
    log = LocalLog(folder / "log", identity=IDENTITY, files=DiskFiles(), clock=SystemClock())
    raw = os.open(folder / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    ours, floor = [], []
    for turn in range(ROUNDS):
        records = make_records(records_per_call, keys=KEYS, first=turn * records_per_call)
        content = encode_frames(records, identity=IDENTITY, first_offset=0, timestamp_ms=0)
        floor.append(time_call(lambda c=content: append_raw(raw, c)))
        ours.append(time_call(lambda r=records: log.append(r)))
    os.close(raw)
    log.close()
    return compare(ours, floor, records_per_call)


def measure_commit(folder: Path, events_per_commit: int) -> dict[str, float]:
    """Return the cost of committing a folded batch over that of its bytes written and synced."""
    store = open_writer(folder / "rows")
    raw = os.open(folder / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    ledger = Ledger(log=_NoLog(), store=store, reducer=CountingReducer(), clock=SystemClock())
    ledger.start()
    head, reducer = ledger.head, CountingReducer()
    ours, floor = [], []
    for turn in range(ROUNDS):
        first = turn * events_per_commit
        draft = Draft(Overlay(store))
        for place, record in enumerate(make_records(events_per_commit, keys=KEYS, first=first)):
            placed = LogRecord(first + place, record.key, record.value, 0, ())
            draft.add(placed.offset, reducer.fold(draft.overlay, placed))
        batch = close_draft(
            head,
            draft,
            first_offset=first,
            record_digest=b"",
            next_offset=first + events_per_commit,
        )
        content = bytes(measure_batch(batch))
        floor.append(time_call(lambda c=content: append_raw(raw, c)))
        ours.append(time_call(lambda b=batch: store.commit(b)))
        head = batch.head
    os.close(raw)
    store.close()
    return compare(ours, floor, events_per_commit)


def measure_batch(batch: Batch) -> int:
    """Return how many bytes a batch carries."""
    outputs = sum(
        len(o.record.key) + len(o.record.value or b"") + len(o.record.topic) + 12
        for o in batch.outputs
    )
    rows = sum(len(key) + len(value or b"") for key, value in batch.changes.items())
    return outputs + rows + len(batch.head_bytes) + len(batch.record_bytes)


class _NoLog:
    """A log without records, for a ledger that only gives its first head."""

    identity = IDENTITY

    def bounds(self) -> LogBounds:
        return LogBounds(0, 0)

    def read(self, first: int, *, limit: int) -> list[LogRecord]:
        raise AssertionError((first, limit))


def compare(ours: list[float], floor: list[float], events: int) -> dict[str, float]:
    """Return medians in microseconds per event, and their ratio."""
    mine, bare = statistics.median(ours), statistics.median(floor)
    return {
        "us_per_event": round(mine / events * 1e6, 2),
        "floor_us_per_event": round(bare / events * 1e6, 2),
        "ratio": round(mine / bare, 2),
    }


def measure_fold(folder: Path, *, keys: int) -> dict[str, float]:
    """Return throughput, durable, of the counting reducer, and the memory that it took."""
    with Embedded(folder / "log", CountingReducer()) as embedded:
        appended = time_call(
            lambda: [
                embedded.append(make_records(1_000, keys=keys, first=first))
                for first in range(0, EVENTS, 1_000)
            ]
        )
        before = resident_mb()
        seconds = time_call(embedded.fold_pending)
        reopened = time_call(embedded.fold_pending)
        return {
            "appended_per_second": round(EVENTS / appended),
            "folded_per_second": round(EVENTS / seconds),
            "us_per_event": round(seconds / EVENTS * 1e6, 1),
            "start_seconds": round(reopened, 3),
            "resident_mb_before": before,
            "resident_mb_after": resident_mb(),
        }


def resident_mb() -> int:
    """Return the resident memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() >> 20


def measure() -> dict[str, dict[str, float]]:
    """Return every figure of this page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return {
            "append, 1 event per call": measure_append(folder / "1", 1),
            "append, 500 events per call": measure_append(folder / "2", EVENTS_PER_COMMIT),
            "commit, 1 event per batch": measure_commit_in(folder / "3", 1),
            "commit, 500 events per batch": measure_commit_in(folder / "4", EVENTS_PER_COMMIT),
            "fold, 5,000 users": measure_fold(folder / "5", keys=KEYS),
            "fold, 100,000 users": measure_fold(folder / "6", keys=EVENTS),
        }


def list_figures() -> list[Figure]:
    """Return the figures of (g), and what else the ledger costs without rules."""
    found = measure()
    figures = [
        Figure("g", f"{name} / raw append + fdatasync", part["ratio"])
        for name, part in found.items()
        if "ratio" in part
    ]
    for name, part in found.items():
        if "folded_per_second" in part:
            rate = part["folded_per_second"]
            figures.append(Figure("g", f"counting reducer, {name}", rate, "events/s", rises=True))
    return figures


def measure_commit_in(folder: Path, events_per_commit: int) -> dict[str, float]:
    """Measure in a fresh folder."""
    folder.mkdir(parents=True)
    return measure_commit(folder, events_per_commit)


if __name__ == "__main__":
    for name, figures in measure().items():
        print(f"{name:32}", "  ".join(f"{key} {value}" for key, value in figures.items()))
