"""LCV from the outside: the functions by which a turn ends, or does not end yet.

``processors.decision`` calls these, ``fold_outcome`` (consequences) and what makes the
``Basis``, and nothing else of this package.
"""

from processors.situation import Situation
from processors.validation import repair
from processors.validation.assessment import (
    Assessed,
    Assessment,
    assess,
    list_feasible,
    rank_vector,
)
from processors.validation.basis import Basis
from processors.validation.certificate import certify, is_proven
from processors.validation.diagnosis import (
    Finding,
    diagnose,
    diagnose_early,
    diagnose_standing,
)
from processors.validation.emission import commit, phrase
from processors.view import View
from schemas.candidate import Attempt, Candidate
from schemas.catalogue import Catalogue
from schemas.identity import outcome_id
from schemas.outcome import Commitment, Reason, RepairAct, Surface, TurnFailure
from schemas.packet import Requirement
from schemas.row import CommitmentRow, TurnRow
from schemas.turn import FailureKind


def repair_early(
    situation: Situation, requirements: tuple[Requirement, ...], basis: Basis
) -> RepairAct | None:
    """Return the act of reasons (0), (1) and (2) of spec 5.7, decided without generation.

    None means that candidates may be asked for.
    """

    def derive() -> Finding | None:
        return diagnose_early(situation, requirements, basis)

    finding = derive()
    if finding is None:
        return None
    return repair.repair(situation, basis, (), finding, derive)


def decide(
    situation: Situation,
    requirements: tuple[Requirement, ...],
    basis: Basis,
    candidates: tuple[Candidate, ...],
) -> Commitment | RepairAct:
    """Return the one outcome of a turn whose candidates have arrived (spec 5).

    ``situation`` and ``requirements`` (R_t without what candidates bring to light) are those at
    the candidates' seq; an empty list of candidates is legal and ends in a repair act.
    """
    assessment = assess(situation, requirements, basis, candidates)
    standing = diagnose_standing(situation)
    if standing is None:
        chosen = choose(assessment)
        if chosen is not None:
            return commit(situation, basis, assessment.assessed, chosen)

    def derive() -> Finding:
        return diagnose(situation, assessment, basis)

    return repair.repair(situation, basis, assessment.assessed, derive(), derive)


def choose(assessment: Assessment) -> Assessed | None:
    """Return argmax S over F_t, ties by digest; None when nothing is feasible (spec 5.6).

    What is chosen carries its proof in its report: a candidate counted feasible without one
    would be a fault of ours, and is not emitted.
    """
    feasible = list_feasible(assessment)
    if not feasible:
        return None
    best = min(feasible, key=lambda item: rank_vector(item.report))
    assert is_proven(best.report), "a feasible candidate has a verdict that holds per predicate"
    return best


def fail(
    situation: Situation,
    basis: Basis,
    *,
    kind: FailureKind,
    detail: str,
    attempts: tuple[Attempt, ...],
) -> TurnFailure:
    """Return the failure of a turn that ends without candidates (spec 5.10)."""
    return TurnFailure(
        outcome_id=outcome_id(
            tenant=situation.tenant,
            user=situation.user,
            turn_id=situation.turn_id,
            seq=situation.seq,
        ),
        tenant=situation.tenant,
        user=situation.user,
        turn_id=situation.turn_id,
        seq=situation.seq,
        scene=situation.scene.name,
        kind=kind,
        detail=detail,
        attempts=attempts,
        certificate=certify(situation, basis),
    )


def abstain(situation: Situation, basis: Basis, *, reason: Reason, detail: str) -> RepairAct:
    """Return the act of a turn that cannot be answered whatever its candidates are."""
    return repair.abstain(situation, basis, (), reason=reason, detail=detail)


def check_surface(
    view: View, *, turn_id: str, seq: int, text: str, catalogue: Catalogue
) -> Surface | None:
    """Return what became of a later phrasing (spec 5.11); None when the turn made no commitment.

    Once a commitment has been amended, its earlier version has no phrasing any more.
    """
    turn = view.get(TurnRow, turn_id)
    if turn is None or turn.commitment_id is None:
        return None
    row = view.get(CommitmentRow, turn.commitment_id)
    if row is None or row.seq != turn.seq:
        mismatches: tuple[str, ...] = ("amended:",)
    else:
        slots = {slot.name: slot.value for slot in row.slots}
        mismatches = phrase(
            text, slots, catalogue=catalogue, scene=turn.scene, type_name=row.commitment_type
        )
    return Surface(
        outcome_id=turn.outcome_id,
        tenant=view.tenant,
        user=view.user,
        turn_id=turn_id,
        seq=seq,
        text=text,
        accepted=not mismatches,
        mismatches=mismatches,
    )
