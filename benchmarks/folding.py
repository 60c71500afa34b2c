"""What folding costs: durable throughput, growth with history, many users, one large turn.

(a) durable fold throughput / a bare fastavro decode loop of the same bytes, turns apart;
(b) one observation with 20,000 units on file / with 100; (e) resident memory at 100,000 users;
(f) one turn of a user with 20,000 units, cold and warm. CPU time of the thread where a ratio is
meant, since machines are shared; every fold runs the real core over a real durable log.
"""

import gc
import io
import random
import resource
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import fastavro

from benchmarks.history import build_event, build_observation, build_turn, zipf_history
from infra.appending import append_events, seal_event
from infra.genesis import build_genesis
from schemas.codec import HEADER_BYTES, parsed_schema
from schemas.event import Event
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded

EVENTS = 20_000
USERS = 2_000
TURNS = 500
LARGE = 20_000
SMALL = 100
CROWD = 100_000


class Scratch:
    """An embedded log in a folder that goes away."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="commitments-bench-"))
        self.embedded = Embedded(self.folder / "log", CoreReducer())

    def __enter__(self):
        return self.embedded

    def __exit__(self, *_):
        self.embedded.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def time_decoding(events):
    """Return CPU seconds of a bare decode loop over the events' bodies."""
    bodies = [seal_event(event).value[HEADER_BYTES:] for event in events]
    schema = parsed_schema(Event)
    started = time.thread_time()
    for body in bodies:
        fastavro.schemaless_reader(io.BytesIO(body), schema, None, return_record_name=True)
    return time.thread_time() - started


def time_folding(events):
    """Return (CPU seconds, wall seconds) of folding the events of a new durable log."""
    with Scratch() as embedded:
        append_events(embedded, events)
        gc.collect()
        cpu, wall = time.thread_time(), time.perf_counter()
        embedded.fold_pending()
        return time.thread_time() - cpu, time.perf_counter() - wall


def measure_throughput():
    """Return the figures of (a); three rounds, both sides in turn, the median ratio."""
    observations = list(zipf_history(events=EVENTS, users=USERS))
    with_turns = list(zipf_history(events=EVENTS // 4, users=USERS // 4, turns=TURNS))
    ratios, rates = [], []
    for _ in range(3):
        decode = time_decoding(observations)
        fold, wall = time_folding(observations)
        ratios.append(decode / fold)
        rates.append(len(observations) / wall)
    _, wall = time_folding(with_turns)
    _, plain = time_folding(list(zipf_history(events=EVENTS // 4, users=USERS // 4)))
    return {
        "a_ratio_to_decode": round(statistics.median(ratios), 3),
        "a_events_per_second": round(statistics.median(rates)),
        "a_turns_per_second": round(TURNS / max(wall - plain, 1e-9)),
    }


def fill(embedded, user, count, first=0):
    """Append and fold so many observations of one user."""
    rng = random.Random(count)
    events = [
        build_event(user, number, *build_observation(rng)) for number in range(first, first + count)
    ]
    append_events(embedded, events)
    embedded.fold_pending()


def time_observations(embedded, user, first, count=1_000):
    """Return CPU microseconds per observation of a user, folded after a cold start."""
    rng = random.Random(first)
    events = [
        build_event(user, number, *build_observation(rng)) for number in range(first, first + count)
    ]
    append_events(embedded, events)
    started = time.thread_time()
    embedded.fold_pending()
    return (time.thread_time() - started) / count * 1e6


def measure_growth():
    """Return the figures of (b), each side measured three times in turn."""
    with Scratch() as embedded:
        append_events(embedded, [build_genesis(zipf_catalogue())])
        fill(embedded, "small", SMALL)
        fill(embedded, "large", LARGE)
        small, large = [], []
        for turn in range(3):
            large.append(time_observations(embedded, "large", LARGE + turn * 1_000))
            small.append(time_observations(embedded, f"small-{turn}", 0))
        return {"b_large_to_small": round(statistics.median(large) / statistics.median(small), 2)}


def zipf_catalogue():
    """Return the catalogue of the benchmark's histories."""
    return next(zipf_history(events=1, users=1)).payload.catalogue


def measure_crowd():
    """Return the figures of (e): resident memory after half and after all of the users."""
    with Scratch() as embedded:
        append_events(embedded, [build_genesis(zipf_catalogue())])
        resident = []
        rng = random.Random(5)
        for half in range(2):
            users = range(half * CROWD // 2, (half + 1) * CROWD // 2)
            events = (build_event(f"u{n}", 0, *build_observation(rng)) for n in users)
            append_events(embedded, events)
            embedded.fold_pending()
            resident.append(read_resident_bytes())
        return {
            "e_resident_mib_at_half": resident[0] // 2**20,
            "e_resident_mib_at_all": resident[1] // 2**20,
        }


def read_resident_bytes():
    """Return the resident memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize()


def measure_large_turn():
    """Return the figures of (f): the turn cold, warm, and what others wait meanwhile."""
    with Scratch() as embedded:
        append_events(embedded, [build_genesis(zipf_catalogue())])
        fill(embedded, "large", LARGE)
        times = []
        for number in range(3):
            append_events(embedded, build_turn("large", LARGE * 4 + 10 * number))
            started = time.perf_counter()
            embedded.fold_pending()
            times.append((time.perf_counter() - started) * 1e3)
        return {"f_turn_cold_ms": round(times[0]), "f_turn_again_ms": round(min(times[1:]))}


def measure():
    """Return every figure of this file."""
    figures = {}
    for part in (measure_throughput, measure_growth, measure_large_turn, measure_crowd):
        figures |= part()
    figures["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return figures


__all__ = ["measure"]

if __name__ == "__main__":
    for name, figure in measure().items():
        print(f"{name:28} {figure}")
