"""Reading an archive: its frames, its outputs, and each partition as an input log (replay).

Every frame is checked against the chain as it is read. That the chain is that of the manifest and
of a checkpoint is verification.py's affair; what is opened here reads as far as the chain holds.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from infra.archive import frames
from infra.archive.frames import Frame, FrameFaultError
from infra.archive.manifest import ManifestError, PartitionEntry, read_manifest
from schemas.archive import ArchivedEvent, ArchivedOutput
from schemas.codec import DecodeError, decode
from streams.failures import LogDamagedError, LogGapError
from streams.ports import LogBounds, LogRecord, OutputRecord, PlacedOutput

R = TypeVar("R")

DAMAGE_REMEDY: Final = "commitments verify tells what is wrong; take another copy of the archive"


class RecordedOutput(NamedTuple):
    """One output as archived: its topic, key and value."""

    topic: str
    key: bytes
    value: bytes


class RecordedEvent(NamedTuple):
    """One record of ``events`` as archived, its fate, and what it put out.

    ``frame`` is the number of its frame; ``digests`` those of its frame and of its outputs'.
    """

    record: LogRecord
    fate: bytes
    outputs: tuple[RecordedOutput, ...]
    frame: int
    digests: tuple[bytes, ...]


class Archive:
    """One archive, opened for reading."""

    def __init__(self, folder: Path) -> None:
        """Read the manifest.

        Raises:
            LogDamagedError: there is none, or it was altered.
        """
        self.folder = folder
        try:
            self.manifest = read_manifest(folder)
        except ManifestError as error:
            raise LogDamagedError(f"{error}. {DAMAGE_REMEDY}") from None
        self._entries = {entry.head.partition: entry for entry in self.manifest.partitions}

    @property
    def partitions(self) -> tuple[int, ...]:
        """Return the partitions, in order."""
        return tuple(sorted(self._entries))

    def entry(self, partition: int) -> PartitionEntry:
        """Return what the manifest says of a partition.

        Raises:
            LogDamagedError: the archive has no such partition.
        """
        if partition not in self._entries:
            raise LogDamagedError(f"{self.folder}: there is no partition {partition} in it")
        return self._entries[partition]

    def read_frames(self, partition: int, first_offset: int = 0) -> Iterator[Frame]:
        """Yield the frames from the segment of an offset on, each checked against the chain.

        Raises:
            LogDamagedError: naming the segment and frame that were altered.
        """
        entry = self.entry(partition)
        # A segment may begin with outputs of an event that stands at the end of the one before.
        starts = [segment.first_offset for segment in entry.segments]
        first = max(0, bisect_left(starts, first_offset) - 1)
        previous = None if first else frames.START
        for segment in entry.segments[first:]:
            content = (self.folder / segment.name).read_bytes()
            place = frames.SegmentPlace(
                name=segment.name,
                partition=partition,
                first_number=segment.first_frame,
                frames=segment.frames,
                # The first segment of a partial reading states what stands before it.
                previous=frames.read_previous(content) if previous is None else previous,
            )
            try:
                for block in frames.walk_blocks(content, place):
                    previous = block.leaf
                    yield from frames.list_frames(content, block)
            except FrameFaultError as fault:
                raise LogDamagedError(f"{self.folder}: {fault}. {DAMAGE_REMEDY}") from None
        if entry.segments and previous != entry.last_leaf:
            raise LogDamagedError(
                f"{self.folder}: it does not end as its manifest says. {DAMAGE_REMEDY}"
            )

    def history(self, partition: int, first_offset: int = 0) -> Iterator[RecordedEvent]:
        """Yield the events from an offset on, each with its fate and outputs."""
        event: ArchivedEvent | None = None
        outputs: list[RecordedOutput] = []
        digests: list[bytes] = []
        number = 0
        for frame in self.read_frames(partition, first_offset):
            if frame.kind in frames.KIND_TOPICS:
                if event is None:
                    continue
                output = self._decode(ArchivedOutput, frame)
                topic = frames.KIND_TOPICS[frame.kind]
                outputs.append(RecordedOutput(topic, output.key, output.value))
                digests.append(frame.digest)
                continue
            if event is not None and event.offset >= first_offset:
                yield _record(event, outputs, number, digests)
            event, number = self._decode(ArchivedEvent, frame), frame.number
            outputs, digests = [], [frame.digest]
        if event is not None and event.offset >= first_offset:
            yield _record(event, outputs, number, digests)

    def outputs(self, topic: str) -> Iterator[PlacedOutput]:
        """Yield the outputs of a topic, partition by partition, in input order."""
        for partition in self.partitions:
            for event in self.history(partition):
                for place, output in enumerate(event.outputs):
                    if output.topic == topic:
                        record = OutputRecord(topic, output.key, output.value)
                        yield PlacedOutput(event.record.offset, place, record)

    def log(self, partition: int = 0) -> "ArchiveLog":
        """Return a partition as an input log."""
        return ArchiveLog(self, partition)

    def _decode(self, cls: type[R], frame: Frame) -> R:
        try:
            return decode(cls, frame.body)
        except DecodeError as error:
            raise LogDamagedError(f"{self.folder}, frame {frame.number}: {error}") from None


def _record(
    event: ArchivedEvent,
    outputs: Sequence[RecordedOutput],
    number: int,
    digests: Sequence[bytes],
) -> RecordedEvent:
    headers = tuple((h.name, h.content) for h in event.headers) if event.headers else ()
    record = LogRecord(event.offset, event.key, event.value, event.timestamp_ms, headers)
    return RecordedEvent(record, event.fate, tuple(outputs), number, tuple(digests))


class ArchiveLog:
    """One partition of an archive as an InputLog: what was on the log when it was archived."""

    def __init__(self, archive: Archive, partition: int) -> None:
        """Read from the first event."""
        self._archive = archive
        self._partition = partition
        self._entry = archive.entry(partition)
        self._history: Iterator[RecordedEvent] | None = None
        self._next_offset = 0

    @property
    def identity(self) -> bytes:
        """Return the identity of the log that was archived."""
        return self._archive.manifest.log_identity

    def bounds(self) -> LogBounds:
        """Return the offsets from the first event to where the ledger stood."""
        return LogBounds(self._entry.first_offset, self._entry.head.next_offset)

    def read(self, first: int, *, limit: int) -> Sequence[LogRecord]:
        """Return up to limit records from first on; see InputLog."""
        if first < self._entry.first_offset:
            raise LogGapError(
                f"offsets {first} to {self._entry.first_offset - 1} are not in the archive"
            )
        if self._history is None or first < self._next_offset:
            self._history = self._archive.history(self._partition, first)
        records: list[LogRecord] = []
        for event in self._history:
            if event.record.offset >= first:
                records.append(event.record)
            if len(records) == limit:
                break
        if records:
            self._next_offset = records[-1].offset + 1
        return records
