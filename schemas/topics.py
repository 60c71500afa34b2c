"""Every Kafka topic as data: its name, what keys it, what it keeps and for how long.

No client and no rule lives here: infra/provision.py creates what this page says, streams/ reads
and writes it. All topics have the same number of partitions, and every record goes explicitly to
the partition of the input that caused it; only `events` is partitioned by its key.
"""

import re
from dataclasses import dataclass
from enum import Enum

PARTITIONS_DEFAULT = 16
"""Partitions of a new set of topics; fixed for the life of `events`."""

FOREVER = -1
MIB = 1024 * 1024
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

NAME_LENGTH_MAX = 249
"""Kafka's own bound for a topic's name, prefix included."""

_PREFIX = re.compile(r"[A-Za-z0-9._-]*")


class TopicKey(Enum):
    """What the record key of a topic is made of."""

    USER = "length-prefixed tenant and user; the same bytes as the input's key"
    ROW = "length-prefixed user, kind and id of a private row"
    PARTITION = "the partition number, as four bytes, most significant first"
    INPUT = "the offset of the input in its partition, as eight bytes, most significant first"
    NONE = "no record is ever written"


class Cleanup(Enum):
    """What Kafka may remove from a topic."""

    DELETE = "delete"
    COMPACT = "compact"


@dataclass(frozen=True, kw_only=True)
class Topic:
    """One topic: its name without prefix, its key, and the settings that protect its history."""

    name: str
    holds: str
    key: TopicKey
    public: bool
    cleanup: Cleanup = Cleanup.DELETE
    retention_ms: int = FOREVER
    retention_bytes: int = FOREVER
    segment_bytes: int = 512 * MIB
    segment_ms: int = 7 * DAY_MS
    message_bytes_max: int = 1 * MIB
    delete_retention_ms: int | None = None
    compaction_lag_ms_max: int | None = None


def _compacted(*, name: str, holds: str, key: TopicKey, public: bool) -> Topic:
    """Return a topic that keeps the last record of each key.

    Small segments and a bounded lag, because a restore reads what compaction has not yet removed;
    a week of tombstones, because a folder younger than half of that may still catch up from them.
    """
    return Topic(
        name=name,
        holds=holds,
        key=key,
        public=public,
        cleanup=Cleanup.COMPACT,
        segment_bytes=128 * MIB,
        segment_ms=HOUR_MS,
        # A row can hold the bytes of a whole event, so it must never be the smaller of the two.
        message_bytes_max=2 * MIB,
        delete_retention_ms=7 * DAY_MS,
        compaction_lag_ms_max=DAY_MS,
    )


def _output(*, name: str, holds: str) -> Topic:
    """Return a public topic of outcomes that is kept for ever."""
    return Topic(name=name, holds=holds, key=TopicKey.USER, public=True, message_bytes_max=2 * MIB)


EVENTS = Topic(
    name="events",
    holds="everything that may influence a decision, in log order; the only source of truth",
    key=TopicKey.USER,
    public=True,
)
ROWS = _compacted(
    name="rows",
    holds="all state rows and the head row of a partition; the only thing restored from",
    key=TopicKey.ROW,
    public=False,
)
LEDGERS = Topic(
    name="ledgers",
    holds="one record per batch: input range, fates, counts and digests of outputs, chain digest",
    key=TopicKey.PARTITION,
    public=True,
    message_bytes_max=2 * MIB,
)
CONTRACTS = _compacted(
    name="contracts", holds="the contract in force of each user", key=TopicKey.USER, public=True
)
STATES = _compacted(
    name="states", holds="the current state of each user", key=TopicKey.USER, public=True
)
COMMITMENTS = _output(name="commitments", holds="turns that ended in a commitment")
REPAIRS = _output(name="repairs", holds="turns that ended in a repair act")
FAILURES = _output(name="failures", holds="turns that ended without candidates")
PACKETS = _output(name="packets", holds="activated evidence, for the generator")
SURFACES = _output(name="surfaces", holds="phrasings of commitments")
REJECTIONS = Topic(
    name="rejections",
    holds="inputs that were not accepted: reason, position and digest",
    key=TopicKey.INPUT,
    public=True,
    message_bytes_max=2 * MIB,
)
LEASES = Topic(
    name="leases",
    holds="nothing, for ever: its assignment says which worker owns which partition",
    key=TopicKey.NONE,
    public=False,
)

SEALED = Topic(
    name="sealed",
    holds="nothing, for ever: that it is there says that the log of its prefix is encrypted",
    key=TopicKey.NONE,
    public=False,
)
"""Not one of ``TOPICS``, since a log in the clear has none."""

TOPICS = (
    EVENTS,
    ROWS,
    LEDGERS,
    CONTRACTS,
    STATES,
    COMMITMENTS,
    REPAIRS,
    FAILURES,
    PACKETS,
    SURFACES,
    REJECTIONS,
    LEASES,
)
"""All topics, in the order in which they are created and shown."""

OUTPUTS = (CONTRACTS, STATES, COMMITMENTS, REPAIRS, FAILURES, PACKETS, SURFACES, REJECTIONS)
"""The topics that a batch may write besides `rows` and `ledgers`."""


def name_topic(topic: Topic, *, prefix: str) -> str:
    """Return the topic's name on the broker.

    Raises:
        ValueError: the prefix holds a character that Kafka does not allow, or is too long.
    """
    name = f"{prefix}{topic.name}"
    if not _PREFIX.fullmatch(prefix) or len(name) > NAME_LENGTH_MAX:
        raise ValueError(
            f"topic prefix {prefix!r}: use at most {NAME_LENGTH_MAX - len(topic.name)} letters, "
            "digits, dots, underscores and dashes"
        )
    return name


def list_settings(topic: Topic) -> tuple[tuple[str, str], ...]:
    """Return the topic's settings in Kafka's words, sorted by name.

    The broker stamps every record, so no time comes from a worker's clock. Replication and
    min.insync.replicas belong to the place where the topics stand, not to them.
    """
    settings = [
        ("cleanup.policy", topic.cleanup.value),
        ("max.message.bytes", str(topic.message_bytes_max)),
        ("message.timestamp.type", "LogAppendTime"),
        ("retention.bytes", str(topic.retention_bytes)),
        ("retention.ms", str(topic.retention_ms)),
        ("segment.bytes", str(topic.segment_bytes)),
        ("segment.ms", str(topic.segment_ms)),
        ("unclean.leader.election.enable", "false"),
    ]
    if topic.delete_retention_ms is not None:
        settings.append(("delete.retention.ms", str(topic.delete_retention_ms)))
    if topic.compaction_lag_ms_max is not None:
        settings.append(("max.compaction.lag.ms", str(topic.compaction_lag_ms_max)))
    return tuple(sorted(settings))


def find_topic(name: str) -> Topic:
    """Return the topic with a name, without prefix.

    Raises:
        ValueError: there is none; the message lists the names.
    """
    for topic in TOPICS:
        if topic.name == name:
            return topic
    raise ValueError(f"topic {name!r}: use one of {', '.join(topic.name for topic in TOPICS)}")
