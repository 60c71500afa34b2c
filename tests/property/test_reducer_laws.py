"""The ledger over the core gives exactly what a plain fold gives, however it is driven.

Caches of any size, batches of any size, commits refused or left unknown, restarts, faults of the
core and several users at once change no fate, no output and no row.
"""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.codec import encode, unframe
from schemas.event import Event
from schemas.row import DeadlineRow, UserHead
from streams.clock import SimulatedClock
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from streams.failures import CommitAbortedError, CommitUnknownError
from streams.ledger import Ledger
from streams.ports import NewRecord
from streams.row_layout import ROW_FORMAT, row_key
from streams.user_cache import UserCache
from tests.plain_fold import HeldLog, check_same, fold_plainly, number_events
from tests.random_history import tell_crowd
from tests.simulation.memory_store import MemoryStore

ROOT = Path(__file__).parent.parent.parent
CACHES = (0, 2_000, 20_000, 200_000, 256 * 2**20)
few = settings(max_examples=8, deadline=None)


class RaisingReducer(CoreReducer):
    """The core's reducer, but for events at which the core is said to raise."""

    def __init__(self, broken, cache_bytes):
        super().__init__(cache_bytes=cache_bytes)
        self.broken = broken

    def fold(self, rows, record):
        event, _ = unframe(Event, record.value)
        if event.event_id in self.broken:
            raise ZeroDivisionError
        return super().fold(rows, record)


def draw_log(seed, **changes):
    """Return the log records of a crowd's history and the ids at which the core raises."""
    told = tell_crowd(seed, **changes)
    events = sorted(told.events + told.broken, key=lambda event: int(event.event_id[1:]))
    return number_events(events), frozenset(event.event_id for event in told.broken)


def fold_all(ledger):
    """Fold to the end; a failed batch starts the ledger anew."""
    ledger.start()
    while True:
        try:
            if not ledger.fold_batch():
                return
        except CommitUnknownError:
            ledger.start()


def drive(records, broken, *, cache_bytes, store=None, at_once=lambda: 10_000, step_ms=0):
    """Fold records through a ledger and return its store."""
    store = MemoryStore() if store is None else store
    log = HeldLog(records, at_once)
    reducer = RaisingReducer(broken, cache_bytes)
    clock = SimulatedClock(step_ms=step_ms)
    ledger = Ledger(log=log, store=store, reducer=reducer, clock=clock)
    fold_all(ledger)
    return store


@pytest.mark.parametrize("cache_bytes", CACHES)
@pytest.mark.parametrize("step_ms", [0, 5, 20])
def test_no_cache_and_no_batch_changes_anything(cache_bytes, step_ms):
    """Whole logs, batches of four and single events give one result, with cache or without."""
    records, broken = draw_log(step_ms)

    check_same(
        drive(records, broken, cache_bytes=cache_bytes, step_ms=step_ms),
        fold_plainly(records, broken),
    )


@few
@given(st.integers(0, 10**6), st.sampled_from(CACHES), st.integers(0, 10**6))
def test_refused_and_unknown_commits_change_nothing(seed, cache_bytes, luck):
    """A batch that is aborted, or whose answer is lost, is folded again to the same."""
    draw = random.Random(luck)
    records, broken = draw_log(seed, users=3, events=60)

    def fail(_batch):
        chance = draw.random()
        if chance < 0.25:
            raise CommitAbortedError
        if chance < 0.35:
            raise CommitUnknownError

    def lose_answer(_batch):
        if draw.random() < 0.1:
            raise CommitUnknownError

    store = MemoryStore(before_commit=fail)
    store.after_commit = lose_answer
    drive(
        records,
        broken,
        cache_bytes=cache_bytes,
        store=store,
        at_once=lambda: draw.randint(1, 30),
    )

    check_same(store, fold_plainly(records, broken))


@few
@given(st.integers(0, 10**6), st.sampled_from(CACHES))
def test_a_restart_at_any_event_changes_nothing(seed, cache_bytes):
    """A reducer that starts with an empty cache in the middle of a log goes on as the old one."""
    records, broken = draw_log(seed, users=2, events=40)
    draw = random.Random(seed)
    store = MemoryStore()
    known = 0
    while known < len(records):
        known = min(len(records), known + draw.randint(1, 15))
        drive(records[:known], broken, cache_bytes=cache_bytes, store=store)

    check_same(store, fold_plainly(records, broken))


@few
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_many_users_share_a_cache_that_holds_one(seed, users):
    """Users that push each other out of the cache at every batch are folded as if alone."""
    records, broken = draw_log(seed, users=users * 3, events=80)

    check_same(
        drive(records, broken, cache_bytes=1, at_once=lambda: 3),
        fold_plainly(records, broken),
    )


def digest_ledger(seed):
    """Return the chain and the row digest of a crowd's log, folded in one process."""
    records, broken = draw_log(seed)
    head = drive(records, broken, cache_bytes=20_000, at_once=lambda: 40).stored_head
    return f"{head.chain.hex()}{head.row_set_digest.hex()}"


def test_two_processes_with_two_hash_seeds_write_the_same_ledger():
    """Fates, outputs and rows of whole ledgers agree between processes (spec 1.3)."""
    code = (
        "import importlib.util;"
        f"spec = importlib.util.spec_from_file_location('laws', {str(Path(__file__))!r});"
        "laws = importlib.util.module_from_spec(spec); spec.loader.exec_module(laws);"
        "print(*[laws.digest_ledger(seed) for seed in range(2)])"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]

    assert found[0] == found[1]
    assert found[0][0] == digest_ledger(0)


def test_the_rows_of_the_partition_do_not_crowd_users_out():
    """Deadlines that came and went do not count against the cache for ever."""
    records, broken = draw_log(1, users=1)
    store = drive(records, broken, cache_bytes=0)
    deadline = DeadlineRow("t", "u0", "turn")
    ids = [f"{number:016d}\0t\0u0\0turn" for number in range(2_000)]
    store.rows |= {row_key(b"", DeadlineRow, one): ROW_FORMAT + encode(deadline) for one in ids}
    cache = UserCache(100_000)
    for one in ids:
        assert deadline == cache.view(store, "t", "u0").get(DeadlineRow, one)
        cache.release()

    assert cache.view(store, "t", "u0").get(UserHead, "") is not None
    cache.release()
    assert "" in cache.view(store, "t", "u0").tables[UserHead].rows


@pytest.mark.parametrize("cache_bytes", [0, 20_000])
def test_a_folder_on_disk_holds_the_same(tmp_path, cache_bytes):
    """Appended and folded in pieces, by one process after another, with the real row store."""
    records, _ = draw_log(5, users=3, events=90)
    draw = random.Random(cache_bytes)
    clock = SimulatedClock(start_ms=records[-1].timestamp_ms)
    known = 0
    while known < len(records):
        reducer = CoreReducer(cache_bytes=cache_bytes)
        with Embedded(tmp_path / "log", reducer, clock=clock) as embedded:
            for _ in range(draw.randint(1, 3)):
                until = min(len(records), known + draw.randint(1, 25))
                embedded.append([NewRecord(one.key, one.value) for one in records[known:until]])
                known = until
                embedded.fold_pending()
    with Embedded(tmp_path / "log", CoreReducer()) as embedded:
        plain = fold_plainly(embedded.log.read(0, limit=10_000))
        with embedded.reading() as store:
            rows = dict([*store.scan(b"u"), *store.scan(b"p")])
        outputs = [
            (one.offset, one.place, one.record.key, one.record.value)
            for topic in ("commitments", "failures", "packets", "repairs", "surfaces")
            for one in embedded.outputs(topic)
        ]

    assert plain.rows == rows
    assert plain.outputs == sorted(outputs, key=lambda one: one[:2])


def test_rows_held_between_folds_are_those_of_the_folder(tmp_path):
    """Of two that fold in turn each goes on behind the other, whatever it still holds decoded."""
    records, _ = draw_log(7, users=2, events=60)
    clock = SimulatedClock(start_ms=records[-1].timestamp_ms)
    draw = random.Random(7)
    both = [Embedded(tmp_path / "log", CoreReducer(), clock=clock) for _ in range(2)]
    for one in records:
        draw.choice(both).append([NewRecord(one.key, one.value)])
        draw.choice(both).fold_pending()
    plain = fold_plainly(both[0].log.read(0, limit=10_000))
    with both[0].reading() as store:
        rows = dict([*store.scan(b"u"), *store.scan(b"p")])
    for embedded in both:
        embedded.close()

    assert plain.rows == rows
