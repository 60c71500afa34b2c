"""The local log: what it shares with every log, and each kind of damage to its files."""

from pathlib import Path

import pytest

from streams.clock import SimulatedClock
from streams.failures import EventTooLongError, LogDamagedError, StreamsError
from streams.files import DiskFiles
from streams.local_log import LocalLog
from streams.log_reader import LogReader
from streams.ports import AppendLog, LogBounds, NewRecord
from streams.segments import FRAME_BODY_MAX, FRAME_BODY_TARGET, HEADER_BYTES
from tests.contract_log import RECORDS, LogContract
from tests.simulation.disk import SimulatedDisk

IDENTITY = b"identity-of-log!"
FOLDER = Path("/log")


def open_log(disk: SimulatedDisk, *, clock: SimulatedClock | None = None) -> LocalLog:
    """Open a log of small segments on a simulated disk."""
    return LocalLog(
        FOLDER,
        identity=IDENTITY,
        files=disk,
        clock=clock or SimulatedClock(step_ms=1),
        segment_bytes=400,
    )


class TestLocalLogOnDisk(LogContract):
    """The contract over files of the machine."""

    @pytest.fixture
    def log(self, tmp_path: Path) -> AppendLog:
        """Return an empty log in a folder."""
        return LocalLog(
            tmp_path, identity=IDENTITY, files=DiskFiles(), clock=SimulatedClock(step_ms=1)
        )


class TestLocalLogOfSmallSegments(LogContract):
    """The contract where nearly every call begins a segment."""

    @pytest.fixture
    def log(self) -> AppendLog:
        """Return an empty log on a simulated disk."""
        return open_log(SimulatedDisk())


def fill(disk: SimulatedDisk, calls: int) -> list[NewRecord]:
    """Append one record per call and return them."""
    log = open_log(disk)
    records = [NewRecord(b"key %d" % n, b"value %d" % n * (n % 7)) for n in range(calls)]
    for record in records:
        log.append([record])
    return records


def read_all(log: LocalLog) -> list[NewRecord]:
    """Return everything a log holds."""
    return [NewRecord(r.key, r.value, r.headers) for r in log.read(0, limit=10_000)]


def segments(disk: SimulatedDisk) -> list[Path]:
    """Return all segments, oldest first."""
    return [FOLDER / name for name in disk.list_names(FOLDER) if name.endswith(".segment")]


def test_a_flip_anywhere_in_a_segment_is_refused() -> None:
    """Any flipped byte of acknowledged events stops the reader, naming segment and position."""
    disk = SimulatedDisk()
    records = fill(disk, 30)
    assert len(segments(disk)) > 3
    for path in segments(disk):
        content = disk.content(path)
        for position in range(len(content)):
            content[position] ^= 0x40
            with pytest.raises(LogDamagedError, match=path.name) as refused:
                read_all(open_log(disk))
            assert "restore" in str(refused.value)
            content[position] ^= 0x40
    assert records == read_all(open_log(disk))


def test_a_missing_segment_is_refused() -> None:
    """A segment removed from the middle or the end is noticed, not skipped."""
    for victim in range(1, 4):
        disk = SimulatedDisk()
        fill(disk, 30)
        disk.remove(segments(disk)[-victim])
        with pytest.raises(LogDamagedError):
            read_all(open_log(disk))


def test_a_cut_of_acknowledged_events_is_refused() -> None:
    """A segment shorter than what was acknowledged stops the log, at every length."""
    for path_place in (0, -1):
        disk = SimulatedDisk()
        fill(disk, 30)
        content = disk.content(segments(disk)[path_place])
        whole = bytes(content)
        for length in range(len(whole)):
            content[:] = whole[:length]
            with pytest.raises(LogDamagedError):
                read_all(open_log(disk))


def test_a_torn_tail_is_cut_at_every_byte() -> None:
    """Whatever part of an unacknowledged call is left, the next appender goes on behind it."""
    disk = SimulatedDisk()
    records = fill(disk, 5)
    last = segments(disk)[-1]
    before = bytes(disk.content(last))
    published = bytes(disk.content(FOLDER / "published"))
    open_log(disk).append([NewRecord(b"torn", b"call"), NewRecord(b"of", b"two")])
    torn = bytes(disk.content(last))[len(before) :]
    assert torn
    for length in range(len(torn)):
        for tail in (torn[:length], torn[:length] + bytes(len(torn) - length)):
            disk.content(last)[:] = before + tail
            disk.content(FOLDER / "published")[:] = published
            log = open_log(disk)
            assert records == read_all(log)
            assert 5 == log.append([NewRecord(b"next", b"")]).start


def test_a_call_of_several_frames_is_kept_whole_or_not_at_all() -> None:
    """A long call that a crash tore at the end of one of its frames leaves no part of itself."""
    disk = SimulatedDisk()
    records = fill(disk, 3)
    published = bytes(disk.content(FOLDER / "published"))
    last = disk.content(segments(disk)[-1])
    before = len(last)
    open_log(disk).append([NewRecord(b"%d" % n, bytes(FRAME_BODY_TARGET - 100)) for n in range(3)])
    frame_bytes = (len(last) - before) // 3
    last[before + frame_bytes :] = b""
    disk.content(FOLDER / "published")[:] = published
    assert records == read_all(open_log(disk))
    assert before == len(last)


def test_a_whole_unpublished_call_is_kept() -> None:
    """A call whose process died before publishing it may have been synced, and counts."""
    disk = SimulatedDisk()
    records = fill(disk, 5)
    published = bytes(disk.content(FOLDER / "published"))
    open_log(disk).append(RECORDS[:2])
    disk.content(FOLDER / "published")[:] = published
    assert [*records, *RECORDS[:2]] == read_all(open_log(disk))


def test_damage_before_a_later_call_is_no_torn_tail() -> None:
    """Without the published end, a broken call in front of a whole one is still refused."""
    disk = SimulatedDisk()
    fill(disk, 3)
    last = segments(disk)[-1]
    disk.content(FOLDER / "published")[:] = b""
    content = disk.content(last)
    content[HEADER_BYTES + 20] ^= 1
    with pytest.raises(LogDamagedError, match="appended later"):
        open_log(disk)


def test_a_lost_published_end_is_found_again() -> None:
    """The published end is a hint: flipped, emptied or removed, the log is as before."""
    disk = SimulatedDisk()
    records = fill(disk, 20)
    published = FOLDER / "published"
    for position in range(len(disk.content(published))):
        disk.content(published)[position] ^= 1
        assert records == read_all(open_log(disk))
    disk.remove(published)
    assert records == read_all(open_log(disk))


def test_a_reader_stops_at_the_published_end() -> None:
    """Bytes behind the published end are not read, since power loss may still take them."""
    disk = SimulatedDisk()
    records = fill(disk, 5)
    published = bytes(disk.content(FOLDER / "published"))
    open_log(disk).append(RECORDS[:1])
    disk.content(FOLDER / "published")[:] = published
    reader = LogReader(FOLDER, identity=IDENTITY, files=disk)
    assert LogBounds(0, 5) == reader.bounds()
    assert len(records) == len(reader.read(0, limit=100))


def test_segments_of_another_log_are_refused() -> None:
    """A log does not read the segments of another."""
    disk = SimulatedDisk()
    fill(disk, 5)
    with pytest.raises(LogDamagedError):
        LocalLog(FOLDER, identity=b"another identity", files=disk, clock=SimulatedClock())


def test_stamps_stand_still_when_the_clock_goes_back() -> None:
    """A clock set back by a day, or frozen, never lets a stamp precede an earlier one."""
    disk, clock = SimulatedDisk(), SimulatedClock(start_ms=1_000_000_000)
    log = open_log(disk, clock=clock)
    log.append(RECORDS[:1])
    clock.jump(1_000_000_000 - 86_400_000)
    log.append(RECORDS[:1])
    again = open_log(disk, clock=clock)
    again.append(RECORDS[:1])
    clock.jump(1_000_000_001)
    again.append(RECORDS[:1])
    stamps = [record.timestamp_ms for record in again.read(0, limit=10)]
    assert [1_000_000_000] * 3 + [1_000_000_001] == stamps


def test_a_record_over_the_frame_is_refused_whole() -> None:
    """A call with one record that is too long appends nothing, and names its place."""
    log = open_log(SimulatedDisk())
    with pytest.raises(EventTooLongError, match="record 1 "):
        log.append([RECORDS[0], NewRecord(b"", bytes(FRAME_BODY_MAX))])
    assert LogBounds(0, 0) == log.bounds()
    assert range(1) == log.append(RECORDS[:1])


def test_a_20_megabyte_value_is_kept(tmp_path: Path) -> None:
    """The log takes what the core will reject as too large, so that the rejection has its place."""
    log = LocalLog(tmp_path, identity=IDENTITY, files=DiskFiles(), clock=SimulatedClock())
    value = bytes(20_000_000)
    log.append([RECORDS[0], NewRecord(b"key", value), RECORDS[1]])
    assert [b"value", value, b"no key"] == [r.value for r in log.read(0, limit=10)]


def test_a_log_that_failed_appends_nothing_more() -> None:
    """After a failed sync the same log object refuses; a new one goes on with what is durable."""
    disk = SimulatedDisk()
    log = open_log(disk)
    log.append(RECORDS[:1])
    disk.capacity = disk._used()
    with pytest.raises(OSError, match="no space"):
        log.append(RECORDS[:1])
    disk.capacity = None
    with pytest.raises(StreamsError, match="open the log again"):
        log.append(RECORDS[:1])
    assert 1 == open_log(disk).append(RECORDS[:1]).start


def test_two_appenders_take_turns() -> None:
    """Two open logs of one folder see and continue each other's events, across segments."""
    disk = SimulatedDisk()
    logs = (open_log(disk), open_log(disk))
    for number in range(40):
        assert number == logs[number % 2].append([NewRecord(b"%d" % number, b"x" * 30)]).start
        assert number + 1 == logs[(number + 1) % 2].bounds().end
    assert [b"%d" % n for n in range(40)] == [r.key for r in logs[0].read(0, limit=100)]
