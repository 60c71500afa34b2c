"""Fixtures of the tests on a real broker: one broker for the whole run, a fresh prefix per test.

A broker that cannot be had fails the tests; it never skips them.
"""

import os
import uuid
from collections.abc import Generator, Iterator
from contextlib import ExitStack

import pytest
from confluent_kafka.admin import AdminClient

from infra.broker import Broker, open_broker
from infra.provision import TopicSet, apply, plan
from streams.connection import Connection

_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.session.stash[_FAILED] = True
    return report


@pytest.fixture(scope="session")
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """Give the run's broker: BOOTSTRAP_SERVERS, or one started for this run."""
    with ExitStack() as stack:
        running = stack.enter_context(open_broker(os.environ))
        yield running
        if request.session.stash.get(_FAILED, False) and running.folder is not None:
            print(f"\nbroker log kept: {running.log_path}")
            running.stop()
            stack.pop_all()


@pytest.fixture(scope="module")
def own_broker() -> Iterator[Broker]:
    """Give a broker that the tests of one module may kill and pause: always started here."""
    with open_broker({}) as running:
        yield running


@pytest.fixture
def prefix() -> str:
    """Give a topic prefix that no other test uses."""
    return f"t{uuid.uuid4().hex[:10]}."


@pytest.fixture
def topics(broker: Broker, prefix: str) -> str:
    """Give the prefix of a fresh set of topics with one partition."""
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    wanted = TopicSet(prefix=prefix, partitions=1, replication=1, insync_min=1)
    apply(connection, wanted, plan(connection, wanted))
    return prefix


@pytest.fixture
def admin(broker: Broker) -> AdminClient:
    """Give an admin client that lives as long as the test waits for its answers."""
    return AdminClient({"bootstrap.servers": broker.bootstrap_servers})
