"""Archives: what is written is read back; what was done to one is found (spec 7.4)."""

import json
import os
import random
import shutil
from dataclasses import replace
from itertools import pairwise

import pytest

from infra.archive import frames
from infra.archive.checkpoint import (
    parse_checkpoint,
    sign_checkpoint,
)
from infra.archive.frames import FrameFaultError
from infra.archive.manifest import MANIFEST_NAME, PartitionHead
from infra.archive.notes import generate_key
from infra.archive.reading import Archive
from infra.archive.verification import verify_archive
from infra.archive.writing import ArchiveError, PlacedEvent, PlacedOutput, write_archive
from streams.core_reducer import CoreReducer
from streams.failures import LogDamagedError, LogGapError
from tests.archives import FATE, IDENTITY, draw_archive, draw_records

ARCHIVES = int(os.environ.get("ARCHIVES", "100"))
KEY = generate_key("audit.example")


@pytest.fixture
def archive(tmp_path):
    """Return an archive of a few segments."""
    draw_archive(tmp_path / "archive", 7, events=60, segment_bytes=1_500)
    return tmp_path / "archive"


def list_segments(folder):
    return sorted(path for path in folder.iterdir() if path.name.endswith(".frames"))


def split_blocks(content):
    """Return header and blocks of a segment's bytes; a block is head, frames and trailer."""
    blocks, at = [], frames.HEADER_BYTES
    while at < len(content):
        length, count = frames._BLOCK.unpack_from(content, at)
        head, at = content[at : at + frames.BLOCK_BYTES], at + frames.BLOCK_BYTES
        parts, end = [], at + length
        while at < end:
            stop = at + int.from_bytes(content[at : at + 4], "big") + frames.FRAME_BYTES
            parts.append(content[at:stop])
            at = stop
        at = end + (count + 1) * frames.DIGEST_BYTES
        blocks.append((head, parts, content[end:at]))
    return content[: frames.HEADER_BYTES], blocks


def join_blocks(header, blocks):
    """Return the bytes of a segment."""
    return header + b"".join(head + b"".join(parts) + trailer for head, parts, trailer in blocks)


def kind_of(folder, **given):
    """Return the kind of the first fault, "" when there is none."""
    fault = verify_archive(folder, **given).fault
    return "" if fault is None else fault.kind


def test_what_was_written_is_read_back(tmp_path):
    """Every event comes back with place, time, key, value, headers, fate and outputs."""
    records = draw_records(random.Random(3), 0, 50)
    head = replace(_head(), next_offset=200)
    write_archive(tmp_path / "a", records, [head], log_identity=IDENTITY, segment_bytes=900)

    archive = Archive(tmp_path / "a")
    read = []
    for event in archive.history(0):
        r = event.record
        read.append(PlacedEvent(0, r.offset, r.timestamp_ms, r.key, r.value, r.headers, event.fate))
        read += [PlacedOutput(0, r.offset, *output) for output in event.outputs]

    assert records == read
    assert 1 < len(archive.entry(0).segments)
    assert len(records) == archive.entry(0).frames


def test_an_archive_reads_as_an_input_log(tmp_path):
    """Reading by offset gives the same records from any place on, over skipped offsets too."""
    records = [r for r in draw_records(random.Random(4), 0, 80) if isinstance(r, PlacedEvent)]
    write_archive(
        tmp_path / "a", records, [replace(_head(), next_offset=300)],
        log_identity=IDENTITY, segment_bytes=500,
    )  # fmt: skip
    log = Archive(tmp_path / "a").log()

    assert (0, 300) == log.bounds()
    for first in (0, 1, records[40].offset, records[40].offset - 1, 299):
        expected = [record.offset for record in records if record.offset >= first][:7]
        assert expected == [record.offset for record in log.read(first, limit=7)]
    assert IDENTITY == log.identity


def test_an_archive_that_begins_later_says_so(tmp_path):
    """Reading before the first archived offset is a gap, never an empty answer."""
    event = PlacedEvent(0, 5, 1, b"k", b"v", (), FATE)
    write_archive(tmp_path / "a", [event], [_head()], log_identity=IDENTITY)

    with pytest.raises(LogGapError, match="0 to 4"):
        Archive(tmp_path / "a").log().read(0, limit=1)


def test_records_out_of_order_are_refused(tmp_path):
    """An archive is in log order: a step back, or an output without its event, is refused."""
    event = PlacedEvent(0, 5, 1, b"k", b"v", (), FATE)
    back = event._replace(offset=5)
    stray = PlacedOutput(0, 6, "packets", b"k", b"v")

    for wrong in (back, stray):
        with pytest.raises(ArchiveError):
            write_archive(tmp_path / "a", [event, wrong], [_head()], log_identity=IDENTITY)
    assert not (tmp_path / "a").exists()


def test_an_archive_replaces_nothing(tmp_path):
    """An export into a folder that exists is refused."""
    with pytest.raises(ArchiveError, match="exists"):
        write_archive(tmp_path, [], [_head()], log_identity=IDENTITY)


def test_untouched_archives_raise_no_alarm(tmp_path):
    """Whatever was archived verifies, alone and against its own checkpoint."""
    for seed in range(ARCHIVES):
        folder = tmp_path / str(seed)
        manifest = draw_archive(folder, seed)
        note = parse_checkpoint(sign_checkpoint(manifest, KEY))
        found = verify_archive(folder, checkpoint=note)

        assert (None, "same") == (found.fault, found.checkpoint), seed
        shutil.rmtree(folder)


def test_one_flipped_byte_in_any_frame_is_found(tmp_path):
    """Of 10,000 events and their outputs, no frame can change in one byte unseen."""
    manifest = draw_archive(tmp_path / "a", 1, events=10_000, partitions=1, segment_bytes=4_000)
    draw = random.Random(1)
    missed, flipped = [], 0
    previous = frames.START
    for segment in manifest.partitions[0].segments:
        content = (tmp_path / "a" / segment.name).read_bytes()
        place = frames.SegmentPlace(
            name=segment.name, partition=0, first_number=segment.first_frame,
            frames=segment.frames, previous=previous,
        )  # fmt: skip
        blocks = list(frames.walk_blocks(content, place))
        spans = [span for block in blocks for span in pairwise(block.starts)]
        # Between two blocks stand digests, which belong to no frame.
        for number, (start, end) in enumerate(spans, segment.first_frame):
            changed = bytearray(content)
            changed[draw.randrange(start, end)] ^= 1 << draw.randrange(8)
            flipped += 1
            if _find(bytes(changed), place) != number:
                missed.append((segment.name, number))
        previous = blocks[-1].leaf

    assert [] == missed
    assert flipped == manifest.partitions[0].frames > 10_000


def _find(content, place):
    """Return the number of the frame at which walking a segment stops, None if it does not."""
    try:
        for _ in frames.walk_blocks(content, place):
            pass
    except FrameFaultError as fault:
        return fault.fault.frame
    return None


def test_one_flipped_byte_in_any_file_is_found(archive):
    """Headers and the manifest are as protected as frames, through the one verification."""
    draw = random.Random(2)
    for path in sorted(archive.iterdir()):
        whole = path.read_bytes()
        spots = {
            0,
            7,
            8,
            25,
            30,
            50,
            len(whole) - 1,
            *(draw.randrange(len(whole)) for _ in range(9)),
        }
        for spot in sorted(spots):
            changed = bytearray(whole)
            changed[spot] ^= 1 << draw.randrange(8)
            path.write_bytes(bytes(changed))

            assert kind_of(archive), (path.name, spot)
        path.write_bytes(whole)
    assert kind_of(archive) == ""


def test_deleted_inserted_and_swapped_frames_are_found(archive):
    """Each edit is found at the first frame that stands where another one was."""
    path = list_segments(archive)[1]
    header, blocks = split_blocks(path.read_bytes())
    other = split_blocks(list_segments(archive)[0].read_bytes())[1][0][1]
    head, parts, trailer = blocks[0]
    first = int(path.name.split("-")[1].split(".")[0])
    edits = {
        "deleted": (1, [parts[0], *parts[2:]]),
        "inserted": (1, [parts[0], parts[0], *parts[1:]]),
        "foreign": (1, [parts[0], other[2], *parts[1:]]),
        "replaced": (1, [parts[0], other[1], *parts[2:]]),
        "swapped": (1, [parts[0], parts[2], parts[1], *parts[3:]]),
    }
    for name, (at, edited) in edits.items():
        path.write_bytes(join_blocks(header, [(head, edited, trailer), *blocks[1:]]))
        fault = verify_archive(archive).fault

        assert fault is not None, name
        assert (path.name, first + at) == (fault.segment, fault.frame), name
    for name, edited in {
        "cut": blocks[:-1], "surplus": [*blocks, blocks[-1]],
    }.items():  # fmt: skip
        path.write_bytes(join_blocks(header, edited))
        assert kind_of(archive), name


def test_segments_swapped_removed_or_added_are_found(archive):
    """Files are as much in order as frames."""
    one, other = list_segments(archive)[:2]
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    assert kind_of(archive) == "header"
    one.write_bytes(first)
    other.unlink()
    assert kind_of(archive) == "missing_segment"
    other.write_bytes(second)
    (archive / "extra.frames").write_bytes(first)
    assert kind_of(archive) == "foreign_file"


def test_a_chain_made_anew_is_found_by_the_tree(archive):
    """An edited frame whose segment is chained again no longer leads to the manifest's root."""
    rechain(list_segments(archive)[-1], 1)

    assert kind_of(archive) in {"chain", "root"}


def rechain(path, place):
    """Change a frame and write the segment anew with digests and a chain that check."""
    header, blocks = split_blocks(path.read_bytes())
    previous, rebuilt = frames.read_previous(header), []
    for number, (_, parts, _) in enumerate(blocks):
        if number == 0:
            parts[place] = parts[place][:-1] + bytes((parts[place][-1] ^ 1,))
        content, _, previous = frames.encode_block(parts, previous)
        rebuilt.append(content)
    path.write_bytes(header + b"".join(rebuilt))


def test_a_damaged_archive_is_not_read_on(archive):
    """Reading stops at an altered frame, naming segment and frame."""
    path = list_segments(archive)[0]
    content = path.read_bytes()
    path.write_bytes(content[:-40] + bytes((content[-40] ^ 1,)) + content[-39:])

    with pytest.raises(LogDamagedError, match=path.name):
        list(Archive(archive).history(0))


def test_the_manifest_carries_what_is_needed_to_read_it(archive):
    """The schemas of the frames stand in the manifest, as JSON that names them."""
    schemas = json.loads((archive / MANIFEST_NAME).read_text())["schemas"]
    named = {entry["name"]: json.loads(entry["text"])["name"] for entry in schemas}

    assert "commitments.v1.ArchivedEvent" == named["ArchivedEvent"]
    assert "commitments.v1.ArchivedOutput" == named["ArchivedOutput"]


def _head():
    return PartitionHead(0, 10, 1, bytes(32), 0, bytes(32), CoreReducer.version)
