"""The packets of a turn recomputed from the history: whether their digests hold, and what else."""

from dataclasses import dataclass

from infra.audit.history import History
from infra.audit.moments import walk_user
from processors.inspection import Entering, inspect_packet
from schemas.codec import digest
from schemas.packet import Packet, UnitTerms
from schemas.turn import CandidatesProposed, TurnRequested


@dataclass(frozen=True, slots=True)
class PacketCheck:
    """One packet of a turn: recomputed bytes, recomputed terms, budgets at which units enter.

    ``terms_proven`` says whether the terms that the packet only digests are these ``others``.
    """

    round: int
    same_packet: bool
    terms_proven: bool
    others: tuple[UnitTerms, ...]
    entering: tuple[Entering, ...]


def check_packets(
    history: History,
    packets: tuple[Packet, ...],
    *,
    units_max: int,
) -> tuple[PacketCheck, ...]:
    """Return a check of each packet of one turn, all of one user, in their order."""
    if not packets:
        return ()
    by_seq = {packet.seq: packet for packet in packets}
    checks = []
    for moment in walk_user(history, packets[0].tenant, packets[0].user):
        packet = by_seq.pop(moment.fate.seq or 0, None)
        payload = moment.event.payload
        if packet is None or not isinstance(payload, TurnRequested | CandidatesProposed):
            continue
        found = inspect_packet(moment.rows, moment.event, moment.stamp, units_max=units_max)
        assert found is not None, "a packet was issued at this event"
        unsaid = found.rest[len(packet.left_out) :]
        checks.append(
            PacketCheck(
                round=packet.round,
                same_packet=digest(packet) == digest(found.packet),
                terms_proven=packet.terms_digest == found.terms_digest,
                others=unsaid,
                entering=found.entering,
            )
        )
        if not by_seq:
            break
    return tuple(checks)
