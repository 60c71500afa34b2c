"""Seeds of the ledger on a simulated broker: ``python -m tests.simulation.simulate --seeds 1000``.

Example of one seed again, with its last steps: ``python -m tests.simulation.simulate --seed 17``.
Exit code 1 when a seed fails; the command that repeats it is printed.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed

from tests.simulation.broken_clients import BROKEN
from tests.simulation.kafka_seed import run_seed
from tests.simulation.twin_clients import TwinClients

SEEDS_PER_TASK = 10
SHOW_EVERY_S = 5.0


def run_seeds(first: int, count: int, broken: str = "") -> tuple[Counter, Counter, dict[int, str]]:
    """Run seeds in a row; return what happened, where workers were killed, and failures."""
    counts, killed_at, failed = Counter(), Counter(), {}
    for seed in range(first, first + count):
        try:
            told = run_seed(seed, build_clients=BROKEN.get(broken, TwinClients))
        except Exception as error:  # a seed that fails in any way is shown
            notes = "\n".join(getattr(error, "__notes__", ()))
            failed[seed] = f"{type(error).__name__}: {error}\n{notes}"
        else:
            counts += told.counts
            killed_at += told.killed_at
    return counts, killed_at, failed


def run_all(asked: argparse.Namespace) -> tuple[Counter, Counter, dict[int, str]]:
    """Run all seeds in as many processes as asked, showing progress."""
    counts, killed_at, failed = Counter(), Counter(), {}
    context = multiprocessing.get_context("spawn")
    started = shown = time.monotonic()
    ends = range(asked.first, asked.first + asked.seeds, SEEDS_PER_TASK)
    done = 0
    with ProcessPoolExecutor(asked.jobs, context) as pool:
        tasks = {}
        for first in ends:
            count = min(SEEDS_PER_TASK, asked.first + asked.seeds - first)
            tasks[pool.submit(run_seeds, first, count, asked.broken)] = count
        for task in as_completed(tasks):
            found = task.result()
            counts, killed_at = counts + found[0], killed_at + found[1]
            failed |= found[2]
            done += tasks[task]
            now = time.monotonic()
            if now - shown > SHOW_EVERY_S or done == asked.seeds:
                shown = now
                print(
                    f"{done:>6} of {asked.seeds} seeds, {len(failed)} failed, "
                    f"{counts['kill']} kills, {done / (now - started):.1f} seeds/s",
                    file=sys.stderr,
                    flush=True,
                )
    return counts, killed_at, failed


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulation.simulate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=1_000, help="how many (default: 1000)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--seed", type=int, help="this seed alone, with its last steps")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--break", dest="broken", default="", help="break one rule of the ledger")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args(arguments)
    if asked.seeds < 1 or asked.jobs < 1:
        parser.error("--seeds and --jobs: give at least 1")
    if asked.broken and asked.broken not in BROKEN:
        parser.error(f"--break {asked.broken!r}: there are {', '.join(BROKEN)}")
    return asked


def main(arguments: list[str]) -> int:
    """Run the seeds and say what they went through."""
    asked = parse(arguments)
    if asked.seed is not None:
        counts, killed_at, failed = run_seeds(asked.seed, 1, asked.broken)
        asked.seeds = 1
    else:
        counts, killed_at, failed = run_all(asked)
    if asked.json:
        told = {"seeds": asked.seeds, "failed": sorted(failed), "counts": counts}
        print(json.dumps(told | {"killed_at": killed_at}))
        return int(bool(failed))
    for seed, why in sorted(failed.items()):
        print(f"seed {seed}: {why if asked.seed is not None else why.splitlines()[0]}")
        rule = f" --break {asked.broken!r}" if asked.broken else ""
        print(f"repeat it: {sys.executable} -m tests.simulation.simulate --seed {seed}{rule}")
    print(
        f"{asked.seeds} seeds: {len(failed)} failed; 0 lost, 0 double, 0 divergent in the others. "
        f"{counts['outcomes']} outcomes, {counts['ledger_started']} starts, {counts['kill']} kills "
        f"at {len(killed_at)} different steps, {counts['freeze']} freezes, {counts['fencings']} "
        f"transactions fenced, {counts['aborts']} aborted, {counts['late_ends']} decided late, "
        f"{counts['compactions']} compactions, {counts['gaps']} gaps"
    )
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
