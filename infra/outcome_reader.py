"""Reading outcomes off Kafka: what a consumer of `commitments` and `repairs` needs, and no more.

Reads committed records only, resolves the schema of every released writer, and gives each outcome
once: whoever handles outcomes at least once stores `outcome_id` with the effect, and drops the
ones that it has. Nothing is decided here.

    with OutcomeReader(connection, group="billing") as reader:
        for outcome in reader:
            handle(outcome.record)
            reader.commit()
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from confluent_kafka import KafkaError, KafkaException

from infra.opening import open_topics
from infra.records import OUTCOME_TOPICS, read_output
from schemas.codec import DecodeError
from schemas.topics import find_topic, name_topic
from streams.connection import Connection, describe_for_ledger
from streams.failures import StoreUnavailableError
from streams.refusals import raise_member_refused

REMEMBERED_DEFAULT: Final = 100_000
POLL_S: Final = 0.5

_CONSUMER: Final = {
    "enable.auto.commit": False,
    # Aborted copies of a batch stand on the topics too; they are nobody's outcomes.
    "isolation.level": "read_committed",
    "auto.offset.reset": "earliest",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One outcome: its topic without prefix, its place, its id and its record."""

    topic: str
    partition: int
    offset: int
    outcome_id: bytes
    record: Any


class UnreadableOutcomeError(Exception):
    """A record that no released schema reads; the message names its place. Nothing is skipped."""


class OutcomeReader:
    """The outcomes of one set of topics, for the members of a group; used by one thread."""

    def __init__(
        self,
        connection: Connection,
        *,
        group: str,
        prefix: str = "",
        topics: Sequence[str] = OUTCOME_TOPICS,
        remembered: int = REMEMBERED_DEFAULT,
    ) -> None:
        """Join the group on these topics (commitments, repairs, failures unless told otherwise).

        ``remembered`` ids are known, the youngest ones: a copy of one of them is not given again.
        """
        self._names = {name_topic(find_topic(name), prefix=prefix): name for name in topics}
        self._consumer = connection.clients.consumer(
            describe_for_ledger(connection) | _CONSUMER | {"group.id": group}
        )
        self._consumer.subscribe(sorted(self._names))
        self._opener = open_topics(connection, prefix=prefix)
        self._seen: OrderedDict[bytes, None] = OrderedDict()
        self._remembered = remembered

    def __enter__(self) -> Self:
        """Return itself; leaving the block leaves the group."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the group; what was not committed is read again."""
        self._consumer.close()

    def __iter__(self) -> Iterator[Outcome]:
        """Yield outcomes for ever, waiting for new ones."""
        while True:
            outcome = self.read(POLL_S)
            if outcome is not None:
                yield outcome

    def read(self, wait_s: float) -> Outcome | None:
        """Return the next outcome that was not given yet, or None if none came in time.

        Raises:
            UnreadableOutcomeError: a newer writer's schema, or bytes that are no outcome.
            StoreUnavailableError: the brokers refuse to be read.
        """
        message = self._consumer.poll(wait_s)
        if message is None:
            return None
        if message.error() is not None:
            raise_member_refused(message.error(), message.topic() or "outcomes")
            return None
        topic = self._names[message.topic()]
        place = f"{message.topic()}, partition {message.partition()}, offset {message.offset()}"
        try:
            value = self._opener.unseal(message.value() or b"")
            if value is None:
                return None  # Of an encrypted log, and erased.
            record = read_output(topic, value)
        except DecodeError as error:
            raise UnreadableOutcomeError(f"{place}: {error}; is this reader out of date?") from None
        if self._knows(record.outcome_id):
            return None
        return Outcome(topic, message.partition(), message.offset(), record.outcome_id, record)

    def commit(self) -> None:
        """Note that everything given so far is handled; a reader of the group goes on behind it.

        Raises:
            StoreUnavailableError: it was not noted: the same outcomes may come again.
        """
        try:
            self._consumer.commit(asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() != KafkaError._NO_OFFSET:  # noqa: SLF001
                raise StoreUnavailableError(f"commit of the group's offsets: {error}") from error

    def _knows(self, outcome_id: bytes) -> bool:
        if outcome_id in self._seen:
            self._seen.move_to_end(outcome_id)
            return True
        self._seen[outcome_id] = None
        if len(self._seen) > self._remembered:
            self._seen.popitem(last=False)
        return False
