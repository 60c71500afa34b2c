"""Opening the row store for reading beside its writer, never behind what was seen before.

Any number of processes may read; they write nothing into the store's folder.
"""

import os
import shutil
from pathlib import Path
from typing import Final

from rocksdict import AccessType, Rdict

from streams.clock import Clock
from streams.failures import StoreDamagedError, StoreUnavailableError
from streams.row_store import RowStore, build_options, classify

LOOKS_MAX: Final = 50
"""A writer moves rows between files a few times a second at most; a look takes milliseconds."""

READER_ATTEMPTS_MAX: Final = 5
"""A reader may open the store just while its writer replaces files; a later try sees them all."""
POLL_MS: Final = 10


def open_reader(path: Path, scratch: Path) -> RowStore:
    """Open the store for reading; scratch is a folder of this reader alone.

    A reader lists the tables first and the write-ahead logs later. Rows that the writer moves from
    one to the other in between are in neither, and the reader would go back in time; so it looks
    again until no file came or went meanwhile. The database writes its options beside its files
    even then; where nothing can be written it is opened through links beside the scratch folder.

    Raises:
        StoreDamagedError: the store does not check, or a file went away just now.
        StoreUnavailableError: the disk failed, or the store never stood still.
    """
    try:
        names = _list_files(path)
        beside = scratch.with_name(f"{scratch.name}-links")
        place = path if os.access(path, os.W_OK) else _link_files(path, beside)
        access = AccessType.secondary(str(scratch))
        store = RowStore(Rdict(str(place), build_options(), access_type=access), str(path))
        for _ in range(LOOKS_MAX):
            before, names = names, _list_files(path)
            if before == names:
                return store
            if place != path:
                _link_files(path, place)
            store.catch_up()
    except Exception as error:
        raise classify(error, str(path)) from error
    raise StoreUnavailableError(
        f"row store {path}: it changes faster than it can be read; try again"
    )


def open_settled(path: Path, scratch: Path, clock: Clock) -> RowStore | None:
    """Open the store as ``open_reader``, trying again behind a writer; None if there is none."""
    attempt = 1
    while (path / "CURRENT").exists():
        try:
            return open_reader(path, scratch)
        except StoreDamagedError:
            if attempt == READER_ATTEMPTS_MAX:
                raise
            attempt += 1
            clock.wait(POLL_MS)
    return None


def _link_files(path: Path, links: Path) -> Path:
    """Let a folder hold a link to each file of a store; what the database rewrites is copied."""
    links.mkdir(parents=True, exist_ok=True)
    for name in _list_files(path):
        link = links / name
        if link.is_symlink() or link.exists():
            continue
        if name.endswith(".json"):
            shutil.copyfile(path / name, link)
        else:
            link.symlink_to((path / name).absolute())
    return links


def _list_files(path: Path) -> list[str]:
    return sorted(file.name for file in path.iterdir() if not file.name.startswith("LOG"))
