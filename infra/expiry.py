"""Deadlines of the embedded log: whoever folds appends TurnExpired for the turns that are due."""

import time

from infra.appending import append_events
from streams.core_reducer import list_due
from streams.embedded import Embedded
from streams.expiry import build_expiry


def expire_turns(embedded: Embedded) -> int:
    """Append TurnExpired for every turn past its deadline and return how many there were."""
    now_ms = time.time_ns() // 1_000_000
    with embedded.reading() as store:
        due = [] if store is None else list_due(store, now_ms)
    return append_events(
        embedded,
        [build_expiry(row.tenant, row.user, row.turn_id, now_ms) for row in due],
    )
