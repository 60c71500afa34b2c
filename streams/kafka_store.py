"""The store of a ledger on Kafka: outputs, rows, head row and ledger record in one transaction.

Opening it fences the predecessor before anything is read, so that what is read is final. The local
copy of the rows is written only after the broker has answered the commit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from confluent_kafka import KafkaError, KafkaException

from schemas.ledger import Head
from schemas.topics import LEDGERS, OUTPUTS, ROWS, name_topic
from streams.committed import CommittedPartition
from streams.connection import Connection, describe_for_ledger
from streams.crash_points import reach
from streams.failures import (
    CommitAbortedError,
    CommitUnknownError,
    FencedError,
    LedgerBrokenError,
    StoreDamagedError,
    StoreUnavailableError,
)
from streams.kafka_rows import (
    IDENTITY_HEADER,
    OpenCopy,
    Progress,
    RowCache,
    open_cache,
    read_head,
    refuse_overtaken,
    restore,
    row_records,
)
from streams.ports import Batch
from streams.row_store import HEAD
from streams.transactions import await_decided

FENCE_TIMEOUT_S: Final = 40.0
COMMIT_TIMEOUT_S: Final = 30.0
ABORT_TIMEOUT_S: Final = 10.0
TRANSACTION_TIMEOUT_MS: Final = 30_000
"""How long a transaction of a dead worker may hold back readers when no successor fences it."""

_FENCED_CODES: Final = frozenset(
    {
        KafkaError._FENCED,  # noqa: SLF001
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.PRODUCER_FENCED,
        KafkaError.INVALID_PRODUCER_ID_MAPPING,
    }
)

_LEDGER_PRODUCER: Final = {
    "enable.idempotence": True,
    "acks": "all",
    "linger.ms": 0,
    # A transaction right after another is refused for a moment; the default sleeps 100 ms on it.
    "retry.backoff.ms": 5,
    "retry.backoff.max.ms": 50,
    "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
    "message.max.bytes": 2 * 1024 * 1024,
    # Above what one batch can hold: a full queue in the middle of a transaction is an error.
    "queue.buffering.max.messages": 1_000_000,
    "queue.buffering.max.kbytes": 262_144,
}


@dataclass(frozen=True, kw_only=True)
class Place:
    """One partition of one set of topics, and where its local copy may stand."""

    connection: Connection
    cluster_id: str
    prefix: str
    partition: int
    folder: Path
    open_copy: OpenCopy = open_cache

    @property
    def transactional_id(self) -> str:
        """Return the one name under which the partition is written, whoever owns it."""
        return f"{self.cluster_id}.{self.prefix}ledger.{self.partition}"


class KafkaStore:
    """A Store whose truth is the `rows` topic; open() before use, by the partition's owner only."""

    def __init__(self, place: Place) -> None:
        """Bind to a place; nothing is connected before open()."""
        self._place = place
        self._names = {topic.name: name_topic(topic, prefix=place.prefix) for topic in OUTPUTS}
        self._rows_name = name_topic(ROWS, prefix=place.prefix)
        self._ledgers_name = name_topic(LEDGERS, prefix=place.prefix)
        self._producer: Any = None
        self._cache: RowCache | None = None
        self._head: Head | None = None
        self._position = 0

    def open(self, progress: Progress) -> None:
        """Fence the predecessor, then bring the local copy to what it has committed.

        Raises:
            FencedError, StoreUnavailableError: try again later, when the lease is confirmed.
            LedgerBrokenError: the topics contradict each other; the message names the remedy.
        """
        place = self._place
        self._producer = open_producer(place)
        with CommittedPartition(
            place.connection, topic=self._rows_name, partition=place.partition
        ) as rows:
            found = read_head(rows)
            reach("position_read")
            if found is None:
                self._refuse_lost_rows(rows)
            elif found.transactional_id != place.transactional_id:
                raise LedgerBrokenError(
                    f"{self._rows_name}, partition {place.partition} was written as "
                    f"{found.transactional_id!r}; this worker would write as "
                    f"{place.transactional_id!r} and could not fence the other. Use the same "
                    "cluster and prefix as before"
                )
            self._cache = restore(place.folder, rows, found, progress, place.open_copy)
            self._position = rows.bounds().end
        self._head = None if found is None else found.head
        reach("rows_restored")

    def head(self) -> Head | None:
        """Return the head row that is committed, or None before the first batch."""
        return self._head

    def verify(self, head: Head | None) -> None:
        """Raise StoreDamagedError unless head is the committed one; open() has proved the rows."""
        if head != self._head:
            raise StoreDamagedError("the head row is not the committed one")

    def get(self, key: bytes) -> bytes | None:
        """Return a row's value, or None."""
        return self._rows().get(key)

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows below prefix in ascending key order."""
        return self._rows().scan(prefix)

    def commit(self, batch: Batch) -> None:
        """Commit the batch in one transaction, then write the local copy.

        Raises:
            CommitAbortedError: nothing was committed; the batch may be tried again.
            FencedError, CommitUnknownError, StoreUnavailableError: close this store, open another.
        """
        producer = self._producer
        try:
            producer.begin_transaction()
            reach("transaction_begun")
            self._produce(batch)
            reach("last_produced")
            producer.commit_transaction(COMMIT_TIMEOUT_S)
        except (KafkaException, BufferError) as error:
            self._abort(error)
        reach("transaction_committed")
        producer.poll(0)
        changes = [*row_records(batch.changes.items()), (HEAD, batch.head_bytes)]
        stamp_ms = self._place.connection.clients.clock.now_ms()
        self._rows().write(changes, position=self._position, stamp_ms=stamp_ms)
        self._head = batch.head
        reach("rows_written")

    def close(self) -> None:
        """Release the copy; an open transaction is aborted by the next owner."""
        if self._producer is not None:
            # What is queued belongs to an open transaction; sending it would only take time.
            self._producer.purge()
            self._producer = None
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _produce(self, batch: Batch) -> None:
        produce, partition = self._producer.produce, self._place.partition
        first = True
        for _, _, record in batch.outputs:
            produce(
                self._names[record.topic],
                record.value,
                record.key,
                partition,
                headers=list(record.headers),
            )
            if first:
                first = False
                reach("first_produced")
        rows = self._rows_name
        for key, value in row_records(batch.changes.items()):
            produce(rows, value, key, partition)
        # The head stands last among the rows, so that it is found at the end of the topic.
        produce(
            rows,
            batch.head_bytes,
            HEAD,
            partition,
            self._note_position,
            headers=[(IDENTITY_HEADER, self._place.transactional_id.encode())],
        )
        number = partition.to_bytes(4, "big")
        produce(self._ledgers_name, batch.record_bytes, number, partition)

    def _note_position(self, error: KafkaError | None, message: Any) -> None:
        if error is None:
            self._position = message.offset() + 1

    def _abort(self, error: Exception) -> NoReturn:
        """Say whether the batch is certainly not committed, and make it so where possible."""
        _raise_unless_fenced(error)
        cause = error.args[0] if isinstance(error, KafkaException) else None
        if cause is not None and cause.retriable() and not cause.txn_requires_abort():
            # The commit was under way and nobody answered: only the topics know.
            raise CommitUnknownError(f"commit of a batch: {error}") from error
        try:
            self._producer.abort_transaction(ABORT_TIMEOUT_S)
        except KafkaException as failure:
            _raise_unless_fenced(failure)
            raise CommitUnknownError(f"abort after {error}: {failure}") from error
        raise CommitAbortedError(f"batch aborted: {error}") from error

    def _refuse_lost_rows(self, rows: CommittedPartition) -> None:
        """Take missing rows for a first start only when nothing was ever committed."""
        place = self._place
        for name in (self._ledgers_name, *self._names.values()):
            with CommittedPartition(
                place.connection, topic=name, partition=place.partition
            ) as topic:
                if topic.read_last(lambda _: True) is not None:
                    refuse_overtaken(rows, None)
                    raise LedgerBrokenError(
                        f"{self._rows_name}, partition {place.partition} holds no head row, but "
                        f"{name} holds records: the rows are lost. Run `commitments rebuild`"
                    )

    def _rows(self) -> RowCache:
        if self._cache is None:
            raise StoreUnavailableError("the store is not open")
        return self._cache


def open_producer(place: Place) -> Any:
    """Fence the predecessor on a partition; return once all that it began is decided.

    Raises:
        FencedError, StoreUnavailableError, LedgerBrokenError: as KafkaStore.open.
    """
    producer = place.connection.clients.producer(
        describe_for_ledger(place.connection)
        | _LEDGER_PRODUCER
        | {"transactional.id": place.transactional_id},
    )
    try:
        producer.init_transactions(FENCE_TIMEOUT_S)
    except KafkaException as error:
        _raise_unless_fenced(error)
        raise StoreUnavailableError(f"init_transactions: {error}") from error
    reach("fenced")
    topics = [name_topic(topic, prefix=place.prefix) for topic in (ROWS, LEDGERS)]
    await_decided(place.connection, topics, place.partition)
    return producer


def _raise_unless_fenced(error: Exception) -> None:
    """Raise FencedError when another owner has taken over the transactional id."""
    cause = error.args[0] if isinstance(error, KafkaException) else None
    if cause is not None and cause.code() in _FENCED_CODES:
        raise FencedError(f"another worker has taken over: {error}") from error
