"""A partition's rows on Kafka built anew: its recorded batches folded again, nothing put out.

For rows that were lost, altered or written by another core. The ledger's own records say where each
batch ended and what it put out, so the rebuilt rows are those that led to the outcomes which stand;
where the fold says otherwise, nothing is written.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import KafkaException

from schemas.codec import DecodeError, decode
from schemas.fate import Fate
from schemas.ledger import BatchRecord, Head
from schemas.topics import LEDGERS, ROWS, name_topic
from streams.clock import SystemClock
from streams.collection import collecting_rarely
from streams.committed import CommittedPartition
from streams.crash_points import reach
from streams.failures import LedgerBrokenError, LogGapError, StoreUnavailableError
from streams.kafka_rows import IDENTITY_HEADER, Progress, row_records
from streams.kafka_store import COMMIT_TIMEOUT_S, Place, open_producer
from streams.ledger import Ledger
from streams.ledger_bytes import GENESIS_CHAIN, decode_record, encode_head, is_sealed
from streams.ports import Batch, InputLog, LogBounds, LogRecord, Reducer
from streams.row_store import HEAD, wipe
from streams.scratch_rows import ScratchRows

ROWS_PER_TRANSACTION: Final = 10_000
"""A rebuild may write millions of rows: one transaction would outlive its time-out."""

FindFate = Callable[[int], Fate | None]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild of one partition did."""

    partition: int
    events: int
    batches: int
    rows: int
    removed: int


def rebuild_partition(
    place: Place,
    log: InputLog,
    build_reducer: Callable[[FindFate], Reducer],
    progress: Progress,
) -> Rebuilt:
    """Fold what the ledger has recorded again and replace the rows by what comes out.

    ``place.folder`` is scratch space, wiped before and after. The predecessor is fenced first; a
    rebuild that dies is run again: until its end no worker takes the rows for whole.

    Raises:
        LedgerBrokenError: the records do not chain, hold a gap, or the fold says otherwise.
        LogGapError: the beginning of the history is in neither log nor archive.
        FencedError, StoreUnavailableError: a worker took over, or the broker does not answer.
    """
    producer = open_producer(place)
    records = read_records(place)
    if not records:
        return Rebuilt(place.partition, 0, 0, 0, 0)
    _refuse_gap(records, log)
    wipe(place.folder)
    place.folder.mkdir(parents=True, exist_ok=True)
    rows = ScratchRows(place.folder / "rebuilt")
    try:
        head, events = _fold_recorded(records, log, rows, build_reducer, progress)
        stale = sorted(_read_keys(place) - {key for key, _ in _scan(rows)})
        changes = ((key, None) for key in stale)
        count = _write(producer, place, [changes, _scan(rows)], head)
    finally:
        rows.close()
        wipe(place.folder)
    return Rebuilt(place.partition, events, len(records), count - len(stale), len(stale))


def read_records(place: Place) -> list[BatchRecord]:
    """Return every batch that the partition's ledger has recorded, proved to be one chain.

    Raises:
        LedgerBrokenError: a record is missing or altered; what was decided is then not known.
    """
    name = name_topic(LEDGERS, prefix=place.prefix)
    found: list[BatchRecord] = []
    chain = GENESIS_CHAIN
    with CommittedPartition(place.connection, topic=name, partition=place.partition) as topic:
        for message in topic.read(topic.bounds().start):
            try:
                record = decode_record(message.value() or b"")
            except DecodeError as error:
                raise LedgerBrokenError(f"{name}, partition {place.partition}: {error}") from None
            if (record.batch, record.previous) != (len(found), chain) or not is_sealed(record):
                raise LedgerBrokenError(
                    f"{name}, partition {place.partition}: batch {len(found)} does not continue "
                    "the chain, so its rows cannot be proved. Write the history into a new set of "
                    "topics: add --into PREFIX"
                )
            chain = record.chain
            found.append(record)
    return found


class _Recorded:
    """The log of a rebuild, which also tells the recorded fate of each event it has given."""

    def __init__(self, log: InputLog) -> None:
        self._log = log
        self._waiting: Sequence[bytes] = ()
        self._fates: dict[int, bytes] = {}
        self.identity = log.identity

    def expect(self, record: BatchRecord) -> None:
        self._waiting = record.fates

    def bounds(self) -> LogBounds:
        return self._log.bounds()

    def read(self, first: int, *, limit: int) -> Sequence[LogRecord]:
        records = self._log.read(first, limit=limit)
        offsets = (record.offset for record in records)
        self._fates = dict(zip(offsets, self._waiting, strict=False))
        return records

    def find(self, offset: int) -> Fate | None:
        fate = self._fates.get(offset)
        return None if fate is None else decode(Fate, fate)


class _RowsOnly:
    """A Store that keeps rows and head: what the batches put out stands already."""

    def __init__(self, rows: ScratchRows) -> None:
        self._rows = rows
        self._head: Head | None = None
        self.get = rows.get
        self.scan = rows.scan

    def head(self) -> Head | None:
        return self._head

    def verify(self, head: Head | None) -> None:
        """Accept: the rows begin empty and every batch is proved."""

    def commit(self, batch: Batch) -> None:
        self._rows.apply(batch.changes)
        self._head = batch.head


def _fold_recorded(
    records: Sequence[BatchRecord],
    log: InputLog,
    rows: ScratchRows,
    build_reducer: Callable[[FindFate], Reducer],
    progress: Progress,
) -> tuple[Head, int]:
    recorded, store = _Recorded(log), _RowsOnly(rows)
    reducer = build_reducer(recorded.find)
    ledger = Ledger(log=recorded, store=store, reducer=reducer, clock=SystemClock())
    ledger.start()
    events, total = 0, records[-1].next_offset
    with collecting_rarely():
        for record in records:
            recorded.expect(record)
            ledger.fold_recorded(record)
            events += len(record.fates)
            progress(events, max(0, total - record.next_offset))
    return ledger.head, events


def _refuse_gap(records: Sequence[BatchRecord], log: InputLog) -> None:
    for record in records:
        if record.gap_from < record.first_offset:
            raise LedgerBrokenError(
                f"events {record.gap_from} to {record.first_offset - 1} were missing when what "
                "follows was decided, so those outcomes cannot come again. Write the whole history "
                "into a new set of topics: add --archive ARCHIVE --into PREFIX"
            )
    start = log.bounds().start
    if start > records[0].gap_from:
        raise LogGapError(
            f"events {records[0].gap_from} to {start - 1} are gone from the log: add --archive "
            "with an export that holds them"
        )


def _read_keys(place: Place) -> set[bytes]:
    """Return the keys of the rows that stand in the topic, right or wrong."""
    name = name_topic(ROWS, prefix=place.prefix)
    keys: set[bytes] = set()
    with CommittedPartition(place.connection, topic=name, partition=place.partition) as topic:
        for message in topic.read(topic.bounds().start):
            key = message.key() or b""
            if key == HEAD:
                continue
            if message.value() is None:
                keys.discard(key)
            else:
                keys.add(key)
    return keys


def _scan(rows: ScratchRows) -> Iterator[tuple[bytes, bytes | None]]:
    return row_records(rows.scan(b""))


def _write(
    producer: Any,
    place: Place,
    parts: Iterable[Iterable[tuple[bytes, bytes | None]]],
    head: Head,
) -> int:
    """Write all rows, then the head that states them; return how many records came before it."""
    topic = name_topic(ROWS, prefix=place.prefix)
    count = 0
    try:
        producer.begin_transaction()
        for part in parts:
            for key, value in part:
                producer.produce(topic, value, key, place.partition)
                count += 1
                if count % ROWS_PER_TRANSACTION == 0:
                    producer.commit_transaction(COMMIT_TIMEOUT_S)
                    reach("rows_rebuilt")
                    producer.begin_transaction()
        headers = [(IDENTITY_HEADER, place.transactional_id.encode())]
        producer.produce(topic, encode_head(head), HEAD, place.partition, headers=headers)
        producer.commit_transaction(COMMIT_TIMEOUT_S)
    except KafkaException as error:
        raise StoreUnavailableError(
            f"{topic}, partition {place.partition}: {error}. Run the rebuild again"
        ) from error
    return count
