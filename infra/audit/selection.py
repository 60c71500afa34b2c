"""What of a history a replay compares: one user, partitions, a range of offsets or of time.

Everything before a range is folded all the same: what is decided in it rests on that.
"""

from dataclasses import dataclass

from streams.ports import LogRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Bounds, each None for "all"; ranges are [from, to), times those of the append.

    ``key`` is the record key of one user.
    """

    key: bytes | None = None
    partition: int | None = None
    from_offset: int | None = None
    to_offset: int | None = None
    from_ms: int | None = None
    to_ms: int | None = None

    @property
    def reaches_end(self) -> bool:
        """Tell whether nothing is bounded: tables and rows, which show the end, are compared."""
        bounds = (self.from_offset, self.to_offset, self.from_ms, self.to_ms)
        return all(bound is None for bound in bounds)

    @property
    def is_whole(self) -> bool:
        """Tell whether every row of a partition is folded."""
        return self.reaches_end and self.key is None

    def covers(self, record: LogRecord) -> bool:
        """Tell whether what this record did is compared."""
        return (
            (self.from_offset is None or record.offset >= self.from_offset)
            and (self.to_offset is None or record.offset < self.to_offset)
            and (self.from_ms is None or record.timestamp_ms >= self.from_ms)
            and (self.to_ms is None or record.timestamp_ms < self.to_ms)
        )

    def is_past(self, record: LogRecord) -> bool:
        """Tell whether no record from this one on is in the range.

        A log's clock may step back a little, so only offsets end a replay early.
        """
        return self.to_offset is not None and record.offset >= self.to_offset
