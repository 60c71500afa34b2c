"""What folding costs: durable throughput, growth with history, many users, one large turn.

(a) durable fold throughput / a bare fastavro decode loop of the same bytes, turns apart;
(b) one observation with 20,000 units on file / with 100; (e) resident memory at 100,000 users;
(f) one turn of a user with 20,000 units, cold and warm, and what others wait meanwhile. CPU time
of the thread where a ratio is meant, since machines are shared; every fold runs the real core
over a real durable log.
"""

import gc
import io
import random
import resource
import shutil
import statistics
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import fastavro

from benchmarks.figures import Figure
from benchmarks.history import (
    CONTRACTED,
    OBSERVED,
    build_event,
    build_observation,
    build_turn,
    dialogue_history,
    zipf_history,
)
from infra.appending import append_events, seal_event
from infra.genesis import build_genesis
from schemas.codec import HEADER_BYTES, parsed_schema
from schemas.event import Event
from streams.clock import SystemClock
from streams.collection import collecting_rarely
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from streams.ledger import Ledger
from streams.row_store import open_writer

EVENTS = 20_000
USERS = 2_000
ROUNDS = 5
TURNS = 500
LARGE = 20_000
SMALL = 100
WATCHED = 200
CROWD = 100_000
MORE = 25_000
OTHERS = 400


@contextmanager
def scratch():
    """Yield an embedded log in a folder that goes away; figures of rejected events are none."""
    folder = Path(tempfile.mkdtemp(prefix="commitments-bench-"))
    try:
        with Embedded(folder / "log", CoreReducer()) as embedded:
            yield embedded
            embedded.fold_pending()
            rejected = next(iter(embedded.outputs("rejections")), None)
            assert rejected is None, f"the event at offset {rejected.offset} was rejected"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def folding(embedded):
    """Yield a started ledger over a folder, so that a start is in no figure."""
    store = open_writer(embedded.path / "rows")
    try:
        ledger = Ledger(log=embedded.log, store=store, reducer=CoreReducer(), clock=SystemClock())
        ledger.start()
        with collecting_rarely():
            yield ledger
    finally:
        store.close()


def fold(ledger):
    """Fold what is pending; return CPU seconds of this thread."""
    started = time.thread_time()
    while ledger.fold_batch():
        pass
    return time.thread_time() - started


def time_decoding(events):
    """Return CPU seconds of a bare decode loop over the events' bodies."""
    bodies = [seal_event(event).value[HEADER_BYTES:] for event in events]
    schema = parsed_schema(Event)
    gc.collect()
    started = time.thread_time()
    for body in bodies:
        fastavro.schemaless_reader(io.BytesIO(body), schema, None, return_record_name=True)
    return time.thread_time() - started


def time_folding(events):
    """Return (CPU seconds, wall seconds, digest of all rows) of folding a new durable log."""
    with scratch() as embedded:
        append_events(embedded, events)
        gc.collect()
        cpu, wall = time.thread_time(), time.perf_counter()
        embedded.fold_pending()
        cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
        return cpu, wall, embedded.head().row_set_digest


def measure_throughput():
    """Return the figures of (a), turns apart."""
    few = EVENTS // 4, USERS // 4
    _, with_turns, _ = time_folding(list(zipf_history(events=few[0], users=few[1], turns=TURNS)))
    _, without, _ = time_folding(list(zipf_history(events=few[0], users=few[1])))
    return [
        *compare_decoding("Zipf observations", list(zipf_history(events=EVENTS, users=USERS))),
        *compare_decoding("dialogue observations", list(dialogue_history(events=EVENTS))),
        Figure(
            "a", "durable fold of dialogues, proposals and confirmations too",
            measure_contracts(), "events/s", rises=True,
        ),
        Figure("a", "turns", TURNS / max(with_turns - without, 1e-9), "turns/s", rises=True),
    ]  # fmt: skip


def measure_contracts():
    """Return events a second of whole dialogues but for their turns."""
    events = list(dialogue_history(events=EVENTS // 4, payloads=OBSERVED + CONTRACTED))
    _, wall, _ = time_folding(events)
    return len(events) / wall


def compare_decoding(what, observations):
    """Return the figures of one history: decoding and folding in turn, the least time of each."""
    decoded, folded = [], []
    for _ in range(ROUNDS):
        decoded.append(time_decoding(observations))
        folded.append(time_folding(observations))
    cpu, wall = min(one[0] for one in folded), min(one[1] for one in folded)
    valid = len({digest for *_, digest in folded}) == 1
    return [
        Figure(
            "a", f"bare decode loop / durable fold of {what}, CPU", min(decoded) / cpu,
            floor=0.2, aim=0.3, rises=True, valid=valid,
        ),
        Figure(
            "a", f"durable fold of {what}", len(observations) / wall, "events/s",
            floor=10_000, aim=15_000, rises=True, valid=valid,
        ),
    ]  # fmt: skip


def observe(embedded, user, first, count):
    """Append so many observations of one user, the first of them as event number ``first``."""
    rng = random.Random(f"{user} {first}")
    numbers = range(first, first + count)
    append_events(
        embedded, [build_event(user, number, *build_observation(rng)) for number in numbers]
    )


def measure_growth():
    """Return the figures of (b): users of both kinds in turn, folded by one running ledger.

    20,000 units are the limit of a user; behind it each observation lets an old text leave.
    """
    first = LARGE - ROUNDS * WATCHED
    with scratch() as embedded:
        append_events(embedded, [build_genesis(read_catalogue())])
        observe(embedded, "large", 0, first)
        for turn in range(2 * ROUNDS):
            observe(embedded, f"small-{turn}", 0, SMALL)
        with folding(embedded) as ledger:
            fold(ledger)
            below, at_limit = (
                [
                    compare_users(embedded, ledger, first + turn * WATCHED, f"small-{turn}")
                    for turn in turns
                ]
                for turns in (range(ROUNDS), range(ROUNDS, 2 * ROUNDS))
            )
    what = f"one observation with up to {LARGE:,} units on file / with {SMALL}, CPU"
    return [
        Figure("b", what, divide_least(below), floor=1.3),
        Figure("b", "the same at the limit of units", divide_least(at_limit)),
    ]


def compare_users(embedded, ledger, first, small):
    """Return CPU seconds of observations of the large user and of as many of a small one."""
    observe(embedded, "large", first, WATCHED)
    large = fold(ledger)
    observe(embedded, small, SMALL, WATCHED)
    return large, fold(ledger)


def divide_least(pairs):
    """Return the least of the first of each pair over the least of the second."""
    return min(one for one, _ in pairs) / min(other for _, other in pairs)


def read_catalogue():
    """Return the catalogue of the benchmark's histories."""
    return next(zipf_history(events=1, users=1)).payload.catalogue


def measure_crowd():
    """Return the figures of (e): resident memory after all of the users, and after more."""
    with scratch() as embedded:
        append_events(embedded, [build_genesis(read_catalogue())])
        resident = []
        rng = random.Random(5)
        for users in (range(CROWD), range(CROWD, CROWD + MORE)):
            events = (build_event(f"u{n}", 0, *build_observation(rng)) for n in users)
            append_events(embedded, events)
            embedded.fold_pending()
            resident.append(read_resident_mib())
    return [
        Figure("e", f"resident memory after {CROWD:,} users", resident[0], "MiB"),
        Figure(
            "e", f"resident after {MORE:,} more / before", resident[1] / resident[0],
            floor=1.1, aim=1.02,
        ),
    ]  # fmt: skip


def read_resident_mib():
    """Return the resident memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() // 2**20


def measure_large_turn():
    """Return the figures of (f): the turn cold and warm, and the p99 of others with and without."""
    with scratch() as embedded:
        append_events(embedded, [build_genesis(read_catalogue())])
        observe(embedded, "large", 0, LARGE)
        embedded.fold_pending()
        with folding(embedded) as ledger:
            cold = time_turn(embedded, ledger, 0)
            warm = min(time_turn(embedded, ledger, number) for number in range(1, 4))
            alone = wait_of_others(embedded, ledger, ())
            beside = wait_of_others(embedded, ledger, build_turn("large", LARGE * 8))
    what = f"one turn of a user with {LARGE:,} units"
    return [
        Figure("f", f"{what}, cold", cold * 1e3, "ms"),
        Figure("f", f"{what}, warm", warm * 1e3, "ms"),
        Figure("f", f"p99 of {OTHERS} others beside such a turn", beside * 1e3, "ms"),
        Figure("f", f"p99 of {OTHERS} others without it", alone * 1e3, "ms"),
    ]


def time_turn(embedded, ledger, number):
    """Return wall seconds of one turn of the large user."""
    append_events(embedded, build_turn("large", LARGE * 4 + 10 * number))
    started = time.perf_counter()
    while ledger.fold_batch():
        pass
    return time.perf_counter() - started


def wait_of_others(embedded, ledger, between):
    """Return the p99 of how long others wait for their commit, events of another in their midst."""
    rng = random.Random(len(between))
    name = f"other-{len(between)}"
    events = [build_event(f"{name}-{n}", 0, *build_observation(rng)) for n in range(OTHERS)]
    events[OTHERS // 2 : OTHERS // 2] = between
    append_events(embedded, events)
    started = time.perf_counter()
    waits = []
    while folded := ledger.fold_batch():
        waits += [time.perf_counter() - started] * folded
    return statistics.quantiles(waits, n=100)[-1]


def list_figures():
    """Return every figure of this file."""
    parts = (measure_throughput, measure_growth, measure_large_turn, measure_crowd)
    return [figure for part in parts for figure in part()]


if __name__ == "__main__":
    for figure in list_figures():
        print(f"{figure.letter} {figure.what:60} {figure.value:12.3f} {figure.unit}")
