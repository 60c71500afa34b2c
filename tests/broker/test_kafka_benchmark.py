"""The benchmark of runtimes on one broker, small: what it counts and what it refuses."""

import json
import os
import subprocess
import sys

import pytest

from infra.broker import Broker

COMMAND = (sys.executable, "-m", "benchmarks.kafka")
SMALL = ("--events", "600", "--turns", "30", "--latency", "", "--kills", "0")


def test_the_ledger_and_a_bare_loop_agree_with_the_plain_fold(broker: Broker) -> None:
    """Both runtimes give the outputs and rows of one plain fold, with either reducer."""
    done = subprocess.run(
        [*COMMAND, *SMALL, "--only", "ours,bare-loop", "--json"],
        capture_output=True, text=True, timeout=240, check=False,
        env=dict(os.environ) | {"BOOTSTRAP_SERVERS": broker.bootstrap_servers},
    )  # fmt: skip

    assert 0 == done.returncode, done.stderr + done.stdout
    rows = json.loads(done.stdout.splitlines()[-1])["rows"]
    assert [True] * 4 == [row["valid"] for row in rows]
    assert all(row["events_per_s"] > 0 for row in rows)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--only", "ours,storm"), "storm: there are ours"),
        (("--reducers", "fast"), "reducer fast: there are trivial and core"),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(words: tuple[str, str], said: str) -> None:
    """A mistyped runtime or reducer ends the benchmark before anything is started."""
    done = subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, timeout=60, check=False
    )

    assert 2 == done.returncode
    assert said in done.stderr
