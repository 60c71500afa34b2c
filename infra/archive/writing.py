"""Writing an archive: records in, segment files and the manifest out, in one step or not at all.

Where the records come from (an embedded log, Kafka) is the caller's affair. Partitions may be
interleaved; within one, offsets rise and the outputs of an event follow it.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from infra.archive import frames
from infra.archive.manifest import (
    FORMAT,
    MANIFEST_NAME,
    Manifest,
    PartitionEntry,
    PartitionHead,
    SegmentEntry,
    TopicTotal,
    render_manifest,
    seal_manifest,
)
from infra.archive.merkle import compute_root
from infra.archive.provenance import Provenance
from schemas.archive import ArchivedEvent, ArchivedHeader, ArchivedOutput
from schemas.codec import encode
from schemas.identity import record_key
from streams.ports import Headers

SEGMENT_BYTES: Final = 16 << 20
"""Small enough for several processes to verify a middling archive together."""
CONTROL_KEY: Final = record_key("", "")


class ArchiveError(ValueError):
    """An archive cannot be written or used as asked; the message says why and what to do."""


class PlacedEvent(NamedTuple):
    """One record of ``events`` with its fate, as its ledger recorded it (the body of a Fate)."""

    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    fate: bytes


class PlacedOutput(NamedTuple):
    """One record of an output topic, with the offset of the event that caused it."""

    partition: int
    offset: int
    topic: str
    key: bytes
    value: bytes


def interleave(
    events: Iterable[PlacedEvent], outputs: Iterable[PlacedOutput]
) -> Iterator[PlacedEvent | PlacedOutput]:
    """Yield the events of one partition, each followed by its outputs sorted by topic.

    Both come in offset order; outputs of one event and topic keep their order.
    """
    waiting = iter(outputs)
    ahead = next(waiting, None)
    for event in events:
        yield event
        caused = []
        while ahead is not None and ahead.offset <= event.offset:
            caused.append(ahead)
            ahead = next(waiting, None)
        yield from sorted(caused, key=lambda output: output.topic)
    if ahead is not None:
        raise ArchiveError(f"{ahead.topic}: an output of event {ahead.offset}, which is not there")


def write_archive(
    folder: Path,
    records: Iterable[PlacedEvent | PlacedOutput],
    heads: Iterable[PartitionHead],
    *,
    log_identity: bytes,
    segment_bytes: int = SEGMENT_BYTES,
) -> Manifest:
    """Write a new archive and return its manifest; the folder appears complete or not at all.

    ``heads`` names every partition, also one without records.

    Raises:
        ArchiveError: the folder exists, or the records are out of order.

    """
    if folder.exists():
        raise ArchiveError(f"{folder} exists already: name a new folder")
    draft = folder.with_name(folder.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    parts: dict[int, _Partition] = {}
    try:
        manifest = _fill(draft, parts, records, heads, log_identity, segment_bytes)
    except BaseException:
        for part in parts.values():
            part.abandon()
        shutil.rmtree(draft, ignore_errors=True)
        raise
    draft.rename(folder)
    return manifest


def _fill(
    draft: Path,
    parts: dict[int, "_Partition"],
    records: Iterable[PlacedEvent | PlacedOutput],
    heads: Iterable[PartitionHead],
    log_identity: bytes,
    segment_bytes: int,
) -> Manifest:
    """Write every file of the archive into a folder."""
    provenance = Provenance()
    for head in heads:
        parts[head.partition] = _Partition(draft, head, segment_bytes)
    for record in records:
        part = parts.get(record.partition)
        if part is None:
            raise ArchiveError(f"partition {record.partition} has no head")
        if isinstance(record, PlacedEvent):
            part.add_event(record)
            provenance.note_event(record.key, record.value, record.fate)
        else:
            part.add_output(record)
            provenance.note_output(record.topic)
    manifest = seal_manifest(
        Manifest(
            format=FORMAT,
            log_identity=log_identity,
            partitions=tuple(parts[number].close() for number in sorted(parts)),
            rulesets=tuple(provenance.rulesets),
            catalogues=tuple(provenance.catalogues),
            schemas=provenance.describe_schemas(),
            root=b"",
            digest=b"",
        )
    )
    with (draft / MANIFEST_NAME).open("wb") as stream:
        stream.write(render_manifest(manifest).encode())
        _sync(stream)
    return manifest


@dataclass(slots=True)
class _Partition:
    """One partition while it is written; ``waiting`` are the frames of the open block."""

    folder: Path
    head: PartitionHead
    segment_bytes: int
    stream: IO[bytes] | None = None
    written: int = 0
    last_offset: int = -1
    first_offset: int = -1
    events: int = 0
    frames: int = 0
    outputs: dict[str, int] = field(default_factory=dict)
    waiting: list[bytes] = field(default_factory=list)
    leaves: list[bytes] = field(default_factory=list)
    segments: list[SegmentEntry] = field(default_factory=list)
    opened: tuple[str, int, int] = ("", 0, 0)

    def add_event(self, event: PlacedEvent) -> None:
        if not self.last_offset < event.offset < self.head.next_offset:
            raise ArchiveError(
                f"partition {event.partition}: offset {event.offset} behind {self.last_offset}; "
                f"the head stands at {self.head.next_offset}"
            )
        if self.first_offset < 0:
            self.first_offset = event.offset
        self.last_offset = event.offset
        self.events += 1
        headers = tuple(ArchivedHeader(name, content) for name, content in event.headers)
        body = encode(
            ArchivedEvent(
                event.offset, event.timestamp_ms, event.key, event.value, headers, event.fate
            )
        )
        self._add(frames.CONTROL if event.key == CONTROL_KEY else frames.EVENT, body)

    def add_output(self, output: PlacedOutput) -> None:
        if output.offset != self.last_offset:
            raise ArchiveError(
                f"partition {output.partition}: {output.topic} of event {output.offset} behind "
                f"event {self.last_offset}"
            )
        self.outputs[output.topic] = self.outputs.get(output.topic, 0) + 1
        body = encode(ArchivedOutput(output.offset, output.key, output.value))
        self._add(frames.TOPIC_KINDS[output.topic], body)

    def close(self) -> PartitionEntry:
        self._end_block()
        self._end_segment()
        return PartitionEntry(
            head=self.head,
            first_offset=self.first_offset if self.events else self.head.next_offset,
            events=self.events,
            outputs=tuple(TopicTotal(*item) for item in sorted(self.outputs.items())),
            frames=self.frames,
            root=compute_root(self.leaves),
            last_leaf=self._previous(),
            segments=tuple(self.segments),
        )

    def abandon(self) -> None:
        if self.stream is not None:
            self.stream.close()

    def _add(self, kind: int, body: bytes) -> None:
        if not self.waiting and (self.stream is None or self.written >= self.segment_bytes):
            self._begin_segment()
        self.waiting.append(frames.encode_frame(kind=kind, number=self.frames, body=body))
        self.frames += 1
        if len(self.waiting) == frames.BLOCK_FRAMES:
            self._end_block()

    def _previous(self) -> bytes:
        return self.leaves[-1] if self.leaves else frames.START

    def _end_block(self) -> None:
        if self.waiting:
            assert self.stream is not None, "a frame has opened its segment"
            content, _, leaf = frames.encode_block(self.waiting, self._previous())
            self.stream.write(content)
            self.written += len(content)
            self.leaves.append(leaf)
            self.waiting = []

    def _begin_segment(self) -> None:
        self._end_segment()
        name = f"{self.head.partition:05d}-{self.frames:012d}.frames"
        self.opened = (name, self.frames, self.last_offset)
        self.stream = (self.folder / name).open("wb")
        header = frames.encode_header(
            partition=self.head.partition, first_number=self.frames, previous=self._previous()
        )
        self.stream.write(header)
        self.written = len(header)

    def _end_segment(self) -> None:
        if self.stream is None:
            return
        _sync(self.stream)
        self.stream.close()
        name, first, offset = self.opened
        self.segments.append(SegmentEntry(name, first, offset, self.frames - first, self.written))
        self.stream = None


def _sync(stream: Any) -> None:
    stream.flush()
    os.fsync(stream.fileno())
