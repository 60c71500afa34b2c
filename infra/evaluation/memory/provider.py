"""A memory by the benchmark's provider contract: texts in, the best of them out.

Of what is sent, only the text and the user count; the belief's id is carried to name it again.
Every text is a unit of cost 1 without any dimension; a search is a turn whose Z* is the answer.
Nothing here ranks: relevance and what enters are the pipeline's.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infra.appending import append_events
from infra.evaluation.memory.query import list_content_words
from infra.evaluation.memory.retrieval import order_unit
from infra.evaluation.memory.telling import BEGIN_MS, SCENE, TENANT, begin_log
from infra.importers.envelope import Scribe
from infra.records import OUTCOME_TOPICS, read_output
from schemas.event import (
    Event,
    EvidenceRecorded,
    ObservationWithdrawn,
    Principal,
    PrincipalKind,
    Sensitivity,
    TurnCancelled,
    TurnRequested,
    UnitDraft,
)
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded

LIMIT_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text to keep: whose it is, and the id it goes by ("": it is given one)."""

    text: str
    user: str
    memory_id: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """One text that a search found: its id, the text, and its relevance in millionths."""

    memory_id: str
    text: str
    relevance: int


class MemoryProvider:
    """Memories of any number of users in a log of its own; one caller at a time."""

    def __init__(self, folder: Path) -> None:
        """Begin a log inside the folder; earlier ones there are left alone."""
        self._folder = folder
        self._scribes: dict[str, Scribe] = {}
        self._events: dict[tuple[str, str], str] = {}
        self._embedded = self._begin()

    def close(self) -> None:
        """Close the log."""
        self._embedded.close()

    def reset(self) -> None:
        """Forget everything: go on with a log that holds nothing."""
        self._embedded.close()
        self._scribes.clear()
        self._events.clear()
        self._embedded = self._begin()

    def add(self, text: Text) -> str:
        """Keep a text and return its id; an id that is known has its text replaced."""
        return self.add_all([text])[0]

    def add_all(self, texts: Sequence[Text]) -> list[str]:
        """Keep texts in one step and return their ids."""
        events: list[Event] = []
        names = []
        for text in texts:
            told = self._write(text)
            events.extend(told)
            names.append(text.memory_id or told[0].event_id)
        self._tell(events)
        return names

    def _write(self, text: Text) -> list[Event]:
        user, memory_id = text.user, text.memory_id
        scribe = self._open(user)
        told = Principal(PrincipalKind.USER, user)
        unit = UnitDraft(
            content=text.text,
            reference=memory_id or None,
            slot=None,
            value=None,
            dimensions=(),
            tail_witness=False,
            sensitivity=Sensitivity.NONE,
            scopes=(),
            cost=1,
            valid_from_ms=None,
            valid_to_ms=None,
        )
        event = scribe.write(told, EvidenceRecorded((unit,)))
        events = [event]
        if memory_id:
            older = self._events.get((user, memory_id))
            self._events[user, memory_id] = event.event_id
            if older is not None:
                events.append(scribe.write(told, ObservationWithdrawn((older,))))
        return events

    def search(self, *, query: str, user: str, limit: int) -> tuple[Memory, ...]:
        """Return at most so many memories of the user that the query activates, best first."""
        if user not in self._scribes or not query.strip():
            return ()
        scribe = self._open(user)
        asking = Principal(PrincipalKind.ASSISTANT, "memory-client")
        turn = scribe.write(asking, _build_turn(query, limit))
        self._tell([turn, scribe.write(Principal(PrincipalKind.USER, user),
                                       TurnCancelled(turn.event_id))])  # fmt: skip
        return self._read(turn.event_id)

    def _begin(self) -> Embedded:
        names = (self._folder / f"memory-{number}" for number in itertools.count())
        path = next(name for name in names if not name.exists())
        embedded = Embedded(path, CoreReducer())
        append_events(embedded, [begin_log()])
        embedded.fold_pending()
        self._after: dict[str, tuple[int, int]] = {}
        return embedded

    def _open(self, user: str) -> Scribe:
        if user not in self._scribes:
            scribe = Scribe(TENANT, user, at_ms=BEGIN_MS, utc_offset_min=0, place=user)
            self._scribes[user] = scribe
        return self._scribes[user]

    def _tell(self, events: list[Event]) -> None:
        append_events(self._embedded, events)
        self._embedded.fold_pending()

    def _read(self, turn_id: str) -> tuple[Memory, ...]:
        """Return Z* of the turn; what was put out before it is not looked through again."""
        found: tuple[Memory, ...] = ()
        for topic in ("packets", *OUTCOME_TOPICS):
            for output in self._embedded.outputs(topic, after=self._after.get(topic)):
                self._after[topic] = (output.offset, output.place)
                if topic != "packets":
                    continue
                packet = read_output(topic, output.record.value or b"")
                if packet.turn_id != turn_id:
                    continue
                relevance = {terms.unit_id: terms.relevance for terms in packet.terms}
                units = sorted(
                    packet.units, key=lambda u: (-relevance[u.unit_id], order_unit(u.unit_id))
                )
                found = tuple(
                    Memory(one.reference or one.event_id, one.content, relevance[one.unit_id])
                    for one in units
                )
        return found


def _build_turn(query: str, limit: int) -> TurnRequested:
    return TurnRequested(
        scene=SCENE,
        text=list_content_words(query),
        budget_main=max(0, min(limit, LIMIT_MAX)),
        budget_tail=0,
    )
