"""The benchmark's users as aggregates of the ``eventsourcing`` library, in its in-memory store.

Each keeps what a user's rows keep of plain observations: event ids seen, statements by slot, texts,
their cost. No rules, no digests, nothing durable; the library stays outside the pipeline.
"""

import time
from uuid import NAMESPACE_URL, UUID, uuid5

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from schemas.event import FormSubmitted


class Person(Aggregate):
    """One user."""

    @event("Opened")
    def __init__(self, user: str) -> None:
        """Begin without knowing anything."""
        self.user = user
        self.seen: dict[str, int] = {}
        self.slots: dict[str, list[tuple[str, str, int]]] = {}
        self.texts: list[tuple[str, str, int]] = []
        self.cost = 0

    @staticmethod
    def create_id(user: str) -> UUID:
        """Return the aggregate's id."""
        return uuid5(NAMESPACE_URL, user)

    @event("StatementMade")
    def state(self, event_id: str, occurred_at_ms: int, scene: str, slot: str, value: str) -> None:
        """Keep a statement of a form, once."""
        if event_id not in self.seen:
            self.seen[event_id] = occurred_at_ms
            self.slots.setdefault(slot, []).append((value, scene, occurred_at_ms))
            self.cost += price(f"{slot} {value}")

    @event("TextSaid")
    def say(self, event_id: str, occurred_at_ms: int, text: str) -> None:
        """Keep an utterance, once."""
        if event_id not in self.seen:
            self.seen[event_id] = occurred_at_ms
            self.texts.append((text, event_id, occurred_at_ms))
            self.cost += price(text)


def price(text: str) -> int:
    """Return the cost of a text: four bytes a unit, rounded up."""
    return -(-len(text.encode()) // 4)


def tell_people(events) -> tuple[Application, list[str], int]:
    """Return an application that holds these observations, its users, and how many events."""
    application: Application = Application()
    people: dict[str, Person] = {}
    count = 0
    for one in events:
        if not one.user:
            continue
        person = people.get(one.user) or people.setdefault(one.user, Person(one.user))
        told = (one.event_id, one.occurred_at_ms)
        if isinstance(one.payload, FormSubmitted):
            (said,) = one.payload.statements
            person.state(*told, one.payload.scene, said.slot, said.value)
        else:
            person.say(*told, one.payload.text)
        count += 1
    for person in people.values():
        application.save(person)
    return application, list(people), count


def time_people(application: Application, users: list[str]) -> float:
    """Return CPU seconds of getting every user from the events again."""
    started = time.thread_time()
    for user in users:
        application.repository.get(Person.create_id(user))
    return time.thread_time() - started
