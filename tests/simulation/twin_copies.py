"""Local copies of rows that forget what was not flushed when their process is killed."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from streams.kafka_rows import _POSITION, POSITION, RowCache
from tests.simulation.scheduler import Scheduler

FLUSHES = 0.15
"""How often the database happens to write its memory to files."""


class TwinCopy(RowCache):
    """Rows in a dictionary; a kill leaves those of the last flush."""

    def __init__(self, path: Path, flushed: dict[bytes, bytes], scheduler: Scheduler) -> None:
        self._path = str(path)
        self.flushed = flushed
        self._now = dict(flushed)
        self._scheduler = scheduler

    def get(self, key: bytes) -> bytes | None:
        """Return a row."""
        return self._now.get(b"r" + key)

    def write(
        self, changes: Iterable[tuple[bytes, bytes | None]], *, position: int, stamp_ms: int
    ) -> None:
        """Take the changes in one step."""
        self._scheduler.step("write rows")
        for key, value in changes:
            if value is None:
                self._now.pop(key, None)
            else:
                self._now[key] = value
        self._now[POSITION] = _POSITION.pack(position, stamp_ms)
        if self._scheduler.chance.random() < FLUSHES:
            self._flush()

    def close(self) -> None:
        """Flush, as a database does that is closed in order."""
        self._scheduler.step("close rows")
        self._flush()

    def _flush(self) -> None:
        self.flushed.clear()
        self.flushed.update(self._now)

    def _get(self, key: bytes) -> bytes | None:
        return self._now.get(key)

    def _scan(self, prefix: bytes, start: bytes) -> Iterator[tuple[bytes, bytes]]:
        yield from sorted(row for row in self._now.items() if row[0].startswith(prefix))


class TwinDisk:
    """The folders of all processes; an empty real folder stands for each copy."""

    def __init__(self, home: Path, scheduler: Scheduler, kind: type[TwinCopy]) -> None:
        self.home = home
        self._kind = kind
        self._scheduler = scheduler
        self._flushed: dict[str, dict[bytes, bytes]] = {}

    def open_copy(self, path: Path) -> RowCache:
        """Open the copy of a folder, or an empty one where there is no folder."""
        if not path.exists():
            path.mkdir(parents=True)
            self._flushed[str(path)] = {}
        return self._kind(path, self._flushed[str(path)], self._scheduler)

    def close(self) -> None:
        """Remove every folder."""
        shutil.rmtree(self.home, ignore_errors=True)
