"""All file access of the log and the folder, as one small port and its real implementation.

Nothing else in streams/ opens, writes, syncs or renames a file, so that a test can stand in for the
disk: lose what was not synced, fail the n-th call, run full. The row store does its own I/O.
"""

import errno
import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol


class Files(Protocol):
    """What a log needs of a disk; every failure is an OSError that names the path."""

    def create(self, path: Path) -> int:
        """Create a file, or empty it, and return a handle for reading and writing."""
        ...

    def open_write(self, path: Path) -> int:
        """Open an existing file for reading and writing."""
        ...

    def open_read(self, path: Path) -> int:
        """Open an existing file for reading."""
        ...

    def close(self, handle: int) -> None:
        """Close a handle."""
        ...

    def write(self, handle: int, content: bytes, *, start: int) -> None:
        """Write all of content from start on, however many calls that takes."""
        ...

    def read(self, handle: int, *, start: int, length: int) -> bytes:
        """Return up to length bytes from start; fewer only at the end of the file."""
        ...

    def size(self, handle: int) -> int:
        """Return the file's length in bytes."""
        ...

    def cut(self, handle: int, *, length: int) -> None:
        """Shorten the file to length bytes."""
        ...

    def sync(self, handle: int) -> None:
        """Return once the file's content and length are durable."""
        ...

    def sync_folder(self, path: Path) -> None:
        """Return once the folder's entries are durable."""
        ...

    def make_folder(self, path: Path) -> None:
        """Create a folder and its parents; an existing one is fine."""
        ...

    def rename(self, source: Path, target: Path) -> None:
        """Replace target by source atomically."""
        ...

    def remove(self, path: Path) -> None:
        """Remove a file."""
        ...

    def list_names(self, path: Path) -> list[str]:
        """Return the sorted names in a folder; [] if there is no such folder."""
        ...

    def exists(self, path: Path) -> bool:
        """Tell whether there is a file or folder of that name."""
        ...

    def lock(self, path: Path) -> int:
        """Wait for the exclusive lock of a file and return its handle; closing releases it."""
        ...

    def try_lock(self, path: Path) -> int | None:
        """Take the exclusive lock of a file, or return None at once if another holds it."""
        ...


class DiskFiles:
    """The machine's own disk."""

    def create(self, path: Path) -> int:
        """Create or empty a file for reading and writing."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)

    def open_write(self, path: Path) -> int:
        """Open an existing file for reading and writing."""
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def open_read(self, path: Path) -> int:
        """Open an existing file for reading."""
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def close(self, handle: int) -> None:
        """Close a handle."""
        os.close(handle)

    def write(self, handle: int, content: bytes, *, start: int) -> None:
        """Write all of content; a short write is followed by another, never by silence."""
        written = os.pwrite(handle, content, start)
        while written < len(content):
            more = os.pwrite(handle, memoryview(content)[written:], start + written)
            if more == 0:
                raise OSError(errno.EIO, "a write took no byte")
            written += more

    def read(self, handle: int, *, start: int, length: int) -> bytes:
        """Return up to length bytes from start."""
        content = os.pread(handle, length, start)
        while content and len(content) < length:
            more = os.pread(handle, length - len(content), start + len(content))
            if not more:
                break
            content += more
        return content

    def size(self, handle: int) -> int:
        """Return the file's length in bytes."""
        return os.fstat(handle).st_size

    def cut(self, handle: int, *, length: int) -> None:
        """Shorten the file to length bytes."""
        os.ftruncate(handle, length)

    def sync(self, handle: int) -> None:
        """Wait until the device has it; fdatasync also covers the length."""
        if sys.platform == "darwin":  # There fsync only reaches the drive's own cache.
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
        else:
            os.fdatasync(handle)

    def sync_folder(self, path: Path) -> None:
        """Wait for fsync of the folder."""
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def make_folder(self, path: Path) -> None:
        """Create a folder for its owner alone, and its parents."""
        path.mkdir(parents=True, exist_ok=True, mode=0o700)

    def rename(self, source: Path, target: Path) -> None:
        """Replace target by source atomically."""
        source.rename(target)

    def remove(self, path: Path) -> None:
        """Remove a file."""
        path.unlink()

    def list_names(self, path: Path) -> list[str]:
        """Return the sorted names in a folder."""
        try:
            return sorted(entry.name for entry in path.iterdir())
        except FileNotFoundError:
            return []

    def exists(self, path: Path) -> bool:
        """Tell whether there is a file or folder of that name."""
        return path.exists()

    def lock(self, path: Path) -> int:
        """Wait for the file's flock; the kernel releases it however the process ends."""
        return self._flock(path, fcntl.LOCK_EX)

    def try_lock(self, path: Path) -> int | None:
        """Take the file's flock, or return None at once."""
        try:
            return self._flock(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None

    def _flock(self, path: Path, operation: int) -> int:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, operation)
        except BaseException:
            os.close(handle)
            raise
        return handle


class UnsyncedFiles(DiskFiles):
    """The machine's own disk for what can be made again: nothing waits for it."""

    def sync(self, handle: int) -> None:
        """Leave it to the system when content becomes durable."""

    def sync_folder(self, path: Path) -> None:
        """Leave it to the system when entries become durable."""


@contextmanager
def holding(files: Files, path: Path) -> Iterator[None]:
    """Hold the exclusive lock of a file, waiting for it as long as it takes."""
    handle = files.lock(path)
    try:
        yield
    finally:
        files.close(handle)


def write_file(files: Files, path: Path, content: bytes) -> None:
    """Put a small file in place, whole and durable, or not at all."""
    draft = path.with_name(path.name + ".draft")
    handle = files.create(draft)
    try:
        files.write(handle, content, start=0)
        files.sync(handle)
    finally:
        files.close(handle)
    files.rename(draft, path)
    files.sync_folder(path.parent)


def read_file(files: Files, path: Path) -> bytes | None:
    """Return a small file's content, or None if there is none."""
    try:
        handle = files.open_read(path)
    except FileNotFoundError:
        return None
    try:
        return files.read(handle, start=0, length=files.size(handle))
    except OSError as error:
        # Only opening names the file; a folder in its place shows first when it is read.
        error.filename = error.filename or str(path)
        raise
    finally:
        files.close(handle)
