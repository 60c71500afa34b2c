"""Stops of a worker and of a log: in time, with the reason, and without a silent skip."""

import json
import time
from pathlib import Path

from infra.broker import Broker
from streams.lane import Phase
from streams.ownership import EXIT_RESTART
from tests.broker.appending import append_values
from tests.broker.checker import read_partition
from tests.broker.counting import CountingReducer
from tests.broker.fleet import Load, build_fleet_on, tell_counted
from tests.broker.histories import await_marks, provision
from tests.broker.threads import running


def test_a_worker_that_cannot_reach_its_broker_stops_in_time_and_says_what_is_left(
    own_broker: Broker, prefix: str, tmp_path: Path
) -> None:
    """Asked to end while the broker is frozen it exits 75 after ten seconds; nothing is lost."""
    fleet = build_fleet_on(own_broker, prefix, tmp_path)
    fleet.session_s = 10.0  # A shorter one would be lost, and the worker end, even earlier.
    try:
        worker = fleet.start("one")
        load = Load(own_broker, prefix, tell_counted(), per_second=200)
        fleet.await_outputs(50)
        own_broker.pause()
        asked = time.monotonic()
        code = worker.stop(timeout_s=25)
        took = time.monotonic() - asked
        own_broker.resume()
        expected = load.stop()
        said = [json.loads(line) for line in worker.lines() if line.startswith("{")]
        fleet.live.remove(worker)
        second = fleet.start("two")
        fleet.await_outputs(expected)
        fleet.stop(second)
        fleet.check()
    finally:
        own_broker.resume()
        fleet.end()

    assert EXIT_RESTART == code
    assert 9 < took < 20
    (reason,) = [line["reason"] for line in said if line["event"] == "worker_exits"]
    assert "The next owner of the partitions [" in reason
    assert "aborts their open transactions" in reason


def test_a_log_cut_by_an_unclean_broker_stops_the_ledger(
    own_broker: Broker, prefix: str, tmp_path: Path
) -> None:
    """A log that ends before what was folded, or holds another event there, is never passed."""
    provision(own_broker, prefix)
    topic = f"{prefix}events"
    append_values(own_broker, topic, [b"a"] * 10)
    with running(own_broker, prefix, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(10)
        append_values(own_broker, topic, [b"b"] * 10)
        worker.await_folded(20)
    await_marks(own_broker, prefix, 1, ["rows", "ledgers"])
    assert own_broker.folder is not None
    own_broker.kill()
    data = own_broker.folder / "data" / f"{topic}-0"
    (segment,) = data.glob("*.log")
    segment.write_bytes(segment.read_bytes()[: segment.stat().st_size // 2])
    for part in (*data.glob("*.index"), *data.glob("*.timeindex"), *data.glob("*.snapshot")):
        part.unlink()
    own_broker.restart()
    left = len(read_partition(own_broker.bootstrap_servers, topic, 0))

    with running(own_broker, prefix, tmp_path / "s", CountingReducer) as worker:
        shorter = worker.await_phase(Phase.STOPPED, timeout_s=40).reason
    append_values(own_broker, topic, [b"c"] * 20)
    with running(own_broker, prefix, tmp_path / "s", CountingReducer) as worker:
        replaced = worker.await_phase(Phase.STOPPED, timeout_s=40).reason

    assert left < 20
    assert "the log ends before" in shorter
    assert "another event at offset 19" in replaced
