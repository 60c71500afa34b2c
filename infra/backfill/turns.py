"""One turn of a backfill: what was recorded of it, what comes of it now, and the rows of both.

Rows are plain dictionaries in the columns of tables.py; nothing is decided here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from schemas.outcome import CandidateReport, Commitment, RepairAct, TurnFailure, Verdict
from schemas.packet import Packet, Uncovered, UnitTerms

Outcome = Commitment | RepairAct | TurnFailure
Row = dict[str, Any]

PENDING: Final = "pending"
"""The outcome of a turn that has none: it would wait for candidates that nobody sent."""
LEFT_OUT: Final = "left_out"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended, as far as two endings are compared: outcome, why, and what was chosen."""

    outcome: str
    reason: str
    chosen: str
    utility: int | None = None

    @property
    def label(self) -> str:
        """Return the ending as one text: outcome, reason and what was chosen."""
        named = f"{self.outcome}:{self.reason}" if self.reason else self.outcome
        return f"{named} {self.chosen[:12]}".rstrip()


WAITING: Final = Ending(PENDING, "", "")


@dataclass(slots=True)
class Turn:
    """One turn while the history is folded."""

    tenant: str
    user: str
    turn_id: str
    scene: str
    requested_seq: int
    ruleset: int
    recorded: Ending = WAITING
    packets: list[Packet] = field(default_factory=list)
    outcome: Outcome | None = None
    fault: str = ""

    def take(self, outputs: tuple[Any, ...]) -> None:
        """Keep what an event put out for this turn."""
        for output in outputs:
            if isinstance(output, Packet):
                self.packets.append(output)
            elif isinstance(output, Commitment | RepairAct | TurnFailure):
                self.outcome = output

    @property
    def ending(self) -> Ending:
        """Return how the turn ends under the plan."""
        if self.fault:
            return Ending("core_fault", self.fault, "")
        return WAITING if self.outcome is None else describe_ending(self.outcome)

    @property
    def flipped(self) -> bool:
        """Tell whether outcome, reason or what was chosen is another than recorded."""
        now, before = self.ending, self.recorded
        return (now.outcome, now.reason, now.chosen) != (
            before.outcome,
            before.reason,
            before.chosen,
        )

    def key(self) -> Row:
        """Return the columns that name the turn."""
        return {
            "tenant": self.tenant,
            "user": self.user,
            "turn_id": self.turn_id,
            "scene": self.scene,
            "requested_seq": self.requested_seq,
        }


def describe_ending(outcome: Outcome) -> Ending:
    """Return what of an outcome is compared."""
    match outcome:
        case Commitment():
            chosen = outcome.candidate_digest.hex()
            return Ending("commitment", "", chosen, outcome.utility)
        case RepairAct():
            return Ending(outcome.act.value, outcome.reason.value, "")
        case TurnFailure():
            return Ending("failure", outcome.kind.value, "")


def build_decision(turn: Turn) -> Row:
    """Return the row of table ``decisions``."""
    now, before = turn.ending, turn.recorded
    packet = turn.packets[-1] if turn.packets else None
    certificate = None if turn.outcome is None else turn.outcome.certificate
    coverage = certificate.coverage if certificate else packet.coverage if packet else ()
    covered = [item for item in coverage if item.status is Uncovered.COVERED]
    return turn.key() | {
        "seq": None if turn.outcome is None else turn.outcome.seq,
        "outcome": now.outcome,
        "reason": now.reason,
        "chosen": now.chosen,
        "utility": now.utility,
        "recorded_outcome": before.outcome,
        "recorded_reason": before.reason,
        "recorded_chosen": before.chosen,
        "flipped": turn.flipped,
        "candidates": None if certificate is None else len(certificate.candidates),
        "packets": len(turn.packets),
        "evidence_ids": list(certificate.evidence_ids) if certificate else [],
        "required": len(coverage),
        "covered": len(covered),
        "uncovered": [
            f"{item.requirement.kind.value}:{item.requirement.argument}"
            for item in coverage
            if item.status is not Uncovered.COVERED
        ],
        "objective": None if packet is None else packet.objective,
        "gap": None if packet is None else packet.gap,
        "cost_main": None if packet is None else packet.cost_main,
        "cost_tail": None if packet is None else packet.cost_tail,
        "contract_version": None if certificate is None else certificate.contract_version,
        "contract_digest": None if certificate is None else certificate.contract_digest.hex(),
        "catalogue_digest": None if certificate is None else certificate.catalogue_digest.hex(),
    }


def build_flip(turn: Turn) -> Row:
    """Return the row of table ``flips`` of a flipped turn."""
    now, before = turn.ending, turn.recorded
    return turn.key() | {
        "from_outcome": before.outcome,
        "from_reason": before.reason,
        "from_chosen": before.chosen,
        "to_outcome": now.outcome,
        "to_reason": now.reason,
        "to_chosen": now.chosen,
    }


def build_vectors(turn: Turn) -> Iterator[Row]:
    """Yield the rows of table ``vectors``: nu of each candidate and what it is made of."""
    if turn.outcome is None:
        return
    chosen = turn.ending.chosen
    for place, report in enumerate(turn.outcome.certificate.candidates):
        yield turn.key() | {"place": place} | _describe_report(report, chosen)


def _describe_report(report: CandidateReport, chosen: str) -> Row:
    named = report.digest.hex()
    return {
        "candidate": named,
        "commitment_type": report.commitment_type,
        "chosen": named == chosen,
        "supported": not report.unsupported,
        "unsupported": list(report.unsupported),
        "nu_h": report.violations,
        "nu_c": len(report.unmet),
        "nu_0": report.infeasible,
        "utility": report.utility,
        "violated": [
            f"{item.predicate_id}:{item.verdict.value}"
            for item in report.verdicts
            if item.verdict is not Verdict.HOLDS
        ],
        "unmet": [f"{item.kind.value}:{item.argument}" for item in report.unmet],
        "cited": list(report.cited),
    }


def build_terms(turn: Turn) -> Iterator[Row]:
    """Yield the rows of table ``terms``: the five terms of J of each unit, in or left out."""
    for packet in turn.packets:
        for place, (unit, terms) in enumerate(zip(packet.units, packet.terms, strict=True)):
            yield turn.key() | _describe_terms(packet, terms, unit.part.value, place)
        for place, terms in enumerate(packet.left_out, len(packet.units)):
            yield turn.key() | _describe_terms(packet, terms, LEFT_OUT, place)


def _describe_terms(packet: Packet, terms: UnitTerms, part: str, place: int) -> Row:
    return {
        "round": packet.round,
        "place": place,
        "unit_id": terms.unit_id,
        "part": part,
        "cost": terms.cost,
        "relevance": terms.relevance,
        "coverage": terms.coverage,
        "tail": terms.tail,
        "debt": terms.debt,
        "over": terms.over,
        "gain": terms.gain,
    }
