"""The commands of the distributed mode, as a platform team types them, against a real broker."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from infra.audit.history import ArchiveSource
from infra.backfill.plan import Plan
from infra.backfill.run import backfill
from infra.backfill.tables import TABLES, read_table
from infra.broker import Broker
from processors.whatif import Override
from tests.broker.workers import await_true

COMMAND = (sys.executable, "-m", "infra.cli.main")
SIZE = ("--partitions", "2", "--replication", "1", "--insync-min", "1")


class Deployment:
    """One set of topics and the commands on it."""

    def __init__(self, broker: Broker, prefix: str, folder: Path) -> None:
        self.place = ("--bootstrap", broker.bootstrap_servers, "--prefix", prefix)
        self.folder = folder
        self.port = 20_000 + os.getpid() % 20_000

    def run(self, *arguments: str, code: int = 0, text: str = "") -> dict:
        """Run one command to its end and return the last JSON line it printed."""
        done = subprocess.run(
            [*COMMAND, *arguments, *self.place, "--json"],
            input=text, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert code == done.returncode, done.stderr + done.stdout
        return json.loads(done.stdout.splitlines()[-1])

    def serve(self) -> subprocess.Popen[bytes]:
        """Start a worker."""
        with (self.folder / "worker.log").open("wb") as log:
            return subprocess.Popen(
                [*COMMAND, "serve", *self.place, *SIZE, "--folder", str(self.folder / "rows"),
                 "--metrics-port", str(self.port)],
                stdout=log, stderr=log,
            )  # fmt: skip

    def read(self, path: str) -> str:
        """Return what the worker's endpoint says, or nothing while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", timeout=5) as page:
                return page.read().decode()
        except OSError:
            return ""

    def folded(self) -> int:
        """Return the events folded, as the metrics count them."""
        lines = self.read("metrics").splitlines()
        values = [x.split()[-1] for x in lines if x.startswith("commitments_events_total{")]
        return sum(int(float(value)) for value in values)


@pytest.fixture
def deployment(broker: Broker, prefix: str, tmp_path: Path) -> Iterator[Deployment]:
    """A provisioned deployment with one worker that is ready."""
    told = Deployment(broker, prefix, tmp_path)
    told.run("provision", *SIZE)
    worker = told.serve()
    try:
        await_true(
            lambda: '"partition": 1, "phase": "folding"' in told.read("readyz"),
            timeout_s=60, what="the worker is ready",
        )  # fmt: skip
        yield told
    finally:
        worker.terminate()
        assert 0 == worker.wait(15), (tmp_path / "worker.log").read_text()


def test_a_history_is_served_exported_verified_and_replayed(
    deployment: Deployment, tmp_path: Path
) -> None:
    """Dialogues appended to Kafka come out of the topics as archive, replay and backfill say."""
    with resources.as_file(resources.files("infra") / "sample") as sample:
        appended = deployment.run("import", "sgd", str(sample))["appended"]
    expected = appended + 1  # The genesis record stands on both partitions.
    await_true(lambda: deployment.folded() == expected, timeout_s=60, what="all is folded")
    archive = deployment.folder / "archive"
    exported = deployment.run("export", "--out", str(archive))
    replayed = deployment.run("replay", "--verify")
    again = deployment.run("provision", *SIZE, "--dry-run")
    plan, live, kept = ("--budget", "8000,0"), tmp_path / "live", tmp_path / "kept"
    recomputed = deployment.run("backfill", *plan, "--out", str(live), "--jobs", "2")
    deployment.run("backfill", *plan, "--out", str(live))  # What is complete stays as it is.
    backfill(
        ArchiveSource(archive),
        Plan(override=Override(budget_main=8_000, budget_tail=0)),
        kept,
        lambda _done, _left: None,
    )

    assert recomputed == json.loads((kept / "summary.json").read_text())
    for name in TABLES:
        assert read_table(kept, name).equals(read_table(live, name))
    assert expected == exported["events"] == replayed["events"]
    assert (0, 0, 0) == tuple(replayed[k] for k in ("missing", "duplicate", "divergent"))
    assert replayed["outputs"] == replayed["identical"] > 0
    assert [] == again["changes"]


def test_a_turn_past_its_deadline_is_expired_by_the_owner(
    deployment: Deployment, tmp_path: Path
) -> None:
    """Nobody answers: the partition's owner appends TurnExpired, and the turn ends as a failure."""
    catalogue = {
        "name": "c",
        "scenes": [{"name": "s", "commitment_types": ["t"]}],
        "types": [{"name": "t", "slots": [{"name": "a", "slot_type": "string"}]}],
    }
    (tmp_path / "catalogue.json").write_text(json.dumps(catalogue), "utf-8")
    deployment.run("init", "--catalogue", str(tmp_path / "catalogue.json"), "--operator", "ops")
    turn = {
        "event_id": "turn-1",
        "user": "ada",
        "at": "2026-01-01T00:00:00Z",
        "payload": {"type": "TurnRequested", "scene": "s", "deadline_ms": 1},
    }
    deployment.run("observe", "-", text=json.dumps(turn))
    deployment.run("activate", "--operator", "ops", "--ruleset", "2")

    # Genesis and ruleset on both partitions, the request, and the owner's TurnExpired.
    await_true(lambda: deployment.folded() >= 6, timeout_s=60, what="the turn has expired")
    assert 'topic="failures"} 1.0' in deployment.read("metrics")
