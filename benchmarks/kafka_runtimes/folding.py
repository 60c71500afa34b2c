"""The reducer that every runtime folds with, and rows over whatever table the runtime has.

The trivial one counts events per user; the real one is the core. A runtime other than ours commits
nothing together, so there each event is a batch of its own.
"""

import json
import sys
import time
from bisect import bisect_left, insort
from collections.abc import Iterator, MutableMapping

from streams.core_reducer import CoreReducer
from streams.ports import Finished, Folded, LogRecord, OutputRecord, Reducer, RowReader
from streams.row_store import COMPACTED


class TrivialReducer:
    """Counts the events of each key; its output carries the event's own bytes."""

    version = "trivial-1"

    def fold(self, rows: RowReader, record: LogRecord) -> Folded:
        """Add one to the key's row and say so."""
        key = record.key or b""
        text = b"%d" % (int(rows.get(key) or b"0") + 1)
        output = OutputRecord("commitments", key, b"%b %b" % (text, record.value or b""))
        return Folded(b"", {key: text}, (output,))

    def fault(self, rows: RowReader, record: LogRecord, error: Exception) -> Folded:
        """Never come here: counting does not fail."""
        raise error

    def finish(self) -> Finished:
        """Return nothing: no row is held back."""
        return Finished(())

    def reset(self) -> None:
        """Drop nothing: no row is cached."""


def build_reducer(kind: str, partition: int) -> Reducer:
    """Return the trivial reducer or the core."""
    return TrivialReducer() if kind == "trivial" else CoreReducer(partition=partition)


def announce_first(reducer: Reducer) -> Reducer:
    """Let a reducer print when its first event came, and what the process had cost until then."""
    fold = reducer.fold

    def fold_first(rows: RowReader, record: LogRecord) -> Folded:
        del reducer.fold
        told = {"at": time.time(), "cpu": time.process_time()}
        # Faust takes sys.stdout for its log.
        print("first", json.dumps(told), file=sys.__stdout__, flush=True)
        return fold(rows, record)

    reducer.fold = fold_first
    return reducer


class TableRows:
    """Rows of one partition over a runtime's table, which cannot list keys in order itself."""

    def __init__(self, table: MutableMapping[bytes, bytes], keys: list[bytes]) -> None:
        """Take the table, and the keys that it holds already."""
        self.table = table
        self._keys = sorted(keys)

    def get(self, key: bytes) -> bytes | None:
        """Return a row."""
        return self.table.get(key)

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows below a prefix in order."""
        place = bisect_left(self._keys, prefix)
        while place < len(self._keys) and self._keys[place].startswith(prefix):
            key = self._keys[place]
            yield key, self.table[key]
            place += 1

    def put(self, key: bytes, value: bytes | None) -> None:
        """Replace or remove a row."""
        place = bisect_left(self._keys, key)
        there = place < len(self._keys) and self._keys[place] == key
        if value is None:
            if there:
                del self._keys[place]
                del self.table[key]
            return
        if not there:
            insort(self._keys, key)
        self.table[key] = value


def fold_one(reducer: Reducer, rows: TableRows, record: LogRecord) -> Iterator[OutputRecord]:
    """Fold one event as a batch, and yield its outputs; copies of rows are left out."""
    folded = reducer.fold(rows, record)
    finished = reducer.finish()
    for key, value in folded.changes.items():
        rows.put(key, value)
    for key, value in finished.rows.items():
        rows.put(key, value)
    for output in folded.outputs:
        if output.topic not in COMPACTED:
            yield output
