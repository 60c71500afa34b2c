"""Laws of the broker that the other tests stand on: it answers, dies, freezes and comes back."""

import time

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from infra.broker import Broker, BrokerError, open_broker


def _produce(broker: Broker, topic: str, value: bytes, *, timeout_s: float = 30) -> int:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    producer.produce(topic, value, partition=0)
    return producer.flush(timeout_s)


def _read(broker: Broker, topic: str, count: int) -> list[bytes]:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "none",
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[bytes] = []
    deadline = time.monotonic() + 30
    while len(values) < count and time.monotonic() < deadline:
        message = consumer.poll(1.0)
        if message is not None and message.error() is None:
            value = message.value()
            assert value is not None
            values.append(value)
    consumer.close()
    return values


def _create(broker: Broker, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for future in admin.create_topics([NewTopic(topic, 1, 1)]).values():
        future.result(30)


def test_the_broker_keeps_acknowledged_records_over_a_kill(own_broker: Broker, prefix: str) -> None:
    """A record acknowledged before kill -9 of the broker is read after its restart."""
    topic = f"{prefix}kill"
    _create(own_broker, topic)

    assert 0 == _produce(own_broker, topic, b"before")
    own_broker.kill()
    own_broker.restart()
    assert 0 == _produce(own_broker, topic, b"after")

    assert [b"before", b"after"] == _read(own_broker, topic, 2)


def test_a_paused_broker_answers_nothing_until_resumed(own_broker: Broker, prefix: str) -> None:
    """While SIGSTOP holds the broker no send is acknowledged; after SIGCONT sends work again."""
    topic = f"{prefix}pause"
    _create(own_broker, topic)

    own_broker.pause()
    try:
        assert 1 == _produce(own_broker, topic, b"frozen", timeout_s=2)
    finally:
        own_broker.resume()

    assert 0 == _produce(own_broker, topic, b"thawed")
    assert b"thawed" in _read(own_broker, topic, 1)


def test_a_joined_broker_is_never_stopped(own_broker: Broker) -> None:
    """The controls refuse a broker that BOOTSTRAP_SERVERS named: it is not ours to break."""
    given = {"BOOTSTRAP_SERVERS": own_broker.bootstrap_servers}

    with (
        open_broker(given) as joined,
        pytest.raises(BrokerError, match="not started here"),
    ):
        joined.kill()

    assert own_broker.process is not None
    assert own_broker.process.poll() is None


def test_a_named_broker_that_does_not_answer_is_an_error() -> None:
    """BOOTSTRAP_SERVERS without a broker behind it fails with its name; nothing else is tried."""
    with (
        pytest.raises(BrokerError, match=r"127\.0\.0\.1:1"),
        open_broker({"BOOTSTRAP_SERVERS": "127.0.0.1:1"}),
    ):
        pass
