"""Archives against their manifest, and against a checkpoint kept elsewhere (spec 7.4)."""

import random
from dataclasses import replace

import pytest

from infra.archive.checkpoint import compare_checkpoint, describe_checkpoint
from infra.archive.manifest import (
    MANIFEST_NAME,
    PartitionHead,
    read_manifest,
    render_manifest,
    seal_manifest,
)
from infra.archive.reading import Archive
from infra.archive.verification import verify_archive
from infra.archive.writing import write_archive
from streams.core_reducer import CoreReducer
from tests.archives import IDENTITY, draw_archive, draw_records


@pytest.fixture
def archive(tmp_path):
    """Return an archive of a few segments."""
    draw_archive(tmp_path / "archive", 7, events=60, segment_bytes=1_500)
    return tmp_path / "archive"


def kind_of(folder, **given):
    """Return the kind of the first fault, "" when there is none."""
    fault = verify_archive(folder, **given).fault
    return "" if fault is None else fault.kind


@pytest.mark.parametrize("field", ["events", "outputs", "frames", "root", "rulesets", "segments"])
def test_a_manifest_that_says_otherwise_is_found(archive, field):
    """A manifest sealed anew with other numbers does not fit the frames."""
    manifest = read_manifest(archive)
    part = manifest.partitions[0]
    changed = {
        "events": replace(part, events=part.events + 1),
        "outputs": replace(part, outputs=()),
        "frames": replace(part, frames=part.frames + 1, events=part.events + 1),
        "root": replace(part, root=bytes(32)),
        "rulesets": part,
        "segments": replace(part, segments=part.segments[:-1]),
    }[field]
    other = replace(manifest, partitions=(changed, *manifest.partitions[1:]))
    if field == "rulesets":
        other = replace(other, rulesets=(7,))
    (archive / MANIFEST_NAME).write_text(render_manifest(seal_manifest(other)))

    assert kind_of(archive)


def test_a_cut_tail_shows_against_the_checkpoint_alone(tmp_path):
    """A shorter archive that is consistent in itself verifies, and fails the older checkpoint."""
    records = draw_records(random.Random(9), 0, 40)
    head = replace(_head(), next_offset=200)
    whole = write_archive(tmp_path / "whole", records, [head], log_identity=IDENTITY)
    write_archive(tmp_path / "cut", records[:-3], [head], log_identity=IDENTITY)
    note = describe_checkpoint(whole)

    assert kind_of(tmp_path / "cut") == ""
    assert kind_of(tmp_path / "cut", checkpoint=note) == "truncated"
    assert kind_of(tmp_path / "whole", checkpoint=note) == ""


def test_a_replaced_archive_shows_against_the_checkpoint_alone(tmp_path):
    """Another history of the same log verifies by itself, and fails the checkpoint."""
    head = replace(_head(), next_offset=200)
    manifests = [
        write_archive(
            tmp_path / str(seed), draw_records(random.Random(seed), 0, 40), [head],
            log_identity=IDENTITY,
        )
        for seed in (1, 2)
    ]  # fmt: skip
    longer = describe_checkpoint(manifests[0])

    assert kind_of(tmp_path / "2") == ""
    assert kind_of(tmp_path / "2", checkpoint=longer) in {"replaced", "truncated"}
    foreign = replace(longer, origin=longer.origin + "00")
    assert kind_of(tmp_path / "1", checkpoint=foreign) == "replaced"


def test_a_rewritten_manifest_shows_against_the_checkpoint(archive):
    """What no frame says, such as the row digest, is held by the checkpoint's manifest line."""
    manifest = read_manifest(archive)
    note = describe_checkpoint(manifest)
    part = manifest.partitions[0]
    head = replace(part.head, row_set_digest=b"\x01" * 32)
    other = replace(manifest, partitions=(replace(part, head=head), *manifest.partitions[1:]))
    (archive / MANIFEST_NAME).write_text(render_manifest(seal_manifest(other)))

    assert kind_of(archive) == ""
    assert kind_of(archive, checkpoint=note) == "replaced"


def test_a_grown_archive_extends_an_older_checkpoint(tmp_path):
    """A later export of the same log begins as the checkpoint says, and may not change before."""
    records = draw_records(random.Random(5), 0, 60)
    head = replace(_head(), next_offset=200)
    older = write_archive(tmp_path / "older", records[:40], [head], log_identity=IDENTITY)
    write_archive(tmp_path / "newer", records, [head], log_identity=IDENTITY)
    state, fault = compare_checkpoint(
        describe_checkpoint(older), read_manifest(tmp_path / "newer"),
        {0: [f.digest for f in Archive(tmp_path / "newer").read_frames(0)]},
    )  # fmt: skip

    assert ("extended", None) == (state, fault)


def _head():
    return PartitionHead(0, 10, 1, bytes(32), 0, bytes(32), CoreReducer.version)


def test_two_processes_find_what_one_finds(archive):
    """Segments walked apart give the same trees, and the same first fault of two."""
    assert verify_archive(archive) == verify_archive(archive, jobs=2)
    segments = sorted(archive.glob("*.frames"))
    assert len(segments) > 3
    for path in (segments[3], segments[1]):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(bytes(content))
    alone, together = (verify_archive(archive, jobs=jobs) for jobs in (1, 2))

    assert alone == together
    assert segments[1].name == together.fault.segment
