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
from infra.archive.frames import Fault, Frame, FrameFault
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
    trees: dict[int, list[bytes]] = {}
    for part in manifest.partitions:
        leaves: list[bytes] = []
        trees[part.head.partition] = leaves
        for segment in part.segments:
            fault = fault or _check_segment(folder, part, segment, leaves, provenance)
            done += segment.size
            if progress is not None:
                progress(done, size - done)
        fault = fault or _check_partition(part, leaves)
    fault = fault or _check_provenance(manifest, provenance)
    if fault is None and checkpoint is not None:
        state, fault = compare_checkpoint(checkpoint, manifest, trees)
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
    leaves: list[bytes],
    provenance: Provenance,
) -> Fault | None:
    content = (folder / segment.name).read_bytes()
    if segment.first_frame != len(leaves):
        detail = f"it begins with frame {segment.first_frame}, {len(leaves)} is next"
        return Fault(segment.name, len(leaves), "missing_segment", detail)
    try:
        for frame in frames.walk_frames(
            content,
            segment=segment.name,
            partition=part.head.partition,
            first_index=segment.first_frame,
            frames=segment.frames,
            previous=leaves[-1] if leaves else frames.START,
        ):
            leaves.append(frame.digest)
            if frame.kind == frames.CONTROL:
                _note_control(frame, provenance)
    except FrameFault as fault:
        return fault.fault
    except DecodeError as error:
        return Fault(segment.name, len(leaves) - 1, "undecodable", str(error))
    if len(content) != segment.size:
        return Fault(segment.name, None, "counts", f"{len(content)} bytes, not {segment.size}")
    return None


def _note_control(frame: Frame, provenance: Provenance) -> None:
    event = decode(ArchivedEvent, frame.body)
    if decode(Fate, event.fate).status is FateStatus.ACCEPTED:
        provenance.note_control(event.value)


def _check_partition(part: PartitionEntry, leaves: list[bytes]) -> Fault | None:
    name = f"partition {part.head.partition}"
    if len(leaves) != part.frames:
        return Fault(name, None, "counts", f"{len(leaves)} frames, not {part.frames}")
    if (leaves[-1] if leaves else frames.START) != part.last_digest:
        return Fault(name, part.frames - 1, "chain", "its chain ends in another digest")
    if compute_root(leaves) != part.root:
        return Fault(name, None, "root", "the Merkle root of its frames is another one")
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
