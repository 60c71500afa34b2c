"""The control point over Kafka: events are produced, fates and outcomes consumed.

One thread uses it. It sees what is committed since it began; the ledgers decide, this only waits
for the ledger record of the batch that an event was folded in.
"""

import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

from confluent_kafka import OFFSET_END, KafkaException, TopicPartition

from infra.gateway.port import ControlError, Outcome, Standing, Told
from infra.kafka_appending import EventProducer
from infra.keys import KeysError
from infra.opening import open_topics
from infra.records import OUTCOME_TOPICS, OUTPUT_RECORDS
from schemas.codec import DecodeError, decode, unframe
from schemas.event import Event
from schemas.fate import Fate, FateStatus
from schemas.ledger import BatchRecord
from schemas.packet import Packet
from schemas.topics import LEDGERS, TOPICS, name_topic
from schemas.turn import CandidatesProposed
from streams.connection import Connection, describe_for_ledger
from streams.failures import StoreUnavailableError
from streams.refusals import raise_refused

FOLD_SECONDS_MAX: Final = 30.0
OUTCOME_SECONDS_MAX: Final = 3.0
"""Outcomes are committed with the ledger record, and arrive just before or after it."""
TURNS_KEPT: Final = 10_000
POLL_S: Final = 0.05
SETTLE_S: Final = 1.0

Place = tuple[int, int]
Turn = tuple[str, str, str]

_CONSUMER: Final = {
    "group.id": "gateway",
    "enable.auto.commit": False,
    "isolation.level": "read_committed",
    "auto.offset.reset": "latest",
    "fetch.wait.max.ms": 20,
}


class _PlacedProducer(EventProducer):
    """Remembers where each event was written."""

    def __init__(self, connection: Connection, *, prefix: str, partitions: int) -> None:
        super().__init__(connection, prefix=prefix, partitions=partitions)
        self.placed: dict[int, list[int]] = {}

    def _note(self, error: Any, message: Any) -> None:
        super()._note(error, message)
        if error is None:
            self.placed.setdefault(message.partition(), []).append(message.offset())


class KafkaControl:
    """``ControlPort`` over a cluster; ``close`` leaves it."""

    def __init__(self, connection: Connection, *, prefix: str, partitions: int) -> None:
        """Begin to follow the outputs of every partition from now on."""
        self._producer = _PlacedProducer(connection, prefix=prefix, partitions=partitions)
        self._opener = open_topics(connection, prefix=prefix)
        self._consumer: Any = connection.clients.consumer(
            describe_for_ledger(connection) | _CONSUMER
        )
        self._topics = {
            name_topic(topic, prefix=prefix): topic.name
            for topic in TOPICS
            if topic.name in {LEDGERS.name, "packets", *OUTCOME_TOPICS}
        }
        self._consumer.assign(
            [
                TopicPartition(name, number, OFFSET_END)
                for name in self._topics
                for number in range(partitions)
            ]
        )
        self._fates: OrderedDict[Place, Fate] = OrderedDict()
        self._turns: OrderedDict[Turn, Any] = OrderedDict()
        self._answered: dict[Turn, int] = {}
        self._settle()

    def tell(self, events: Sequence[Event]) -> tuple[Told, ...]:
        """Produce events, wait until their ledgers folded them, and return the fate of each.

        Raises:
            ControlError: not acknowledged, or not folded within half a minute.

        """
        self._producer.placed.clear()
        try:
            self._producer.append(events)
            places = self._match(events)
        except (StoreUnavailableError, KeysError) as error:
            raise ControlError(str(error), "send the same events again") from None
        until = time.monotonic() + FOLD_SECONDS_MAX
        while any(place not in self._fates for stood in places for place in stood):
            if time.monotonic() > until:
                raise ControlError("written, but no ledger folded it yet", "ask for the turn later")
            self._poll()
        told = tuple(
            _report(event, [self._fates[place] for place in stood])
            for event, stood in zip(events, places, strict=True)
        )
        for event, one in zip(events, told, strict=True):
            self._expect(event, one)
        return told

    def find_outcome(self, tenant: str, user: str, turn_id: str) -> Outcome | Packet | None:
        """Return the outcome of a turn seen since the start, else its newest packet, else None.

        After candidates that counted, the outcome or the next packet is waited for.
        """
        turn = (tenant, user, turn_id)
        answered = self._answered.pop(turn, 0)
        until = time.monotonic() + OUTCOME_SECONDS_MAX
        while time.monotonic() < until:
            found = self._turns.get(turn)
            if found is not None and not (isinstance(found, Packet) and found.round <= answered):
                break
            self._poll()
        outcome: Outcome | Packet | None = self._turns.get(turn)
        return outcome

    def _expect(self, event: Event, told: Told) -> None:
        """Note which packet candidates answered, if they counted."""
        if not isinstance(event.payload, CandidatesProposed):
            return
        if told.status != "accepted" or told.ignored:
            return
        turn = (event.tenant, event.user, event.payload.turn_id)
        packet = self._turns.get(turn)
        self._answered[turn] = packet.round if isinstance(packet, Packet) else 1

    def look(self, tenant: str, user: str) -> Standing:
        """Refuse: what stands for a user is published on contracts and states.

        Raises:
            ControlError: always.

        """
        raise ControlError(
            f"{tenant}/{user}: not served over Kafka", "read the topics contracts and states"
        )

    def close(self) -> None:
        """Leave the cluster."""
        self._consumer.close()

    def _settle(self) -> None:
        """Wait until the consumer stands at the end of every partition: nothing is missed."""
        try:
            for part in self._consumer.assignment():
                self._consumer.get_watermark_offsets(part, timeout=FOLD_SECONDS_MAX)
        except KafkaException as error:
            raise ControlError(str(error), "is the broker there, and provisioned?") from None
        quiet = time.monotonic() + SETTLE_S
        while time.monotonic() < quiet:
            self._poll()

    def _match(self, events: Sequence[Event]) -> list[list[Place]]:
        """Return where each event stands: a control record in every partition."""
        offsets = {number: iter(found) for number, found in self._producer.placed.items()}
        return [
            [(partition, next(offsets[partition])) for partition in self._producer.place(event)]
            for event in events
        ]

    def _poll(self) -> None:
        message = self._consumer.poll(POLL_S)
        if message is not None and message.error() is not None:
            raise_refused(message.error(), message.topic() or "outcomes")
            return
        if message is None or message.value() is None:
            return
        topic = self._topics[message.topic()]
        try:
            if topic == LEDGERS.name:
                self._keep_fates(message.partition(), unframe(BatchRecord, message.value())[0])
                return
            value = self._opener.unseal(message.value())
            if value is None:
                return  # Its key was erased: nobody waits for it any more.
            record, _ = unframe(OUTPUT_RECORDS[topic], value)
        except DecodeError:
            return  # Of another release; its turn is looked for elsewhere.
        turn = (record.tenant, record.user, record.turn_id)
        if topic != "packets" or isinstance(self._turns.get(turn), Packet | None):
            self._turns[turn] = record
        while len(self._turns) > TURNS_KEPT:
            self._turns.popitem(last=False)

    def _keep_fates(self, partition: int, batch: BatchRecord) -> None:
        for place, data in enumerate(batch.fates):
            self._fates[partition, batch.first_offset + place] = decode(Fate, data)
        while len(self._fates) > TURNS_KEPT:
            self._fates.popitem(last=False)


def _report(event: Event, fates: Sequence[Fate]) -> Told:
    fate = next((one for one in fates if one.status is FateStatus.REJECTED), fates[0])
    reason = "" if fate.reason is None else fate.reason.value
    return Told(event.event_id, fate.status.value, fate.seq, reason, fate.detail, fate.ignored)
