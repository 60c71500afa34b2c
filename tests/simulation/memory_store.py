"""A store in memory that commits atomically, refuses, or leaves the result unknown when told to.

Stands for what any store promises, so that the ledger is tested apart from rocksdict.
"""

from collections.abc import Callable, Iterator

from schemas.ledger import BatchRecord, Head
from streams.failures import StoreDamagedError
from streams.ports import Batch, PlacedOutput
from streams.row_digest import sum_rows


class MemoryStore:
    """Rows, outputs and ledger records of one partition."""

    def __init__(self, before_commit: Callable[[Batch], None] = lambda _: None) -> None:
        """Start empty; before_commit may raise, which commits nothing."""
        self.rows: dict[bytes, bytes] = {}
        self.placed: dict[tuple[str, int, int], PlacedOutput] = {}
        self.batches: list[BatchRecord] = []
        self.stored_head: Head | None = None
        self.before_commit = before_commit
        self.after_commit: Callable[[Batch], None] = lambda _: None

    def get(self, key: bytes) -> bytes | None:
        """Return a row."""
        return self.rows.get(key)

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows below a prefix."""
        yield from sorted((k, v) for k, v in self.rows.items() if k.startswith(prefix))

    def head(self) -> Head | None:
        """Return the head row."""
        return self.stored_head

    def verify(self, head: Head | None) -> None:
        """Compare rows with the head."""
        found = sum_rows(self.scan(b""))
        if head is not None and (found.count, found.digest) != (
            head.row_count,
            head.row_set_digest,
        ):
            raise StoreDamagedError("rows and head differ")

    def commit(self, batch: Batch) -> None:
        """Take all of the batch, or raise and take nothing."""
        self.before_commit(batch)
        for key, value in batch.changes.items():
            if value is None:
                del self.rows[key]
            else:
                self.rows[key] = value
        for output in batch.outputs:
            self.placed[output.record.topic, output.offset, output.place] = output
        self.batches.append(batch.record)
        self.stored_head = batch.head
        self.after_commit(batch)

    def outputs(self, topic: str) -> list[PlacedOutput]:
        """Return a topic's outputs in input order."""
        return [output for place, output in sorted(self.placed.items()) if place[0] == topic]
