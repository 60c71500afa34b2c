"""How a ledger starts on a partition: lease, fence, rows, position, log; in this order.

Each step rests on the one before; where one cannot be proved the ledger does not start.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from schemas.ledger import Head
from streams.clock import Clock
from streams.connection import Connection
from streams.failures import FencedError, LedgerBrokenError, LogShortenedError
from streams.kafka_log import KafkaLog
from streams.kafka_rows import OpenCopy, open_cache
from streams.kafka_store import KafkaStore, Place
from streams.ledger import Ledger
from streams.ownership import Ownership
from streams.ports import Reducer


@dataclass(frozen=True, kw_only=True)
class WorkerSettings:
    """What one worker folds, and where its local rows stand."""

    connection: Connection
    prefix: str
    folder: Path
    group: str
    open_copy: OpenCopy = open_cache


Note = Callable[..., None]
"""Receives an event's name and its key-values; infra binds it to structlog."""


def open_store(
    settings: WorkerSettings, cluster_id: str, partition: int, *, ownership: Ownership, note: Note
) -> KafkaStore:
    """Confirm the lease, fence the predecessor and restore the rows; takes as long as that takes.

    Raises:
        FencedError: the coordinator does not accept this member as the owner, or another took over.
        StreamsError: see KafkaStore.open.
    """
    if not ownership.accept(partition):
        raise FencedError("the coordinator does not accept this member as the owner")
    store = KafkaStore(
        Place(
            connection=settings.connection,
            cluster_id=cluster_id,
            prefix=settings.prefix,
            partition=partition,
            folder=settings.folder / str(partition),
            open_copy=settings.open_copy,
        )
    )

    def show(read: int, ahead: int) -> None:
        note("rows_restoring", partition=partition, restored=read, lag=ahead)

    try:
        store.open(show)
    except BaseException:
        store.close()
        raise
    return store


def start_ledger(store: KafkaStore, log: KafkaLog, reducer: Reducer, clock: Clock) -> Ledger:
    """Prove the position against the log and return a ledger that goes on from there."""
    _refuse_foreign(store.head(), log.identity, reducer.version)
    ledger = Ledger(log=log, store=store, reducer=reducer, clock=clock)
    ledger.start()
    # Only the worker's thread moves the consumer: those that fold find it where they go on.
    log.read(ledger.head.next_offset, limit=0)
    return ledger


def _refuse_foreign(head: Head | None, identity: bytes, version: str) -> None:
    """Raise what stops a ledger whose topics were folded from another log or by another core."""
    if head is None:
        return
    if head.log_identity != identity:
        raise LogShortenedError(
            "the events topic was deleted and created again since it was folded: its outcomes "
            "rest on events that are gone. Restore it under another prefix"
        )
    if head.core_version != version:
        raise LedgerBrokenError(
            f"the rows were written by core {head.core_version}, this is {version}. Serve with "
            "that core, or run `commitments rebuild`"
        )
