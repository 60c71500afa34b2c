"""A served encrypted log, as a platform team runs it: no metric, page or log line says a word.

Neither before two users are erased nor after it; the topics are searched beside it.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.broker import Broker
from infra.kafka_appending import EventProducer
from schemas.topics import TOPICS
from streams.connection import Connection
from tests.broker.checker import read_partition
from tests.broker.test_commands import SIZE, Deployment
from tests.broker.workers import await_true
from tests.canary import CANARY, find_canary, told_by
from tests.given import genesis

PARTITIONS = 2
PAGES = ("metrics", "readyz", "healthz")


@pytest.fixture
def deployment(
    broker: Broker, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployment]:
    """An encrypted deployment whose worker has folded two users that put the canary everywhere."""
    monkeypatch.setenv("COMMITMENTS_KEY_STORE", str(tmp_path / "keys"))
    told = Deployment(broker, prefix, tmp_path)
    told.run("provision", "--encrypted", *SIZE)
    worker = told.serve()
    try:
        connection = Connection(bootstrap_servers=broker.bootstrap_servers)
        producer = EventProducer(connection, prefix=prefix, partitions=PARTITIONS)
        events = [genesis(), *told_by("ada"), *told_by("bob")]
        producer.append(events)
        await_true(
            lambda: told.folded() == len(events) + 1, timeout_s=90, what="all is folded"
        )  # Genesis stands on both partitions.
        yield told
    finally:
        worker.terminate()
        assert 0 == worker.wait(20), (tmp_path / "worker.log").read_text()


def list_words(deployment: Deployment, broker: Broker, prefix: str) -> list[str]:
    """Return where the canary is found: pages, log lines, topics and files of the worker."""
    pages = {page: deployment.read(page) for page in PAGES}
    pages["worker.log"] = (deployment.folder / "worker.log").read_text()
    assert 'topic="commitments"' in pages["metrics"]
    topics = [
        topic.name
        for topic in TOPICS
        for partition in range(PARTITIONS)
        for key, value in read_partition(
            broker.bootstrap_servers, f"{prefix}{topic.name}", partition
        )
        if CANARY.encode() in (key or b"") + (value or b"")
    ]
    return [name for name, text in pages.items() if CANARY in text] + topics


def test_what_is_served_says_no_word_of_anybody(
    deployment: Deployment, broker: Broker, prefix: str
) -> None:
    """Metrics, health, log lines and topics are silent before the erasure of both and after it."""
    before = list_words(deployment, broker, prefix)
    for user in ("ada", "bob"):
        deployment.run("erase", "--user", user, "--tenant", "acme", "--operator", "ops")
    after = list_words(deployment, broker, prefix)

    assert [] == before
    assert [] == after
    assert [] == find_canary(deployment.folder)
