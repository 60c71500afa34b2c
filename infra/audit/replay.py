"""Replay: fold a history again from its first event and compare every output byte (spec 7.1)."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.records import OUTPUT_RECORDS, TABLES
from streams.clock import SystemClock
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from streams.ledger import Ledger
from streams.ports import OutputRecord, PlacedOutput
from streams.row_store import RowStore, open_writer

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Difference:
    """One output that is not as the log says: where, and in which way."""

    topic: str
    offset: int
    place: int
    kind: str


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """Outputs of the replay against those recorded; all three faults 0 means identical."""

    events: int
    outputs: int
    identical: int
    missing: int
    duplicate: int
    divergent: int
    first: Difference | None

    @property
    def clean(self) -> bool:
        """Tell whether nothing is missing, duplicate or divergent."""
        return self.missing == self.duplicate == self.divergent == 0


@contextmanager
def refolded(embedded: Embedded, progress: Progress) -> Iterator[tuple[RowStore, int]]:
    """Yield a store with everything folded anew up to where the log's own folding stands."""
    head = embedded.head()
    end = 0 if head is None else head.next_offset
    with tempfile.TemporaryDirectory(prefix="commitments-replay-") as folder:
        store = open_writer(Path(folder) / "rows")
        try:
            ledger = Ledger(
                log=embedded.log, store=store, reducer=CoreReducer(), clock=SystemClock()
            )
            ledger.start()
            events = 0
            while ledger.head.next_offset < end and (folded := ledger.fold_batch()):
                events += folded
                progress(events, max(0, end - ledger.head.next_offset))
            yield store, min(events, end)
        finally:
            store.close()


def replay(embedded: Embedded, progress: Progress) -> ReplayReport:
    """Fold the log again and compare its outputs with those recorded.

    Events appended but not folded yet are left out on both sides.
    """
    head = embedded.head()
    end = 0 if head is None else head.next_offset
    tally = _Tally()
    with refolded(embedded, progress) as (store, events):
        for topic in OUTPUT_RECORDS:
            recorded = (output for output in embedded.outputs(topic) if output.offset < end)
            expected = (output for output in store.outputs(topic) if output.offset < end)
            _compare_stream(tally, topic, recorded, expected)
        for topic in TABLES:
            _compare_table(
                tally, topic, _last_values(embedded.outputs(topic)),
                _last_values(store.outputs(topic)),
            )  # fmt: skip
    return ReplayReport(
        events=events,
        outputs=tally.outputs,
        identical=tally.identical,
        missing=tally.count("missing"),
        duplicate=tally.count("duplicate"),
        divergent=tally.count("divergent"),
        first=tally.differences[0] if tally.differences else None,
    )


class _Tally:
    """Counts of one comparison."""

    def __init__(self) -> None:
        self.outputs = 0
        self.identical = 0
        self.differences: list[Difference] = []

    def count(self, kind: str) -> int:
        return sum(1 for difference in self.differences if difference.kind == kind)


def _compare_stream(
    tally: _Tally, topic: str, recorded: Iterator[PlacedOutput], expected: Iterator[PlacedOutput]
) -> None:
    """Walk both streams in place order; a place on one side only is missing or duplicate."""
    ours, theirs = next(recorded, None), next(expected, None)
    while ours is not None or theirs is not None:
        if theirs is None or (ours is not None and _place(ours) < _place(theirs)):
            assert ours is not None
            tally.differences.append(Difference(topic, *_place(ours), "duplicate"))
            ours = next(recorded, None)
            continue
        if ours is None or _place(theirs) < _place(ours):
            tally.outputs += 1
            tally.differences.append(Difference(topic, *_place(theirs), "missing"))
            theirs = next(expected, None)
            continue
        tally.outputs += 1
        if _body(ours.record) == _body(theirs.record):
            tally.identical += 1
        else:
            tally.differences.append(Difference(topic, *_place(ours), "divergent"))
        ours, theirs = next(recorded, None), next(expected, None)


def _compare_table(
    tally: _Tally,
    topic: str,
    recorded: dict[bytes, PlacedOutput],
    expected: dict[bytes, PlacedOutput],
) -> None:
    """Compare the last value of every row: batches may write a row once or several times."""
    for key in sorted(recorded.keys() | expected.keys()):
        ours, theirs = recorded.get(key), expected.get(key)
        one = ours or theirs
        assert one is not None
        tally.outputs += theirs is not None
        if ours is None or theirs is None:
            kind = "missing" if ours is None else "duplicate"
            tally.differences.append(Difference(topic, *_place(one), kind))
        elif ours.record.value == theirs.record.value:
            tally.identical += 1
        else:
            tally.differences.append(Difference(topic, *_place(ours), "divergent"))


def _last_values(outputs: Iterator[PlacedOutput]) -> dict[bytes, PlacedOutput]:
    rows: dict[bytes, PlacedOutput] = {}
    for output in outputs:
        if output.record.value is None:
            rows.pop(output.record.key, None)
        else:
            rows[output.record.key] = output
    return rows


def _place(output: PlacedOutput) -> tuple[int, int]:
    return output.offset, output.place


def _body(record: OutputRecord) -> tuple[bytes, bytes | None]:
    return record.key, record.value


__all__ = ["Difference", "ReplayReport", "refolded", "replay"]
