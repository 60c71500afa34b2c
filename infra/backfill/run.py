"""A backfill from history to tables: in lanes of users, each finished lane kept for good.

A run that was interrupted goes on with the lanes that are missing. Nothing is published.
"""

import hashlib
import json
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from infra.audit.history import History, Recorded, Source
from infra.backfill.plan import EVENTS_PER_LANE, BackfillError, Plan, Run, open_run
from infra.backfill.recomputation import Recomputation
from infra.backfill.summary import summarise
from infra.backfill.tables import TABLES, build_rows, write_table
from schemas.identity import record_key
from streams.collection import collecting_rarely
from streams.scratch_rows import ScratchRows

RUN_NAME: Final = "run.json"
SUMMARY_NAME: Final = "summary.json"
DONE: Final = "lanes"
CONTROL_KEY: Final = record_key("", "")

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Lane:
    """Some users of one partition."""

    partition: int
    number: int

    @property
    def name(self) -> str:
        """Return the name of its files, which sort as lanes do."""
        return f"partition-{self.partition:05d}-lane-{self.number:03d}"


def backfill(
    source: Source,
    plan: Plan,
    folder: Path,
    progress: Progress,
    *,
    jobs: int = 1,
    events_per_lane: int = EVENTS_PER_LANE,
) -> dict[str, Any]:
    """Recompute a history under a plan into tables and return the summary.

    A folder that holds a part of the same run is completed, on the history as it was when the
    run began; equal runs give equal tables however often they were interrupted.

    Raises:
        BackfillError: the folder holds another run, or the history does not replay.
    """
    run = _begin(source, plan, folder, events_per_lane)
    lanes = [Lane(int(part), lane) for part in sorted(run.events, key=int)
             for lane in range(run.lanes)]  # fmt: skip
    waiting = [lane for lane in lanes if not _done(folder, lane).exists()]
    done = len(lanes) - len(waiting)
    progress(done, len(waiting))
    for finished in _work(source, plan, run, folder, waiting, jobs):
        done += finished
        progress(done, len(lanes) - done)
    summary = {"run_id": run.run_id, "plan": run.plan} | summarise(folder)
    _write_json(folder / SUMMARY_NAME, summary)
    return summary


def _begin(source: Source, plan: Plan, folder: Path, events_per_lane: int) -> Run:
    with source() as history:
        events = {str(number): history.count(number) for number in history.partitions}
        path = folder / RUN_NAME
        begun = _read_run(path) if path.exists() else None
        # Partitions that were empty when the run began say nothing of which history it was.
        identity = _identify(history, events if begun is None else begun.events)
    run = open_run(plan, history=identity, events=events, events_per_lane=events_per_lane)
    if begun is not None:
        return _resume(path, begun, run)
    if folder.exists() and any(folder.iterdir()):
        raise BackfillError(f"{folder} is not empty and holds no backfill: name a new folder")
    for name in (*TABLES, DONE):
        (folder / name).mkdir(parents=True, exist_ok=True)
    _write_json(path, asdict(run))
    return run


def _read_run(path: Path) -> Run:
    try:
        return Run(**json.loads(path.read_text("utf-8")))
    except (ValueError, TypeError):
        raise BackfillError(f"{path} does not check: name a new folder") from None


def _resume(path: Path, begun: Run, run: Run) -> Run:
    same = (begun.plan, begun.history, begun.core_version) == (
        run.plan,
        run.history,
        run.core_version,
    )
    grown = all(run.events.get(part, 0) >= count for part, count in begun.events.items())
    if not same or not grown:
        raise BackfillError(
            f"{path.parent} holds another run (of {json.dumps(begun.plan)}): name a new folder"
        )
    return begun


def _identify(history: History, events: dict[str, int]) -> str:
    """Return what tells a history from others: the digest of each partition's first record."""
    parts = [
        hashlib.sha256(recorded.record.value or b"").hexdigest()
        for number in history.partitions
        if events.get(str(number))
        for recorded in islice(history.recorded(number), 1)
    ]
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def _work(
    source: Source, plan: Plan, run: Run, folder: Path, lanes: list[Lane], jobs: int
) -> Iterator[int]:
    """Yield 1 for each lane as it is finished."""
    if jobs == 1:
        for lane in lanes:
            _fold_lane(source, plan, run, folder, lane)
            yield 1
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=jobs, mp_context=context) as pool:
        futures = [pool.submit(_fold_lane, source, plan, run, folder, lane) for lane in lanes]
        for future in futures:
            future.result()
            yield 1


def _fold_lane(source: Source, plan: Plan, run: Run, folder: Path, lane: Lane) -> None:
    """Fold one lane and write its tables, then the mark that it is done."""
    with (
        collecting_rarely(),
        source() as history,
        tempfile.TemporaryDirectory(prefix="commitments-backfill-") as scratch,
    ):
        rows = ScratchRows(Path(scratch) / "rows")
        try:
            recomputation = Recomputation(
                plan, rows, partition=lane.partition, opener=history.opener
            )
            recorded = history.recorded(lane.partition)
            for one in islice(recorded, run.events[str(lane.partition)]):
                if _folds(one, lane, run):
                    recomputation.fold(one)
        finally:
            rows.close()
    versions = {
        "run_id": run.run_id,
        "core_version": run.core_version,
        "feedback": plan.feedback.value,
    }
    for name, table in build_rows(recomputation.turns(), versions).items():
        write_table(folder / name / f"{lane.name}.parquet", name, table)
    _write_json(_done(folder, lane), {"lane": lane.name})


def _folds(recorded: Recorded, lane: Lane, run: Run) -> bool:
    key = recorded.record.key
    return key == CONTROL_KEY or crc32(key or b"") % run.lanes == lane.number


def _done(folder: Path, lane: Lane) -> Path:
    return folder / DONE / f"{lane.name}.json"


def _write_json(path: Path, content: dict[str, Any]) -> None:
    draft = path.with_name(path.name + ".draft")
    draft.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", "utf-8")
    draft.replace(path)
