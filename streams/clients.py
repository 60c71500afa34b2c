"""The clients of a Kafka cluster as one port, with the clock by which they wait.

Whatever the ledger asks of a broker goes through here, so that a simulated broker can stand in for
a real one. No setting is chosen here, and no answer is judged.
"""

import logging
from collections.abc import Mapping
from typing import Any, Protocol

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from streams.clock import Clock, SystemClock


class Clients(Protocol):
    """Producers, consumers and administrators in the words of confluent-kafka, and their clock."""

    @property
    def clock(self) -> Clock:
        """Return the clock of waits and of local stamps."""
        ...

    def producer(self, settings: Mapping[str, object]) -> Any:
        """Return a producer."""
        ...

    def consumer(self, settings: Mapping[str, object]) -> Any:
        """Return a consumer."""
        ...

    def admin(self, settings: Mapping[str, object]) -> Any:
        """Return an administrator."""
        ...


class KafkaClients:
    """The clients of librdkafka, which reach a real cluster."""

    def __init__(self) -> None:
        """Wait by the machine's clock."""
        self._clock = SystemClock()

    @property
    def clock(self) -> Clock:
        """Return the machine's clock."""
        return self._clock

    def producer(self, settings: Mapping[str, object]) -> Any:
        """Return a producer that connects when it is first used."""
        return Producer(dict(settings), logger=_quiet_logger())

    def consumer(self, settings: Mapping[str, object]) -> Any:
        """Return a consumer that connects when it is first used."""
        return Consumer(dict(settings), logger=_quiet_logger())

    def admin(self, settings: Mapping[str, object]) -> Any:
        """Return an administrator that connects when it is first used."""
        return AdminClient(dict(settings), logger=_quiet_logger())


def _quiet_logger() -> Any:
    """Return a logger for librdkafka's own lines: they repeat what our failures say."""
    logger = logging.getLogger("librdkafka")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
    return logger
