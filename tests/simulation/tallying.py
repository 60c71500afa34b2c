"""A small reducer that holds rows back and deletes them, and its plain fold, written apart."""

from collections.abc import Sequence

from streams.ports import Finished, Folded, LogRecord, OutputRecord, RowReader
from streams.row_digest import digest_row

GAP = b"incomplete"
FORGET_AT = 5
"""A key that was seen so often is forgotten: its row goes, and a tombstone stands for it."""


class TallyReducer:
    """Counts events of a key; what a batch changed is encoded when the batch closes."""

    version = "tally-1"

    def __init__(self) -> None:
        self._tallies: dict[bytes, int] = {}
        self._committed: dict[bytes, bytes | None] = {}
        self._changed: set[bytes] = set()

    def fold(self, rows: RowReader, record: LogRecord) -> Folded:
        """Count the event and say how many the key has had."""
        key = record.key or b""
        if record.value == b"raise":
            raise RuntimeError("the core is at fault")
        if key not in self._tallies:
            self._committed[key] = committed = rows.get(key)
            self._tallies[key] = int(committed or b"0")
        self._tallies[key] = tally = self._tallies[key] % FORGET_AT + 1
        self._changed.add(key)
        if rows.get(GAP) is not None:
            held = OutputRecord("failures", key, b"incomplete %b" % (record.value or b""))
            return Folded(b"", {}, (held,))
        said = (OutputRecord("commitments", key, b"%d %b" % (tally, record.value or b"")),)
        if tally == FORGET_AT:
            said += (OutputRecord("repairs", key, b"forgotten by %b" % (record.value or b"")),)
        return Folded(b"", {}, said)

    def fault(self, rows: RowReader, record: LogRecord, error: Exception) -> Folded:
        """Reject the event."""
        rejected = OutputRecord("rejections", record.key or b"", b"%d" % record.offset)
        return Folded(b"core_fault", {}, (rejected,))

    def gap(self, rows: RowReader, *, missing_from: int, next_offset: int) -> Folded:
        """Note that the partition is incomplete: nothing is committed from here on."""
        return Folded(b"gap", {GAP: b"%d to %d" % (missing_from, next_offset)})

    def finish(self) -> Finished:
        """Hand over the rows of the batch."""
        changes = []
        for key in sorted(self._changed):
            before, after = self._committed.get(key), _encode(self._tallies[key])
            self._committed[key] = after
            if before != after:
                digests = (None if row is None else digest_row(key, row) for row in (before, after))
                changes.append((key, *digests, after))
        self._changed.clear()
        return Finished(changes)

    def reset(self) -> None:
        """Forget what is cached."""
        self._tallies.clear()
        self._committed.clear()
        self._changed.clear()


def _encode(tally: int) -> bytes | None:
    return None if tally % FORGET_AT == 0 else b"%d" % tally


Said = tuple[bytes, bytes | None]


def fold_purely(
    events: Sequence[tuple[int, bytes, bytes]], gaps: Sequence[range] = ()
) -> tuple[dict[str, list[Said]], dict[bytes, bytes]]:
    """Return the outputs of each topic and the rows that (offset, key, value) lead to.

    ``gaps`` are the offsets that were gone before they were folded, in order.
    """
    seen: dict[bytes, int] = {}
    names = ("commitments", "repairs", "failures", "rejections")
    said: dict[str, list[Said]] = {name: [] for name in names}
    for offset, key, value in events:
        if value == b"raise":
            said["rejections"].append((key, b"%d" % offset))
            continue
        seen[key] = seen.get(key, 0) + 1
        if any(gap.stop <= offset for gap in gaps):
            said["failures"].append((key, b"incomplete %b" % value))
            if seen[key] == FORGET_AT:
                del seen[key]
            continue
        said["commitments"].append((key, b"%d %b" % (seen[key], value)))
        if seen[key] == FORGET_AT:
            said["repairs"].append((key, b"forgotten by %b" % value))
            del seen[key]
    rows = {key: b"%d" % count for key, count in seen.items()}
    if gaps:
        rows[GAP] = b"%d to %d" % (gaps[-1].start, gaps[-1].stop)
    return said, rows
