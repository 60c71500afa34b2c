"""The simplest reducer: how often each key was seen, and one output per event.

For tests and benchmarks of the ledger; events whose value is `raise` make it raise, as a
faulty core would.
"""

from streams.ports import Finished, Folded, LogRecord, OutputRecord, RowReader


class CountingReducer:
    """Counts events per key."""

    version = "counting-1"

    def fold(self, rows: RowReader, record: LogRecord) -> Folded:
        """Add one to the key's row and say so."""
        if record.value == b"raise":
            raise RuntimeError("the core is at fault")
        key = record.key or b""
        count = int(rows.get(key) or b"0") + 1
        text = b"%d" % count
        output = OutputRecord("counts", key, b"%b %b" % (text, record.value or b""))
        return Folded(b"", {key: text}, (output,))

    def fault(self, rows: RowReader, record: LogRecord, error: Exception) -> Folded:
        """Reject the event."""
        output = OutputRecord("rejections", record.key or b"", type(error).__name__.encode())
        return Folded(b"core_fault", {}, (output,))

    def gap(self, rows: RowReader, *, missing_from: int, next_offset: int) -> Folded:
        """Remember the gap."""
        return Folded(b"gap", {b"gap": b"%d-%d" % (missing_from, next_offset)})

    def finish(self) -> Finished:
        """Return nothing: no row is held back."""
        return Finished(())

    def reset(self) -> None:
        """Drop nothing: no row is cached."""
