"""A simulated disk: a page cache over what is durable, and faults at the n-th call.

A power loss keeps what was synced and a random part of the rest, in any order between files; a call
that is told to fail does so once. Stands in for streams.files.DiskFiles.
"""

import errno
import random
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512


@dataclass
class _Inode:
    """One file: as a running program sees it, as it is durable, and the writes between."""

    cached: bytearray = field(default_factory=bytearray)
    durable: bytearray = field(default_factory=bytearray)
    dirty: list[tuple[int, bytes | None]] = field(default_factory=list)

    def apply(self, target: bytearray, start: int, content: bytes | None) -> None:
        if content is None:
            del target[start:]
            return
        if len(target) < start:
            target.extend(bytes(start - len(target)))
        target[start : start + len(content)] = content


@dataclass(frozen=True)
class Fault:
    """The n-th call fails with this error; a failing write has written half, a sync nothing."""

    call: int
    number: int


class SimulatedDisk:
    """Files in memory, with everything that a disk may do to them."""

    def __init__(self, *, fault: Fault | None = None, capacity: int | None = None) -> None:
        """Start empty; capacity bounds the bytes of all files together."""
        self._entries: dict[Path, _Inode] = {}
        self._durable_entries: dict[Path, _Inode] = {}
        self._folders: dict[Path, None] = {}
        self._handles: dict[int, _Inode] = {}
        self._locks: dict[int, Path] = {}
        self._next_handle = 3
        self.fault = fault
        self.capacity = capacity
        self.calls = 0

    def create(self, path: Path) -> int:
        """Create or empty a file."""
        self._call(path)
        self._entries[path] = _Inode()
        return self._open(self._entries[path])

    def open_write(self, path: Path) -> int:
        """Open an existing file."""
        return self.open_read(path)

    def open_read(self, path: Path) -> int:
        """Open an existing file."""
        if path not in self._entries:
            raise FileNotFoundError(errno.ENOENT, "no such file", str(path))
        return self._open(self._entries[path])

    def close(self, handle: int) -> None:
        """Close a handle and release its lock; handles of a killed process are closed already."""
        self._handles.pop(handle, None)
        self._locks.pop(handle, None)

    def write(self, handle: int, content: bytes, *, start: int) -> None:
        """Write to the page cache; a failing call leaves the first half there."""
        inode = self._handles[handle]
        room = None if self.capacity is None else self.capacity - self._used()
        growth = max(0, start + len(content) - len(inode.cached))
        try:
            self._call("write")
            if room is not None and growth > room:
                raise OSError(errno.ENOSPC, "no space left on device")
        except OSError:
            self._write(inode, start, content[: len(content) // 2])
            raise
        self._write(inode, start, content)

    def read(self, handle: int, *, start: int, length: int) -> bytes:
        """Read through the page cache."""
        return bytes(self._handles[handle].cached[start : start + length])

    def size(self, handle: int) -> int:
        """Return the length in the page cache."""
        return len(self._handles[handle].cached)

    def cut(self, handle: int, *, length: int) -> None:
        """Shorten the file in the page cache."""
        self._call("cut")
        inode = self._handles[handle]
        inode.apply(inode.cached, length, None)
        inode.dirty.append((length, None))

    def sync(self, handle: int) -> None:
        """Make dirty pages durable; after a failure they count as clean without being so."""
        inode = self._handles[handle]
        dirty, inode.dirty = inode.dirty, []
        self._call("sync")
        for start, content in dirty:
            inode.apply(inode.durable, start, content)

    def sync_folder(self, path: Path) -> None:
        """Make the entries of a folder durable."""
        self._call(path)
        self._durable_entries = {
            p: i for p, i in self._durable_entries.items() if p.parent != path
        } | {p: i for p, i in self._entries.items() if p.parent == path}

    def make_folder(self, path: Path) -> None:
        """Create a folder."""
        self._call(path)
        self._folders[path] = None

    def rename(self, source: Path, target: Path) -> None:
        """Replace target by source."""
        self._call(source)
        self._entries[target] = self._entries.pop(source)

    def remove(self, path: Path) -> None:
        """Remove an entry."""
        self._call(path)
        del self._entries[path]

    def list_names(self, path: Path) -> list[str]:
        """Return the names in a folder."""
        return sorted(entry.name for entry in self._entries if entry.parent == path)

    def exists(self, path: Path) -> bool:
        """Tell whether there is such an entry."""
        return path in self._entries or path in self._folders

    def lock(self, path: Path) -> int:
        """Take a lock; in one thread a second holder would wait for ever."""
        handle = self.try_lock(path)
        assert handle is not None, f"deadlock on {path}"
        return handle

    def try_lock(self, path: Path) -> int | None:
        """Take a lock unless it is held."""
        if path in self._locks.values():
            return None
        handle = self._open(self._entries.setdefault(path, _Inode()))
        self._locks[handle] = path
        return handle

    def lose_process(self) -> None:
        """Kill the process: handles and locks are gone, the page cache stays."""
        self._handles.clear()
        self._locks.clear()

    def lose_power(self, draw: random.Random) -> None:
        """Keep what is durable and, of the rest, any part in any order; files may be torn."""
        self.lose_process()
        names = sorted({*self._entries, *self._durable_entries})
        kept: dict[Path, _Inode] = {}
        for path in names:
            old, new = self._durable_entries.get(path), self._entries.get(path)
            inode = old if old is new or draw.random() < 0.5 else new
            if inode is not None:
                kept[path] = inode
        for inode in {id(i): i for i in kept.values()}.values():
            for start, content in inode.dirty:
                self._keep_part(inode, start, content, draw)
            inode.dirty = []
            inode.cached = bytearray(inode.durable)
        self._entries, self._durable_entries = dict(kept), dict(kept)

    def content(self, path: Path) -> bytearray:
        """Return a file's bytes, for a test to damage in place."""
        return self._entries[path].cached

    def _keep_part(
        self, inode: _Inode, start: int, content: bytes | None, draw: random.Random
    ) -> None:
        if content is None:
            if draw.random() < 0.5:
                inode.apply(inode.durable, start, None)
            return
        position = start
        while position < start + len(content):
            end = min((position // SECTOR + 1) * SECTOR, start + len(content))
            if draw.random() < 0.5:
                inode.apply(inode.durable, position, content[position - start : end - start])
            position = end

    def _write(self, inode: _Inode, start: int, content: bytes) -> None:
        inode.apply(inode.cached, start, content)
        inode.dirty.append((start, content))

    def _used(self) -> int:
        return sum(len(inode.cached) for inode in self._entries.values())

    def _open(self, inode: _Inode) -> int:
        self._next_handle += 1
        self._handles[self._next_handle] = inode
        return self._next_handle

    def _call(self, what: object) -> None:
        self.calls += 1
        if self.fault is not None and self.calls == self.fault.call:
            raise OSError(self.fault.number, f"simulated failure of {what}")
