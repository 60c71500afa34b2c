"""The mark of a clean close: how the row store's files stood when their writer closed them.

A start that finds them so need not read every row again; a block proves itself when it is read. A
mark that is missing or does not match says nothing: then the rows are proved, each of them.
"""

import hashlib
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Final

from schemas.ledger import Head
from streams.files import UnsyncedFiles, read_file, write_file
from streams.folder import Folder
from streams.ledger_bytes import digest_head

_DIGEST_BYTES: Final = 32
_FILES: Final = UnsyncedFiles()
_WITHOUT_DATA: Final = ("LOG", "LOCK", "rocksdict-config")  # Readers write some of them too.


class Proof(Enum):
    """Which rows a fold proves before it goes on; a repair proves outputs and records as well."""

    OF_UNCLEAN_ROWS = 1
    OF_ALL_ROWS = 2


def leave_mark(folder: Folder, head: Head) -> None:
    """Vouch for the rows of a head whose store was just closed.

    It is not synced and may fail: a lost mark costs a proof.
    """
    with suppress(OSError):
        write_file(_FILES, folder.clean, digest_head(head) + _digest_files(folder.rows))


def peek_mark(folder: Folder) -> bytes | None:
    """Return the digest of the head that the mark vouches for, and leave it; None for none."""
    content = read_file(_FILES, folder.clean)
    return None if content is None else content[:_DIGEST_BYTES]


def take_mark(folder: Folder) -> bytes | None:
    """Remove the mark and return the digest of the head that it vouches for, None for none.

    It is gone before anybody writes: whoever dies from here on leaves no mark.
    """
    content = read_file(_FILES, folder.clean)
    if content is None:
        return None
    _FILES.remove(folder.clean)
    if content[_DIGEST_BYTES:] != _digest_files(folder.rows):
        return None
    return content[:_DIGEST_BYTES]


def _digest_files(path: Path) -> bytes:
    """Return the digest of name, size and time of every file that holds data."""
    if not path.exists():
        return b""
    stats = [(file.name, file.stat()) for file in sorted(path.iterdir())]
    lines = [
        f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}\n"
        for name, stat in stats
        if not name.startswith(_WITHOUT_DATA)
    ]
    return hashlib.sha256("".join(lines).encode()).digest()
