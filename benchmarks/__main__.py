"""Every benchmark, one after the other: ``python -m benchmarks [--json]``.

Each runs in a process of its own and prints ratios measured within its run; a part that ends
with an error is void, and so is the whole.
"""

import argparse
import json
import subprocess
import sys
import time

PARTS = ("activation", "validation", "ledger", "folding")
TIMEOUT_S = 600


def run_part(name, *, quiet):
    """Run one benchmark and return its exit code, output and wall seconds."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}"],
        capture_output=quiet, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    return {
        "part": name,
        "void": done.returncode != 0,
        "output": (done.stdout or "").splitlines(),
        "seconds": round(time.monotonic() - started, 1),
    }


def main():
    """Run all parts; exit code 1 when one is void."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    as_json = parser.parse_args().json
    results = []
    for name in PARTS:
        if not as_json:
            print(f"== {name}", flush=True)
        results.append(run_part(name, quiet=as_json))
    void = [result["part"] for result in results if result["void"]]
    if as_json:
        print(json.dumps({"parts": results, "void": void}))
    else:
        print(f"void: {', '.join(void) or 'none'}")
    return 1 if void else 0


if __name__ == "__main__":
    sys.exit(main())
