"""Archives for tests: folded from events without a log, or of made-up bytes where only bytes count.

``fold_archive`` runs the real reducer over rows in memory, one per partition.
"""

import random
from dataclasses import dataclass, field

from infra.archive.frames import TOPIC_KINDS
from infra.archive.manifest import PartitionHead
from infra.archive.writing import PlacedEvent, PlacedOutput, interleave, write_archive
from schemas.codec import encode, frame
from schemas.event import CONTROL_PAYLOADS
from schemas.fate import Fate, FateStatus
from schemas.identity import record_key
from schemas.partition import partition_of
from streams.core_reducer import CoreReducer
from streams.ports import LogRecord
from streams.row_digest import sum_rows

IDENTITY = bytes(range(16))
SEGMENT_BYTES = 20_000


@dataclass
class Rows:
    """Rows in a dictionary, as a RowReader."""

    rows: dict = field(default_factory=dict)

    def get(self, key):
        """Return the row or None."""
        return self.rows.get(key)

    def scan(self, prefix):
        """Yield the rows below a prefix in key order."""
        for key in sorted(key for key in self.rows if key.startswith(prefix)):
            yield key, self.rows[key]

    def apply(self, changes):
        """Replace rows; None deletes."""
        for key, value in changes.items():
            if value is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = value


def fold_archive(folder, events, *, partitions=1, segment_bytes=SEGMENT_BYTES, skip=0):
    """Fold events of any users and archive them; ``skip`` offsets hold no record, as on Kafka."""
    heads, records = [], []
    for partition in range(partitions):
        own = [event for event in events if goes_to(event, partition, partitions)]
        records += fold_partition(partition, own, heads, skip)
    return write_archive(folder, records, heads, log_identity=IDENTITY, segment_bytes=segment_bytes)


def goes_to(event, partition, partitions):
    """Tell whether an event belongs to a partition; control records belong to all."""
    key = record_key(event.tenant, event.user)
    return isinstance(event.payload, CONTROL_PAYLOADS) or partition_of(key, partitions) == partition


def fold_partition(partition, events, heads, skip=0):
    """Fold one partition's events, add its head, and return what is archived."""
    reducer, rows = CoreReducer(partition=partition), Rows()
    placed, outputs, offset = [], [], 0
    for event in events:
        key, value = record_key(event.tenant, event.user), frame(event)
        stamp = max(event.occurred_at_ms, 1)
        folded = reducer.fold(rows, LogRecord(offset, key, value, stamp, ()))
        rows.apply(reducer.finish().rows)
        placed.append(PlacedEvent(partition, offset, stamp, key, value, (), folded.fate))
        outputs += [
            PlacedOutput(partition, offset, output.topic, output.key, output.value)
            for output in sorted(folded.outputs, key=lambda output: output.topic)
        ]
        offset += 1 + skip
    summed = sum_rows(rows.rows.items())
    heads.append(
        PartitionHead(
            partition, offset, 1, bytes(32), summed.count, summed.digest, CoreReducer.version
        )
    )
    return list(interleave(placed, outputs))


FATE = encode(Fate(FateStatus.ACCEPTED, 1, None, "", ""))


def draw_archive(folder, seed, *, events=None, partitions=None, segment_bytes=None):
    """Write an archive of made-up bytes, drawn by a seed; equal seeds give equal archives."""
    draw = random.Random(seed)
    partitions = partitions or draw.randint(1, 3)
    count = draw.randint(0, 40) if events is None else events
    records, heads = [], []
    for partition in range(partitions):
        own = draw_records(draw, partition, count)
        heads.append(
            PartitionHead(
                partition, 3 * count + 1, 1, bytes(32), count, bytes(32), CoreReducer.version
            )
        )
        records.append(own)
    return write_archive(
        folder,
        _shuffle_together(draw, records),
        heads,
        log_identity=IDENTITY,
        segment_bytes=segment_bytes or draw.choice((300, 2_000, 1 << 20)),
    )


def draw_records(draw, partition, count):
    """Return made-up events of one partition, each followed by its outputs."""
    records, offset = [], 0
    for _ in range(count):
        key = None if draw.random() < 0.05 else draw.randbytes(draw.randint(0, 12))
        value = None if draw.random() < 0.05 else draw.randbytes(draw.randint(0, 90))
        headers = tuple(("h", draw.randbytes(3)) for _ in range(draw.randint(0, 2)))
        records.append(
            PlacedEvent(partition, offset, draw.randint(0, 9), key, value, headers, FATE)
        )
        for topic in sorted(draw.sample(sorted(TOPIC_KINDS), draw.randint(0, 2))):
            body = draw.randbytes(draw.randint(0, 60))
            records.append(PlacedOutput(partition, offset, topic, b"k", body))
        offset += draw.randint(1, 3)
    return records


def _shuffle_together(draw, lists):
    """Yield the records of several partitions interleaved, each partition in its order."""
    waiting = [list(reversed(one)) for one in lists if one]
    while waiting:
        one = draw.choice(waiting)
        yield one.pop()
        waiting = [one for one in waiting if one]
