"""What a turn activated, read from the log: Z* in order of relevance, as belief ids.

A turn that ended before a packet was issued certifies Z* in its outcome.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from infra.records import OUTCOME_TOPICS, read_output
from schemas.outcome import Commitment, RepairAct, TurnFailure
from schemas.packet import Packet
from streams.embedded import Embedded

Outcome = Commitment | RepairAct | TurnFailure
Turn = tuple[str, str]
"""User and turn id."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The packets and outcomes of a log, by turn, and which belief each unit of a user is."""

    packets: Mapping[Turn, Packet]
    outcomes: Mapping[Turn, Outcome]

    def list_units(self, turn: Turn) -> tuple[str, ...]:
        """Return the ids of the units in Z*, most relevant first; equals in log order."""
        packet = self.packets.get(turn)
        if packet is None:
            outcome = self.outcomes.get(turn)
            return () if outcome is None else outcome.certificate.evidence_ids
        ranks = {terms.unit_id: -terms.relevance for terms in packet.terms}
        units = sorted(packet.units, key=lambda one: (ranks[one.unit_id], order_unit(one.unit_id)))
        return tuple(unit.unit_id for unit in units)


def order_unit(unit_id: str) -> tuple[int, int]:
    """Return a key that sorts unit ids in log order."""
    seq, _, index = unit_id.partition("#")
    return int(seq), int(index)


def read_retrieved(embedded: Embedded) -> Retrieved:
    """Return everything that the turns of a log put out."""
    packets, outcomes = {}, {}
    for output in embedded.outputs("packets"):
        packet = read_output("packets", output.record.value or b"")
        packets[packet.user, packet.turn_id] = packet
    for topic in OUTCOME_TOPICS:
        for output in embedded.outputs(topic):
            outcome = read_output(topic, output.record.value or b"")
            outcomes[outcome.user, outcome.turn_id] = outcome
    return Retrieved(packets, outcomes)
