"""Overlay and row-set digest against plain dictionaries; the store's own bytes and scans."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.row import SeenRow
from streams.failures import RowFormatUnknownError, StoreDamagedError, StoreUnavailableError
from streams.output_bytes import decode_output, encode_output
from streams.overlay import Overlay
from streams.ports import OutputRecord
from streams.row_digest import EMPTY, RowChange, RowSet, digest_row, parse_row_set, sum_rows
from streams.row_layout import decode_row
from streams.row_store import classify
from tests.simulation.history import sum_digests
from tests.simulation.memory_store import MemoryStore

KEYS = st.binary(min_size=0, max_size=3)
ROWS = st.dictionaries(KEYS, st.binary(max_size=3), max_size=8)
CHANGES = st.lists(st.dictionaries(KEYS, st.none() | st.binary(max_size=3), max_size=4), max_size=6)


def scan_dictionary(rows: dict[bytes, bytes], prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield what a scan must yield."""
    yield from sorted(item for item in rows.items() if item[0].startswith(prefix))


def describe_change(key: bytes, before: dict[bytes, bytes], after: dict[bytes, bytes]) -> RowChange:
    """Return a row's digests before and after, and its new value."""
    digests = [digest_row(key, rows[key]) if key in rows else None for rows in (before, after)]
    return (key, *digests, after.get(key))


@given(rows=ROWS, changes=CHANGES, prefix=st.binary(max_size=2))
def test_an_overlay_reads_like_the_rows_it_leads_to(
    rows: dict[bytes, bytes], changes: list[dict[bytes, bytes | None]], prefix: bytes
) -> None:
    """After any changes, get and scan through an overlay equal those of the changed rows."""
    store = MemoryStore()
    store.rows = dict(rows)
    overlay, model = Overlay(store), dict(rows)
    for change in changes:
        overlay.apply(change)
        for key, value in change.items():
            model.pop(key, None)
            if value is not None:
                model[key] = value
        assert list(scan_dictionary(model, prefix)) == list(overlay.scan(prefix))
        assert [model.get(key) for key in change] == [overlay.get(key) for key in change]
    assert rows == store.rows


@given(rows=ROWS, changes=CHANGES)
def test_differences_lead_from_the_old_rows_to_the_new(
    rows: dict[bytes, bytes], changes: list[dict[bytes, bytes | None]]
) -> None:
    """Differences name each changed row once, with both digests, and no unchanged one."""
    store = MemoryStore()
    store.rows = dict(rows)
    overlay, after = Overlay(store), dict(rows)
    for change in changes:
        overlay.apply(change)
        after |= {k: v for k, v in change.items() if v is not None}
        after = {k: v for k, v in after.items() if change.get(k, b"") is not None}
    keys = sorted({*rows, *after})
    expected = [describe_change(k, rows, after) for k in keys if rows.get(k) != after.get(k)]
    assert expected == overlay.differences()


@given(before=ROWS, after=ROWS)
def test_a_row_set_is_the_same_by_steps_or_at_once(
    before: dict[bytes, bytes], after: dict[bytes, bytes]
) -> None:
    """The digest depends on the rows alone, not on the way or the order they came about."""
    changes = [describe_change(key, before, after) for key in {*before, *after}]
    stepped = sum_rows(before.items()).replace(changes)
    assert sum_rows(after.items()) == stepped
    assert (len(after), sum_digests(after)) == (stepped.count, stepped.digest)
    assert stepped == parse_row_set(count=stepped.count, digest=stepped.digest)


def test_prefixes_keep_rows_apart() -> None:
    """Moving a byte from the key to the value changes the digest."""
    assert sum_rows([(b"ab", b"c")]) != sum_rows([(b"a", b"bc")])
    assert RowSet(0, 0) == EMPTY


@given(
    key=st.binary(max_size=5),
    value=st.none() | st.binary(max_size=5),
    headers=st.lists(st.tuples(st.text(max_size=3), st.binary(max_size=3)), max_size=3),
)
def test_stored_outputs_come_back(
    key: bytes, value: bytes | None, headers: list[tuple[str, bytes]]
) -> None:
    """An output is read as it was written, with headers, and null distinct from empty."""
    record = OutputRecord("topic", key, value, tuple(headers))
    assert record == decode_output("topic", encode_output(record))


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Corruption: block checksum mismatch", StoreDamagedError),
        ("IO error: No such file or directory: While open a file: 000012.sst", StoreDamagedError),
        ("Invalid argument: db: does not match the stored comparator", StoreDamagedError),
        ("IO error: No space left on device: While appending to file", StoreUnavailableError),
        (
            "IO error: While lock file: LOCK: Resource temporarily unavailable",
            StoreUnavailableError,
        ),
        ("IO error: Too many open files: While opening", StoreUnavailableError),
        ("IO error: Input/output error: While fdatasync", StoreUnavailableError),
    ],
)
def test_only_damage_is_wiped(words: str, kind: type[Exception]) -> None:
    """What a wipe would not cure is told from damage, so that no store is wiped for a full disk."""
    assert kind is type(classify(Exception(words), str(Path("rows"))))


def test_a_row_of_another_format_stops_and_blames_nobody() -> None:
    """A row of a newer build is a failure of the wiring with its remedy, and no damage."""
    with pytest.raises(RowFormatUnknownError, match=r"SeenRow: a row has format 02.*use the build"):
        decode_row(SeenRow, b"\x02")
    assert not issubclass(RowFormatUnknownError, StoreDamagedError)
