"""Replay: an untouched history is identical, a touched one shows where, in what and why (7.1)."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from infra.appending import append_events
from infra.archive.embedded_source import export_embedded
from infra.archive.reading import Archive
from infra.archive.writing import PlacedEvent, PlacedOutput, write_archive
from infra.audit.divergence import find_rule
from infra.audit.history import ArchiveSource, EmbeddedSource
from infra.audit.replay import ROWS_LEFT, ROWS_SAME, replay, replay_history
from infra.audit.selection import Selection
from schemas.codec import decode, encode, frame, unframe
from schemas.control import Genesis
from schemas.event import Event, FormSubmitted
from schemas.fate import Fate
from schemas.identity import record_key
from schemas.outcome import RepairAct
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from tests.archives import fold_archive
from tests.random_history import tell_crowd

ROOT = Path(__file__).parent.parent.parent


def quiet(done, left):
    """Take note of no progress."""


@pytest.fixture(scope="module")
def events():
    """Return what a drawn crowd was told."""
    return tell_crowd(11, users=5, events=220).events


@pytest.fixture(scope="module")
def archive(tmp_path_factory, events):
    """Return the folder of their archive, of one partition."""
    folder = tmp_path_factory.mktemp("replay") / "archive"
    fold_archive(folder, events)
    return folder


@pytest.fixture(scope="module")
def spread(tmp_path_factory, events):
    """Return the folder of the same history over three partitions with offsets that skip."""
    folder = tmp_path_factory.mktemp("spread") / "archive"
    first, *others = events
    assert isinstance(first.payload, Genesis)
    genesis = replace(first, payload=replace(first.payload, partitions=3))
    fold_archive(folder, [genesis, *others], partitions=3, skip=1)
    return folder


def edit(source, target, change):
    """Write an archive anew with each event and its outputs passed through ``change``."""
    archive = Archive(source)
    records = []
    for event in archive.history(0):
        r = event.record
        placed = PlacedEvent(0, r.offset, r.timestamp_ms, r.key, r.value, r.headers, event.fate)
        outputs = [PlacedOutput(0, r.offset, *output) for output in event.outputs]
        records += change(placed, outputs)
    write_archive(
        target, records, [archive.entry(0).head], log_identity=archive.manifest.log_identity
    )
    return target


def test_an_archive_replays_identically(archive, events):
    """Every fate and output folds again to the same bytes, and so does the row set."""
    report = replay_history(ArchiveSource(archive), quiet)

    assert report.clean
    assert ROWS_SAME == report.rows
    assert len(events) == report.events
    assert report.identical == report.outputs > 30


@pytest.mark.parametrize("jobs", [2, 5])
def test_lanes_give_the_report_of_one_process(archive, jobs):
    """However many processes share a partition's users, the report is the same."""
    one = replay_history(ArchiveSource(archive), quiet)

    assert one == replay_history(ArchiveSource(archive), quiet, jobs=jobs)


def test_partitions_are_replayed_each_for_itself(spread):
    """Three partitions with skipping offsets are identical, together and one alone."""
    report = replay_history(ArchiveSource(spread), quiet, jobs=2)
    one = replay_history(ArchiveSource(spread), quiet, selection=Selection(partition=1))

    assert report.clean
    assert ROWS_SAME == report.rows
    assert [0, 1, 2] == [part.partition for part in report.partitions]
    assert report.partitions[1] == one.partitions[0]


def test_one_user_is_replayed_alone(archive, events):
    """Control records and a user's own events are folded; the user's own alone are compared."""
    wanted = Selection(key=record_key("t", "u1"))
    report = replay_history(ArchiveSource(archive), quiet, selection=wanted)
    own = [event for event in events if event.user == "u1"]

    assert report.clean
    assert (len(own), ROWS_LEFT) == (report.events, report.rows)


def test_a_range_is_compared_on_what_came_before(archive):
    """Offsets and times bound what is compared, never what it rests on."""
    middle = Selection(from_offset=100, to_offset=150)
    report = replay_history(ArchiveSource(archive), quiet, selection=middle)
    times = [event.record.timestamp_ms for event in Archive(archive).history(0)]
    by_time = Selection(from_ms=times[100], to_ms=times[150])

    assert (50, True, ROWS_LEFT) == (report.events, report.clean, report.rows)
    expected = sum(1 for time in times if times[100] <= time < times[150])
    assert expected == replay_history(ArchiveSource(archive), quiet, selection=by_time).events


def shout(output):
    """Return an output; that of a repair act with another detail."""
    if output.topic != "repairs":
        return output
    act = unframe(RepairAct, output.value)[0]
    return output._replace(value=frame(replace(act, detail=act.detail + "!")))


def test_an_edited_outcome_is_named_with_field_and_rule(archive, tmp_path):
    """The first cause names the event, the field, both values and the rule that decides it."""

    def change(event, outputs):
        return [event, *(shout(output) for output in outputs)]

    report = replay_history(ArchiveSource(edit(archive, tmp_path / "a", change)), quiet)
    repairs = [o for e in Archive(archive).history(0) for o in e.outputs if o.topic == "repairs"]

    assert not report.clean
    assert len(repairs) == report.divergent > 0
    assert report.first is not None
    assert ("repairs", "divergent", "detail") == (
        report.first.topic, report.first.kind, report.first.field,
    )  # fmt: skip
    assert report.first.recorded == report.first.replayed + "!"
    assert report.first.event_id


def test_a_dropped_and_an_added_output_are_missing_and_duplicate(archive, tmp_path):
    """What replay gives and the record lacks is missing; what it has besides is duplicate."""

    def drop(event, outputs):
        return [event, *(output for output in outputs if output.topic != "packets")]

    def double(event, outputs):
        return [event, *sorted([*outputs, *outputs], key=lambda output: output.topic)]

    packets = sum(1 for e in Archive(archive).history(0) for o in e.outputs if o.topic == "packets")
    dropped = replay_history(ArchiveSource(edit(archive, tmp_path / "d", drop)), quiet)
    doubled = replay_history(ArchiveSource(edit(archive, tmp_path / "2", double)), quiet)

    assert (packets, 0, 0) == (dropped.missing, dropped.duplicate, dropped.divergent)
    assert (0, doubled.outputs, 0) == (doubled.missing, doubled.duplicate, doubled.divergent)
    assert dropped.first is not None
    assert ("packets", "missing", "nothing") == (
        dropped.first.topic, dropped.first.kind, dropped.first.recorded,
    )  # fmt: skip


def test_an_edited_event_shows_in_its_user_alone(archive, tmp_path):
    """Dropping one event changes what follows for its user, and the first cause says from where."""
    target = next(
        event.record.offset
        for event in Archive(archive).history(0)
        if isinstance(unframe(Event, event.record.value)[0].payload, FormSubmitted)
    )

    def change(event, outputs):
        return [] if event.offset == target else [event, *outputs]

    report = replay_history(ArchiveSource(edit(archive, tmp_path / "a", change)), quiet)

    assert not report.clean
    assert report.fates > 0
    assert report.first is not None
    assert report.first.offset > target
    assert ("ledgers", "seq") == (report.first.topic, report.first.field)


def test_an_edited_fate_is_a_divergence_of_the_ledger(archive, tmp_path):
    """Fates are compared as outputs are."""

    def change(event, outputs):
        if event.offset == 20:
            fate = decode(Fate, event.fate)
            event = event._replace(fate=encode(replace(fate, ignored="edited")))
        return [event, *outputs]

    report = replay_history(ArchiveSource(edit(archive, tmp_path / "a", change)), quiet)

    assert (1, False) == (report.fates, report.clean)
    assert report.first is not None
    assert (20, "ignored", "edited") == (
        report.first.offset, report.first.field, report.first.recorded,
    )  # fmt: skip
    assert "admission" in report.first.rule


def test_an_embedded_log_and_its_archive_replay_alike(tmp_path, events):
    """What is exported from a log replays as the log does; both are identical to the record."""
    with Embedded(tmp_path / "log", CoreReducer()) as embedded:
        append_events(embedded, events)
        embedded.fold_pending()
        export_embedded(embedded, tmp_path / "archive", segment_bytes=30_000)
        here = replay(embedded, quiet)
    apart = replay_history(EmbeddedSource(tmp_path / "log"), quiet, jobs=2)
    archived = replay_history(ArchiveSource(tmp_path / "archive"), quiet)

    assert here.clean
    assert here == apart
    assert archived.clean
    assert (here.events, here.fates, here.rows) == (archived.events, 0, archived.rows)


def test_exporting_twice_gives_the_same_archive(tmp_path, events):
    """An archive is a function of the log and its ledger alone."""
    with Embedded(tmp_path / "log", CoreReducer()) as embedded:
        append_events(embedded, events[:80])
        embedded.fold_pending()
        one, other = (export_embedded(embedded, tmp_path / name) for name in "ab")

    assert one == other


FOLDER = Path(find_spec("libfaketime").origin).parent
YEAR_AHEAD = {
    "LD_PRELOAD": str(FOLDER / "vendor/libfaketime/src/libfaketime.so.1"),
    "FAKETIME": "+366d",
    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
}


def run_ahead(*arguments, **changes):
    """Run Python a year ahead of the system's clock, in a changed environment."""
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, **YEAR_AHEAD, **changes}, timeout=120,
    )  # fmt: skip


def test_the_clock_of_the_next_test_is_a_year_ahead():
    """The shifted clock is the whole process's, as other libraries read it too."""
    run = run_ahead("-c", "import time; print(int(time.time()))")

    assert 365 * 86_400 < int(run.stdout) - time.time() < 367 * 86_400


@pytest.mark.parametrize(
    ("seed", "zone", "locale", "jobs"),
    [("0", "Pacific/Auckland", "C", "1"), ("4242", "America/St_Johns", "C.UTF-8", "2")],
)
def test_replay_is_the_same_in_any_process(spread, seed, zone, locale, jobs):
    """Hash seed, time zone, locale, jobs and a clock a year ahead change no byte of the answer."""
    run = run_ahead(
        "-m", "infra.cli.main", "replay", "--archive", str(spread), "--verify", "--json",
        "--jobs", jobs, PYTHONHASHSEED=seed, TZ=zone, LC_ALL=locale,
    )  # fmt: skip
    report = json.loads(run.stdout)

    assert (0, "") == (run.returncode, run.stderr)
    here = replay_history(ArchiveSource(spread), quiet)
    assert (here.events, here.outputs, here.rows) == (
        report["events"], report["outputs"], report["rows"],
    )  # fmt: skip
    assert report["clean"]


@pytest.mark.parametrize(
    ("topic", "field", "rule"),
    [
        ("packets", "units[0].unit_id", "choice of Z*"),
        ("commitments", "certificate.candidates[0].utility", "vector nu"),
        ("repairs", "question.slots[0]", "Clarify"),
        ("repairs", "outcome", "how a turn ends"),
    ],
)
def test_a_field_has_its_rule(topic, field, rule):
    """Every field of a decision is mapped to the rule that a reader should look up."""
    assert rule in find_rule(topic, field)
