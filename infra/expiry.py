"""Deadlines of the embedded log: whoever folds appends TurnExpired for the turns that are due."""

import hashlib
import time

from infra.appending import append_events
from schemas.event import Event, Principal, PrincipalKind, TurnExpired
from schemas.identity import prefix_lengths
from streams.core_reducer import list_due
from streams.embedded import Embedded


def expire_turns(embedded: Embedded) -> int:
    """Append TurnExpired for every turn past its deadline and return how many there were."""
    now_ms = time.time_ns() // 1_000_000
    with embedded.reading() as store:
        due = [] if store is None else list_due(store, now_ms)
    return append_events(
        embedded,
        [build_expiry(row.tenant, row.user, row.turn_id, now_ms) for row in due],
    )


def build_expiry(tenant: str, user: str, turn_id: str, now_ms: int) -> Event:
    """Return the clock's event that ends one turn; its id makes a second one a duplicate."""
    digest = hashlib.sha256(prefix_lengths(turn_id.encode(), b"expired")).hexdigest()
    return Event(
        event_id=digest,
        tenant=tenant,
        user=user,
        occurred_at_ms=now_ms,
        utc_offset_min=0,
        zone=None,
        principal=Principal(PrincipalKind.CLOCK, "deadline"),
        mac=None,
        causation_id=turn_id,
        correlation_id=None,
        derived_from=(),
        source=None,
        source_seq=None,
        payload=TurnExpired(turn_id),
    )
