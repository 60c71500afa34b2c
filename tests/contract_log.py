"""What every input log promises, as tests that run over any of them.

A test class for one log derives from LogContract and gives its `log` fixture; the log may begin at
any offset and is empty.
"""

import pytest

from streams.failures import LogGapError
from streams.ports import AppendLog, LogBounds, NewRecord

RECORDS = (
    NewRecord(b"key", b"value"),
    NewRecord(None, b"no key"),
    NewRecord(b"no value", None),
    NewRecord(b"", b""),
    NewRecord(b"headers", b"value", (("a", b"1"), ("a", b"2"), ("\N{SNOWMAN}", b""))),
    NewRecord(b"\x00\xff", bytes(range(256)) * 100),
)


class LogContract:
    """The laws of an input log."""

    @pytest.fixture
    def log(self) -> AppendLog:
        """Return an empty log."""
        raise NotImplementedError

    def test_an_empty_log_reads_nothing(self, log: AppendLog) -> None:
        """At its end a log answers with nothing, at once."""
        start, end = log.bounds()
        assert start == end
        assert [] == list(log.read(end, limit=10))

    def test_what_was_appended_is_read(self, log: AppendLog) -> None:
        """Key, value and headers come back as the bytes that were appended, absent ones absent."""
        offsets = log.append(RECORDS)
        read = log.read(offsets.start, limit=100)
        assert list(offsets) == [record.offset for record in read]
        assert list(RECORDS) == [NewRecord(r.key, r.value, r.headers) for r in read]

    def test_offsets_have_no_holes(self, log: AppendLog) -> None:
        """Each call continues where the one before it ended."""
        first = log.append(RECORDS)
        second = log.append(RECORDS[:2])
        assert first.stop == second.start
        assert LogBounds(first.start, second.stop) == log.bounds()

    def test_reading_from_any_offset(self, log: AppendLog) -> None:
        """From every offset, in every order, a log reads the same records."""
        offsets = log.append(RECORDS)
        log.append(RECORDS)
        everything = list(log.read(offsets.start, limit=100))
        for first in reversed(range(len(everything))):
            assert everything[first:] == list(log.read(offsets.start + first, limit=100))

    def test_a_limit_bounds_what_is_read(self, log: AppendLog) -> None:
        """Never more than limit records come; reading on gives the rest without hole or repeat."""
        offsets = log.append(RECORDS * 5)
        read = []
        while batch := log.read(offsets.start + len(read), limit=7):
            assert len(batch) <= 7
            read.extend(batch)
        assert list(offsets) == [record.offset for record in read]

    def test_stamps_never_go_back(self, log: AppendLog) -> None:
        """Records are stamped at the append, in rising order."""
        offsets = log.append(RECORDS)
        log.append(RECORDS)
        stamps = [record.timestamp_ms for record in log.read(offsets.start, limit=100)]
        assert sorted(stamps) == stamps

    def test_an_empty_call_appends_nothing(self, log: AppendLog) -> None:
        """No record, no offset."""
        assert 0 == len(log.append([]))
        assert 0 == log.bounds().end - log.bounds().start

    def test_a_read_before_the_start_is_a_gap(self, log: AppendLog) -> None:
        """Records that a log no longer has are named as missing, not skipped."""
        log.append(RECORDS)
        with pytest.raises(LogGapError):
            log.read(log.bounds().start - 1, limit=1)
