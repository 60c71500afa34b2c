"""Pending packets of an embedded log: found, answered, appended, and what that came to.

The service on Kafka pulls packets elsewhere and uses the same ``Generator``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from infra.appending import append_events
from infra.generation.generator import Generator
from infra.generation.prompt import count_payload, count_tokens, show_event
from infra.records import OUTCOME_TOPICS, read_output
from schemas.catalogue import Catalogue
from schemas.codec import DecodeError, digest
from schemas.event import Event, GenerationFailed, TurnRequested
from schemas.packet import Packet
from schemas.row import CatalogueRow
from streams.embedded import Embedded
from streams.opening import ErasedEventError
from streams.ports import LogRecord
from streams.row_layout import decode_row, row_key

FOLD_MS: Final = 60_000
READ_LIMIT: Final = 1_000

Turn = tuple[str, str, str]
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Answered:
    """One packet and its answer; tokens by the rule of ``count_tokens``."""

    packet: Packet
    event: Event
    packet_tokens: int
    history_tokens: int

    @property
    def failed(self) -> bool:
        """Return whether no candidates came."""
        return isinstance(self.event.payload, GenerationFailed)

    @property
    def saving_percent(self) -> int:
        """Return how much less the packet costs than raw history, in whole percent."""
        if self.history_tokens == 0:
            return 0
        return 100 - -(-100 * self.packet_tokens // self.history_tokens)


class PendingTurns:
    """The turns of one embedded log that wait for an answer; reads on from where it stood."""

    def __init__(self, embedded: Embedded, generator: Generator) -> None:
        """Answer with this generator."""
        self._embedded = embedded
        self._generator = generator
        self._packets: dict[Turn, Packet] = {}
        self._answered: dict[bytes, None] = {}
        self._catalogues: dict[bytes, Catalogue] = {}
        self._after: dict[str, Place] = {}
        self._history = _History(embedded)

    def answer(self) -> Iterator[Answered]:
        """Answer every pending packet once, each folded before the next is asked for.

        A second packet of a turn (spec 5.4) is answered as well.
        """
        yield from self._answer_all(None)

    def answer_turn(self, turn: Turn) -> Iterator[Answered]:
        """Answer the packets of one turn alone."""
        yield from self._answer_all(turn)

    def _answer_all(self, turn: Turn | None) -> Iterator[Answered]:
        self._fold()
        while waiting := self._list_waiting(turn):
            for packet in waiting:
                yield self._answer_one(packet)

    def _answer_one(self, packet: Packet) -> Answered:
        self._answered[digest(packet)] = None
        catalogue = self.find_catalogue(packet.catalogue_digest)
        event = self._generator.answer(packet, catalogue)
        append_events(self._embedded, [event])
        self._fold()
        return Answered(
            packet=packet,
            event=event,
            packet_tokens=count_payload(packet),
            history_tokens=self._history.count(packet),
        )

    def _fold(self) -> None:
        end = self._embedded.log.bounds().end
        if end:
            self._embedded.wait_for(end - 1, timeout_ms=FOLD_MS)

    def _list_waiting(self, turn: Turn | None) -> list[Packet]:
        for output in self._embedded.outputs("packets", after=self._after.get("packets")):
            packet = read_output("packets", output.record.value or b"")
            self._packets[packet.tenant, packet.user, packet.turn_id] = packet
            self._after["packets"] = (output.offset, output.place)
        for topic in OUTCOME_TOPICS:
            for output in self._embedded.outputs(topic, after=self._after.get(topic)):
                ended = read_output(topic, output.record.value or b"")
                self._packets.pop((ended.tenant, ended.user, ended.turn_id), None)
                self._after[topic] = (output.offset, output.place)
        return [
            item
            for place, item in self._packets.items()
            if turn in {None, place} and digest(item) not in self._answered
        ]

    def find_catalogue(self, name: bytes) -> Catalogue:
        """Return the catalogue of a digest that stands in a packet or certificate."""
        if name not in self._catalogues:
            with self._embedded.reading() as store:
                data = store and store.get(row_key(b"p", CatalogueRow, name.hex()))
            assert data, "a packet's catalogue is on its log"
            self._catalogues[name] = decode_row(CatalogueRow, data).catalogue
        return self._catalogues[name]


class _History:
    """The tokens of each user's raw history up to each turn, read from the log once."""

    def __init__(self, embedded: Embedded) -> None:
        self._embedded = embedded
        self._next = embedded.log.bounds().start
        self._seen: dict[tuple[str, str], dict[str, int]] = {}
        self._at_turn: dict[Turn, int] = {}

    def count(self, packet: Packet) -> int:
        """Return the tokens of all that the user's history held when the turn was asked for."""
        while records := self._embedded.log.read(self._next, limit=READ_LIMIT):
            for record in records:
                self._next = record.offset + 1
                self._add(record)
        return self._at_turn.get((packet.tenant, packet.user, packet.turn_id), 0)

    def _add(self, record: LogRecord) -> None:
        try:
            event = self._embedded.opener.open(record).event
        except (DecodeError, ErasedEventError):
            return
        own = self._seen.setdefault((event.tenant, event.user), {})
        if event.event_id in own:
            return
        if isinstance(event.payload, TurnRequested):
            self._at_turn[event.tenant, event.user, event.event_id] = sum(own.values())
        own[event.event_id] = count_tokens(show_event(event))


def converse(
    embedded: Embedded, events: Iterable[Event], turns: PendingTurns
) -> Iterator[Answered]:
    """Append a recorded history and answer each of its turns where it stands in it.

    Its own candidates should have been left out; answers that it holds count as they come.
    """
    held: list[Event] = []
    for event in events:
        held.append(event)
        if isinstance(event.payload, TurnRequested):
            append_events(embedded, held)
            held = []
            yield from turns.answer()
    append_events(embedded, held)
    yield from turns.answer()


def answer_turn(
    embedded: Embedded, generator: Generator, tenant: str, user: str, turn_id: str
) -> list[Answered]:
    """Answer one turn of a log, if it waits for an answer; others wait on."""
    return list(PendingTurns(embedded, generator).answer_turn((tenant, user, turn_id)))


def list_outcomes(embedded: Embedded) -> Iterator[tuple[str, Any]]:
    """Yield every outcome of a log as (topic, record)."""
    for topic in OUTCOME_TOPICS:
        for output in embedded.outputs(topic):
            yield topic, read_output(topic, output.record.value or b"")
