"""Comparing what a replay gives with what was recorded: every fate and every output body.

Counts, and the first difference of a partition with both sides; explaining it is divergence.py's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from infra.audit.history import Produced, Recorded
from streams.ports import LogRecord

LEDGERS: Final = "ledgers"
"""Where a fate stands; the topic of a difference in it."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first record of a partition at which replay and recording part.

    ``recorded`` and ``replayed`` hold what one side has and the other has not, both None where a
    table differs at the end (``record`` is None then).
    """

    partition: int
    topic: str
    kind: str
    record: LogRecord | None
    recorded: tuple[Produced, ...]
    replayed: tuple[Produced, ...]


@dataclass(frozen=True, slots=True)
class LaneResult:
    """What one lane came to; ``rows`` is count and sum of its rows, None if not comparable."""

    partition: int
    events: int
    outputs: int
    identical: int
    missing: int
    duplicate: int
    divergent: int
    fates: int
    first: Divergence | None
    rows: tuple[int, int] | None


class _Row(NamedTuple):
    key: bytes
    value: bytes


@dataclass(slots=True)
class Comparison:
    """Counts of one lane.

    Missing is what replay gives and the record lacks; duplicate what the record has besides.
    ``fates`` counts events whose recorded fate is another.
    """

    partition: int
    events: int = 0
    outputs: int = 0
    identical: int = 0
    missing: int = 0
    duplicate: int = 0
    divergent: int = 0
    fates: int = 0
    first: Divergence | None = field(default=None)

    def compare(self, recorded: Recorded, fate: bytes, produced: tuple[Produced, ...]) -> None:
        """Compare what one event did."""
        self.events += 1
        self.outputs += len(produced)
        if fate != recorded.fate:
            self.fates += 1
            self._note(
                LEDGERS,
                "divergent",
                recorded.record,
                (Produced(LEDGERS, b"", recorded.fate),),
                (Produced(LEDGERS, b"", fate),),
            )
        if produced == recorded.outputs:
            self.identical += len(produced)
            return
        self._compare_outputs(recorded.record, recorded.outputs, produced)

    def compare_table(
        self,
        topic: str,
        recorded: Iterator[tuple[bytes, bytes]],
        expected: Iterator[tuple[bytes, bytes]],
    ) -> None:
        """Compare the last value of every row of a table; both in key order."""
        ours, theirs = next(recorded, None), next(expected, None)
        while ours is not None or theirs is not None:
            if theirs is None or (ours is not None and ours[0] < theirs[0]):
                assert ours is not None
                self.duplicate += 1
                self._note(topic, "duplicate", None, (Produced(topic, *ours),), ())
                ours = next(recorded, None)
            elif ours is None or theirs[0] < ours[0]:
                self.outputs += 1
                self.missing += 1
                self._note(topic, "missing", None, (), (Produced(topic, *theirs),))
                theirs = next(expected, None)
            else:
                self.outputs += 1
                if ours[1] == theirs[1]:
                    self.identical += 1
                else:
                    self.divergent += 1
                    pair = (Produced(topic, *ours),), (Produced(topic, *theirs),)
                    self._note(topic, "divergent", None, *pair)
                ours, theirs = next(recorded, None), next(expected, None)

    def result(self, rows: tuple[int, int] | None) -> LaneResult:
        """Return the counts."""
        return LaneResult(
            partition=self.partition,
            events=self.events,
            outputs=self.outputs,
            identical=self.identical,
            missing=self.missing,
            duplicate=self.duplicate,
            divergent=self.divergent,
            fates=self.fates,
            first=self.first,
            rows=rows,
        )

    def _compare_outputs(
        self, record: LogRecord, recorded: tuple[Produced, ...], produced: tuple[Produced, ...]
    ) -> None:
        """Pair the outputs of each topic in order; what has no partner is one too many."""
        topics = sorted({output.topic for output in (*recorded, *produced)})
        left: list[Produced] = []
        right: list[Produced] = []
        kinds = []
        for topic in topics:
            ours = [output for output in recorded if output.topic == topic]
            theirs = [output for output in produced if output.topic == topic]
            for mine, other in zip(ours, theirs, strict=False):
                if mine == other:
                    self.identical += 1
                else:
                    self.divergent += 1
                    kinds.append((topic, "divergent"))
                    left.append(mine)
                    right.append(other)
            both = min(len(ours), len(theirs))
            for extra in ours[both:]:
                self.duplicate += 1
                kinds.append((topic, "duplicate"))
                left.append(extra)
            for extra in theirs[both:]:
                self.missing += 1
                kinds.append((topic, "missing"))
                right.append(extra)
        if kinds:
            self._note(*kinds[0], record, tuple(left), tuple(right))

    def _note(
        self,
        topic: str,
        kind: str,
        record: LogRecord | None,
        recorded: tuple[Produced, ...],
        replayed: tuple[Produced, ...],
    ) -> None:
        if self.first is None:
            self.first = Divergence(self.partition, topic, kind, record, recorded, replayed)
