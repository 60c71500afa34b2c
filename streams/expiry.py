"""Deadlines on Kafka: the owner of a partition appends TurnExpired for the turns that are due.

Only once the ledger has folded to the end of its log, and never twice: the event's id is a digest
of the turn, so a second owner's record is a duplicate.
"""

import hashlib
from collections.abc import Callable
from typing import Any, Final

from schemas.event import Event, Principal, PrincipalKind, TurnExpired
from schemas.identity import prefix_lengths
from schemas.row import DeadlineRow
from streams.connection import Connection, describe_for_ledger
from streams.core_reducer import list_due
from streams.ports import NewRecord, RowReader

EXPIRE_EVERY_NS: Final = 1_000_000_000
AGAIN_AFTER_NS: Final = 30_000_000_000
"""What was appended and has not come back by then is appended again; the id makes it harmless."""


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


class Expirer:
    """Appends what is due to the partitions of one worker; used by the supervisor's thread."""

    def __init__(
        self,
        connection: Connection,
        *,
        topic: str,
        seal: Callable[[Event], NewRecord],
        open_rows: Callable[[RowReader], RowReader] = lambda rows: rows,
    ) -> None:
        """Connect lazily: a worker without pending turns never produces.

        ``seal`` signs, and seals where the log is encrypted; ``open_rows`` opens sealed rows.
        """
        self._clients = connection.clients
        self._clock = connection.clients.clock
        self._settings: dict[str, object] = dict(describe_for_ledger(connection)) | {
            "enable.idempotence": True,
            "acks": "all",
        }
        self._topic = topic
        self._seal = seal
        self._open_rows = open_rows
        self._producer: Any = None
        self._look_at_ns: dict[int, int] = {}
        self._sent_at_ns: dict[tuple[str, str, str], int] = {}

    def expire(self, partition: int, rows: RowReader) -> int:
        """Append TurnExpired for each due turn of a partition that waits for none; return how many.

        Looks at most once a second.
        """
        now_ns, now_ms = self._clock.steady_ns(), self._clock.now_ms()
        if now_ns < self._look_at_ns.get(partition, now_ns):
            return 0
        self._look_at_ns[partition] = now_ns + EXPIRE_EVERY_NS
        sent = self._sent_at_ns = {
            name: at for name, at in self._sent_at_ns.items() if now_ns - at < AGAIN_AFTER_NS
        }
        due = [row for row in list_due(self._open_rows(rows), now_ms) if _name(row) not in sent]
        for row in due:
            sent[_name(row)] = now_ns
            record = self._seal(build_expiry(row.tenant, row.user, row.turn_id, now_ms))
            self._open().produce(self._topic, record.value, record.key, partition)
        if due:
            self._open().poll(0)
        return len(due)

    def _open(self) -> Any:
        if self._producer is None:
            self._producer = self._clients.producer(self._settings)
        return self._producer


def _name(row: DeadlineRow) -> tuple[str, str, str]:
    return row.tenant, row.user, row.turn_id
