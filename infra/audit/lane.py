"""One lane of a replay: a partition, or some of its users, folded again and compared on the way.

Users do not depend on each other, only on control records: a partition splits into lanes that
each fold all control records and their own users. Comparing is comparison.py's.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from zlib import crc32

from infra.audit.comparison import Comparison, LaneResult
from infra.audit.history import History, Produced, Recorded
from infra.audit.selection import Selection
from infra.records import OUTPUT_RECORDS, TABLES
from schemas.codec import MARKER, decode, encode, schema_fingerprint
from schemas.fate import Fate, FateStatus
from schemas.identity import record_key
from schemas.row import ROW_RECORDS, Kind
from streams.authentication import RecordedCheck
from streams.collection import collecting_rarely
from streams.core_reducer import ERASED, CoreReducer
from streams.failures import StreamsError
from streams.ports import Folded, OutputRecord
from streams.row_digest import EMPTY, digest_row
from streams.scratch_rows import ScratchRows

EVENTS_PER_CHUNK: Final = 8_000
CONTROL_KEY: Final = record_key("", "")
_SHARED_ROWS: Final = frozenset({Kind.REGIME, Kind.CATALOGUE, Kind.ATTESTED})
_ACCEPTED: Final = Fate(FateStatus.ACCEPTED, None, None, "", "")
_ACCEPTED_START: Final = encode(_ACCEPTED)[:1]

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Lane:
    """A partition, and which of its lanes."""

    partition: int
    number: int
    lanes: int


def replay_lane(
    history: History, lane: Lane, selection: Selection, progress: Progress, *, keep_bytes: bool
) -> LaneResult:
    """Fold the lane's records again and compare fates, outputs, tables and rows."""
    with tempfile.TemporaryDirectory(prefix="commitments-replay-") as folder:
        rows = ScratchRows(Path(folder) / "rows")
        try:
            with collecting_rarely():
                return _Replay(history, lane, selection, rows, keep_bytes=keep_bytes).run(progress)
        finally:
            rows.close()


class _Replay:
    """The state of one run."""

    def __init__(
        self,
        history: History,
        lane: Lane,
        selection: Selection,
        rows: ScratchRows,
        *,
        keep_bytes: bool,
    ) -> None:
        self._history = history
        self._lane = lane
        self._selection = selection
        self._rows = rows
        self._fates: dict[int, bytes] = {}
        self._reducer = CoreReducer(
            partition=lane.partition,
            keep_bytes=keep_bytes,
            authenticator=RecordedCheck(self._find_fate),
            opener=history.opener,
        )
        self._erased: set[bytes | None] = set()
        self._comparison = Comparison(lane.partition)
        self._row_set = EMPTY

    def run(self, progress: Progress) -> LaneResult:
        whole = True
        chunk: list[Recorded] = []
        for recorded in self._history.recorded(self._lane.partition):
            if self._selection.is_past(recorded.record):
                whole = False
                break
            progress(1)
            if not self._folds(recorded.record.key):
                continue
            chunk.append(recorded)
            if len(chunk) == EVENTS_PER_CHUNK:
                self._fold(chunk)
                chunk = []
        self._fold(chunk)
        if whole and self._selection.reaches_end:
            self._compare_tables()
        return self._comparison.result(
            self._sum_rows() if whole and self._selection.is_whole and not self._erased else None
        )

    def _folds(self, key: bytes | None) -> bool:
        if key == CONTROL_KEY:
            return True
        wanted = self._selection.key
        if wanted is not None:
            return key == wanted
        return crc32(key or b"") % self._lane.lanes == self._lane.number

    def _compares(self, recorded: Recorded) -> bool:
        """Control records are folded in every lane; the first compares them, unless for a user."""
        key = recorded.record.key
        if key == CONTROL_KEY and (self._lane.number or self._selection.key not in {None, key}):
            return False
        # What rested on erased events cannot be made again; the chain over it still holds.
        return recorded.record.key not in self._erased and self._selection.covers(recorded.record)

    def _note_erased(self, recorded: Recorded, folded: Folded) -> None:
        if self._reducer.met_erased and decode(Fate, folded.fate).ignored == ERASED:
            self._erased.add(recorded.record.key)

    def _find_fate(self, offset: int) -> Fate | None:
        fate = self._fates.get(offset)
        if fate is None:
            return None
        # Asked for the reason alone, which an accepted event has not.
        return _ACCEPTED if fate[:1] == _ACCEPTED_START else decode(Fate, fate)

    def _fold(self, chunk: list[Recorded]) -> None:
        """Fold a chunk; where the core raises, fold what came before again, then that alone."""
        while chunk:
            self._fates = {recorded.record.offset: recorded.fate for recorded in chunk}
            done: list[Folded] = []
            try:
                done.extend(self._reducer.fold(self._rows, item.record) for item in chunk)
                finished = self._reducer.finish()
            except (StreamsError, OSError, MemoryError):
                raise
            except Exception as error:
                self._reducer.reset()
                if len(chunk) > 1:
                    # Nothing of the chunk is kept yet: what raised in closing it is halved down.
                    place = len(done) if 0 < len(done) < len(chunk) else max(1, len(done) // 2)
                    self._fold(chunk[:place])
                    chunk = chunk[place:]
                    continue
                fault = self._reducer.fault(self._rows, chunk[0].record, error)
                done, finished = [fault], self._reducer.finish()
            self._rows.apply(finished.rows)
            self._row_set = self._row_set.replace(finished.changes)
            for recorded, folded in zip(chunk, done, strict=True):
                self._note_erased(recorded, folded)
                if self._compares(recorded):
                    self._comparison.compare(recorded, folded.fate, sort_outputs(folded.outputs))
            return

    def _compare_tables(self) -> None:
        for topic, kinds in TABLES.items():
            recorded = self._history.table(topic, self._lane.partition)
            if recorded is None:
                continue
            kept = (row for row in recorded if self._owns(row[0]))
            expected = (row for row in self._read_table(kinds) if self._owns(row[0]))
            self._comparison.compare_table(topic, kept, expected)

    def _owns(self, row_key: bytes) -> bool:
        """Tell whether a table's row is of a user that this lane folds."""
        end = 0
        for _ in range(2):
            end += 4 + int.from_bytes(row_key[end : end + 4], "big")
        return row_key[:end] not in self._erased and self._folds(row_key[:end])

    def _read_table(self, kinds: frozenset[Kind]) -> Iterator[tuple[bytes, bytes]]:
        for key, value in self._rows.scan(b"u"):
            end = 1
            for _ in range(2):
                end += 4 + int.from_bytes(key[end : end + 4], "big")
            kind = Kind(key[end])
            if kind in kinds:
                yield key[1:], MARKER + schema_fingerprint(ROW_RECORDS[kind]) + value[1:]

    def _sum_rows(self) -> tuple[int, int]:
        """Sum the lane's rows; those of control records count in the first lane only."""
        shared = [b"p" + bytes((kind,)) for kind in sorted(_SHARED_ROWS)]
        kept = self._row_set
        if self._lane.number == 0:
            return kept.count, kept.total
        for prefix in shared:
            for key, value in self._rows.scan(prefix):
                kept = kept.replace([(key, digest_row(key, value), None, None)])
        return kept.count, kept.total


def sort_outputs(outputs: tuple[OutputRecord, ...]) -> tuple[Produced, ...]:
    """Return the outputs of one event, sorted by topic as histories hold them."""
    if not outputs:
        return ()
    produced = [
        Produced(output.topic, output.key, output.value or b"")
        for output in outputs
        if output.topic in OUTPUT_RECORDS
    ]
    return tuple(sorted(produced, key=lambda output: output.topic))
