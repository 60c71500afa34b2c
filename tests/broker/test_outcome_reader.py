"""Laws of the reader of outcomes: committed ones, each once, and nothing skipped in silence."""

from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Producer

from infra.broker import Broker
from infra.outcome_reader import Outcome, OutcomeReader, UnreadableOutcomeError
from schemas.codec import frame
from schemas.outcome import Commitment
from streams.connection import Connection
from streams.core_reducer import CoreReducer
from tests.broker.histories import append_history, dinner, provision, read_records
from tests.broker.threads import running
from tests.told_log import begin


def _produce(broker: Broker, topic: str, values: list[bytes], *, keeps: bool) -> None:
    """Write values in one transaction and commit it, or not."""
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "transactional.id": f"{topic}.test",
            "log_level": 0,
        }
    )
    producer.init_transactions(20)
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, b"k", 0)
    assert 0 == producer.flush(20)
    if keeps:
        producer.commit_transaction(20)
    else:
        producer.abort_transaction(20)


def _read(reader: OutcomeReader, count: int) -> list[Outcome]:
    """Return so many outcomes, or all that come within a while."""
    found: list[Outcome] = []
    for _ in range(60):
        outcome = reader.read(0.5)
        if outcome is not None:
            found.append(outcome)
        if len(found) == count:
            break
    return found


def test_each_outcome_is_given_once_and_a_group_goes_on_behind_what_it_noted(
    broker: Broker, prefix: str, tmp_path: Path
) -> None:
    """Copies and aborted records are nobody's outcomes; what was not noted comes again."""
    connection = provision(broker, prefix)
    append_history(broker, prefix, [begin(), *dinner("m")])
    with running(broker, prefix, tmp_path / "s", CoreReducer) as worker:
        worker.await_folded(4)
    (first,) = read_records(broker, prefix, "commitments", Commitment)
    second, third = (replace(first, outcome_id=bytes([n]) * 32) for n in (2, 3))
    topic = f"{prefix}commitments"
    _produce(broker, topic, [frame(replace(first, outcome_id=b"\7" * 32))], keeps=False)
    _produce(broker, topic, [frame(one) for one in (first, second, second)], keeps=True)

    with OutcomeReader(connection, group=f"{prefix}g", prefix=prefix) as reader:
        found = _read(reader, 2)
        reader.commit()
    _produce(broker, topic, [frame(third)], keeps=True)
    with OutcomeReader(connection, group=f"{prefix}g", prefix=prefix) as reader:
        behind = _read(reader, 1)
    with OutcomeReader(connection, group=f"{prefix}new", prefix=prefix) as reader:
        again = _read(reader, 3)

    assert [first, second] == [one.record for one in found]
    assert ["commitments"] * 2 == [one.topic for one in found]
    assert third in [one.record for one in behind] or second in [one.record for one in behind]
    assert [first, second, third] == [one.record for one in again]


def test_what_no_released_schema_reads_stops_the_reader_with_its_place(
    broker: Broker, prefix: str
) -> None:
    """A record of a newer writer is never passed over: the group would lose it for ever."""
    connection = provision(broker, prefix)
    _produce(broker, f"{prefix}repairs", [b"\xc3\x01" + b"newer..." + b"x"], keeps=True)

    with (
        OutcomeReader(connection, group=f"{prefix}g", prefix=prefix) as reader,
        pytest.raises(UnreadableOutcomeError, match=r"repairs, partition 0, offset 0: unknown"),
    ):
        _read(reader, 1)


def test_a_topic_that_is_none_is_refused(broker: Broker) -> None:
    """The message lists the topics that there are."""
    with pytest.raises(ValueError, match="topic 'comitments': use one of events"):
        OutcomeReader(
            Connection(bootstrap_servers=broker.bootstrap_servers), group="g", topics=["comitments"]
        )
