"""Clients and copies that break one rule of the ledger each: the simulation must notice every one.

The ledger itself stays as it is; what it does is bent on its way to the broker.
"""

from typing import Any

from confluent_kafka import IsolationLevel, KafkaError, KafkaException

from tests.simulation.twin_broker import TwinBroker
from tests.simulation.twin_clients import TwinAdmin, TwinClients, TwinConsumer
from tests.simulation.twin_copies import TwinCopy
from tests.simulation.twin_producer import TwinProducer

POSITION_TOPICS = ("rows", "ledgers")


class _PositionFirst(TwinProducer):
    """Commits rows and position in one transaction, then the outputs in another."""

    def commit_transaction(self, timeout_s: float) -> None:
        outputs = [x for x in self._queue if x[0][0] not in POSITION_TOPICS]
        self._queue = [x for x in self._queue if x[0][0] in POSITION_TOPICS]
        super().commit_transaction(timeout_s)
        if outputs:
            self.begin_transaction()
            self._queue = outputs
            super().commit_transaction(timeout_s)


class _OutputsFirst(TwinProducer):
    """Commits the outputs in one transaction, then rows and position in another."""

    def commit_transaction(self, timeout_s: float) -> None:
        position = [x for x in self._queue if x[0][0] in POSITION_TOPICS]
        self._queue = [x for x in self._queue if x[0][0] not in POSITION_TOPICS]
        super().commit_transaction(timeout_s)
        self.begin_transaction()
        self._queue = position
        super().commit_transaction(timeout_s)


class _Unfenced(TwinProducer):
    """Writes under a name of its own, so that nobody's successor fences it."""

    def __init__(self, broker: TwinBroker, scheduler: Any, name: str) -> None:
        super().__init__(broker, scheduler, f"{name}-{len(broker.transactions)}")


class _Retrying(TwinProducer):
    """Takes a commit without an answer for an aborted one."""

    def commit_transaction(self, timeout_s: float) -> None:
        try:
            super().commit_transaction(timeout_s)
        except KafkaException as error:
            cause = error.args[0]
            if not cause.retriable():
                raise
            raise KafkaException(
                KafkaError(cause.code(), "taken for aborted", False, False, True)
            ) from error

    def abort_transaction(self, timeout_s: float) -> None:
        self._queue.clear()
        self._broker.end(self.name, self._epoch, commit=False)


class _Impatient(TwinAdmin):
    """Says that every transaction is decided, whatever is under way."""

    def list_offsets(
        self, request: Any, isolation_level: IsolationLevel, request_timeout: float
    ) -> Any:
        return super().list_offsets(request, IsolationLevel.READ_COMMITTED, request_timeout)


class _Uncommitted(TwinConsumer):
    """Reads what is not committed, and may never be."""

    def _committed(self, place: tuple[str, int], first: int) -> Any:
        log = self._broker.logs[place]
        return (e for e in log.entries if e.offset >= first and not e.marker)

    def _end(self, place: tuple[str, int]) -> int:
        return self._broker.logs[place].end


class _Heedless(TwinConsumer):
    """Goes on at the head of a log whose beginning is gone, and says nothing of it."""

    def get_watermark_offsets(self, place: Any, timeout_s: float) -> tuple[int, int]:
        return 0, super().get_watermark_offsets(place, timeout_s)[1]

    def _take(self, number: int) -> Any:
        for place, first in self._positions.items():
            self._positions[place] = max(first, self._broker.logs[place].start)
        return super()._take(number)


class _Ageless(TwinAdmin):
    """Takes a topic that was created anew for the old one of the same name."""

    def _identify(self, topic: str) -> str:
        return f"id of {topic}"


class TrustedCopy(TwinCopy):
    """A local copy that is taken as it is found, however old, whatever its rows."""

    def position(self) -> tuple[int, int] | None:
        found = super().position()
        return None if found is None else (found[0], self._scheduler.clock.now_ms())

    def equals(self, head: Any) -> bool:
        return True


def _clients_with(**kinds: Any) -> Any:
    class Broken(TwinClients):
        PRODUCER = kinds.get("producer", TwinProducer)
        CONSUMER = kinds.get("consumer", TwinConsumer)
        ADMIN = kinds.get("admin", TwinAdmin)

    return Broken


BROKEN = {
    "position before outputs": _clients_with(producer=_PositionFirst),
    "outputs before position": _clients_with(producer=_OutputsFirst),
    "no fence": _clients_with(producer=_Unfenced),
    "unknown commit taken for aborted": _clients_with(producer=_Retrying),
    "late markers not awaited": _clients_with(admin=_Impatient),
    "deleted head passed over": _clients_with(consumer=_Heedless),
    "topic created anew taken for the old one": _clients_with(admin=_Ageless),
    "uncommitted rows read": _clients_with(consumer=_Uncommitted),
}
