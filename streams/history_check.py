"""The slow proof of a row store: every ledger record, and every output against its digest.

A start proves the rows alone; this is for a store that a reader has found suspect, and for tests.
"""

from collections.abc import Iterator
from itertools import islice

from streams.failures import StoreDamagedError
from streams.ledger_bytes import GENESIS_CHAIN, digest_outputs, is_sealed
from streams.ports import PlacedOutput
from streams.row_store import COMPACTED, RowStore


def check_history(store: RowStore) -> None:
    """Raise StoreDamagedError unless ledger records form a chain and state the outputs there are.

    Tables have no history to compare; they are read to their end.
    """
    previous, batches = GENESIS_CHAIN, 0
    streams: dict[str, Iterator[PlacedOutput]] = {}
    for record in store.records():
        if record.batch != batches or record.previous != previous or not is_sealed(record):
            raise StoreDamagedError(f"ledger record {batches} does not continue the chain")
        for part in record.outputs:
            stream = streams.setdefault(part.topic, store.outputs(part.topic))
            if part.topic in COMPACTED:
                continue
            if digest_outputs(list(islice(stream, part.count))) != (part,):
                raise StoreDamagedError(
                    f"batch {batches}: outputs on {part.topic} are not as recorded"
                )
        previous, batches = record.chain, batches + 1
    for topic, stream in sorted(streams.items()):
        left = sum(1 for _ in stream)
        if left and topic not in COMPACTED:
            raise StoreDamagedError(f"{left} outputs on {topic} stand in no ledger record")
