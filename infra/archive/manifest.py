"""The manifest of an archive: what its segments hold, and one digest over all of that.

It is JSON for people and tools, and has exactly one spelling: a manifest that does not read back
to the same bytes is refused. What it says is checked against the frames in verification.py.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from infra.archive.merkle import compute_root, hash_leaf
from infra.event_json import EventFormError, parse_object, parse_record

MANIFEST_NAME: Final = "manifest.json"
FORMAT: Final = 1


class ManifestError(ValueError):
    """The manifest is missing, or not what an archive's manifest is; the message says how."""


@dataclass(frozen=True, slots=True)
class TopicTotal:
    """How many outputs of a topic a partition has."""

    topic: str
    count: int


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """One segment file: its first frame, the offset of that frame, frames and size in bytes."""

    name: str
    first_frame: int
    first_offset: int
    frames: int
    size: int


@dataclass(frozen=True, slots=True)
class PartitionHead:
    """Where a partition's ledger stood when it was archived; replay proves it."""

    partition: int
    next_offset: int
    batches: int
    chain: bytes
    row_count: int
    row_set_digest: bytes
    core_version: str


@dataclass(frozen=True, slots=True)
class PartitionEntry:
    """One partition: its counts, its tree of blocks, the end of its chain, its ledger's head."""

    head: PartitionHead
    first_offset: int
    events: int
    outputs: tuple[TopicTotal, ...]
    frames: int
    root: bytes
    last_leaf: bytes
    segments: tuple[SegmentEntry, ...]


@dataclass(frozen=True, slots=True)
class SchemaEntry:
    """A schema under which something in the archive was written; ``text`` is its JSON."""

    name: str
    fingerprint: bytes
    text: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The whole archive. ``root`` is over the partitions' trees; ``digest`` over all the rest."""

    format: int
    log_identity: bytes
    partitions: tuple[PartitionEntry, ...]
    rulesets: tuple[int, ...]
    catalogues: tuple[bytes, ...]
    schemas: tuple[SchemaEntry, ...]
    root: bytes
    digest: bytes


def seal_manifest(manifest: Manifest) -> Manifest:
    """Return the manifest with its root and its digest filled in."""
    rooted = replace(manifest, root=root_of(manifest.partitions), digest=b"")
    return replace(rooted, digest=hashlib.sha256(_render(rooted).encode()).digest())


def root_of(partitions: tuple[PartitionEntry, ...]) -> bytes:
    """Return the RFC 6962 root over the partitions; a leaf is number, size and root of a tree."""
    return compute_root(
        [
            hash_leaf(f"{part.head.partition} {part.frames} {part.root.hex()}".encode())
            for part in partitions
        ]
    )


def render_manifest(manifest: Manifest) -> str:
    """Return the one spelling of a sealed manifest."""
    return _render(manifest)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of an archive.

    Raises:
        ManifestError: it is missing or altered; the message says which field.

    """
    path = folder / MANIFEST_NAME
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise ManifestError(f"{path} is missing: this folder is no archive") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{path} is not UTF-8") from None
    try:
        data = parse_object(text)
        if data.get("format") != FORMAT:
            raise ManifestError(f"{path}: format {data.get('format')!r:.40}; this build reads 1")
        manifest = parse_record(Manifest, data)
    except EventFormError as error:
        raise ManifestError(f"{path}: {error}") from None
    if render_manifest(manifest) != text:
        raise ManifestError(f"{path}: not spelled as an export spells it")
    if seal_manifest(manifest) != manifest:
        raise ManifestError(f"{path}: its root or digest is not that of its content")
    return manifest


def _render(manifest: Manifest) -> str:
    return json.dumps(_plain(asdict(manifest)), indent=1, ensure_ascii=False) + "\n"


def _plain(data: Any) -> Any:
    if isinstance(data, bytes):
        return data.hex()
    if isinstance(data, dict):
        return {name: _plain(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(item) for item in data]
    return data
