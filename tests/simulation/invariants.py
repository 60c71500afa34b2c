"""What must hold of a folder after any fault: the promises of the ledger, checked from outside."""

import hashlib
from itertools import pairwise
from pathlib import Path

from schemas import codec
from schemas.ledger import BatchRecord, TopicDigest
from streams.embedded import Embedded
from streams.ports import PlacedOutput
from tests.simulation.counting import CountingReducer
from tests.simulation.history import expect, make_event


def check_folder(path: Path, *, acknowledged: int) -> int:
    """Fold what is pending and assert every promise; return how many events the log holds."""
    with Embedded(path, CountingReducer()) as embedded:
        embedded.fold_pending()
        end = embedded.log.bounds().end
        assert acknowledged <= end, "an acknowledged event is missing"
        check_log(embedded, end)
        check_store(embedded, end)
        return end


def check_log(embedded: Embedded, end: int) -> None:
    """Assert that the log holds the first events of the history, in order, stamps rising."""
    records = []
    while batch := embedded.log.read(len(records), limit=100):
        records.extend(batch)
    assert end == len(records)
    for number, record in enumerate(records):
        assert (number, *make_event(number)) == (
            record.offset,
            record.key,
            record.value,
            record.headers,
        )
    for before, after in pairwise(records):
        assert before.timestamp_ms <= after.timestamp_ms


def check_store(embedded: Embedded, end: int) -> None:
    """Assert rows, outputs, digests and chain against the plain fold of the same events."""
    expected = expect(end)
    with embedded.reading() as store:
        if store is None or store.head() is None:
            assert end == 0
            return
        head = store.head()
        assert head is not None
        assert end == head.next_offset
        assert sorted(expected.rows.items()) == list(store.scan(b""))
        assert expected.row_set_digest == head.row_set_digest
        assert len(expected.rows) == head.row_count
        outputs = {topic: list(store.outputs(topic)) for topic in ("counts", "rejections")}
        assert expected.counts == [(o.record.key, o.record.value) for o in outputs["counts"]]
        assert expected.rejections == [
            (o.record.key, o.record.value) for o in outputs["rejections"]
        ]
        records = list(store.records())
        check_chain(records, outputs)
        assert head.chain == records[-1].chain
        assert head.batch == len(records)


def check_chain(records: list[BatchRecord], outputs: dict[str, list[PlacedOutput]]) -> None:
    """Assert that batches follow one another and state the outputs that are there."""
    next_offset, previous = 0, bytes(32)
    for number, record in enumerate(records):
        assert (number, next_offset, previous) == (
            record.batch,
            record.first_offset,
            record.previous,
        )
        assert record.next_offset - record.first_offset == len(record.fates)
        unsealed = BatchRecord(
            **{name: getattr(record, name) for name in BatchRecord.__slots__} | {"chain": b""}
        )
        assert hashlib.sha256(codec.encode(unsealed)).digest() == record.chain
        within = range(record.first_offset, record.next_offset)
        stated = tuple(
            part
            for topic in sorted(outputs)
            if (part := digest_topic(topic, [o for o in outputs[topic] if o.offset in within]))
        )
        assert stated == record.outputs
        next_offset, previous = record.next_offset, record.chain


def digest_topic(topic: str, outputs: list[PlacedOutput]) -> TopicDigest | None:
    """Return count and digest of outputs over their length-prefixed keys and values."""
    if not outputs:
        return None
    body = hashlib.sha256()
    for output in outputs:
        for part in (output.record.key, output.record.value):
            assert part is not None
            body.update(len(part).to_bytes(8, "big"))
            body.update(part)
    return TopicDigest(topic, len(outputs), body.digest())
