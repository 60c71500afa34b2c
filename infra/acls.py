"""Who may do what on the topics: the lists of each role, by least privilege, as data.

Names are those of one prefix; a principal is whatever the brokers call a role's user. Nobody but an
administrator may delete topics or records, or grant anything: outcomes must not be tampered with.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from schemas.topics import (
    EVENTS,
    LEASES,
    LEDGERS,
    OUTPUTS,
    PACKETS,
    ROWS,
    SEALED,
    TOPICS,
    name_topic,
)


@dataclass(frozen=True, slots=True, order=True)
class Acl:
    """One permission in the words of kafka-acls: resource, name, whether a prefix, operation."""

    resource: str
    name: str
    prefixed: bool
    operation: str


OUTCOMES: Final = ("commitments", "repairs", "failures", "surfaces")

ROLES: Final = {
    "provision": "creates and alters the topics, once; use it for `repartition` too",
    "ledger": "serve --role ledger, and rebuild",
    "generator": "serve --role generator",
    "extractor": "serve --role extractor",
    "gateway": "serve --role gateway",
    "producer": "appends events: observe, import, activate, or a client of its own",
    "consumer": "reads outcomes in a group",
    "auditor": "export, replay and verify on live topics",
}
"""Every role, and the commands that need it."""


def list_acls(role: str, *, prefix: str, cluster_id: str) -> list[Acl]:
    """Return what a role needs on a set of topics, sorted; ``cluster_id`` is in its producers' ids.

    Raises:
        ValueError: there is no such role.
    """
    if role not in ROLES:
        raise ValueError(f"role {role!r}: use one of {', '.join(ROLES)}")
    return sorted(set(_list(role, prefix, cluster_id)))


def render_command(acl: Acl, *, principal: str, bootstrap: str) -> str:
    """Return the kafka-acls command that grants one permission."""
    kind = {"topic": "--topic", "group": "--group", "transactional-id": "--transactional-id"}
    pattern = " --resource-pattern-type prefixed" if acl.prefixed else ""
    return (
        f"kafka-acls.sh --bootstrap-server {bootstrap} --command-config admin.properties --add "
        f"--allow-principal User:{principal} --operation {acl.operation} "
        f"{kind[acl.resource]} '{acl.name}'{pattern}"
    )


def _list(role: str, prefix: str, cluster_id: str) -> Iterator[Acl]:
    # Whether the log is encrypted is asked before anything is read or written.
    yield from _allow(name_topic(SEALED, prefix=prefix), "Describe")

    def name(topic: str) -> str:
        return f"{prefix}{topic}"

    every = [name_topic(topic, prefix=prefix) for topic in TOPICS]
    outputs = [topic.name for topic in OUTPUTS]
    if role == "provision":
        for topic in (name_topic(SEALED, prefix=prefix), *every):
            yield from _allow(topic, "Create", "Describe", "DescribeConfigs", "AlterConfigs")
        # What `repartition` writes and reads back; it needs both prefixes.
        yield from _allow(name(EVENTS.name), "Read", "Write")
    elif role == "ledger":
        for topic in every:
            yield from _allow(topic, "Describe", "DescribeConfigs")
        for topic in (EVENTS.name, ROWS.name, LEDGERS.name, LEASES.name, *outputs):
            yield from _allow(name(topic), "Read")
        # On `events` only for TurnExpired of turns that nobody answered.
        for topic in (EVENTS.name, ROWS.name, LEDGERS.name, *outputs):
            yield from _allow(name(topic), "Write")
        for group in ("ledger", "ledger-progress"):
            yield Acl("group", name(group), prefixed=False, operation="Read")
        producers = f"{cluster_id}.{prefix}ledger."
        for operation in ("Describe", "Write"):
            yield Acl("transactional-id", producers, prefixed=True, operation=operation)
    elif role in {"generator", "extractor"}:
        if role == "generator":
            yield from _allow(name(PACKETS.name), "Read", "Describe")
        yield from _allow(name(EVENTS.name), "Read", "Write", "Describe")
        yield Acl("group", name(role), prefixed=False, operation="Read")
    elif role == "gateway":
        yield from _allow(name(EVENTS.name), "Write", "Describe")
        for topic in (LEDGERS.name, PACKETS.name, "commitments", "repairs", "failures"):
            yield from _allow(name(topic), "Read", "Describe")
    elif role == "producer":
        yield from _allow(name(EVENTS.name), "Write", "Describe")
    elif role == "consumer":
        for topic in OUTCOMES:
            yield from _allow(name(topic), "Read", "Describe")
        yield Acl("group", name("consumer-"), prefixed=True, operation="Read")
    else:
        for topic in (EVENTS.name, LEDGERS.name, *outputs):
            yield from _allow(name(topic), "Read", "Describe")


def _allow(topic: str, *operations: str) -> Iterator[Acl]:
    for operation in operations:
        yield Acl("topic", topic, prefixed=False, operation=operation)
