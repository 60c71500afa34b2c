"""Where a ledger starts: the first head, or a stored one proved against the log it states.

Reads only. Wiping, restoring and folding are decided by who asks.
"""

from dataclasses import replace
from typing import Final

from schemas.ledger import Head
from streams.failures import LedgerBrokenError, LogShortenedError, StoreDamagedError
from streams.ledger_bytes import GENESIS_CHAIN, digest_record
from streams.ports import InputLog, Reducer

STORE_FORMAT: Final = 1


def begin(log: InputLog, reducer: Reducer) -> Head:
    """Return the head of a log of which nothing is folded."""
    return Head(
        log_identity=log.identity,
        next_offset=0,
        record_digest=b"",
        batch=0,
        chain=GENESIS_CHAIN,
        row_count=0,
        row_set_digest=bytes(32),
        take_overs=0,
        core_version=reducer.version,
        store_format=STORE_FORMAT,
        outputs=(),
    )


def resume(head: Head, log: InputLog, reducer: Reducer) -> Head:
    """Return the stored head with one more take-over, after proving that it is this log's.

    Raises:
        StoreDamagedError: the rows are of another log or another core: wipe them and fold again.
        LedgerBrokenError: the rows are of a newer build.
        LogShortenedError: the log ends before, or differs at, the last folded event.
    """
    if head.log_identity != log.identity:
        raise StoreDamagedError("the rows belong to another log")
    if head.store_format > STORE_FORMAT:
        raise LedgerBrokenError(
            f"the rows have format {head.store_format}, written by a newer build; this one reads "
            f"up to {STORE_FORMAT}: use the newer build"
        )
    if (head.store_format, head.core_version) != (STORE_FORMAT, reducer.version):
        raise StoreDamagedError(
            f"the rows were written by core {head.core_version}, format {head.store_format}; "
            f"this is core {reducer.version}, format {STORE_FORMAT}"
        )
    bounds = log.bounds()
    last = head.next_offset - 1
    if head.next_offset > bounds.end:
        raise LogShortenedError(
            f"events up to {last} are folded, but the log ends before {bounds.end}: it was cut or "
            "recreated. Restore the log; its outcomes rest on events that are gone"
        )
    if last >= bounds.start and head.record_digest:
        record = log.read(last, limit=1)[0]
        if digest_record(record) != head.record_digest:
            raise LogShortenedError(
                f"the log holds another event at offset {last} than the one folded there: it was "
                "replaced or edited. Restore the log that belongs to these rows"
            )
    return replace(head, take_overs=head.take_overs + 1)
