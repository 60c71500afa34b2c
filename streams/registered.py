"""Clients that speak the Confluent wire format: ids of a schema registry in place of fingerprints.

An encoding of the transport only. What is folded, digested, compared and archived is Avro's
single-object encoding, so that a history replays without its registry.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final, Protocol

from schemas.codec import HEADER_BYTES, MARKER
from streams.clients import Clients
from streams.clock import Clock

MAGIC: Final = b"\x00"
CONFLUENT_BYTES: Final = 5  # Magic and id.
UNKNOWN: Final = b"\x00" * 4
"""Begins the fingerprint that stands for an id without a schema: it is no schema's."""


class SchemaIds(Protocol):
    """What a registry knows; StoreUnavailableError when it cannot be asked, which is a wait."""

    def find_id(self, fingerprint: bytes) -> int | None:
        """Return the id of a schema, None if it was never registered."""
        ...

    def find_fingerprint(self, schema_id: int) -> bytes | None:
        """Return the fingerprint of the schema with an id, None if there is none."""
        ...


def wrap(value: bytes | None, ids: SchemaIds) -> bytes | None:
    """Return a single-object encoding in the Confluent format; everything else as it is."""
    if value is None or value[:2] != MARKER or len(value) < HEADER_BYTES:
        return value
    schema_id = ids.find_id(value[2:HEADER_BYTES])
    if schema_id is None:
        return value
    return MAGIC + schema_id.to_bytes(4, "big") + value[HEADER_BYTES:]


def unwrap(value: bytes | None, ids: SchemaIds) -> bytes | None:
    """Return the single-object encoding of a value in the Confluent format; others as they are.

    An id that the registry does not know becomes a fingerprint that no schema has: the record is
    rejected as unknown_schema_id, its id in the detail.
    """
    if value is None or value[:1] != MAGIC or len(value) < CONFLUENT_BYTES:
        return value
    named = value[1:CONFLUENT_BYTES]
    fingerprint = ids.find_fingerprint(int.from_bytes(named, "big"))
    return MARKER + (fingerprint or UNKNOWN + named) + value[CONFLUENT_BYTES:]


class RegisteredClients:
    """Clients whose public topics hold the Confluent format; the private ones stay as they are."""

    def __init__(self, clients: Clients, ids: SchemaIds, *, topics: Collection[str]) -> None:
        """Speak through these clients; ``topics`` are names without prefix."""
        self._clients = clients
        self._ids = ids
        self._topics = tuple(sorted(topics))

    @property
    def clock(self) -> Clock:
        """Return the clock of the clients."""
        return self._clients.clock

    def producer(self, settings: Mapping[str, object]) -> Any:
        """Return a producer that wraps what it is given."""
        return _Producer(self._clients.producer(settings), self)

    def consumer(self, settings: Mapping[str, object]) -> Any:
        """Return a consumer whose messages are unwrapped."""
        return _Consumer(self._clients.consumer(settings), self)

    def admin(self, settings: Mapping[str, object]) -> Any:
        """Return an administrator."""
        return self._clients.admin(settings)

    def wrap(self, topic: str, value: bytes | None) -> bytes | None:
        """Return a value as it stands on a topic."""
        return wrap(value, self._ids) if topic.endswith(self._topics) else value

    def unwrap(self, topic: str, value: bytes | None) -> bytes | None:
        """Return a value of a topic as it is folded."""
        return unwrap(value, self._ids) if topic.endswith(self._topics) else value


class _Producer:
    """A producer but for the values."""

    def __init__(self, producer: Any, clients: RegisteredClients) -> None:
        self._producer = producer
        self._clients = clients

    def produce(self, topic: str, value: bytes | None = None, *rest: Any, **more: Any) -> None:
        self._producer.produce(topic, self._clients.wrap(topic, value), *rest, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._producer, name)


class _Consumer:
    """A consumer but for the values."""

    def __init__(self, consumer: Any, clients: RegisteredClients) -> None:
        self._consumer = consumer
        self._clients = clients

    def poll(self, *rest: Any, **more: Any) -> Any:
        message = self._consumer.poll(*rest, **more)
        return None if message is None else _Message(message, self._clients)

    def consume(self, *rest: Any, **more: Any) -> list[Any]:
        return [_Message(m, self._clients) for m in self._consumer.consume(*rest, **more)]

    def commit(self, *rest: Any, message: Any = None, **more: Any) -> Any:
        if message is not None:
            more["message"] = message.told
        return self._consumer.commit(*rest, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._consumer, name)


class _Message:
    """A message but for the value."""

    __slots__ = ("_clients", "told")

    def __init__(self, message: Any, clients: RegisteredClients) -> None:
        self.told = message
        self._clients = clients

    def value(self) -> bytes | None:
        if self.told.error() is not None:
            return None
        return self._clients.unwrap(self.told.topic(), self.told.value())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.told, name)
