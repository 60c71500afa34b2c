"""Why a turn ended as it did, in sentences: which rule of the method applied (spec 5)."""

from typing import Final

from schemas.outcome import CandidateReport, Commitment, Reason, RepairAct, TurnFailure

RULES: Final = {
    Reason.HISTORY_INCOMPLETE: "(0) a part of the history is gone, so nothing may rest on it",
    Reason.COMMITMENT_FAILED: "(1) the scene's last commitment failed and nothing was confirmed "
    "since",
    Reason.MISSING_EVIDENCE: "(2) or (3) something required is missing, and the user can give it",
    Reason.CONTRACT_CONFLICT: "(4) what was confirmed cannot hold together here, or rules out a "
    "value that the user stated",
    Reason.VALIDATOR_FAILURE: "(5) a verdict is invalid or could not be computed",
    Reason.UNSUPPORTED: "(6) no candidate is supported",
    Reason.QUESTIONS_EXHAUSTED: "every question was asked and nothing has changed since, or too "
    "many were",
    Reason.AMBIGUOUS_ANSWER: "an answer could mean several open questions, so it confirmed none",
    Reason.USER_HALTED: "the core failed on an event of this user, who waits for a refold",
    Reason.OUTCOME_TOO_LARGE: "the record would be larger than an outcome may be",
}

FEASIBLE: Final = "supported, every applicable predicate holds, every requirement is met"


def explain_act(outcome: Commitment | RepairAct | TurnFailure) -> tuple[str, ...]:
    """Return the sentences that lead from the candidates' vectors to the outcome."""
    reports = outcome.certificate.candidates
    match outcome:
        case Commitment():
            feasible = [report for report in reports if _is_feasible(report)]
            chosen = next(r for r in reports if r.digest == outcome.candidate_digest)
            named = f"{chosen.digest.hex()[:12]} with S {chosen.utility}"
            return (
                f"{len(feasible)} of {len(reports)} candidates are feasible: {FEASIBLE}",
                f"of those the greatest S wins, ties by digest: {named}",
                *(_compare(chosen, report) for report in feasible if report is not chosen),
            )
        case RepairAct():
            rule = RULES.get(outcome.reason, outcome.reason.value)
            return (
                f"no candidate of {len(reports)} is feasible"
                if reports
                else "it was decided without candidates",
                f"the first rule that applies: {rule}",
                *((outcome.detail,) if outcome.detail else ()),
                *(_blame(report) for report in reports),
            )
        case TurnFailure():
            return (f"the turn failed: {outcome.kind.value}; no outcome was decided",)


def _is_feasible(report: CandidateReport) -> bool:
    return not report.unsupported and not report.unmet and report.violations == 0


def _compare(chosen: CandidateReport, other: CandidateReport) -> str:
    if other.utility == chosen.utility:
        return f"{other.digest.hex()[:12]} has the same S and a later digest"
    return f"{other.digest.hex()[:12]} has S {other.utility}"


def _blame(report: CandidateReport) -> str:
    named = report.digest.hex()[:12]
    if report.unsupported:
        return f"{named} is unsupported: {'; '.join(report.unsupported)}"
    violated = [v.predicate_id for v in report.verdicts if v.verdict.value != "holds"]
    unmet = [f"{r.kind.value}:{r.argument}" for r in report.unmet]
    parts = []
    if violated:
        parts.append(f"violates {', '.join(violated)}")
    if unmet:
        parts.append(f"does not meet {', '.join(unmet)}")
    return f"{named} {' and '.join(parts)}" if parts else f"{named} is feasible by itself"
