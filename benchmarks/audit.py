"""What auditing costs: replay, backfill, verification, one certificate (make bench-audit).

Replay and backfill of observations against a bare decode loop of the same bytes, and against the
in-memory replay of an aggregate by the ``eventsourcing`` library that folds by the same rules and
must end in the same rows; turns apart.
Verification against SHA-256 over the same bytes in one piece. Ratios are of CPU time of one
thread, the least of a few rounds taken in turn; the speed-up by processes is of elapsed time.
"""

import gc
import hashlib
import io
import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources
from pathlib import Path

import fastavro

from benchmarks.figures import Figure
from benchmarks.folding import scratch
from benchmarks.history import zipf_history
from infra.appending import append_events
from infra.archive.embedded_source import export_embedded
from infra.archive.frames import FRAME_BYTES
from infra.archive.reading import Archive
from infra.archive.verification import verify_archive
from infra.archive.writing import PlacedEvent, PlacedOutput, write_archive
from infra.audit.certificates import check_certificates
from infra.audit.history import ArchiveSource
from infra.audit.replay import replay_history
from infra.audit.stated import Stated
from infra.backfill.plan import Plan
from infra.backfill.run import backfill
from infra.event_json import render_record
from infra.importers.sgd import CANDIDATES, import_sgd
from infra.records import read_output
from processors.certification import OutcomeNames
from schemas.codec import HEADER_BYTES, parsed_schema
from schemas.event import Event
from streams.row_digest import parse_row_set

EVENTS = 20_000
USERS = 2_000
TURNS = 500
ROUNDS = 5
LONGER = 4
COPIES = 240
SEGMENT_BYTES = 4 << 20
CERTIFICATES = 20


@contextmanager
def archiving():
    """Yield a folder for archives that goes away."""
    folder = Path(tempfile.mkdtemp(prefix="commitments-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def archive_events(folder, events):
    """Fold events on a durable log, export them, and return the folder of the archive."""
    with scratch() as embedded:
        append_events(embedded, events)
        embedded.fold_pending()
        export_embedded(embedded, folder, segment_bytes=SEGMENT_BYTES)
    return folder


def archive_dialogues(folder):
    """Archive the shipped dialogues with every kind of candidate."""
    with resources.as_file(resources.files("infra") / "sample") as sample:
        return archive_events(folder, import_sgd([sample], frozenset(CANDIDATES)))


def repeat_archive(source, folder):
    """Write the records of an archive many times over: bytes to verify, no history to fold."""
    archive = Archive(source)
    head = archive.entry(0).head
    write_archive(
        folder, list_repeated(archive, head.next_offset),
        [replace(head, next_offset=head.next_offset * COPIES)],
        log_identity=archive.manifest.log_identity, segment_bytes=SEGMENT_BYTES,
    )  # fmt: skip
    return folder


def list_repeated(archive, span):
    """Yield the records of an archive over and over; control records stand once."""
    events = list(archive.history(0))
    for copy in range(COPIES):
        for event in events[copy > 0 :]:
            r, offset = event.record, copy * span + event.record.offset
            yield PlacedEvent(0, offset, r.timestamp_ms, r.key, r.value, r.headers, event.fate)
            for output in event.outputs:
                yield PlacedOutput(0, offset, *output)


def take_cpu(call):
    """Return CPU seconds of this thread for a call, and what it returns."""
    gc.collect()
    started = time.thread_time()
    result = call()
    return time.thread_time() - started, result


def replay(folder, jobs=1):
    """Replay an archive; all of it must be identical."""
    report = replay_history(ArchiveSource(folder), lambda _done, _left: None, jobs=jobs)
    assert report.clean, "a replay that differs measures nothing"
    return report


def recompute(folder):
    """Backfill an archive under its own settings; nothing may flip."""
    with archiving() as scratch_folder:
        summary = backfill(
            ArchiveSource(folder), Plan(), scratch_folder / "out", lambda _done, _left: None
        )
    assert not summary["flipped"], "nothing was changed"


def decode_bodies(bodies):
    """Decode the events' bodies and nothing else."""
    schema = parsed_schema(Event)
    for body in bodies:
        fastavro.schemaless_reader(io.BytesIO(body), schema, None, return_record_name=True)


def measure_refolding(folder):
    """Return the figures of replay and backfill, observations only, and of turns apart."""
    from benchmarks import aggregate  # noqa: PLC0415 - installed apart

    observations = zipf_history(events=EVENTS, users=USERS)
    archive = archive_events(folder / "observations", observations)
    records = [one.record for one in Archive(archive).history(0)]
    bodies = [record.value[HEADER_BYTES:] for record in records]
    head = Archive(archive).entry(0).head
    people = aggregate.tell_people(records)
    assert people[-1] == EVENTS, "both sides replay the same observations"
    decoded, replayed, recomputed, aggregated = [], [], [], []
    for _ in range(ROUNDS):
        decoded.append(take_cpu(lambda: decode_bodies(bodies))[0])
        replayed.append(take_cpu(lambda: replay(archive))[0])
        recomputed.append(take_cpu(lambda: recompute(archive))[0])
        seconds, rows = aggregate.time_people(*people[:-1])
        stated = parse_row_set(count=head.row_count, digest=head.row_set_digest)
        assert rows == stated, "both sides end in the same rows"
        aggregated.append(seconds)
    least = min(decoded), min(replayed), min(recomputed), min(aggregated)
    figures = []
    for what, seconds in (("replay", least[1]), ("backfill", least[2])):
        rate = EVENTS / seconds
        figures += [
            Figure("", f"{what}: bare decode loop / observations", least[0] / seconds,
                   floor=0.2, rises=True),
            Figure("", f"{what}: eventsourcing in memory / observations", least[3] / seconds,
                   floor=2.0, rises=True),
            Figure("", f"{what}: observations per core", rate, "events/s", rises=True),
        ]  # fmt: skip
    return figures + measure_turns(folder)


def measure_turns(folder):
    """Return turns per second: a quarter of the observations with turns strewn in, less without."""
    sizes = {"events": EVENTS // 4, "users": USERS // 4}
    mixed = archive_events(folder / "mixed", zipf_history(**sizes, turns=TURNS))
    plain = archive_events(folder / "plain", zipf_history(**sizes))
    figures = []
    for what, call in (("replay", replay), ("backfill", recompute)):
        costs = [
            min(take_cpu(lambda c=call, a=archive: c(a))[0] for _ in range(3))
            for archive in (mixed, plain)
        ]
        rate = TURNS / max(costs[0] - costs[1], 1e-9)
        mix = f"{TURNS} turns among {EVENTS // 4} observations, one candidate each"
        figures.append(Figure("", f"{what}: {mix}", rate, "turns/s", rises=True))
    return [*figures, measure_speed_up(folder)]


def measure_speed_up(folder):
    """Return the elapsed time of replaying in one process over that in two, starts included."""
    many = LONGER * EVENTS
    archive = archive_events(folder / "long", zipf_history(events=many, users=LONGER * USERS))
    elapsed = []
    for jobs in (1, 2, 2, 1):
        started = time.perf_counter()
        replay(archive, jobs)
        elapsed.append(time.perf_counter() - started)
    shutil.rmtree(archive)
    ratio = min(elapsed[0], elapsed[3]) / min(elapsed[1:3])
    return Figure("", f"replay: speed-up with 2 jobs, {many:,} observations", ratio, rises=True)


def measure_verification(folder):
    """Return verification over SHA-256 of the same bytes: dialogues, and observations."""
    dialogues = repeat_archive(archive_dialogues(folder / "dialogues"), folder / "many")
    found = compare_hashing(dialogues)
    few = compare_hashing(folder / "observations")
    frames = Archive(dialogues).entry(0).frames
    size = sum(path.stat().st_size for path in dialogues.iterdir())
    what = f"verify: dialogues, {size / frames:.0f} bytes a frame"
    return [
        Figure("", f"{what} / SHA-256", found[1] / found[0], floor=0.3, rises=True),
        Figure("", what, size / found[0] / 1e6, "MB/s", rises=True),
        Figure("", "verify: observations only / SHA-256", few[1] / few[0], rises=True),
        Figure("", "verify: observations only / SHA-256 frame by frame",
               time_frames(folder / "observations") / few[0], rises=True),
        measure_certificates(folder / "dialogues"),
    ]  # fmt: skip


def compare_hashing(folder):
    """Return CPU seconds of verifying an archive, and of SHA-256 over its bytes in one piece."""
    ours, bare = [], []
    for _ in range(ROUNDS):
        seconds, result = take_cpu(lambda: verify_archive(folder))
        assert result.fault is None, result.fault
        ours.append(seconds)
        bare.append(take_cpu(lambda: hash_files(folder))[0])
    return min(ours), min(bare)


def hash_files(folder):
    """Hash the bytes of all files."""
    for path in sorted(folder.iterdir()):
        hashlib.sha256(path.read_bytes()).digest()


def time_frames(folder):
    """Return CPU seconds of one call of SHA-256 for each frame: what the format asks for."""
    contents = [bytes(FRAME_BYTES) + frame.body for frame in Archive(folder).read_frames(0)]
    sha256 = hashlib.sha256
    return min(
        take_cpu(lambda: [sha256(content).digest() for content in contents])[0]
        for _ in range(ROUNDS)
    )


def measure_certificates(folder):
    """Return how long one certificate takes: its archive read, its user folded, proofs made."""
    archive = Archive(folder)
    stated = []
    for output in archive.outputs("commitments"):
        record = read_output("commitments", output.record.value)
        names = OutcomeNames(record.outcome_id, record.turn_id, record.seq)
        data = render_record(record)
        stated.append(Stated(1, output.offset, record.tenant, record.user, names, data))
    times = []
    for one in stated[:CERTIFICATES]:
        seconds, (checked,) = take_cpu(lambda s=one: check_certificates(archive, [s]))
        assert not checked.differences, checked.differences
        times.append(seconds)
    events = archive.entry(0).events
    what = f"check: one certificate in an archive of {events} events, median"
    return Figure("", what, 1e3 * sorted(times)[len(times) // 2], "ms")


def list_figures():
    """Return every figure of this file."""
    with archiving() as folder:
        return measure_refolding(folder) + measure_verification(folder)
