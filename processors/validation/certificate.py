"""The certificate: all that is needed to recompute one outcome from the log (spec 6.3).

It repeats what was decided on and what was found; nothing is decided here.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from processors.compilation.amendable import is_commitment
from processors.situation import Situation, Unit
from processors.validation.assessment import Assessed
from processors.validation.basis import Basis
from schemas.identity import prefix_lengths
from schemas.outcome import CandidateReport, Certificate, EventReference, Verdict


def certify(situation: Situation, basis: Basis, assessed: tuple[Assessed, ...] = ()) -> Certificate:
    """Return the certificate of an outcome; candidates stand in the order of their digests."""
    return Certificate(
        seq_from=1,
        seq_to=situation.seq,
        rests_on=list_references(situation, basis),
        contract_version=situation.contract_version,
        contract_digest=situation.contract_digest,
        packet_digest=basis.packet_digest,
        evidence_digest=digest_evidence(basis.evidence),
        evidence_ids=tuple([unit.unit_id for unit in basis.evidence]),
        coverage=basis.coverage,
        candidates=tuple([item.report for item in assessed]),
        as_of_ms=situation.as_of_ms,
        historical=situation.historical,
        ruleset=situation.regime.ruleset,
        catalogue_digest=situation.regime.catalogue_digest,
        authenticated=situation.regime.authenticated,
        without_predicates=not situation.contract,
        history_incomplete=situation.incomplete,
        chain=situation.chain,
    )


def digest_evidence(evidence: Iterable[Unit]) -> bytes:
    """Return the digest of Z*: SHA-256 over unit ids and the digests of their events."""
    parts = [part for unit in evidence for part in (unit.unit_id.encode(), unit.event_digest)]
    return hashlib.sha256(prefix_lengths(*parts)).digest()


def list_references(situation: Situation, basis: Basis) -> tuple[EventReference, ...]:
    """Return the events an outcome rests on: request, deciding event, Z*, h_t; sorted by seq."""
    found = {
        situation.request_seq: EventReference(
            situation.request_event_id, situation.request_seq, situation.request_digest
        ),
        basis.decided_by.seq: basis.decided_by,
    }
    for unit in basis.evidence:
        # A commitment is shown by its own digest, not by that of the event which made it.
        if unit.seq not in found and not is_commitment(unit):
            found[unit.seq] = _refer(unit)
    seqs: Sequence[int] | None = None
    for item in situation.contract:
        if item.row.seq not in found:
            seqs = [unit.seq for unit in situation.units] if seqs is None else seqs
            unit_at = bisect_left(seqs, item.row.seq)
            # A predicate in force is a unit, so its event's digest is at hand (spec 3.2).
            if unit_at < len(seqs) and seqs[unit_at] == item.row.seq:
                found[item.row.seq] = _refer(situation.units[unit_at])
    return tuple([found[seq] for seq in sorted(found)])


def is_proven(report: CandidateReport) -> bool:
    """Return whether a report carries its proof: supported, all verdicts hold, nothing unmet.

    This is asked of what is written down, not of how it was found: the last gate before a
    commitment (Property 1 of the paper).
    """
    return (
        not report.unsupported
        and not report.unmet
        and report.violations == 0
        and all(verdict.verdict is Verdict.HOLDS for verdict in report.verdicts)
    )


def _refer(unit: Unit) -> EventReference:
    return EventReference(unit.event_id, unit.seq, unit.event_digest)
