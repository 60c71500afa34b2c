"""The folder of an embedded log: its layout, its manifest and its locks.

The manifest is written once, at creation, and names format, durability and the log's identity. What
the files hold is the affair of streams/local_log.py and streams/row_store.py.
"""

import hashlib
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from streams.failures import FolderRefusedError, FoldingElsewhereError, LogDamagedError
from streams.files import Files, holding, read_file, write_file
from streams.log_reader import list_segments
from streams.segments import IDENTITY_BYTES

FORMAT: Final = 1
DURABILITY: Final = "fsync"
"""An append and a batch are acknowledged after fdatasync; no weaker mode exists for now."""
MANIFEST_NAME: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was decided when the folder was created."""

    format: int
    durability: str
    log_identity: bytes


@dataclass(frozen=True, slots=True)
class Folder:
    """Where everything of one embedded log stands."""

    path: Path

    @property
    def log(self) -> Path:
        """Return the folder of the log's segments."""
        return self.path / "log"

    @property
    def rows(self) -> Path:
        """Return the folder of the row store."""
        return self.path / "rows"

    @property
    def ledgers(self) -> Path:
        """Return the folder of the copied ledger records."""
        return self.path / "ledgers"

    @property
    def suspect(self) -> Path:
        """Return the mark by which a reader asks the next fold to check the whole store."""
        return self.path / "rows.suspect"

    @property
    def clean(self) -> Path:
        """Return the mark of a row store that was closed cleanly."""
        return self.path / "rows.clean"

    @property
    def fold_lock(self) -> Path:
        """Return the lock of the single folding process."""
        return self.path / "fold.lock"

    @property
    def manifest(self) -> Path:
        """Return the manifest."""
        return self.path / MANIFEST_NAME


def prepare(folder: Folder, files: Files) -> Manifest:
    """Return the folder's manifest; a folder without one is made a log first.

    Raises:
        FolderRefusedError: the manifest is damaged, unknown, or missing beside a log.
        LogDamagedError: events were folded, and the log is gone.
    """
    manifest = read_manifest(folder, files)
    if manifest is not None:
        if files.exists(folder.rows) and not list_segments(files, folder.log):
            raise LogDamagedError(
                f"{folder.log} holds no event though {folder.rows} rests on some; restore the "
                "log's segments from a backup"
            )
        return manifest
    files.make_folder(folder.path)
    files.make_folder(folder.log)
    files.sync_folder(folder.path.parent)
    files.sync_folder(folder.path)
    with holding(files, folder.path / "create.lock"):
        manifest = read_manifest(folder, files)
        if manifest is not None:
            return manifest
        if list_segments(files, folder.log):
            raise FolderRefusedError(
                f"{folder.manifest} is missing though {folder.log} holds events; restore it from "
                "a backup of this folder"
            )
        manifest = Manifest(FORMAT, DURABILITY, secrets.token_bytes(IDENTITY_BYTES))
        write_file(files, folder.manifest, _encode_manifest(manifest))
        return manifest


def read_manifest(folder: Folder, files: Files) -> Manifest | None:
    """Return the manifest, or None if the folder has none.

    Raises:
        FolderRefusedError: it does not check, or states what this build does not know.
    """
    content = read_file(files, folder.manifest)
    if content is None:
        return None
    manifest = _decode_manifest(content)
    if manifest is None:
        raise FolderRefusedError(
            f"{folder.manifest} does not check; restore it from a backup of this folder"
        )
    if (manifest.format, manifest.durability) != (FORMAT, DURABILITY):
        raise FolderRefusedError(
            f"{folder.manifest}: format {manifest.format} with durability {manifest.durability!r} "
            f"is not known to this build, which reads format {FORMAT} with {DURABILITY!r}"
        )
    return manifest


def _encode_manifest(manifest: Manifest) -> bytes:
    stated: dict[str, Any] = {
        "durability": manifest.durability,
        "format": manifest.format,
        "log_identity": manifest.log_identity.hex(),
    }
    canonical = json.dumps(stated, sort_keys=True).encode()
    stated["sha256"] = hashlib.sha256(canonical).hexdigest()
    return json.dumps(stated, sort_keys=True, indent=2).encode() + b"\n"


def _decode_manifest(content: bytes) -> Manifest | None:
    try:
        stated = json.loads(content)
        identity = bytes.fromhex(stated["log_identity"])
        manifest = Manifest(stated["format"], stated["durability"], identity)
    except (ValueError, KeyError, TypeError):
        return None
    return manifest if content == _encode_manifest(manifest) else None


@contextmanager
def holding_fold_lock(folder: Folder, files: Files) -> Iterator[None]:
    """Hold the lock of the single folding process, or fail at once.

    Raises:
        FoldingElsewhereError: another process folds.
    """
    handle = files.try_lock(folder.fold_lock)
    if handle is None:
        raise FoldingElsewhereError(
            f"another process is folding {folder.path}; its outcomes are shared"
        )
    try:
        yield
    finally:
        files.close(handle)
