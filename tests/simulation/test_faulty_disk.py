"""Log and ledger over a disk that fails, fills up or loses power: promises P1, P2, P8, P9."""

import errno
import os
import random
from contextlib import suppress
from pathlib import Path

import pytest

from streams.clock import SimulatedClock
from streams.failures import StreamsError
from streams.ledger import Ledger
from streams.local_log import LocalLog
from tests.simulation.counting import CountingReducer
from tests.simulation.disk import Fault, SimulatedDisk
from tests.simulation.history import expect, make_event, sum_digests
from tests.simulation.invariants import check_chain
from tests.simulation.memory_store import MemoryStore

EVENTS = 60
SEEDS = 25 * int(os.environ.get("SEEDS", "2"))
IDENTITY = b"identity-of-log!"


class World:
    """A disk, a store whose commits are durable, and what was acknowledged."""

    def __init__(self, disk: SimulatedDisk, seed: int) -> None:
        """Start with nothing."""
        self.disk = disk
        self.store = MemoryStore()
        self.draw = random.Random(seed)
        self.acknowledged = 0

    def run(self, events: int = EVENTS) -> None:
        """Do what one process does: open, append and fold in calls of random size, to the end."""
        log = LocalLog(
            Path("/log"),
            identity=IDENTITY,
            files=self.disk,
            clock=SimulatedClock(),
            segment_bytes=1_500,
        )
        ledger = Ledger(
            log=log, store=self.store, reducer=CountingReducer(), clock=SimulatedClock()
        )
        ledger.start()
        number = log.bounds().end
        assert self.acknowledged <= number, "an acknowledged event is missing"
        self.acknowledged = number  # It can be read and folded from now on, so it must stay.
        while number < events:
            until = min(events, number + self.draw.randint(1, 8))
            number = log.append([make_event(n) for n in range(number, until)]).stop
            self.acknowledged = number
            if self.draw.random() < 0.5:
                ledger.fold_batch()
        while ledger.fold_batch():
            pass
        log.close()

    def check(self) -> None:
        """Assert that rows, outputs and ledger are those of the whole history."""
        expected = expect(EVENTS)
        assert self.store.stored_head is not None
        assert EVENTS == self.store.stored_head.next_offset
        assert expected.rows == self.store.rows
        assert sum_digests(self.store.rows) == self.store.stored_head.row_set_digest
        outputs = {topic: self.store.outputs(topic) for topic in ("counts", "rejections")}
        assert expected.counts == [(o.record.key, o.record.value) for o in outputs["counts"]]
        check_chain(self.store.batches, outputs)


@pytest.mark.parametrize("power", ["kept", "lost", "lost later"])
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_every_call_fails_once(number: int, power: str) -> None:
    """Whichever call fails, the process stops, and the next one ends with the whole history."""
    call, fired = 0, True
    while fired:
        call += 1
        world = World(SimulatedDisk(fault=Fault(call, number)), seed=call)
        try:
            world.run()
        except (OSError, StreamsError):
            if power == "lost":
                world.disk.lose_power(world.draw)
            else:
                world.disk.lose_process()
        fired = world.disk.calls >= call
        world.disk.fault = None
        if power == "lost later":
            # What a failed sync left in the page cache must not be taken for durable.
            world.run(world.acknowledged)
            world.disk.lose_power(world.draw)
        world.run()
        world.check()
    assert call > 50


def test_power_loss_at_any_call() -> None:
    """After power losses at random calls no acknowledged event is missing and nothing differs."""
    for seed in range(SEEDS):
        world = World(SimulatedDisk(), seed)
        for _ in range(6):
            world.disk.fault = Fault(world.disk.calls + world.draw.randint(1, 60), errno.EIO)
            try:
                world.run()
            except (OSError, StreamsError):
                world.disk.lose_power(world.draw)
        world.disk.fault = None
        world.run()
        world.check()


def test_power_loss_between_calls() -> None:
    """Power lost right after an acknowledgement, with nothing else synced, loses nothing."""
    for seed in range(SEEDS):
        world = World(SimulatedDisk(), seed)
        for until in range(5, EVENTS, 11):
            world.run(until)
            world.disk.lose_power(world.draw)
        world.run()
        world.check()


def test_a_full_disk_stops_before_the_next_acknowledgement() -> None:
    """At every size a full disk ends the run with an error; with space it ends as if never full."""
    refused = 0
    for capacity in range(200, 6_000, 131):
        world = World(SimulatedDisk(capacity=capacity), seed=capacity)
        with suppress(OSError):
            world.run()
        if world.acknowledged < EVENTS:
            refused += 1
            world.disk.lose_process()
        world.disk.capacity = None
        world.run()
        world.check()
    assert refused > 20
