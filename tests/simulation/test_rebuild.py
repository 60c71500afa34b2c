"""A rebuilt row store: the same batches and the same chain, or a refusal that says why."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from streams.embedded import Embedded
from streams.failures import LedgerBrokenError
from streams.ledger import HALTS_PER_MINUTE_MAX
from streams.ports import Folded, LogRecord, NewRecord, RowReader
from streams.segments import HEADER_BYTES, encode_frames
from tests.simulation.counting import CountingReducer
from tests.simulation.history import make_event
from tests.simulation.invariants import check_folder

EVENTS = 200


class OtherReducer(CountingReducer):
    """A build of the same version that decides differently."""

    def fold(self, rows: RowReader, record: LogRecord) -> Folded:
        """Add an output to one event."""
        folded = super().fold(rows, record)
        if record.offset == 150:
            return replace(folded, outputs=folded.outputs * 2)
        return folded


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a folder folded in several batches by several starts."""
    path = tmp_path / "log"
    for until in (60, 61, 130, EVENTS):
        with Embedded(path, CountingReducer()) as embedded:
            begin = embedded.log.bounds().end
            embedded.append([make_event(n) for n in range(begin, until)])
            embedded.fold_pending()
    return path


def read_chain(path: Path) -> list[bytes]:
    """Return the chain digest of every batch."""
    with Embedded(path, CountingReducer()) as embedded, embedded.reading() as store:
        assert store is not None
        return [record.chain for record in store.records()]


def rebuild(path: Path, reducer: CountingReducer) -> None:
    """Remove the row store and fold again."""
    shutil.rmtree(path / "rows")
    with Embedded(path, reducer) as embedded:
        embedded.fold_pending()


def test_a_rebuilt_store_has_the_same_chain(path: Path) -> None:
    """Folding again repeats every batch, so that a chain noted outside still verifies."""
    before = read_chain(path)
    rebuild(path, CountingReducer())
    assert before == read_chain(path)
    assert EVENTS == check_folder(path, acknowledged=EVENTS)


def test_a_copy_that_is_behind_or_gone_costs_only_the_batches(path: Path) -> None:
    """Without the copy, or with a part of it, rows and outputs are the same and the chain holds."""
    for damage in ("removed", "cut", "flipped"):
        copied = next((path / "ledgers").glob("*.segment"))
        content = bytearray(copied.read_bytes())
        if damage == "removed":
            shutil.rmtree(path / "ledgers")
        else:
            content[len(content) // 2] ^= 0xFF
            copied.write_bytes(content[:-300] if damage == "cut" else content)
        rebuild(path, CountingReducer())
        assert EVENTS == check_folder(path, acknowledged=EVENTS)
        before = read_chain(path)
        rebuild(path, CountingReducer())
        assert before == read_chain(path)


def test_a_build_that_decides_differently_is_refused(path: Path) -> None:
    """When a fold no longer leads to what was recorded, the rebuild stops and names the batch."""
    before = read_chain(path)
    with pytest.raises(LedgerBrokenError, match=r"folds otherwise than recorded .*outputs"):
        rebuild(path, OtherReducer())
    rebuild_again = CountingReducer()
    with Embedded(path, rebuild_again) as embedded:
        embedded.fold_pending()
    assert before == read_chain(path)


def test_an_edited_log_is_refused(path: Path) -> None:
    """An event edited with a right checksum is noticed when the store is folded again."""
    with Embedded(path, CountingReducer()) as embedded:
        identity = embedded.log.identity
        records = embedded.log.read(0, limit=60)
    segment = path / "log" / f"{0:020d}.segment"
    content = segment.read_bytes()
    events = [NewRecord(r.key, r.value, r.headers) for r in records]
    genuine = encode_frames(
        events, identity=identity, first_offset=0, timestamp_ms=records[0].timestamp_ms
    )
    assert content[HEADER_BYTES : HEADER_BYTES + len(genuine)] == genuine
    events[7] = NewRecord(events[7].key, (events[7].value or b"").upper(), events[7].headers)
    edited = encode_frames(
        events, identity=identity, first_offset=0, timestamp_ms=records[0].timestamp_ms
    )
    segment.write_bytes(content.replace(genuine, edited))
    with pytest.raises(LedgerBrokenError, match="batch 0"):
        rebuild(path, CountingReducer())


def test_recorded_halts_do_not_count_again(tmp_path: Path) -> None:
    """Events that were rejected as core_fault over years are rejected again in one go."""
    path = tmp_path / "log"
    for _ in range(3):
        with Embedded(path, CountingReducer()) as embedded:
            embedded.append([NewRecord(b"key", b"raise")] * (HALTS_PER_MINUTE_MAX - 1))
            embedded.fold_pending()
    before = read_chain(path)
    rebuild(path, CountingReducer())
    assert before == read_chain(path)
