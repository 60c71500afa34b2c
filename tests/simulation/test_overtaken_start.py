"""A start that is overtaken: its worker stood still while another took over and committed."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from schemas.topics import TOPICS
from streams import crash_points, kafka_rows
from streams.connection import Connection
from streams.failures import FencedError, LedgerBrokenError
from streams.kafka_log import EventReader
from streams.kafka_store import KafkaStore, Place
from streams.lane import Treatment, judge
from streams.starting import start_ledger
from tests.simulation.tallying import TallyReducer
from tests.simulation.twin_broker import TwinBroker
from tests.simulation.twin_clients import TwinClients
from tests.simulation.twin_copies import TwinCopy, TwinDisk

EVENTS = 6


class Straight:
    """A scheduler and clock without processes: a step only lets the broker write its markers."""

    def __init__(self) -> None:
        self.chance = Random(7)
        self.calm = True
        self.clock = self
        self.at_ns = 0
        self.broker = TwinBroker([topic.name for topic in TOPICS], 1, self.now_ms)

    def step(self, what: str, *, wait_ms: int = 0) -> None:
        """Let what is under way arrive."""
        self.at_ns += 1_000_000 * (1 + wait_ms)
        while self.broker.write_marker(self.chance):
            pass

    def now_ms(self) -> int:
        """Return the wall time."""
        return 1_800_000_000_000 + self.at_ns // 1_000_000

    def steady_ns(self) -> int:
        """Return the steady time."""
        self.at_ns += 1_000
        return self.at_ns

    def wait(self, duration_ms: int) -> None:
        """Let the time pass."""
        self.step("wait", wait_ms=duration_ms)


class World:
    """One partition, its broker, and workers that each have a folder."""

    def __init__(self, home: Path) -> None:
        self.time = Straight()
        self.connection = Connection(
            bootstrap_servers="twin", clients=TwinClients(self.time.broker, self.time)
        )
        self.disk = TwinDisk(home, self.time, TwinCopy)

    def append(self) -> None:
        """Append some events."""
        for number in range(EVENTS):
            self.time.broker.append(("events", 0), b"key %d" % (number % 2), b"said %d" % number)

    def place(self, name: str) -> Place:
        """Return the partition as the worker of this name sees it."""
        return Place(
            connection=self.connection, cluster_id="twin", prefix="", partition=0,
            folder=self.disk.home / name, open_copy=self.disk.open_copy,
        )  # fmt: skip

    def serve(self, name: str) -> None:
        """Take the partition over, fold all that waits, and leave."""
        store = KafkaStore(self.place(name))
        store.open(lambda read, ahead: None)
        reader = EventReader(self.connection, topic="events", topic_id="id", group="g")
        ledger = start_ledger(store, reader.open(0), TallyReducer(), self.time)
        while reader.drain(0.1) or ledger.fold_batch():
            pass
        store.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Give a partition from which some events have been folded, and more wait."""
    told = World(tmp_path / "disk")
    told.append()
    told.serve("first")
    told.append()
    yield told
    crash_points.watch(None)


def stand_still_at(point: str, meanwhile: Callable[[], None]) -> None:
    """Let the worker that next reaches this point stand still while something else happens."""

    def listen(reached: str) -> None:
        if reached == point:
            crash_points.watch(None)
            meanwhile()

    crash_points.watch(listen)


def test_a_start_that_was_overtaken_begins_again(world: World) -> None:
    """Its successor's rows are no damage: the start is fenced, and a new one restores them."""
    late = KafkaStore(world.place("late"))
    stand_still_at("position_read", lambda: world.serve("second"))
    with pytest.raises(FencedError, match="another worker has committed") as raised:
        late.open(lambda read, ahead: None)

    assert Treatment.AGAIN is judge(raised.value, failures=1)
    world.serve("late")
    assert 2 * EVENTS == len(list(world.time.broker.logs["commitments", 0].committed()))


def test_without_looking_again_the_partition_would_stop_for_good(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the look at the head row saves: rows that merely moved on would be called damaged."""
    monkeypatch.setattr(kafka_rows, "refuse_overtaken", lambda rows, found: None)
    late = KafkaStore(world.place("late"))
    stand_still_at("position_read", lambda: world.serve("second"))
    with pytest.raises(LedgerBrokenError, match="commitments rebuild") as raised:
        late.open(lambda read, ahead: None)

    assert Treatment.STOP is judge(raised.value, failures=1)


def test_a_first_start_that_was_overtaken_begins_again(tmp_path: Path) -> None:
    """Nor are rows lost where a successor wrote the first ones meanwhile."""
    world = World(tmp_path / "disk")
    world.append()
    late = KafkaStore(world.place("late"))
    stand_still_at("position_read", lambda: world.serve("second"))
    with pytest.raises(FencedError, match="another worker has committed"):
        late.open(lambda read, ahead: None)
