"""Checkpoints: what an archive was, in a signed note to be kept where its owner cannot write.

The text is that of C2SP tlog-checkpoint: origin, size, root, and one extension line per
partition, so that a later archive of the same log can be held against it.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from infra.archive.frames import Fault, chain_leaves
from infra.archive.manifest import Manifest
from infra.archive.merkle import compute_root
from infra.archive.notes import SignerKey, sign_note, split_note

ORIGIN: Final = "bounded-commitments/"
_MANIFEST: Final = "manifest"
_PARTITION: Final = "partition"


class CheckpointError(ValueError):
    """A note is no checkpoint of an archive; the message says why."""


@dataclass(frozen=True, slots=True)
class PartitionTree:
    """The tree of one partition: frames and root."""

    partition: int
    size: int
    root: bytes


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a checkpoint says: the log, all frames, the root, the manifest, each partition."""

    origin: str
    size: int
    root: bytes
    manifest: bytes
    partitions: tuple[PartitionTree, ...]


def describe_checkpoint(manifest: Manifest) -> Checkpoint:
    """Return the checkpoint of an archive."""
    trees = tuple(
        PartitionTree(part.head.partition, part.frames, part.root) for part in manifest.partitions
    )
    return Checkpoint(
        origin=ORIGIN + manifest.log_identity.hex(),
        size=sum(tree.size for tree in trees),
        root=manifest.root,
        manifest=manifest.digest,
        partitions=trees,
    )


def render_checkpoint(checkpoint: Checkpoint) -> str:
    """Return the text that is signed."""
    lines = [checkpoint.origin, str(checkpoint.size), _encode(checkpoint.root)]
    lines.append(f"{_MANIFEST} {_encode(checkpoint.manifest)}")
    lines += [
        f"{_PARTITION} {tree.partition} {tree.size} {_encode(tree.root)}"
        for tree in checkpoint.partitions
    ]
    return "\n".join(lines) + "\n"


def sign_checkpoint(manifest: Manifest, key: SignerKey) -> str:
    """Return the signed note of an archive's checkpoint."""
    return sign_note(render_checkpoint(describe_checkpoint(manifest)), key)


def parse_checkpoint(note: str) -> Checkpoint:
    """Return what a note says, whoever signed it.

    Raises:
        NoteError, CheckpointError: it is no note, or not of an archive.

    """
    text, _ = split_note(note)
    try:
        origin, size, root, manifest, *rest = text.splitlines()
        checkpoint = Checkpoint(
            origin=origin,
            size=int(size),
            root=_decode(root),
            manifest=_decode(manifest.removeprefix(f"{_MANIFEST} ")),
            partitions=tuple(_parse_tree(line) for line in rest),
        )
    except (ValueError, binascii.Error):
        raise CheckpointError("no checkpoint of an archive: a line is not in its form") from None
    if render_checkpoint(checkpoint) != text:
        raise CheckpointError("no checkpoint of an archive: spelled otherwise than one is")
    return checkpoint


def compare_checkpoint(
    checkpoint: Checkpoint, manifest: Manifest, digests: Mapping[int, Sequence[bytes]]
) -> tuple[str, Fault | None]:
    """Hold a verified archive, given by the digests of its frames, against a checkpoint.

    Return ("same" or "extended", None), or the fault: another log, a tail that is gone, or
    frames that are not those of the checkpoint.
    """
    current = describe_checkpoint(manifest)
    if current.origin != checkpoint.origin:
        detail = f"the checkpoint is of {checkpoint.origin}, the archive of {current.origin}"
        return "", Fault("checkpoint", None, "replaced", detail)
    for tree in checkpoint.partitions:
        own = digests.get(tree.partition, ())
        name = f"partition {tree.partition}"
        if len(own) < tree.size:
            detail = f"{len(own)} frames are left of {tree.size}: the tail is gone"
            return "", Fault(name, len(own), "truncated", detail)
        if compute_root(chain_leaves(own[: tree.size])) != tree.root:
            detail = f"its first {tree.size} frames are not those of the checkpoint"
            return "", Fault(name, None, "replaced", detail)
    if current.size > checkpoint.size:
        return "extended", None
    if current != checkpoint:
        detail = "its frames are those of the checkpoint, its manifest is not"
        return "", Fault("manifest.json", None, "replaced", detail)
    return "same", None


def _parse_tree(line: str) -> PartitionTree:
    word, partition, size, root = line.split(" ")
    if word != _PARTITION:
        raise CheckpointError(line)
    return PartitionTree(int(partition), int(size), _decode(root))


def _encode(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _decode(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
