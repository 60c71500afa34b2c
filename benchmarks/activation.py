"""Evidence activation beside a plain numpy greedy of the same objective, in one run.

The plain greedy is written apart, from spec 4.2 alone; a row is void unless both choose the
same units in the same order. Run: python -m benchmarks.activation [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tracemalloc
from time import perf_counter_ns

import numpy as np

from benchmarks.figures import Figure
from processors.activation.greedy import select_greedily
from processors.activation.instance import prepare_instance
from processors.activation.problem import MILLION, Problem
from processors.activation.selectors import select_units

SIZES = (50, 500, 5_000)
REQUIREMENTS = 20
FLOOR_MS = {"turn": 3.0, "result": 10.0}
AIM_MS = {"turn": 1.0, "result": 3.0}


def draw_problem(count: int, seed: int = 1) -> Problem:
    """Draw a seeded problem: costs 20-400 log-uniform, every third requirement one witness.

    The budgets are the default 8,000 and 2,000, or 50 % of all costs if that is less.
    """
    rng = random.Random(seed)
    cost = [round(20 * 20 ** rng.random()) for _ in range(count)]
    covers, tail = [0] * count, [False] * count
    for requirement in range(REQUIREMENTS):
        single = requirement % 3 == 0
        for unit in rng.sample(range(count), 1 if single else max(2, count // 20)):
            covers[unit] |= 1 << requirement
            tail[unit] = tail[unit] or single
    whole = min(10_000, sum(cost) // 2)
    return Problem(
        unit_ids=tuple(f"{unit + 1}#0" for unit in range(count)),
        rel=tuple(rng.randint(0, MILLION) if rng.random() < 0.7 else 0 for _ in range(count)),
        over=tuple(0 if mask else rng.choice((0, 0, 100_000, 400_000)) for mask in covers),
        cost=tuple(cost),
        tail_witness=tuple(tail),
        covers=tuple(covers),
        debt=tuple(int(rng.random() < 2 / count) for _ in range(count)),
        requirement_weights=(1,) * REQUIREMENTS,
        obligations=1,
        budget_main=whole - whole // 5,
        budget_tail=whole // 5,
    )


def choose_plainly(problem: Problem) -> list[tuple[str, str]]:
    """Choose by spec 4.2 in plain numpy: score every unit at every step, take the best."""
    cost, ids = np.array(problem.cost), np.array(problem.unit_ids)
    bits = np.array([[m >> r & 1 for r in range(REQUIREMENTS)] for m in problem.covers])
    owed = np.array(problem.debt)
    weights = np.array(problem.requirement_weights)
    witness = np.array(problem.tail_witness) & bits.any(axis=1)
    linear = np.array(problem.rel) - np.array(problem.over) + 2 * MILLION * witness
    place_of: dict[int, str] = {}
    missing, debt_open = np.ones(REQUIREMENTS, dtype=np.int64), 1
    free, main, tail = np.ones(len(ids), dtype=bool), problem.budget_main, problem.budget_tail
    scale = int(cost.max()) ** 2
    for phase in (1, 2):
        while True:
            new = bits @ (missing * weights)
            gain = linear + 2 * MILLION * new + MILLION * owed * debt_open
            amount = new if phase == 1 else gain
            able = free & (amount > 0) & ((cost <= main) | (witness & (cost <= tail)))
            if not able.any():
                break
            rows = np.flatnonzero(able)
            ratio = amount[rows] * scale // cost[rows]
            tied = rows[ratio == ratio.max()]
            unit = int(min(tied, key=lambda row: (-gain[row], cost[row], ids[row])))
            if witness[unit] and cost[unit] <= tail:
                place_of[unit], tail = "tail", tail - int(cost[unit])
            else:
                place_of[unit], main = "main", main - int(cost[unit])
            free[unit] = False
            missing[bits[unit] == 1] = 0
            debt_open &= 1 - problem.debt[unit]
    return [(str(ids[unit]), place) for unit, place in place_of.items()]


def measure(count: int, rounds: int) -> dict[str, object]:
    """Time all ways on one problem, interleaved; times are the least of all rounds."""
    problem = draw_problem(count)
    ways = {
        "plain": lambda: choose_plainly(problem),
        "choice": lambda: select_greedily(
            prepare_instance(problem, priorities=problem.requirement_weights)
        ),
        "turn": lambda: select_units(problem, mode="turn"),
        "result": lambda: select_units(problem, mode="result"),
    }
    times: dict[str, list[int]] = {name: [] for name in ways}
    answers: dict[str, object] = {}
    for _ in range(rounds):
        for name, way in ways.items():
            begun = perf_counter_ns()
            answers[name] = way()
            times[name].append(perf_counter_ns() - begun)
    turn, result = answers["turn"], answers["result"]
    equal = answers["plain"] == [(entry.unit_id, entry.place) for entry in turn.entries]
    tracemalloc.start()
    select_units(problem, mode="result")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    least = {name: min(spent) / 1e6 for name, spent in times.items()}
    return {
        "units": count,
        "chosen": len(turn.entries),
        "equal": equal and turn.value <= result.value,
        "ms": {name: round(spent, 3) for name, spent in least.items()},
        "median_ms": {name: round(statistics.median(t) / 1e6, 3) for name, t in times.items()},
        "ratio": {name: round(spent / least["plain"], 3) for name, spent in least.items()},
        "proven": {
            name: round(answer.value.j / answer.bound.j, 4)
            for name, answer in (("turn", turn), ("result", result))
        },
        "peak_kib": peak // 1024,
    }


def list_figures() -> list[Figure]:
    """Return the figures of (c)."""
    figures = []
    for count in SIZES:
        row = measure(count, rounds=max(6, 20_000 // count))
        valid = bool(row["equal"])
        for mode in ("turn", "result"):
            what = f"CBEA, {count} units, {mode} mode / plain greedy in numpy"
            figures.append(Figure("c", what, row["ratio"][mode], valid=valid))
            if count == 500:
                what = f"CBEA, {count} units, {mode} mode"
                bounds = {"floor": FLOOR_MS[mode], "aim": AIM_MS[mode]}
                figures.append(Figure("c", what, row["ms"][mode], "ms", **bounds, valid=valid))
    return figures


def main(argv: list[str] | None = None) -> int:
    """Print one row per size; exit 1 when a result is void or 500 units miss the floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    asked = parser.parse_args(argv)
    rows = [measure(count, rounds=max(6, 20_000 // count)) for count in SIZES]
    middle = next(row["ms"] for row in rows if row["units"] == 500)
    kept = {mode: middle[mode] <= FLOOR_MS[mode] for mode in FLOOR_MS}
    if asked.json:
        print(json.dumps({"activation": rows, "floor_ms": FLOOR_MS, "floor_kept": kept}))
    else:
        print("CBEA, 20 requirements; ms (x plain numpy greedy); choice = greedy alone,")
        print("turn and result = whole decisions with terms, reasons and certificate")
        print(f"{'units':>6}{'plain':>9}{'choice':>18}{'turn':>18}{'result':>18}  peak KiB")
        for row in rows:
            cells = [
                f"{row['ms'][name]:9.3f} ({row['ratio'][name]:5.2f})"
                for name in ("choice", "turn", "result")
            ]
            verdict = "" if row["equal"] else "  VOID: results differ"
            plain = f"{row['units']:>6}{row['ms']['plain']:>9.3f}"
            print(plain + "".join(f"{c:>18}" for c in cells) + f"{row['peak_kib']:>10}{verdict}")
            print(f"       value / bound: {row['proven']['turn']}, {row['proven']['result']}")
        for mode, good in kept.items():
            word = "kept" if good else "MISSED"
            print(f"500 units, {mode}: floor {FLOOR_MS[mode]} ms {word}, aim {AIM_MS[mode]} ms")
    return 0 if all(kept.values()) and all(row["equal"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
