"""What erasure needs of a log on Kafka: events told, the history of a partition, keys of rows.

Rows there are sealed (streams/sealed_rows.py), so that destroying the keys that they stood under
before is what rewriting files is to an embedded log. Workers go on while something is erased.
"""

from collections.abc import Iterator, Sequence

from infra.archive.kafka_source import KafkaSource
from infra.audit.history import Recorded, group_records
from infra.erasing import ErasureError
from infra.gateway.kafka_control import KafkaControl
from infra.gateway.port import ControlError
from infra.opening import open_topics
from schemas.event import Event
from schemas.fate import FateStatus
from schemas.partition import partition_of
from streams.connection import Connection
from streams.sealing import SealedOpener


class KafkaErasable:
    """The topics under one prefix as an ``ErasableLog``; ``close`` leaves the cluster."""

    def __init__(self, connection: Connection, *, prefix: str, partitions: int) -> None:
        """Connect, and begin to follow the ledgers."""
        self.opener = open_topics(connection, prefix=prefix)
        self._source = KafkaSource(connection, prefix=prefix)
        self._control = KafkaControl(connection, prefix=prefix, partitions=partitions)
        self._partitions = partitions

    def tell(self, event: Event) -> str | None:
        """Append an event and wait for the ledgers of its partitions; None, or why it was rejected.

        Raises:
            ErasureError: it was not folded in time; repeat the erasure when workers run.
        """
        try:
            (told,) = self._control.tell([event])
        except ControlError as error:
            raise ErasureError(
                f"{error.message}; see that workers run (commitments serve), then erase again"
            ) from None
        return None if told.status == FateStatus.ACCEPTED.value else told.reason

    def recorded(self, tenant: str, user: str) -> Iterator[Recorded]:
        """Yield what is folded of the user's partition."""
        partition = partition_of(self.opener.key_of(tenant, user), self._partitions)
        return group_records(self._source.read(partition))

    def renewed_first(self, row_keys: Sequence[bytes]) -> Sequence[bytes]:
        """Return none: the ledger opens the user's rows with them to purge them."""
        del row_keys
        return ()

    def forget(self, pseudonym: bytes, row_keys: Sequence[bytes]) -> None:
        """Destroy the keys that the user's rows stood under before the completion was folded."""
        assert isinstance(self.opener, SealedOpener), "a plain log is not completed"
        if row_keys:
            self.opener.keys.erase(pseudonym, {}, renewed=row_keys)

    def close(self) -> None:
        """Leave the cluster."""
        self._control.close()
