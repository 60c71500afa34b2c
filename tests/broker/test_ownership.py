"""Laws of ownership through Faust on a real broker, with real processes and signals."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infra.broker import Broker
from infra.provision import TopicSet, apply, plan
from streams.connection import Connection
from streams.ownership import EXIT_CONFIGURATION, EXIT_RESTART
from tests.broker.workers import WorkerProcess, await_true

HOLDER = Path(__file__).with_name("lease_holder.py")
SESSION_S = 3.0
PARTITIONS = 4

Spawn = Callable[..., WorkerProcess]


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Callable[[Broker, str, str], WorkerProcess]]:
    """Give a function that starts a lease holder; all are ended after the test."""
    started: list[WorkerProcess] = []

    def start(broker: Broker, prefix: str, instance: str = "-") -> WorkerProcess:
        arguments = [broker.bootstrap_servers, prefix, str(SESSION_S), instance]
        log = tmp_path / f"holder-{len(started)}.log"
        started.append(WorkerProcess(HOLDER, arguments, log=log))
        return started[-1]

    yield start
    for process in started:
        process.end()


def _provision(broker: Broker, prefix: str, partitions: int = PARTITIONS) -> None:
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    wanted = TopicSet(prefix=prefix, partitions=partitions, replication=1, insync_min=1)
    apply(connection, wanted, plan(connection, wanted))


def _held(process: WorkerProcess) -> set[int]:
    return {int(word) for word in (process.last("accepted") or "").split()}


def _await_all(*processes: WorkerProcess, timeout_s: float = 20, total: int = PARTITIONS) -> float:
    """Wait until the processes hold every partition, each exactly once."""

    def shared() -> bool:
        held = [partition for process in processes for partition in _held(process)]
        return sorted(held) == list(range(total))

    return await_true(shared, timeout_s=timeout_s, what="every lease held by exactly one worker")


def _await_shares(*processes: WorkerProcess) -> None:
    """Wait until every process holds a lease and all leases are held once."""
    what = "every worker holds a lease"
    await_true(lambda: all(_held(process) for process in processes), timeout_s=20, what=what)
    _await_all(*processes)


def test_workers_share_all_leases_while_they_come_and_go(
    broker: Broker, prefix: str, spawn: Spawn
) -> None:
    """A joining worker gets its share, and one that leaves gives it back at once."""
    _provision(broker, prefix)

    first = spawn(broker, prefix)
    _await_all(first)
    second = spawn(broker, prefix)
    _await_shares(first, second)
    assert 0 == second.stop()

    assert _await_all(first) < SESSION_S


def test_a_killed_owner_is_replaced_within_a_session(
    broker: Broker, prefix: str, spawn: Spawn
) -> None:
    """After kill -9 the other worker holds every lease within about one session time-out."""
    _provision(broker, prefix)
    first, second = spawn(broker, prefix), spawn(broker, prefix)
    _await_shares(first, second)

    second.kill()

    assert _await_all(first) < SESSION_S + 2


def test_a_frozen_owner_loses_its_leases_and_comes_back(
    broker: Broker, prefix: str, spawn: Spawn
) -> None:
    """SIGSTOP beyond the session moves the leases; the resumed worker joins again by itself."""
    _provision(broker, prefix)
    first, second = spawn(broker, prefix), spawn(broker, prefix)
    _await_shares(first, second)

    second.pause()
    _await_all(first)
    second.resume()

    _await_shares(first, second)
    assert second.running


def test_a_spare_without_a_partition_takes_over(broker: Broker, prefix: str, spawn: Spawn) -> None:
    """A worker that never had a partition stays a member and owns when the owner dies."""
    _provision(broker, prefix, partitions=1)
    owner = spawn(broker, prefix)
    _await_all(owner, total=1)
    spare = spawn(broker, prefix)
    await_true(lambda: spare.last("accepted") is not None, timeout_s=20, what="the spare runs")
    await_true(
        lambda: len(_held(owner)) + len(_held(spare)) == 1, timeout_s=10, what="one of them owns"
    )
    holder, idle = (owner, spare) if _held(owner) else (spare, owner)

    holder.kill()

    _await_all(idle, timeout_s=SESSION_S + 5, total=1)


def test_two_workers_with_one_static_id_do_not_replace_each_other(
    broker: Broker, prefix: str, spawn: Spawn
) -> None:
    """The earlier of two workers with the same static id exits 78 with a message and stays out."""
    _provision(broker, prefix)
    first = spawn(broker, prefix, "same")
    _await_all(first)

    second = spawn(broker, prefix, "same")

    assert EXIT_CONFIGURATION == first.join()
    assert "FENCED_INSTANCE_ID" in (first.last("exit") or "")
    _await_all(second)
    assert second.running


def test_a_worker_without_a_broker_exits_for_a_restart(
    own_broker: Broker, prefix: str, spawn: Spawn
) -> None:
    """When the broker answers nothing for two session time-outs the worker exits 75."""
    _provision(own_broker, prefix)
    worker = spawn(own_broker, prefix)
    _await_all(worker, timeout_s=30)

    own_broker.pause()
    try:
        assert EXIT_RESTART == worker.join(timeout_s=2 * SESSION_S + 10)
    finally:
        own_broker.resume()
