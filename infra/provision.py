"""Creates and verifies the topics of schemas/topics.py on a cluster: first a plan, then its steps.

Refuses whatever would lose history: a changed number of partitions, a compacted or expiring log,
a lost `events`. Nothing is ever deleted here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewTopic

from schemas.topics import (
    EVENTS,
    LEDGERS,
    PARTITIONS_DEFAULT,
    ROWS,
    SEALED,
    TOPICS,
    Cleanup,
    Topic,
    list_settings,
    name_topic,
)
from streams.connection import Connection, describe_for_admin

STAMPED = "message.timestamp.type"


class Step(Enum):
    """What a change asks of the cluster; a refusal asks a person."""

    CREATE = "create"
    ALTER = "alter"
    REFUSE = "refuse"


@dataclass(frozen=True, kw_only=True)
class Change:
    """One difference between what stands on the cluster and what should."""

    step: Step
    topic: Topic
    name: str
    settings: tuple[tuple[str, str], ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        """Return the change as one line of the plan."""
        shown = " ".join(f"{name}={value}" for name, value in self.settings)
        return f"{self.step.value:<7}{self.name}  {self.reason or shown}"


@dataclass(frozen=True, kw_only=True)
class TopicSet:
    """Which set of topics is wanted, and how many copies the cluster keeps of each record.

    ``encrypted``: a new set is to be an encrypted one; what a set is, it stays.
    """

    prefix: str = ""
    partitions: int = PARTITIONS_DEFAULT
    replication: int = 3
    insync_min: int = 2
    encrypted: bool = False

    def __post_init__(self) -> None:
        """Refuse numbers that cannot hold together, naming the field."""
        if self.partitions < 1:
            raise ValueError(f"partitions {self.partitions}: use at least 1")
        if not 1 <= self.insync_min <= self.replication:
            raise ValueError(
                f"insync_min {self.insync_min}: use 1 to the replication factor {self.replication}"
            )


class ProvisionRefusedError(Exception):
    """The plan holds refusals, so that none of it was applied; the message lists them."""


def plan(connection: Connection, wanted: TopicSet) -> tuple[Change, ...]:
    """Return every difference between the cluster and the wanted topics; change nothing.

    An empty plan means that the topics are as they should be.
    """
    admin = KafkaAdminClient(**describe_for_admin(connection))
    try:
        return _plan(admin, wanted)
    finally:
        admin.close()


def apply(connection: Connection, wanted: TopicSet, changes: tuple[Change, ...]) -> None:
    """Carry out a plan and verify the result.

    Raises:
        ProvisionRefusedError: the plan holds a refusal (nothing was done), or something still
            differs afterwards.
    """
    _refuse(change for change in changes if change.step is Step.REFUSE)
    admin = KafkaAdminClient(**describe_for_admin(connection))
    try:
        _create(admin, wanted, [change for change in changes if change.step is Step.CREATE])
        _alter(admin, [change for change in changes if change.step is Step.ALTER])
        _refuse(_plan(admin, wanted))
    finally:
        admin.close()


def describe_durability(wanted: TopicSet) -> str:
    """Return in one line what an acknowledgement means on these topics."""
    copies = f"acks=all, replication {wanted.replication}, min.insync.replicas {wanted.insync_min}"
    if wanted.replication >= 3 and wanted.insync_min >= 2:
        return f"replicated: an acknowledged event is on {wanted.insync_min} brokers ({copies})"
    return f"development: the loss of one broker can lose acknowledged events ({copies})"


def _plan(admin: KafkaAdminClient, wanted: TopicSet) -> tuple[Change, ...]:
    names = {topic: name_topic(topic, prefix=wanted.prefix) for topic in (SEALED, *TOPICS)}
    standing = _describe(admin, list(names.values()))
    changes: list[Change] = []
    if names[SEALED] not in standing and not wanted.encrypted:
        del names[SEALED]
    for topic, name in names.items():
        if name in standing:
            changes.extend(_compare(topic, name, standing[name], wanted))
        elif topic is SEALED and names[EVENTS] in standing:
            reason = (
                f"is missing although {names[EVENTS]} stands: a log that began in the clear stays "
                "so. Use another prefix, or leave out --encrypted."
            )
            changes.append(Change(step=Step.REFUSE, topic=topic, name=name, reason=reason))
        elif topic is EVENTS and any(names[other] in standing for other in (ROWS, LEDGERS)):
            reason = (
                f"is missing although {names[ROWS]} or {names[LEDGERS]} stand: the log that they "
                "were folded from is gone. Restore it from an archive, or use another prefix."
            )
            changes.append(Change(step=Step.REFUSE, topic=topic, name=name, reason=reason))
        else:
            settings = settle(topic, wanted)
            changes.append(Change(step=Step.CREATE, topic=topic, name=name, settings=settings))
    return tuple(changes)


def _compare(topic: Topic, name: str, found: "_Standing", wanted: TopicSet) -> Iterator[Change]:
    """Yield what differs on a topic that stands: refusals, then one alteration."""
    for reason in _list_refusals(topic, found, wanted):
        yield Change(step=Step.REFUSE, topic=topic, name=name, reason=reason)
    differing = tuple(
        (setting, value)
        for setting, value in settle(topic, wanted)
        if found.settings.get(setting) != value
        and setting != "cleanup.policy"
        and (topic is not EVENTS or setting != STAMPED)
    )
    if differing:
        shown = ", ".join(
            f"{setting}: {found.settings.get(setting)} -> {value}" for setting, value in differing
        )
        yield Change(step=Step.ALTER, topic=topic, name=name, settings=differing, reason=shown)


def _list_refusals(topic: Topic, found: "_Standing", wanted: TopicSet) -> Iterator[str]:
    if found.partitions != wanted.partitions:
        yield (
            f"has {found.partitions} partitions, wanted are {wanted.partitions}: keys would move "
            "to other partitions. Use `commitments repartition` into a new set of topics."
        )
    if found.replication < wanted.replication:
        yield (
            f"has replication factor {found.replication}, wanted is {wanted.replication}: add "
            "replicas with kafka-reassign-partitions, then run this again."
        )
    if topic is EVENTS and found.settings.get(STAMPED) == "CreateTime":
        yield (
            f"has {STAMPED}=CreateTime: a repartition into it did not end, or producers chose "
            "the times. Delete it and repartition again, or set LogAppendTime by kafka-configs."
        )
    policy = found.settings.get("cleanup.policy", "")
    if policy != topic.cleanup.value:
        lost = "expired" if topic.cleanup is Cleanup.COMPACT else "superseded"
        yield (
            f"has cleanup.policy={policy}, wanted is {topic.cleanup.value}: {lost} records may be "
            "gone already. When the topic is known to be whole, set the policy with kafka-configs."
        )


def settle(topic: Topic, wanted: TopicSet) -> tuple[tuple[str, str], ...]:
    """Return all settings of a topic of this set, in Kafka's words."""
    return (*list_settings(topic), ("min.insync.replicas", str(wanted.insync_min)))


@dataclass(frozen=True)
class _Standing:
    """A topic as it stands on the cluster."""

    partitions: int
    replication: int
    settings: Mapping[str, str]


def _describe(admin: KafkaAdminClient, names: list[str]) -> dict[str, _Standing]:
    present = [name for name in names if name in set(admin.list_topics())]
    if not present:
        return {}
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in present]
    configured: dict[str, dict[str, dict[str, str]]] = admin.describe_configs(
        resources, config_filter="all"
    )["topic"]
    described: list[dict[str, Any]] = admin.describe_topics(present)
    return {
        topic["name"]: _Standing(
            partitions=len(topic["partitions"]),
            replication=min(len(part["replica_nodes"]) for part in topic["partitions"]),
            settings={key: told["value"] for key, told in configured[topic["name"]].items()},
        )
        for topic in described
    }


def _create(admin: KafkaAdminClient, wanted: TopicSet, changes: list[Change]) -> None:
    topics = [
        NewTopic(
            change.name, wanted.partitions, wanted.replication, topic_configs=dict(change.settings)
        )
        for change in changes
    ]
    if topics:
        admin.create_topics(topics, wait_for_metadata=True)


def _alter(admin: KafkaAdminClient, changes: list[Change]) -> None:
    resources = [
        ConfigResource(ConfigResourceType.TOPIC, change.name, dict(change.settings))
        for change in changes
    ]
    if resources:
        # Incremental: settings that somebody else made, such as throttles, stay as they are.
        admin.alter_configs(resources, incremental=True)


def _refuse(changes: Iterator[Change] | tuple[Change, ...]) -> None:
    lines = [f"{change.name} {change.reason or 'still differs after provisioning'}"
             for change in changes]  # fmt: skip
    if lines:
        raise ProvisionRefusedError("\n".join(lines))
