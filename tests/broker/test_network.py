"""Faults of the network between worker and broker: outcomes are late, never lost or double."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.broker import Broker, find_port, start_broker
from streams.connection import Connection
from tests.broker.appending import append_values
from tests.broker.checker import assert_exact
from tests.broker.counting import CountingReducer
from tests.broker.histories import await_marks, provision
from tests.broker.proxy import Proxy, proxied
from tests.broker.threads import running_on

BATCH = [b"x" * 200] * 300


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, Proxy, Connection]]:
    """Give a broker, the proxy before it, and the connection that goes through the proxy."""
    own, behind, before = find_port(), find_port(), find_port()
    broker = start_broker(
        folder=tmp_path_factory.mktemp("far") / "broker",
        port=own,
        listeners={"PROXIED": behind},
        properties={
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT"
            ),
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{own},PROXIED://127.0.0.1:{before}",
            "inter.broker.listener.name": "PLAINTEXT",
        },
    )
    try:
        with proxied(before, behind) as proxy:
            yield broker, proxy, Connection(bootstrap_servers=f"127.0.0.1:{before}")
    finally:
        broker.stop()


def _mend(proxy: Proxy) -> None:
    proxy.delay_s, proxy.bytes_per_s, proxy.swallowing = 0.0, 0, False


def test_delays_resets_and_half_open_connections_lose_nothing(
    far: tuple[Broker, Proxy, Connection], prefix: str, tmp_path: Path
) -> None:
    """After each fault folding goes on by itself, and every outcome is there once."""
    broker, proxy, connection = far
    provision(broker, prefix)
    with running_on(connection, prefix, tmp_path / "s", CountingReducer) as worker:
        append_values(broker, f"{prefix}events", BATCH)
        worker.await_folded(300, timeout_s=60)
        proxy.delay_s = 0.1
        append_values(broker, f"{prefix}events", BATCH)
        worker.await_folded(600, timeout_s=60)
        proxy.delay_s = 0.0
        for round_ in range(1, 4):
            append_values(broker, f"{prefix}events", BATCH)
            proxy.reset()
            worker.await_folded(600 + 300 * round_, timeout_s=90)
        proxy.swallowing = True
        append_values(broker, f"{prefix}events", BATCH)
        worker.thread.join(3)
        proxy.reset()
        _mend(proxy)
        worker.await_folded(1_800, timeout_s=90)

    await_marks(broker, prefix, 1, ["commitments", "rows", "ledgers"])
    assert_exact(broker.bootstrap_servers, prefix)


def test_a_slow_way_out_commits_whole_batches_or_none(
    far: tuple[Broker, Proxy, Connection], prefix: str, tmp_path: Path
) -> None:
    """Where a batch leaves at a trickle and the connection then breaks, the copy is not ahead."""
    broker, proxy, connection = far
    provision(broker, prefix)
    append_values(broker, f"{prefix}events", BATCH)
    with running_on(connection, prefix, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(300, timeout_s=60)
        proxy.bytes_per_s = 40_000
        append_values(broker, f"{prefix}events", BATCH)
        worker.thread.join(1)
        proxy.reset()
        worker.thread.join(1)
        _mend(proxy)
        worker.await_folded(600, timeout_s=90)
    append_values(broker, f"{prefix}events", BATCH)
    with running_on(connection, prefix, tmp_path / "s", CountingReducer) as worker:
        worker.await_folded(900, timeout_s=60)

    await_marks(broker, prefix, 1, ["commitments", "rows", "ledgers"])
    assert_exact(broker.bootstrap_servers, prefix)
