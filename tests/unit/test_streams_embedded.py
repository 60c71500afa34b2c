"""The embedded folder: manifest, outputs and tables, versions, and who may fold."""

import errno
import json
import os
from pathlib import Path

import pytest

from streams.embedded import Embedded, FoldCounts
from streams.failures import (
    FolderRefusedError,
    LogDamagedError,
    LogShortenedError,
    StoreUnavailableError,
)
from streams.files import DiskFiles
from streams.ports import Finished, Folded, LogRecord, NewRecord, OutputRecord, RowReader
from streams.row_digest import digest_committed, digest_row
from streams.row_store import open_writer
from tests.simulation.counting import CountingReducer

RECORDS = [NewRecord(b"key %d" % (n % 3), b"%d" % n) for n in range(10)]


def make_folder(path: Path) -> Path:
    """Return a folder with ten folded events."""
    with Embedded(path, CountingReducer()) as embedded:
        embedded.append(RECORDS)
        assert FoldCounts(events=10, batches=1, rebuilds=0) == embedded.fold_pending()
    return path


def read_counts(embedded: Embedded, **of: tuple[int, int]) -> list[bytes | None]:
    """Return the values of the outputs."""
    return [output.record.value for output in embedded.outputs("counts", **of)]


def test_an_empty_folder_has_no_outputs(tmp_path: Path) -> None:
    """Before the first event there is no head and nothing to read or fold."""
    with Embedded(tmp_path / "log", CountingReducer()) as embedded:
        assert embedded.head() is None
        assert [] == read_counts(embedded)
        assert FoldCounts(0, 0, 0) == embedded.fold_pending()
        assert embedded.head() is None


def test_outputs_go_on_behind_a_place(tmp_path: Path) -> None:
    """A reader that remembers the last place gets exactly what came later."""
    with Embedded(make_folder(tmp_path / "log"), CountingReducer()) as embedded:
        assert [b"%d %d" % (n // 3 + 1, n) for n in range(10)] == read_counts(embedded)
        assert [b"3 8", b"4 9"] == read_counts(embedded, after=(7, 0))
        assert [] == read_counts(embedded, after=(9, 0))


class RefusingFiles(DiskFiles):
    """A disk on which nothing can be written, for a reason of the system's."""

    def __init__(self, reason: int) -> None:
        """Keep the reason."""
        self.reason = reason

    def lock(self, path: Path) -> int:
        """Refuse, as the system does."""
        raise OSError(self.reason, os.strerror(self.reason), str(path))


@pytest.mark.parametrize("reason", [errno.EROFS, errno.EACCES])
def test_what_cannot_be_written_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    """Without the right or the means to write, outputs are shown, nothing changes, appends fail."""
    path = make_folder(tmp_path / "log")
    monkeypatch.setattr(os, "access", lambda *_: False)
    before = {file: file.stat().st_mtime_ns for file in sorted(path.rglob("*"))}

    with Embedded(path, CountingReducer(), files=RefusingFiles(reason)) as embedded:
        assert [b"3 8", b"4 9"] == read_counts(embedded, after=(7, 0))
        with pytest.raises(OSError, match=os.strerror(reason)):
            embedded.append(RECORDS)

    assert before == {file: file.stat().st_mtime_ns for file in sorted(path.rglob("*"))}


def test_progress_tells_what_is_done_and_left(tmp_path: Path) -> None:
    """The progress callback hears of every batch, and at last that nothing is left."""
    told: list[tuple[int, int]] = []
    with Embedded(tmp_path / "log", CountingReducer()) as embedded:
        embedded.append(RECORDS * 500)
        embedded.fold_pending(lambda done, left: told.append((done, left)))
    assert all(done + left == 5_000 for done, left in told)
    assert (5_000, 0) == told[-1]


def test_the_manifest_states_durability(tmp_path: Path) -> None:
    """The folder says how durable an acknowledgement is, and keeps its identity."""
    path = make_folder(tmp_path / "log")
    stated = json.loads((path / "manifest.json").read_text())
    assert ("fsync", 1) == (stated["durability"], stated["format"])
    with Embedded(path, CountingReducer()) as embedded:
        assert stated["log_identity"] == embedded.log.identity.hex()


def test_a_folder_is_its_owners(tmp_path: Path) -> None:
    """Nobody else may look into a folder of events."""
    path = make_folder(tmp_path / "log")
    assert 0 == path.stat().st_mode & 0o077


def test_every_damage_to_the_manifest_is_refused(tmp_path: Path) -> None:
    """A flipped byte in the manifest stops with the file named, before anything is wiped."""
    path = make_folder(tmp_path / "log")
    whole = (path / "manifest.json").read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1
        (path / "manifest.json").write_bytes(damaged)
        with pytest.raises(FolderRefusedError, match=r"manifest\.json"):
            Embedded(path, CountingReducer())
    (path / "manifest.json").unlink()
    with pytest.raises(FolderRefusedError, match="missing"):
        Embedded(path, CountingReducer())
    (path / "manifest.json").write_bytes(whole)
    with Embedded(path, CountingReducer()) as embedded:
        assert 10 == len(read_counts(embedded))


def test_a_lost_log_is_no_new_beginning(tmp_path: Path) -> None:
    """With its segments gone a folder stops instead of starting over."""
    path = make_folder(tmp_path / "log")
    segment = next((path / "log").glob("*.segment"))
    segment.unlink()
    with pytest.raises(LogDamagedError, match="holds no event"):
        Embedded(path, CountingReducer())
    (path / "log" / "published").unlink()
    with pytest.raises(LogDamagedError, match="holds no event"):
        Embedded(path, CountingReducer())


def test_a_shorter_log_is_refused(tmp_path: Path) -> None:
    """A log restored from too old a backup stops the fold: its outcomes rest on later events."""
    path = make_folder(tmp_path / "log")
    segment = next((path / "log").glob("*.segment"))
    older = segment.read_bytes(), (path / "log" / "published").read_bytes()
    with Embedded(path, CountingReducer()) as embedded:
        embedded.append(RECORDS)
        embedded.fold_pending()
    segment.write_bytes(older[0])
    (path / "log" / "published").write_bytes(older[1])
    with Embedded(path, CountingReducer()) as embedded, pytest.raises(LogShortenedError):
        embedded.fold_pending()


def test_rows_of_an_older_core_are_folded_anew(tmp_path: Path) -> None:
    """A core of another version folds the log from its start, whatever the old one left."""
    path = make_folder(tmp_path / "log")
    newer = CountingReducer()
    newer.version = "counting-2"
    with Embedded(path, newer) as embedded:
        assert FoldCounts(events=10, batches=1, rebuilds=1) == embedded.fold_pending()
        head = embedded.head()
        assert head is not None
        assert "counting-2" == head.core_version
        assert 10 == len(read_counts(embedded))


def test_a_store_that_another_program_holds_is_not_wiped(tmp_path: Path) -> None:
    """A row store that is open elsewhere stops the fold with the cause and is left alone."""
    path = make_folder(tmp_path / "log")
    holder = open_writer(path / "rows")
    with Embedded(path, CountingReducer()) as embedded:
        with pytest.raises(StoreUnavailableError, match="lock"):
            embedded.fold_pending()
        holder.close()
        assert FoldCounts(0, 0, 0) == embedded.fold_pending()


class TableReducer(CountingReducer):
    """Publishes each row as a table record at the end of a batch, as the core does."""

    def __init__(self) -> None:
        """Hold nothing back."""
        self._held: dict[bytes, bytes | None] = {}

    def fold(self, rows: RowReader, record: LogRecord) -> Folded:
        """Hold the value back as the key's row; an empty value deletes it."""
        self._rows = rows
        self._held[record.key or b""] = record.value or None
        return Folded(b"", {})

    def finish(self) -> Finished:
        """Release what was held back."""
        held, self._held = self._held, {}
        outputs = tuple(OutputRecord("states", key, value) for key, value in held.items())
        changes = [
            (key, digest_committed(self._rows, key), value and digest_row(key, value), value)
            for key, value in held.items()
        ]
        return Finished(changes, outputs)

    def reset(self) -> None:
        """Forget what was held back."""
        self._held = {}


def test_a_table_keeps_each_keys_last_record(tmp_path: Path) -> None:
    """A compacted topic reads the same however its history was cut into batches."""
    history = [(b"b", b"1"), (b"a", b"2"), (b"b", b"3"), (b"c", b"4"), (b"a", b"")]
    read = []
    for size in (1, 2, 5):
        with Embedded(tmp_path / f"{size}", TableReducer()) as embedded:
            for first in range(0, len(history), size):
                embedded.append([NewRecord(*pair) for pair in history[first : first + size]])
                embedded.fold_pending()
            embedded.repair()
            read.append([(o.record.key, o.record.value) for o in embedded.outputs("states")])
    assert [[(b"b", b"3"), (b"c", b"4")]] * 3 == read


@pytest.mark.parametrize("lost", ["*.sst", "CURRENT", "*"])
def test_rows_that_are_gone_are_never_read_as_none(tmp_path: Path, lost: str) -> None:
    """Given a closed store that loses files, a reader gets every output, as before."""
    path = make_folder(tmp_path / "log")
    with Embedded(path, CountingReducer()) as embedded:
        embedded.compact()
        expected = read_counts(embedded)
        for file in (path / "rows").glob(lost):
            file.unlink()
        assert expected == read_counts(embedded)
        assert embedded.head() is not None


def test_bytes_behind_the_published_end_go_with_the_next_opening(tmp_path: Path) -> None:
    """Garbage appended to ``published`` stops nobody: the end is found again and is read."""
    path = make_folder(tmp_path / "log")
    for folder in ("log", "ledgers"):
        with (path / folder / "published").open("ab") as file:
            file.write(b"garbage")
    with Embedded(path, CountingReducer()) as embedded:
        embedded.append(RECORDS[:1])
        assert 1 == embedded.fold_pending().events


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    """The error of a small file that cannot be read says which one."""
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(OSError, match=r"manifest\.json"):
        Embedded(tmp_path, CountingReducer())
