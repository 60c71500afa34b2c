"""The soak of `make soak`: one process folds for SOAK_SECONDS another is killed meanwhile.

The folding one also reads; its memory and descriptors must stay flat, and the folder must grow only
with what it holds. The other appends and is killed at random. At the end the whole history is
replayed. Exit status 1 if anything grew or differs.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from benchmarks.history import (
    WORDS,
    build_catalogue,
    build_event,
    build_observation,
    build_turn,
)
from infra.appending import append_events
from infra.audit.replay import replay
from infra.genesis import build_genesis
from processors.activation.tokens import split_tokens
from processors.limits import TOKEN_CACHE_MAX
from schemas.event import Event
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded

SECONDS = int(os.environ.get("SOAK_SECONDS", "1800"))
SAMPLES = 60
USERS = 300
CACHE_BYTES = 16 << 20
"""Small, so that the cache is full early and what grows afterwards is a leak."""
EVENTS_PER_CALL = 20  # 200 a second: what a machine that is busy otherwise still folds.
EVENTS_PER_SEED = 1_000_000_000
TURN_SHARE = 0.05
PAUSE_SECONDS = 0.1
TOPICS = ("commitments", "repairs", "failures", "rejections")
MEMORY_GROWTH_MAX = 0.15
BYTES_PER_EVENT_GROWTH_MAX = 0.5


@dataclass(frozen=True)
class Sample:
    """What the folding process and its folder take up at one moment."""

    events: int
    resident_mb: float
    descriptors: int
    folder_mb: float


def draw_events(seed: int) -> Iterator[Event]:
    """Yield observations and turns of a bounded number of users without end, as of now."""
    for event in _draw_untimed(seed):
        yield replace(event, occurred_at_ms=int(time.time() * 1_000))


def _draw_untimed(seed: int) -> Iterator[Event]:
    draw = random.Random(seed)
    for number in count(seed * EVENTS_PER_SEED, 3):
        user = f"user-{draw.randrange(USERS)}"
        payload, kind = build_observation(draw)
        yield build_event(user, number, payload, kind)
        if draw.random() < TURN_SHARE:
            yield from build_turn(user, number + 1)


def append_for_ever(path: Path, seed: int) -> None:
    """Append until killed."""
    events = draw_events(seed)
    with Embedded(path, CoreReducer()) as embedded:
        while True:
            append_events(embedded, [next(events) for _ in range(EVENTS_PER_CALL)])
            time.sleep(PAUSE_SECONDS)


def start_appender(path: Path, seed: int) -> subprocess.Popen[bytes]:
    """Start a process that appends."""
    return subprocess.Popen([sys.executable, "-m", "benchmarks.soak", str(path), str(seed)])


def sample(embedded: Embedded, path: Path) -> Sample:
    """Measure now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    sizes = []
    for file in path.rglob("*"):
        try:
            sizes.append(file.stat().st_size)
        except FileNotFoundError:
            continue  # The store removes files while they are listed.
    return Sample(
        embedded.log.bounds().end,
        pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
        sum(1 for _ in Path("/proc/self/fd").iterdir()),
        sum(sizes) / 2**20,
    )


def fill_token_cache() -> None:
    """Fill the cache of tokens, which is bounded in texts: what grows afterwards is a leak."""
    draw = random.Random(0)
    for number in range(TOKEN_CACHE_MAX):
        split_tokens(f"{number} {' '.join(draw.choices(WORDS, k=8))}")


def soak(path: Path) -> list[Sample]:
    """Fold for SECONDS while appenders are killed and started again; return the samples."""
    draw = random.Random(1)
    samples: list[Sample] = []
    fill_token_cache()
    begun = time.monotonic()
    with Embedded(path, CoreReducer()) as embedded:
        append_events(embedded, [build_genesis(build_catalogue())])
    appender, kills = start_appender(path, 0), 0
    try:
        with Embedded(path, CoreReducer(cache_bytes=CACHE_BYTES)) as embedded:
            kill_at = begun + draw.uniform(2, 10)
            while (now := time.monotonic()) < begun + SECONDS:
                embedded.fold_pending()
                sum(1 for _ in embedded.outputs("failures"))
                if now >= kill_at:
                    appender.send_signal(signal.SIGKILL)
                    appender.wait()
                    kills += 1
                    appender, kill_at = start_appender(path, kills), now + draw.uniform(2, 20)
                if now >= begun + SECONDS * len(samples) / SAMPLES:
                    samples.append(sample(embedded, path))
                    print(f"{now - begun:7.0f} s  {samples[-1]}", flush=True)
                time.sleep(PAUSE_SECONDS)
    finally:
        appender.kill()
        appender.wait()
    print(f"appender killed {kills} times")
    return samples


def judge(samples: list[Sample]) -> list[str]:
    """Return what grew between the middle and the end of the run."""
    middle, last = samples[len(samples) // 2], samples[-1]
    faults = []
    if last.resident_mb > middle.resident_mb * (1 + MEMORY_GROWTH_MAX):
        faults.append(f"memory grew from {middle.resident_mb:.0f} to {last.resident_mb:.0f} MB")
    if last.descriptors > middle.descriptors:
        faults.append(f"descriptors grew from {middle.descriptors} to {last.descriptors}")
    before, after = middle.folder_mb / middle.events, last.folder_mb / last.events
    if after > before * (1 + BYTES_PER_EVENT_GROWTH_MAX):
        faults.append(f"the folder grew from {before * 2**20:.0f} to {after * 2**20:.0f} B/event")
    return faults


def main() -> int:
    """Run the soak and replay what it left."""
    with tempfile.TemporaryDirectory(prefix="commitments-soak-") as name:
        path = Path(name) / "log"
        faults = judge(soak(path))
        with Embedded(path, CoreReducer()) as embedded:
            embedded.fold_pending()
            report = replay(embedded, lambda _, __: None)
            put_out = {topic: sum(1 for _ in embedded.outputs(topic)) for topic in TOPICS}
        print(report, put_out)
        if not report.clean:
            faults.append("the replay differs")
        if put_out["rejections"] or not put_out["commitments"]:
            faults.append("events were rejected, or no turn ended in a commitment")
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        append_for_ever(Path(sys.argv[1]), int(sys.argv[2]))
    sys.exit(main())
