"""Laws of provisioning on a real broker: plan, apply, verify, and what is refused."""

import pytest
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewTopic

from infra.broker import Broker
from infra.provision import (
    ProvisionRefusedError,
    Step,
    TopicSet,
    apply,
    describe_durability,
    plan,
)
from schemas.topics import EVENTS, ROWS, TOPICS, list_settings, name_topic
from streams.connection import Connection


def _wanted(prefix: str, *, partitions: int = 2) -> TopicSet:
    return TopicSet(prefix=prefix, partitions=partitions, replication=1, insync_min=1)


def _provisioned(broker: Broker, prefix: str) -> tuple[Connection, TopicSet]:
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    wanted = _wanted(prefix)
    apply(connection, wanted, plan(connection, wanted))
    return connection, wanted


def _configure(broker: Broker, name: str, setting: str, value: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    resource = ConfigResource(ConfigResourceType.TOPIC, name, {setting: value})
    admin.alter_configs([resource], incremental=True)
    admin.close()


def test_a_plan_changes_nothing(broker: Broker, prefix: str) -> None:
    """Planning twice on an empty cluster gives the same creations: the first created nothing."""
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)

    first, second = plan(connection, _wanted(prefix)), plan(connection, _wanted(prefix))

    assert first == second
    assert [(Step.CREATE, topic) for topic in TOPICS] == [(c.step, c.topic) for c in first]


def test_applied_topics_stand_as_described(broker: Broker, prefix: str) -> None:
    """After a plan is applied nothing is left to do, and `events` keeps all, stamped on append."""
    connection, wanted = _provisioned(broker, prefix)

    assert () == plan(connection, wanted)
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    name = name_topic(EVENTS, prefix=prefix)
    found = admin.describe_configs(
        [ConfigResource(ConfigResourceType.TOPIC, name)], config_filter="all"
    )["topic"][name]
    admin.close()
    for setting, value in list_settings(EVENTS):
        assert value == found[setting]["value"]


def test_a_shortened_retention_is_planned_and_mended(broker: Broker, prefix: str) -> None:
    """A topic that somebody let expire is shown with both values and set back to keep all."""
    connection, wanted = _provisioned(broker, prefix)
    _configure(broker, name_topic(EVENTS, prefix=prefix), "retention.ms", "3600000")

    changes = plan(connection, wanted)

    assert [(Step.ALTER, EVENTS)] == [(change.step, change.topic) for change in changes]
    assert "retention.ms: 3600000 -> -1" in str(changes[0])
    apply(connection, wanted, changes)
    assert () == plan(connection, wanted)


def test_a_changed_partition_count_is_refused(broker: Broker, prefix: str) -> None:
    """Other partitions than those standing are refused with the command that may grow them."""
    connection, _ = _provisioned(broker, prefix)
    wanted = _wanted(prefix, partitions=4)

    changes = plan(connection, wanted)

    assert {Step.REFUSE} == {change.step for change in changes}
    with pytest.raises(ProvisionRefusedError, match="commitments repartition"):
        apply(connection, wanted, changes)


@pytest.mark.parametrize(("topic", "policy"), [(EVENTS, "compact"), (ROWS, "delete")])
def test_a_policy_that_loses_history_is_refused(
    broker: Broker, prefix: str, topic: object, policy: str
) -> None:
    """A compacted log and expiring rows are refused: what they lost cannot be seen any more."""
    assert topic in (EVENTS, ROWS)
    connection, wanted = _provisioned(broker, prefix)
    name = name_topic(EVENTS if topic is EVENTS else ROWS, prefix=prefix)
    _configure(broker, name, "cleanup.policy", policy)

    with pytest.raises(ProvisionRefusedError, match=f"cleanup.policy={policy}"):
        apply(connection, wanted, plan(connection, wanted))


def test_a_lost_log_is_never_created_again(broker: Broker, prefix: str) -> None:
    """When rows stand and `events` is gone, an empty new log is refused."""
    connection = Connection(bootstrap_servers=broker.bootstrap_servers)
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    admin.create_topics([NewTopic(name_topic(ROWS, prefix=prefix), 2, 1)], wait_for_metadata=True)
    admin.close()

    changes = plan(connection, _wanted(prefix))

    assert [EVENTS] == [c.topic for c in changes if c.step is Step.REFUSE and "missing" in c.reason]


def test_durability_is_said_in_one_line() -> None:
    """The mode that is printed at start tells replicated topics from development ones."""
    assert describe_durability(TopicSet()).startswith("replicated: ")
    assert describe_durability(_wanted("")).startswith("development: ")


def test_more_acknowledging_replicas_than_replicas_are_refused() -> None:
    """min.insync.replicas above the replication factor would stop every write."""
    with pytest.raises(ValueError, match="insync_min 2"):
        TopicSet(replication=1, insync_min=2)
