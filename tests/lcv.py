"""Validation for tests: candidates, a basis and decisions over situations made by hand."""

from dataclasses import replace

from processors.activation.coverage import derive_requirements
from processors.situation import InForce
from processors.validation.assessment import assess
from processors.validation.basis import Basis
from processors.validation.validation import decide, repair_early
from schemas.candidate import Amendment, Candidate, PatchOperation, SlotValue
from schemas.catalogue import Authority
from schemas.outcome import EventReference, Verdict
from schemas.row import CommitmentRow, Standing
from tests.situations import DIGEST, commitment_type, in_force, situation

ANSWER = EventReference("answer", 9, bytes([1] * 32))


def candidate(commitment_type="meal", *, cites=(), text="", claims=(), **slots):
    """Return a candidate that carries these slots."""
    return Candidate(
        commitment_type=commitment_type,
        slots=tuple(SlotValue(name, value) for name, value in slots.items()),
        amends=None,
        patch=(),
        evidence_ids=tuple(cites),
        claimed_predicates=tuple(claims),
        required_slots=(),
        repair_status="",
        surface_text=text,
    )


def typed(name, *slots, **changes):
    """Return a commitment type with these declared slots."""
    return replace(commitment_type(name, ()), slots=slots, **changes)


def over(*predicates, types, **changes):
    """Return a situation in which these predicates were confirmed one after another."""
    items = [confirmed(one, seq) for seq, one in enumerate(predicates, start=1)]
    told = situation(types=types, **changes)
    return replace(told, contract=contract(*items), contract_version=len(items))


def violated(report):
    """Return the ids of the predicates whose verdict is not ``holds``."""
    return [one.predicate_id for one in report.verdicts if one.verdict is not Verdict.HOLDS]


def amendment(commitment_id="c1", version=1, commitment_type="meal", **patch):
    """Return a candidate that amends a commitment; ``patch`` maps paths to values."""
    return replace(
        candidate(commitment_type),
        amends=Amendment(commitment_id, version),
        patch=tuple(PatchOperation(path, value) for path, value in patch.items()),
    )


def commitment(commitment_type="meal", version=1, result="pending", alternatives=(), **slots):
    """Return the row of a commitment made in the scene ``dinner``."""
    return CommitmentRow(
        scene="dinner",
        commitment_type=commitment_type,
        slots=tuple(SlotValue(name, value) for name, value in sorted(slots.items())),
        version=version,
        seq=3,
        event_id="e3",
        result=result,
        alternatives=alternatives,
    )


def state(value, authority=Authority.ASSERTED, seq=2):
    """Return a slot's statement, in force from the beginning."""
    return Standing(value, authority, f"e{seq}", seq, 0, None)


def confirmed(predicate, seq=1, predecessor=None):
    """Return a predicate confirmed at this seq, with its predecessor's predicate if any."""
    item = in_force(predicate)
    before = None if predecessor is None else in_force(predecessor).row
    return InForce(replace(item.row, seq=seq, event_id=f"e{seq}"), before)


def contract(*items):
    """Return h_t as a situation holds it, sorted by predicate id."""
    ordered = sorted(items, key=lambda item: item.row.predicate.predicate_id)
    return tuple(ordered)


def basis(evidence=(), **changes):
    """Return a basis over this Z*."""
    plain = Basis(
        decided_by=ANSWER,
        packet_digest=DIGEST,
        evidence=tuple(evidence),
        coverage=(),
        relevance={},
        attested={},
    )
    return replace(plain, **changes)


def judge(told, *candidates, given=None):
    """Return the reports of candidates in the order in which they are given."""
    found = assess(told, derive_requirements(told), given or basis(told.units), candidates)
    reports = {item.judged.candidate: item.report for item in found.assessed}
    return [reports[one] for one in candidates]


def decided(told, *candidates, given=None):
    """Return the outcome of a turn with these candidates; all of E_t is activated."""
    return decide(told, derive_requirements(told), given or basis(told.units), candidates)


def early(told):
    """Return the act that a turn has without candidates, or None."""
    return repair_early(told, derive_requirements(told), basis(told.units))
