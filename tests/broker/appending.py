"""Appending raw values to a topic, as any client of the log would."""

from collections.abc import Sequence

from confluent_kafka import Producer

from infra.broker import Broker

USERS = 5


def append_values(broker: Broker, topic: str, values: Sequence[bytes | None]) -> None:
    """Append the values to partition 0, under the keys of a few users in turn."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    for number, value in enumerate(values):
        producer.produce(topic, value, b"user %d" % (number % USERS), partition=0)
    assert producer.flush(30) == 0
