"""Ledgers over a log on a simulated disk and a store in memory."""

from collections.abc import Sequence
from pathlib import Path

from streams.clock import Clock, SimulatedClock
from streams.ledger import Ledger
from streams.local_log import LocalLog
from streams.ports import InputLog, NewRecord
from tests.simulation.counting import CountingReducer
from tests.simulation.disk import SimulatedDisk
from tests.simulation.memory_store import MemoryStore

IDENTITY = b"identity-of-log!"


def make_log(records: Sequence[NewRecord], *, identity: bytes = IDENTITY) -> LocalLog:
    """Return a log that holds these records."""
    log = LocalLog(Path("/log"), identity=identity, files=SimulatedDisk(), clock=SimulatedClock())
    log.append(records)
    return log


def number_records(count: int) -> list[NewRecord]:
    """Return records of three keys."""
    return [NewRecord(b"key %d" % (n % 3), b"%d" % n) for n in range(count)]


def make_ledger(
    log: InputLog,
    store: MemoryStore,
    *,
    reducer: CountingReducer | None = None,
    clock: Clock | None = None,
) -> Ledger:
    """Return a started ledger."""
    ledger = Ledger(
        log=log,
        store=store,
        reducer=reducer or CountingReducer(),
        clock=clock or SimulatedClock(),
    )
    ledger.start()
    return ledger


def fold_all(ledger: Ledger) -> list[int]:
    """Fold to the end and return the size of each batch."""
    sizes = []
    while events := ledger.fold_batch():
        sizes.append(events)
    return sizes
