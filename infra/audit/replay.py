"""Replay: fold a history again from its first event and compare every output byte (spec 7.1).

Whole or in part, in this process or in several; lane.py folds and compares, this page deals lanes
out and puts their results together.
"""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from infra.audit.comparison import LaneResult
from infra.audit.divergence import Cause, explain_divergence
from infra.audit.history import EmbeddedHistory, History, RowSetStated, Source
from infra.audit.lane import Lane, replay_lane
from infra.audit.selection import Selection
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from streams.row_digest import DIGEST_BYTES

Progress = Callable[[int, int], None]

WHOLE: Final = Selection()
ROWS_SAME: Final = "identical"
ROWS_OTHER: Final = "different"
ROWS_LEFT: Final = "not compared"
POLL_S: Final = 0.2
_COUNTED_AT_ONCE: Final = 256


@dataclass(frozen=True, slots=True)
class PartitionReport:
    """What the replay of one partition came to; ``rows`` says whether the row set is the same."""

    partition: int
    events: int
    outputs: int
    identical: int
    missing: int
    duplicate: int
    divergent: int
    fates: int
    rows: str


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """Outputs of the replay against those recorded.

    Missing is what replay gives and the record lacks, duplicate what it has besides; ``fates``
    counts events whose recorded fate is another. ``rows`` is the worst of all partitions.
    """

    events: int
    outputs: int
    identical: int
    missing: int
    duplicate: int
    divergent: int
    fates: int
    rows: str
    first: Cause | None
    partitions: tuple[PartitionReport, ...]

    @property
    def clean(self) -> bool:
        """Tell whether nothing is missing, duplicate, divergent or different."""
        wrong = self.missing + self.duplicate + self.divergent + self.fates
        return wrong == 0 and self.rows != ROWS_OTHER


def replay(embedded: Embedded, progress: Progress) -> ReplayReport:
    """Fold an embedded log again and compare all that is recorded.

    Events appended but not folded yet are left out on both sides.
    """
    history = EmbeddedHistory(embedded)
    return _replay_here(history, _deal(history, WHOLE, jobs=1), WHOLE, progress, keep_bytes=True)


def replay_history(
    source: Source,
    progress: Progress,
    *,
    selection: Selection = WHOLE,
    owner: tuple[str, str] | None = None,
    jobs: int = 1,
    keep_bytes: bool = True,
) -> ReplayReport:
    """Fold a history again, in as many processes as asked for, and compare the selection.

    The report is the same for every number of jobs. ``owner`` narrows the selection to a user,
    named by tenant and user: an encrypted history knows its record key only once it is open.
    ``keep_bytes`` says whether rejections were recorded with their bytes.
    """
    with source() as history:
        if owner is not None:
            selection = replace(selection, key=history.opener.key_of(*owner))
        lanes = _deal(history, selection, jobs=jobs)
        if jobs == 1:
            return _replay_here(history, lanes, selection, progress, keep_bytes=keep_bytes)
        stated = {lane.partition: history.row_set(lane.partition) for lane in lanes}
        total = sum(history.count(lane.partition) for lane in lanes)
    results = _replay_apart(source, lanes, selection, jobs, total, progress, keep_bytes)
    return _put_together(results, stated)


def _deal(history: History, selection: Selection, *, jobs: int) -> list[Lane]:
    """Deal out lanes: one per partition, more where there are fewer partitions than jobs."""
    wanted = selection.partition
    partitions = [number for number in history.partitions if wanted in {None, number}]
    lanes = 1
    if selection.key is None and partitions:
        lanes = max(1, -(-jobs // len(partitions)))
    return [Lane(number, lane, lanes) for number in partitions for lane in range(lanes)]


def _replay_here(
    history: History,
    lanes: Sequence[Lane],
    selection: Selection,
    progress: Progress,
    *,
    keep_bytes: bool,
) -> ReplayReport:
    total = sum(history.count(lane.partition) for lane in lanes)
    done = 0

    def count(events: int) -> None:
        nonlocal done
        done += events
        if done % _COUNTED_AT_ONCE == 0 or done == total:
            progress(done, max(0, total - done))

    results = [
        replay_lane(history, lane, selection, count, keep_bytes=keep_bytes) for lane in lanes
    ]
    return _put_together(
        results, {lane.partition: history.row_set(lane.partition) for lane in lanes}
    )


def _replay_apart(
    source: Source,
    lanes: Sequence[Lane],
    selection: Selection,
    jobs: int,
    total: int,
    progress: Progress,
    keep_bytes: bool,  # noqa: FBT001 - passed on
) -> list[LaneResult]:
    context = multiprocessing.get_context("spawn")
    counter = context.Value("q", 0)
    with ProcessPoolExecutor(
        max_workers=min(jobs, len(lanes) or 1),
        mp_context=context,
        initializer=_adopt_counter,
        initargs=(counter,),
    ) as pool:
        futures = [
            pool.submit(_replay_there, source, lane, selection, keep_bytes) for lane in lanes
        ]
        waiting = set(futures)
        while waiting:
            _, waiting = wait(waiting, timeout=POLL_S, return_when=FIRST_COMPLETED)
            progress(counter.value, max(0, total - counter.value))
        return [future.result() for future in futures]


_COUNTER: list[Any] = []
"""What a process of the pool counts its events in; set once when it starts."""


def _adopt_counter(counter: Any) -> None:
    _COUNTER[:] = [counter]


def _replay_there(
    source: Source,
    lane: Lane,
    selection: Selection,
    keep_bytes: bool,  # noqa: FBT001 - passed on
) -> LaneResult:
    with _counting() as count, source() as history:
        return replay_lane(history, lane, selection, count, keep_bytes=keep_bytes)


@contextmanager
def _counting() -> Iterator[Callable[[int], None]]:
    """Yield a function that counts events, telling the others only now and then."""
    held = 0

    def add(events: int) -> None:
        nonlocal held
        held += events
        if held >= _COUNTED_AT_ONCE:
            flush()

    def flush() -> None:
        nonlocal held
        with _COUNTER[0].get_lock():
            _COUNTER[0].value += held
        held = 0

    yield add
    flush()


def _put_together(results: Sequence[LaneResult], stated: dict[int, RowSetStated]) -> ReplayReport:
    partitions = tuple(
        _report(number, [result for result in results if result.partition == number], rows)
        for number, rows in sorted(stated.items())
    )
    divergences = [result.first for result in results if result.first is not None]
    # A table has no offset: what it shows at the end comes after every event.
    divergences.sort(
        key=lambda d: (d.record is None, 0 if d.record is None else d.record.offset, d.partition)
    )
    kinds = {part.rows for part in partitions}
    return ReplayReport(
        events=sum(part.events for part in partitions),
        outputs=sum(part.outputs for part in partitions),
        identical=sum(part.identical for part in partitions),
        missing=sum(part.missing for part in partitions),
        duplicate=sum(part.duplicate for part in partitions),
        divergent=sum(part.divergent for part in partitions),
        fates=sum(part.fates for part in partitions),
        rows=next((kind for kind in (ROWS_OTHER, ROWS_LEFT) if kind in kinds), ROWS_SAME),
        first=explain_divergence(divergences[0]) if divergences else None,
        partitions=partitions,
    )


def _report(partition: int, results: Sequence[LaneResult], stated: RowSetStated) -> PartitionReport:
    rows = ROWS_LEFT
    sums = [result.rows for result in results if result.rows is not None]
    if len(sums) == len(results) and stated.core_version == CoreReducer.version:
        count = sum(lane_count for lane_count, _ in sums)
        total = sum(lane_total for _, lane_total in sums) % (1 << 8 * DIGEST_BYTES)
        same = (count, total.to_bytes(DIGEST_BYTES, "big")) == stated[:2]
        rows = ROWS_SAME if same else ROWS_OTHER
    return PartitionReport(
        partition=partition,
        events=sum(result.events for result in results),
        outputs=sum(result.outputs for result in results),
        identical=sum(result.identical for result in results),
        missing=sum(result.missing for result in results),
        duplicate=sum(result.duplicate for result in results),
        divergent=sum(result.divergent for result in results),
        fates=sum(result.fates for result in results),
        rows=rows,
    )
