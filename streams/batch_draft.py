"""A batch while it is folded, and its closing: counts, digests, the next head and ledger record.

Pure over the overlay it holds; when a batch closes and what becomes of it is streams/ledger.py.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from schemas.ledger import BatchRecord, Head, TopicCount, TopicDigest
from schemas.topics import OUTPUTS, Cleanup
from streams.ledger_bytes import digest_outputs, encode_head, encode_record, seal
from streams.overlay import Overlay
from streams.ports import (
    Batch,
    Finished,
    Folded,
    ForgettingReducer,
    OutputRecord,
    PlacedOutput,
    Reducer,
)
from streams.row_digest import parse_row_set

HELD_BACK_PLACE: Final = 1 << 20
"""Places of outputs held back to the end of a batch lie behind those of any single event."""


@dataclass(slots=True)
class Draft:
    """A batch while it is folded."""

    overlay: Overlay
    fates: list[bytes] = field(default_factory=list)
    outputs: list[PlacedOutput] = field(default_factory=list)
    output_bytes: int = 0

    def add(self, offset: int, folded: Folded) -> None:
        """Take over what the event at this offset did."""
        if folded.changes:
            self.overlay.apply(folded.changes)
        self.fates.append(folded.fate)
        for place, output in enumerate(folded.outputs):
            self.outputs.append(PlacedOutput(offset, place, output))
            self.output_bytes += _measure(output)

    def finish(self, offset: int, finished: Finished) -> None:
        """Take over what the reducer held back; its outputs stand behind the last event's."""
        self.overlay.finish(finished.changes)
        for place, output in enumerate(finished.outputs):
            self.outputs.append(PlacedOutput(offset, HELD_BACK_PLACE + place, output))
            self.output_bytes += _measure(output)


def close_draft(
    head: Head, draft: Draft, *, first_offset: int, record_digest: bytes, next_offset: int
) -> Batch:
    """Return the batch that leads from head behind the drafted events; a gap batch has no event."""
    differences = draft.overlay.differences()
    before = parse_row_set(count=head.row_count, digest=head.row_set_digest)
    rows = before.replace(differences)
    digests = digest_outputs(draft.outputs)
    record = seal(
        BatchRecord(
            batch=head.batch,
            gap_from=min(head.next_offset, first_offset),
            first_offset=first_offset,
            next_offset=next_offset,
            fates=tuple(draft.fates),
            outputs=digests,
            row_count=rows.count,
            row_set_digest=rows.digest,
            take_overs=head.take_overs,
            core_version=head.core_version,
            previous=head.chain,
            chain=b"",
        )
    )
    after = replace(
        head,
        next_offset=record.next_offset,
        record_digest=record_digest,
        batch=head.batch + 1,
        chain=record.chain,
        row_count=rows.count,
        row_set_digest=rows.digest,
        outputs=_add_counts(head.outputs, digests),
    )
    return Batch(
        outputs=tuple(draft.outputs),
        changes={key: value for key, _, _, value in differences},
        head=after,
        head_bytes=encode_head(after),
        record=record,
        record_bytes=encode_record(record),
    )


def adopt_erased(batch: Batch, expected: BatchRecord, reducer: Reducer) -> Batch:
    """Return the batch with the recorded ledger record, where erased events are behind it.

    What rested on them cannot be folded again: the rows are those that can be had, the chain is
    the recorded one (spec 7.5, hash-check only). Without erased events it is the batch itself.
    """
    if not isinstance(reducer, ForgettingReducer) or not reducer.met_erased:
        return batch
    return _adopt(batch, expected)


def adopt_decided(batch: Batch, expected: BatchRecord) -> Batch:
    """Return the batch with the recorded ledger record, where another core recorded it.

    Only if it decided the same: equal fates and equal outcomes. How rows and their public copies
    are written is each core's own affair. In every other case it is the batch itself.
    """
    found = batch.record
    same = found.fates == expected.fates and _outcomes(found) == _outcomes(expected)
    if found.core_version == expected.core_version or not same:
        return batch
    return _adopt(batch, expected)


def _adopt(batch: Batch, expected: BatchRecord) -> Batch:
    head = replace(batch.head, chain=expected.chain)
    return replace(
        batch,
        head=head,
        head_bytes=encode_head(head),
        record=expected,
        record_bytes=encode_record(expected),
    )


def _outcomes(record: BatchRecord) -> tuple[TopicDigest, ...]:
    tables = {topic.name for topic in OUTPUTS if topic.cleanup is Cleanup.COMPACT}
    return tuple(part for part in record.outputs if part.topic not in tables)


def _add_counts(
    before: tuple[TopicCount, ...], digests: tuple[TopicDigest, ...]
) -> tuple[TopicCount, ...]:
    counts = {total.topic: total.count for total in before}
    for part in digests:
        counts[part.topic] = counts.get(part.topic, 0) + part.count
    return tuple(TopicCount(topic, count) for topic, count in sorted(counts.items()))


def _measure(output: OutputRecord) -> int:
    return len(output.key) + len(output.value or b"") + 64 * (1 + len(output.headers))
