"""Candidates under judgement: support, verdicts, R_t as they widen it, and the vector nu.

Equal candidates count once, and all order is that of their digests, so their permutation
changes nothing. What follows when none is feasible is ``diagnosis``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from processors.activation.coverage import (
    Source,
    derive_requirements,
    find_open_constraints,
    is_empty,
    name_carried,
    name_proposal,
    name_vacuous,
)
from processors.applicability import applies_to_type
from processors.predicates.scope import UnitValue
from processors.situation import Situation, Unit
from processors.validation.basis import Basis
from processors.validation.merging import Merged, merge
from processors.validation.support import Known, check_support, cite, list_known
from processors.validation.utility import Wish, list_wishes, score
from processors.validation.vector import Binding, bind, count_violations, find_unmet
from processors.validation.verdicts import (
    FindScope,
    Rule,
    build_scopes,
    close,
    judge_predicate,
    judge_rules,
    list_rules,
    list_values,
)
from schemas.candidate import Candidate
from schemas.codec import digest
from schemas.outcome import CandidateReport, PredicateVerdict, Verdict
from schemas.packet import Requirement
from schemas.row import ProposalRow


@dataclass(frozen=True, slots=True)
class Judged:
    """One candidate with everything found out about it; ``cited`` includes units used."""

    candidate: Candidate
    digest: bytes
    merged: Merged
    unsupported: tuple[str, ...]
    verdicts: tuple[PredicateVerdict, ...]
    cited: tuple[Unit, ...]
    rules: tuple[Rule, ...]
    find_scope: FindScope
    unresolved: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assessed:
    """A judged candidate and its report, the vector nu included."""

    judged: Judged
    report: CandidateReport


@dataclass(frozen=True, slots=True)
class Assessment:
    """R_t as the candidates widen it, and every candidate, sorted by digest."""

    requirements: tuple[Requirement, ...]
    assessed: tuple[Assessed, ...]


@dataclass(frozen=True, slots=True)
class _Kind:
    """What all candidates of one type share."""

    rules: tuple[Rule, ...]
    wishes: tuple[Wish, ...]


def assess(
    situation: Situation,
    requirements: tuple[Requirement, ...],
    basis: Basis,
    candidates: tuple[Candidate, ...],
) -> Assessment:
    """Return nu of every candidate, each counted once (spec 5)."""
    distinct = {digest(candidate): candidate for candidate in candidates}
    known = list_known(situation, basis.evidence)
    evidence = list_values(basis.evidence)
    kinds: dict[str, _Kind] = {}
    proposals = find_open_constraints(situation) if situation.proposals else ()
    judged = []
    for candidate_digest in sorted(distinct):
        candidate = distinct[candidate_digest]
        name = candidate.commitment_type
        if name not in kinds:
            kinds[name] = _Kind(list_rules(situation, name), list_wishes(situation, name))
        judged.append(
            _judge(
                situation,
                basis,
                candidate,
                candidate_digest,
                known=known,
                rules=kinds[name].rules,
                evidence=evidence,
                proposals=proposals,
            )
        )
    further = tuple(_find_further(situation, judged, proposals))
    widened = derive_requirements(situation, further) if further else requirements
    return Assessment(widened, _measure(situation, basis, widened, judged, kinds))


def list_supported(assessment: Assessment) -> tuple[Assessed, ...]:
    """Return A_t: the candidates that may be judged, sorted by digest."""
    return tuple(item for item in assessment.assessed if not item.report.unsupported)


def list_feasible(assessment: Assessment) -> tuple[Assessed, ...]:
    """Return F_t: supported, no violation, no unmet requirement."""
    return tuple(
        item
        for item in assessment.assessed
        if not item.report.unsupported and not item.report.violations and not item.report.unmet
    )


def rank_vector(report: CandidateReport) -> tuple[int, int, int, int, bytes]:
    """Return the key of the lexicographic minimum: nu_h, nu_c, nu_0, -S, then the digest."""
    return (
        report.violations,
        len(report.unmet),
        report.infeasible,
        -report.utility,
        report.digest,
    )


def _judge(
    situation: Situation,
    basis: Basis,
    candidate: Candidate,
    candidate_digest: bytes,
    *,
    known: Known,
    rules: tuple[Rule, ...],
    evidence: tuple[UnitValue, ...],
    proposals: tuple[ProposalRow, ...],
) -> Judged:
    merged = merge(candidate, situation.commitments)
    cited = cite(candidate, known)
    find_scope = build_scopes(
        situation, basis, digest=candidate_digest, merged=merged, cited=cited, evidence=evidence
    )
    verdicts, used = judge_rules(rules, find_scope)
    if used:
        ids = tuple(dict.fromkeys((*(unit.unit_id for unit in cited), *used)))
        cited = tuple(unit for unit in basis.evidence if unit.unit_id in ids)
    unresolved = tuple(
        proposal.digest.hex()
        for proposal in proposals
        if applies_to_type(situation, proposal.predicate, candidate.commitment_type)
        and judge_predicate(proposal.predicate, find_scope) is not Verdict.HOLDS
    )
    return Judged(
        candidate=candidate,
        digest=candidate_digest,
        merged=merged,
        unsupported=check_support(situation, known, candidate, merged, cited),
        verdicts=close(rules, verdicts),
        cited=cited,
        rules=rules,
        find_scope=find_scope,
        unresolved=unresolved,
    )


def _find_further(
    situation: Situation, judged: list[Judged], proposals: tuple[ProposalRow, ...]
) -> Iterator[Source]:
    """Yield the sources of R_t that only supported candidates bring to light (spec 3.3)."""
    open_ids: dict[str, None] = {}
    for item in judged:
        if item.unsupported:
            continue
        open_ids.update(dict.fromkeys(item.unresolved))
        for verdict in item.verdicts:
            for path in verdict.vacuous:
                yield name_vacuous(path, predicate_id=verdict.predicate_id)
        name = item.candidate.commitment_type
        if situation.types[name].confirm_carried:
            for slot, value in item.merged.slots.items():
                if not is_empty(value):
                    yield name_carried(slot, type_name=name)
    for proposal in proposals:
        if proposal.digest.hex() in open_ids:
            yield name_proposal(proposal)


def _measure(
    situation: Situation,
    basis: Basis,
    requirements: tuple[Requirement, ...],
    judged: list[Judged],
    kinds: Mapping[str, _Kind],
) -> tuple[Assessed, ...]:
    bindings: dict[str, Binding] = {}
    found = []
    for item in judged:
        name = item.candidate.commitment_type
        if name not in bindings:
            bindings[name] = bind(situation, requirements, name, kinds[name].rules)
        unmet = find_unmet(
            bindings[name],
            slots=item.merged.slots,
            cited=item.cited,
            verdicts=item.verdicts,
            unresolved=item.unresolved,
            find_scope=item.find_scope,
        )
        found.append((item, unmet, count_violations(item.verdicts)))
    none_feasible = not any(
        not item.unsupported and not unmet and not violations for item, unmet, violations in found
    )
    return tuple(
        Assessed(
            item,
            CandidateReport(
                digest=item.digest,
                commitment_type=item.candidate.commitment_type,
                unsupported=item.unsupported,
                verdicts=item.verdicts,
                unmet=unmet,
                violations=violations,
                # A candidate that states a repair claims no commitment.
                infeasible=int(none_feasible and not item.candidate.repair_status),
                utility=score(
                    kinds[item.candidate.commitment_type].wishes,
                    item.merged.slots,
                    cited=[unit.unit_id for unit in item.cited],
                    relevance=basis.relevance,
                ),
                cited=tuple([unit.unit_id for unit in item.cited]),
            ),
        )
        for item, unmet, violations in found
    )
