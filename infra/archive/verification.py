"""Verifying an archive: every byte of every file against the chain, the trees and the manifest.

An edit, deletion, insertion or swap is found from the archive alone. Whoever can rewrite all of
it can also cut its tail or replace it whole with a chain that checks: that only shows against a
checkpoint kept elsewhere (checkpoint.py).
"""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import NamedTuple

from infra.archive import frames
from infra.archive.checkpoint import Checkpoint, compare_checkpoint
from infra.archive.frames import Fault, FrameFaultError
from infra.archive.manifest import (
    MANIFEST_NAME,
    Manifest,
    ManifestError,
    PartitionEntry,
    SegmentEntry,
    read_manifest,
)
from infra.archive.merkle import compute_root
from infra.archive.provenance import Provenance
from schemas.archive import ArchivedEvent
from schemas.codec import DecodeError, decode, text_fingerprint
from schemas.fate import Fate, FateStatus

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Verification:
    """What verifying an archive has found; ``fault`` is None when all of it checks.

    ``checkpoint``: "" without one, "same" where it is of this very archive, "extended" where
    the archive has grown since and still begins as the checkpoint says.
    """

    frames: int
    bytes: int
    partitions: int
    root: str
    checkpoint: str
    fault: Fault | None


@dataclass(frozen=True, slots=True)
class _Tree:
    """What was read of a partition: the digests of its frames, the leaves of its blocks."""

    digests: list[bytes]
    leaves: list[bytes]


class _Walked(NamedTuple):
    """What walking one segment alone came to.

    ``controls`` are the bodies of control records with their numbers; ``previous`` is what the
    segment states to stand before it, which only the segment before it can prove.
    """

    previous: bytes
    digests: list[bytes]
    leaves: list[bytes]
    controls: tuple[tuple[int, bytes], ...]
    size: int
    fault: Fault | None


def verify_archive(
    folder: Path,
    *,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
    jobs: int = 1,
) -> Verification:
    """Check everything about an archive and name the first fault; segments in so many processes."""
    try:
        manifest = read_manifest(folder)
    except ManifestError as error:
        return Verification(0, 0, 0, "", "", Fault(MANIFEST_NAME, None, "manifest", str(error)))
    size = sum(s.size for part in manifest.partitions for s in part.segments)
    count = sum(part.frames for part in manifest.partitions)
    fault, state = _check_files(folder, manifest), ""
    trees: dict[int, _Tree] = {}
    if fault is None:
        with _walking(folder, manifest, jobs) as walked:
            fault = _check_segments(manifest, walked, trees, size, progress)
    if fault is None and checkpoint is not None:
        digests = {partition: tree.digests for partition, tree in trees.items()}
        state, fault = compare_checkpoint(checkpoint, manifest, digests)
    return Verification(count, size, len(manifest.partitions), manifest.root.hex(), state, fault)


@contextmanager
def _walking(folder: Path, manifest: Manifest, jobs: int) -> Iterator[Iterator[_Walked]]:
    """Yield what walking each segment comes to, in the manifest's order."""
    asked = [
        (folder, part.head.partition, segment)
        for part in manifest.partitions
        for segment in part.segments
    ]
    if min(jobs, len(asked)) < 2:
        yield starmap(_walk_segment, asked)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(asked)), context) as pool:
        try:
            yield pool.map(_walk_segment, *zip(*asked, strict=True))
        finally:
            pool.shutdown(cancel_futures=True)


def _walk_segment(folder: Path, partition: int, segment: SegmentEntry) -> _Walked:
    """Check a segment's frames and its chain from the leaf on that it states to follow."""
    content = (folder / segment.name).read_bytes()
    previous = frames.read_previous(content)
    place = frames.SegmentPlace(
        name=segment.name,
        partition=partition,
        first_number=segment.first_frame,
        frames=segment.frames,
        previous=previous,
    )
    digests: list[bytes] = []
    leaves: list[bytes] = []
    controls: list[tuple[int, bytes]] = []
    fault = None
    try:
        for block in frames.walk_blocks(content, place):
            digests += block.digests
            leaves.append(block.leaf)
            if block.kinds >> frames.CONTROL & 1:
                controls += [
                    (frame.number, frame.body)
                    for frame in frames.list_frames(content, block)
                    if frame.kind == frames.CONTROL
                ]
    except FrameFaultError as found:
        fault = found.fault
    return _Walked(previous, digests, leaves, tuple(controls), len(content), fault)


def _check_segments(
    manifest: Manifest,
    walked: Iterator[_Walked],
    trees: dict[int, _Tree],
    size: int,
    progress: Progress | None,
) -> Fault | None:
    """Put the segments together, fill in the trees, and name the first fault."""
    provenance = Provenance()
    done = 0
    for part in manifest.partitions:
        tree = trees[part.head.partition] = _Tree([], [])
        for segment in part.segments:
            fault = _check_segment(segment, next(walked), tree, provenance)
            if fault is not None:
                return fault
            done += segment.size
            if progress is not None:
                progress(done, size - done)
        fault = _check_partition(part, tree)
        if fault is not None:
            return fault
    return _check_provenance(manifest, provenance)


def _check_files(folder: Path, manifest: Manifest) -> Fault | None:
    """Name a file that the manifest does not name, or that is not there."""
    known = {MANIFEST_NAME} | {s.name for part in manifest.partitions for s in part.segments}
    found = {path.name for path in folder.iterdir()}
    for name in sorted(known - found):
        return Fault(name, None, "missing_segment", "the manifest names it and it is not there")
    for name in sorted(found - known):
        return Fault(name, None, "foreign_file", "the manifest does not name it")
    return None


def _check_segment(
    segment: SegmentEntry, walked: _Walked, found: _Tree, provenance: Provenance
) -> Fault | None:
    number = len(found.digests)
    if segment.first_frame != number:
        detail = f"it begins with frame {segment.first_frame}, {number} is next"
        return Fault(segment.name, number, "missing_segment", detail)
    before = found.leaves[-1] if found.leaves else frames.START
    if walked.previous != before and (walked.fault is None or walked.fault.kind != "header"):
        return Fault(segment.name, None, "header", "not as the manifest says: chain")
    if walked.fault is not None:
        return walked.fault
    found.digests.extend(walked.digests)
    found.leaves.extend(walked.leaves)
    for place, body in walked.controls:
        try:
            event = decode(ArchivedEvent, body)
            if decode(Fate, event.fate).status is FateStatus.ACCEPTED:
                provenance.note_control(event.value)
        except DecodeError as error:
            return Fault(segment.name, place, "undecodable", str(error))
    if walked.size != segment.size:
        return Fault(segment.name, None, "counts", f"{walked.size} bytes, not {segment.size}")
    return None


def _check_partition(part: PartitionEntry, found: _Tree) -> Fault | None:
    name = f"partition {part.head.partition}"
    if len(found.digests) != part.frames:
        return Fault(name, None, "counts", f"{len(found.digests)} frames, not {part.frames}")
    if (found.leaves[-1] if found.leaves else frames.START) != part.last_leaf:
        return Fault(name, max(0, part.frames - 1), "chain", "its chain ends in another leaf")
    if compute_root(found.leaves) != part.root:
        return Fault(name, None, "root", "the Merkle root of its blocks is another one")
    if part.events + sum(total.count for total in part.outputs) != part.frames:
        return Fault(name, None, "counts", "events and outputs do not add up to its frames")
    return None


def _check_provenance(manifest: Manifest, provenance: Provenance) -> Fault | None:
    if manifest.rulesets != tuple(provenance.rulesets):
        return Fault(MANIFEST_NAME, None, "rulesets", "not those that the events put in force")
    if manifest.catalogues != tuple(provenance.catalogues):
        return Fault(MANIFEST_NAME, None, "catalogues", "not those that the events put in force")
    for schema in manifest.schemas:
        if text_fingerprint(schema.text) != schema.fingerprint:
            return Fault(MANIFEST_NAME, None, "schemas", f"{schema.name}: not of its fingerprint")
    return None
