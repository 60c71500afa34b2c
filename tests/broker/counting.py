"""The simplest reducer, for tests of the ledger on Kafka: how often each key was seen."""

from streams.ports import Finished, Folded, LogRecord, OutputRecord, RowReader

HUGE = b"x" * (3 << 20)
"""More than any topic takes: an output of this size cannot be produced."""


class CountingReducer:
    """Counts events per key; each output says how many the key has had."""

    version = "counting-1"

    def __init__(self, partition: int = 0) -> None:
        """Take the partition as every reducer does; the counts do not depend on it."""

    def fold(self, rows: RowReader, record: LogRecord) -> Folded:
        """Add one to the key's row and say so; `raise` fails, `huge` says too much."""
        key = record.key or b""
        if record.value == b"raise":
            raise RuntimeError("the core is at fault")
        text = b"%d" % (int(rows.get(key) or b"0") + 1)
        said = HUGE if record.value == b"huge" else record.value or b""
        output = OutputRecord("commitments", key, b"%b %b" % (text, said))
        return Folded(b"", {key: text}, (output,))

    def fault(self, rows: RowReader, record: LogRecord, error: Exception) -> Folded:
        """Reject the event."""
        output = OutputRecord("rejections", record.key or b"-", b"core_fault")
        return Folded(b"core_fault", {}, (output,))

    def gap(self, rows: RowReader, *, missing_from: int, next_offset: int) -> Folded:
        """Remember the gap in a row."""
        return Folded(b"gap", {b"gap": b"%d-%d" % (missing_from, next_offset)})

    def finish(self) -> Finished:
        """Return nothing: no row is held back."""
        return Finished(())

    def reset(self) -> None:
        """Drop nothing: no row is cached."""
