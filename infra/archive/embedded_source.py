"""The embedded log as the source of an archive: what is folded, with its fates and outputs.

Events that are appended but not folded yet have no fate and stay out.
"""

from collections.abc import Callable, Iterator
from heapq import merge
from pathlib import Path
from typing import Final

from infra.archive.manifest import Manifest, PartitionHead
from infra.archive.writing import (
    SEGMENT_BYTES,
    ArchiveError,
    PlacedEvent,
    PlacedOutput,
    interleave,
    write_archive,
)
from infra.records import OUTPUT_RECORDS
from schemas.ledger import Head
from streams.embedded import Embedded
from streams.failures import StoreDamagedError
from streams.ports import LogRecord
from streams.row_store import RowStore

PARTITION: Final = 0
READ_MANY: Final = 2_000
REPAIRS_MAX: Final = 2

Progress = Callable[[int, int], None]


def export_embedded(
    embedded: Embedded,
    folder: Path,
    progress: Progress | None = None,
    *,
    segment_bytes: int = SEGMENT_BYTES,
) -> Manifest:
    """Write everything folded on an embedded log into a new archive.

    Raises:
        ArchiveError: nothing is folded yet, or the folder exists.

    """
    for repairs_left in reversed(range(REPAIRS_MAX + 1)):
        try:
            with embedded.reading() as store:
                head = None if store is None else store.head()
                if store is None or head is None:
                    raise ArchiveError("nothing is folded on this log yet: commitments run")
                return write_archive(
                    folder,
                    _read_all(embedded, store, head, progress),
                    [describe_head(PARTITION, head)],
                    log_identity=head.log_identity,
                    segment_bytes=segment_bytes,
                )
        except StoreDamagedError:
            if repairs_left == 0:
                raise
            embedded.repair()
    raise AssertionError("the last try returns or raises")


def read_history(embedded: Embedded, head: Head) -> Iterator[PlacedEvent | PlacedOutput]:
    """Yield everything folded up to a head: each event with its fate, then its outputs."""
    with embedded.reading() as store:
        if store is not None:
            yield from _read_all(embedded, store, head, None)


def describe_head(partition: int, head: Head) -> PartitionHead:
    """Return what a manifest keeps of a ledger's head row."""
    return PartitionHead(
        partition=partition,
        next_offset=head.next_offset,
        batches=head.batch,
        chain=head.chain,
        row_count=head.row_count,
        row_set_digest=head.row_set_digest,
        core_version=head.core_version,
    )


def _read_all(
    embedded: Embedded, store: RowStore, head: Head, progress: Progress | None
) -> Iterator[PlacedEvent | PlacedOutput]:
    events = _read_events(embedded, store, head, progress)
    first_offset = embedded.log.bounds().start
    return interleave(events, _read_outputs(store, first_offset, head.next_offset))


def _read_events(
    embedded: Embedded, store: RowStore, head: Head, progress: Progress | None
) -> Iterator[PlacedEvent]:
    """Yield every folded record still on the log, beside the fate of its ledger record."""
    records = _read_log(embedded, head)
    ahead = next(records, None)
    for batch in store.records():
        if batch.first_offset == batch.next_offset or batch.first_offset >= head.next_offset:
            continue  # A gap: its one fate is that of no record.
        for place, fate in enumerate(batch.fates):
            offset = batch.first_offset + place
            if ahead is None or ahead.offset != offset:
                continue  # Folded once, and gone from the log since.
            key, value, headers = ahead.key, ahead.value, ahead.headers
            yield PlacedEvent(PARTITION, offset, ahead.timestamp_ms, key, value, headers, fate)
            ahead = next(records, None)
        if progress is not None:
            progress(batch.next_offset, max(0, head.next_offset - batch.next_offset))


def _read_log(embedded: Embedded, head: Head) -> Iterator[LogRecord]:
    offset = embedded.log.bounds().start
    while offset < head.next_offset:
        limit = min(READ_MANY, head.next_offset - offset)
        yield from (records := embedded.log.read(offset, limit=limit))
        offset = records[-1].offset + 1


def _read_outputs(store: RowStore, first_offset: int, next_offset: int) -> Iterator[PlacedOutput]:
    def read(topic: str) -> Iterator[PlacedOutput]:
        for output in store.outputs(topic):
            if first_offset <= output.offset < next_offset:
                record = output.record
                yield PlacedOutput(PARTITION, output.offset, topic, record.key, record.value or b"")

    # Each event's outputs of one topic keep their order; topics are sorted within an event.
    return merge(*(read(topic) for topic in sorted(OUTPUT_RECORDS)), key=_offset_of)


def _offset_of(output: PlacedOutput) -> int:
    return output.offset
