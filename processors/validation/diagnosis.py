"""delta: why no commitment is feasible, and the act that follows (spec 5.7).

The order of the questions below is the law. Which words and proposals the act then has is
``repair``; what blocks a candidate is ``blocking``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from processors.activation.coverage import PROPOSAL, is_held
from processors.situation import Situation
from processors.validation.assessment import Assessed, Assessment, list_supported, rank_vector
from processors.validation.basis import Basis
from processors.validation.blocking import (
    collect_needs,
    find_uncomputed,
    find_unreachable,
    list_violated,
    only_lacks,
    read_predicate,
    survey,
)
from processors.validation.clarification import Needs, list_open_questions
from processors.validation.contradiction import (
    Contradiction,
    contradict_stated,
    find_contradiction,
)
from schemas.outcome import Act, Reason, Verdict
from schemas.packet import Coverage, Requirement, RequirementKind

UNITS_NAMED_MAX: Final = 4  # Units named as over budget; the certificate has them all.
DETAILS_MAX: Final = 32  # Causes that an act names; the certificate has them all.

NOT_USED: Final = "not used"  # Held, but no candidate carries or cites it.
NOT_MET: Final = "not met"
NO_CANDIDATES: Final = "no candidates"

NO_NEEDS: Final = Needs((), (), {})


@dataclass(frozen=True, slots=True)
class Finding:
    """delta_t: the reason, what may be asked, the contradiction, and causes in short."""

    reason: Reason
    needs: Needs = NO_NEEDS
    contradiction: Contradiction | None = None
    detail: str = ""


def diagnose_standing(situation: Situation) -> Finding | None:
    """Return reason (0): the history has a gap or waits for an operator; whatever F_t is."""
    if situation.incomplete:
        return Finding(Reason.HISTORY_INCOMPLETE)
    if situation.halted:
        return Finding(Reason.USER_HALTED)
    return None


def diagnose_early(
    situation: Situation, requirements: tuple[Requirement, ...], basis: Basis
) -> Finding | None:
    """Return reason (0), (1) or (2), or None when candidates may be asked for (spec 5.1).

    A bare "yes" that several questions could have meant is clarified first (spec 5.9).
    """
    standing = diagnose_standing(situation)
    if standing is not None:
        return standing
    if situation.episode.ambiguous_seq is not None and list_open_questions(situation):
        return Finding(Reason.AMBIGUOUS_ANSWER)
    episode = situation.episode
    if episode.failed_seq is not None and episode.confirmed_seq < episode.failed_seq:
        return Finding(Reason.COMMITMENT_FAILED)
    lost = find_unreachable(situation, requirements, basis.evidence)
    if lost:
        detail = _join(_describe_lost(one, basis.coverage) for one in lost)
        return Finding(Reason.MISSING_EVIDENCE, Needs(lost, (), {}), detail=detail)
    return None


def diagnose(situation: Situation, assessment: Assessment, basis: Basis) -> Finding:
    """Return delta of a turn whose F_t is empty: the first reason that applies (spec 5.7)."""
    early = diagnose_early(situation, assessment.requirements, basis)
    supported = list_supported(assessment)
    if early is not None:
        if early.reason is not Reason.MISSING_EVIDENCE:
            return early
        obstacles = survey(situation, supported)
        needs = collect_needs(supported, obstacles, early.needs.requirements)
        return Finding(early.reason, needs, detail=early.detail)
    return (
        _diagnose_missing(situation, supported)
        or _diagnose_conflict(situation, assessment, supported)
        or _diagnose_validator(supported)
        or Finding(Reason.UNSUPPORTED, detail=_describe_unsupported(situation, assessment))
    )


def choose_act(situation: Situation, reason: Reason) -> Act:
    """Return the act that delta maps to: the only one that may be emitted (spec 5.7, 5.8)."""
    match reason:
        case Reason.MISSING_EVIDENCE | Reason.AMBIGUOUS_ANSWER:
            return Act.CLARIFY
        case Reason.CONTRACT_CONFLICT | Reason.COMMITMENT_FAILED:
            return Act.RECONTRACT
        case Reason.VALIDATOR_FAILURE | Reason.UNSUPPORTED if situation.scene.fallback:
            return Act.FALLBACK
        case _:
            return Act.ABSTAIN


def _diagnose_missing(situation: Situation, supported: tuple[Assessed, ...]) -> Finding | None:
    """Reason (3): a supported candidate lacks something and is wrong in nothing.

    What can be asked for is asked; where all of it is held, the act says what was not used.
    """
    obstacles = survey(situation, supported)
    lacking = [
        obstacle for item, obstacle in zip(supported, obstacles, strict=True) if only_lacks(item)
    ]
    wanted = [requirement for obstacle in lacking for requirement in obstacle.askable]
    wanted = wanted or [requirement for obstacle in lacking for requirement in obstacle.unused]
    if not wanted:
        return None
    # All supported candidates count when questions are weighed against each other.
    needs = collect_needs(supported, obstacles, wanted)
    return Finding(Reason.MISSING_EVIDENCE, needs, detail=_join(map(_name, needs.requirements)))


def _diagnose_conflict(
    situation: Situation, assessment: Assessment, supported: tuple[Assessed, ...]
) -> Finding | None:
    """Reason (4): h_t cannot be kept, or stands against what the user stated."""
    proposed = {item.report.commitment_type for item in assessment.assessed}
    names = situation.scene.commitment_types
    chosen = [name for name in names if name in proposed] or list(names)
    for name in chosen:
        contradiction = find_contradiction(situation, name)
        if contradiction is not None:
            return _conclude_conflict(contradiction)
    for item in sorted(supported, key=lambda one: rank_vector(one.report)):
        contradiction = contradict_stated(
            situation,
            item.report.commitment_type,
            slots=item.judged.merged.slots,
            failed=tuple(
                predicate
                for predicate, verdict in list_violated(item)
                if verdict.verdict is Verdict.FAILS
            ),
        )
        if contradiction is not None:
            return _conclude_conflict(contradiction)
    return None


def _conclude_conflict(contradiction: Contradiction) -> Finding:
    names = (item.row.predicate.predicate_id for item in contradiction.core)
    return Finding(Reason.CONTRACT_CONFLICT, contradiction=contradiction, detail=_join(names))


def _diagnose_validator(supported: tuple[Assessed, ...]) -> Finding | None:
    """Reason (5): a verdict is invalid, is not there, or could not be computed."""
    causes = []
    for item in supported:
        for predicate, verdict in find_uncomputed(item):
            cause = f"{verdict.predicate_id}: {verdict.verdict.value}"
            if read_predicate(predicate).checks:
                # What a check answered is no value of a candidate, so it may be named.
                cause = f"{verdict.predicate_id}: {verdict.reason}"
            causes.append(cause)
    return Finding(Reason.VALIDATOR_FAILURE, detail=_join(causes)) if causes else None


def _describe_unsupported(situation: Situation, assessment: Assessment) -> str:
    """Name causes by code, requirement and predicate: never by what a candidate said."""
    causes: list[str] = []
    for item in assessment.assessed:
        causes.extend(reason.partition(":")[0] for reason in item.report.unsupported)
        if item.report.unsupported:
            continue
        for requirement in item.report.unmet:
            prefix = NOT_USED if is_held(situation, requirement) else NOT_MET
            causes.append(f"{prefix}: {_name(requirement)}")
        causes.extend(
            f"{verdict.predicate_id}: {verdict.verdict.value}"
            for verdict in item.report.verdicts
            if verdict.verdict is not Verdict.HOLDS
        )
    return _join(causes) or NO_CANDIDATES


def _describe_lost(requirement: Requirement, coverage: tuple[Coverage, ...]) -> str:
    """Name a requirement out of reach, and the units that a budget keeps from covering it.

    How much budget would do stands in the certificate's coverage (spec 4.4).
    """
    name = _name(requirement)
    for item in coverage:
        if item.requirement == requirement and item.unit_ids:
            return f"{name}: {item.status.value} for {', '.join(item.unit_ids[:UNITS_NAMED_MAX])}"
    return name


def _name(requirement: Requirement) -> str:
    if requirement.kind is RequirementKind.RESOLVE:
        # People know a proposal by its predicate's id, not by its digest.
        names = [one.removeprefix(PROPOSAL) for one in requirement.reasons]
        return f"{requirement.kind.value} {', '.join(names)}"
    return f"{requirement.kind.value} {requirement.argument}"


def _join(causes: Iterable[str]) -> str:
    return "; ".join(sorted(dict.fromkeys(causes))[:DETAILS_MAX])
