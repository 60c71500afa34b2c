"""Every benchmark, one after the other: ``python -m benchmarks [--json] [PART...]``.

Each part runs in a process of its own, so that its peak memory is its own. Figures are ratios
within their run where that is possible. Exit code 1 when a figure is void or misses its floor.
"""

import argparse
import json
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from benchmarks.figures import measure_part

PARTS = ("activation", "validation", "folding", "ledger")
APART = ("audit", "generating")
"""Run when named: they need what is installed for them alone."""


def run_parts(names):
    """Yield (name, figures, peak MiB, seconds) of each part as it ends."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as pool:
        for name in names:
            started = time.monotonic()
            figures, peak = pool.submit(measure_part, name).result()
            yield name, figures, peak, round(time.monotonic() - started, 1)


def show(figure):
    """Return a figure as one line of the table."""
    sign = ">=" if figure.rises else "<="
    bounds = ["" if bound is None else f"{sign} {bound:,g}" for bound in (figure.floor, figure.aim)]
    value = f"{figure.value:,.3f}" if abs(figure.value) < 100 else f"{figure.value:,.0f}"
    return (
        f"{figure.letter:2} {figure.what:62} {value:>10} {figure.unit:10}"
        f"{bounds[0]:>11} {bounds[1]:>11}  {figure.verdict}"
    ).rstrip()


def main():
    """Run the parts, print their figures and say which do not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = ", ".join(PARTS + APART)
    parser.add_argument("parts", nargs="*", help=f"of {known}; default: the first four")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    asked = parser.parse_args()
    if unknown := sorted(set(asked.parts) - {*PARTS, *APART}):
        parser.error(f"{', '.join(unknown)}: there are {known}")
    if not asked.json:
        print(f"{'':2} {'figure':62} {'measured':>10} {'':10}{'floor':>11} {'aim':>11}")
    told, wrong = [], []
    for name, figures, peak, seconds in run_parts(asked.parts or PARTS):
        told += [figure._asdict() | {"part": name, "verdict": figure.verdict} for figure in figures]
        told.append({"part": name, "peak_mib": peak, "seconds": seconds})
        wrong += [figure for figure in figures if figure.verdict in {"void", "MISSED"}]
        if not asked.json:
            print("\n".join(show(figure) for figure in figures))
            print(f"   {name}: peak memory {peak} MiB, {seconds} s", flush=True)
    if asked.json:
        print(json.dumps({"figures": told, "failed": [figure.what for figure in wrong]}))
    elif wrong:
        print(f"{len(wrong)} void or below their floor: {', '.join(one.what for one in wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
