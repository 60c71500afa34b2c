"""Laws of the topics as data."""

import pytest

from schemas.topics import (
    EVENTS,
    LEASES,
    OUTPUTS,
    ROWS,
    TOPICS,
    Cleanup,
    list_settings,
    name_topic,
)


def test_topic_names_are_unique() -> None:
    """No two topics share a name, so a prefix names one set of topics."""
    names = [topic.name for topic in TOPICS]

    assert sorted(set(names)) == sorted(names)


def test_history_is_never_removed() -> None:
    """No topic loses records by age or size: what was decided can be recomputed for ever."""
    limits = {(topic.retention_ms, topic.retention_bytes) for topic in TOPICS}

    assert {(-1, -1)} == limits


def test_events_are_never_compacted() -> None:
    """`events` keeps every record, also those that a later one of the same key follows."""
    assert Cleanup.DELETE is EVENTS.cleanup


def test_the_broker_stamps_every_record() -> None:
    """Every topic carries append time: no time-stamp comes from a client's clock."""
    stamps = {dict(list_settings(topic))["message.timestamp.type"] for topic in TOPICS}

    assert {"LogAppendTime"} == stamps


def test_a_row_can_hold_a_whole_event() -> None:
    """`rows` and every output take a record larger than any event that was accepted."""
    assert all(topic.message_bytes_max >= EVENTS.message_bytes_max for topic in (ROWS, *OUTPUTS))


def test_settings_are_sorted_and_named_once() -> None:
    """The settings of a topic are in a total order, so that plans compare byte by byte."""
    for topic in TOPICS:
        names = [name for name, _ in list_settings(topic)]

        assert sorted(set(names)) == names


def test_the_prefix_stands_before_the_name() -> None:
    """One prefix gives one independent set of topics on the same broker."""
    assert "staging.leases" == name_topic(LEASES, prefix="staging.")


@pytest.mark.parametrize("prefix", ["a/b", "white space", "x" * 245])
def test_a_prefix_that_kafka_refuses_is_named(prefix: str) -> None:
    """A prefix that Kafka would refuse is refused here, with what is allowed."""
    with pytest.raises(ValueError, match="letters, digits, dots"):
        name_topic(LEASES, prefix=prefix)
