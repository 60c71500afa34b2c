"""Why a turn ended as it did: its packet, its candidates' vectors and the act, from the log."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from infra.records import OUTCOME_TOPICS, read_output
from schemas.outcome import Commitment, RepairAct, TurnFailure
from schemas.packet import Packet
from streams.embedded import Embedded


@dataclass(frozen=True, slots=True)
class Explanation:
    """The packets of one turn in order, and its outcome (None while it is pending)."""

    packets: tuple[Packet, ...]
    topic: str
    outcome: Commitment | RepairAct | TurnFailure | None


def explain_turn(embedded: Embedded, turn_id: str, user: str | None = None) -> list[Explanation]:
    """Return an explanation for each user who has a turn of this id (ids are a user's own)."""
    packets: dict[tuple[str, str], list[Packet]] = {}
    outcomes: dict[tuple[str, str], tuple[str, Any]] = {}
    for packet in _records(embedded, "packets", turn_id, user):
        packets.setdefault((packet.tenant, packet.user), []).append(packet)
    for topic in OUTCOME_TOPICS:
        for record in _records(embedded, topic, turn_id, user):
            outcomes[record.tenant, record.user] = (topic, record)
    owners = sorted(packets.keys() | outcomes.keys())
    return [
        Explanation(tuple(packets.get(owner, ())), *outcomes.get(owner, ("", None)))
        for owner in owners
    ]


def _records(embedded: Embedded, topic: str, turn_id: str, user: str | None) -> Iterator[Any]:
    for output in embedded.outputs(topic):
        record = read_output(topic, output.record.value or b"")
        if record.turn_id == turn_id and user in {None, record.user}:
            yield record
