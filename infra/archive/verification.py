"""Verifying an archive: every byte of every file against the chain, the trees and the manifest.

An edit, deletion, insertion or swap is found from the archive alone. Whoever can rewrite all of
it can also cut its tail or replace it whole with a chain that checks: that only shows against a
checkpoint kept elsewhere (checkpoint.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from infra.archive import frames
from infra.archive.checkpoint import Checkpoint, compare_checkpoint
from infra.archive.frames import Block, Fault, FrameFault
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


def verify_archive(
    folder: Path, *, checkpoint: Checkpoint | None = None, progress: Progress | None = None
) -> Verification:
    """Check everything about an archive and name the first fault."""
    try:
        manifest = read_manifest(folder)
    except ManifestError as error:
        return Verification(0, 0, 0, "", "", Fault(MANIFEST_NAME, None, "manifest", str(error)))
    size = sum(s.size for part in manifest.partitions for s in part.segments)
    count = sum(part.frames for part in manifest.partitions)
    fault, state = _check_files(folder, manifest), ""
    done = 0
    provenance = Provenance()
    trees: dict[int, _Tree] = {}
    for part in manifest.partitions:
        tree = trees[part.head.partition] = _Tree([], [])
        for segment in part.segments:
            fault = fault or _check_segment(folder, part, segment, tree, provenance)
            done += segment.size
            if progress is not None:
                progress(done, size - done)
        fault = fault or _check_partition(part, tree)
    fault = fault or _check_provenance(manifest, provenance)
    if fault is None and checkpoint is not None:
        digests = {partition: tree.digests for partition, tree in trees.items()}
        state, fault = compare_checkpoint(checkpoint, manifest, digests)
    return Verification(count, size, len(manifest.partitions), manifest.root.hex(), state, fault)


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
    folder: Path,
    part: PartitionEntry,
    segment: SegmentEntry,
    found: _Tree,
    provenance: Provenance,
) -> Fault | None:
    content = (folder / segment.name).read_bytes()
    if segment.first_frame != len(found.digests):
        detail = f"it begins with frame {segment.first_frame}, {len(found.digests)} is next"
        return Fault(segment.name, len(found.digests), "missing_segment", detail)
    place = frames.SegmentPlace(
        name=segment.name,
        partition=part.head.partition,
        first_number=segment.first_frame,
        frames=segment.frames,
        previous=found.leaves[-1] if found.leaves else frames.START,
    )
    try:
        for block in frames.walk_blocks(content, place):
            found.digests.extend(block.digests)
            found.leaves.append(block.leaf)
            if block.kinds >> frames.CONTROL & 1:
                _note_control(content, block, provenance)
    except FrameFault as fault:
        return fault.fault
    except DecodeError as error:
        return Fault(segment.name, len(found.digests) - 1, "undecodable", str(error))
    if len(content) != segment.size:
        return Fault(segment.name, None, "counts", f"{len(content)} bytes, not {segment.size}")
    return None


def _note_control(content: bytes, block: Block, provenance: Provenance) -> None:
    for frame in frames.list_frames(content, block):
        if frame.kind == frames.CONTROL:
            event = decode(ArchivedEvent, frame.body)
            if decode(Fate, event.fate).status is FateStatus.ACCEPTED:
                provenance.note_control(event.value)


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
