"""The shape of each payload beyond its schema: names, numbers, choices, predicates (spec 1.11).

Everything here depends on the event alone. What depends on rows is ``conditions``; who may send
what is ``permissions``.
"""

from collections.abc import Callable
from typing import Any, Final

from processors.compilation.names import (
    check_digest,
    check_interval,
    check_name,
    check_names,
    check_optional,
    check_predicate,
    check_statements,
)
from processors.compilation.refusal import Refusal, violate
from schemas.event import (
    Answer,
    CandidatesProposed,
    CheckVerdict,
    ClarificationAnswered,
    CommitmentObserved,
    ErasureRequested,
    Event,
    EvidenceRecorded,
    FailureKind,
    FormSubmitted,
    GenerationFailed,
    HintExtracted,
    HintKind,
    ObligationDischarged,
    ObligationOpened,
    ObservationCorrected,
    ObservationWithdrawn,
    OutcomeObserved,
    PredicateConfirmed,
    PredicateProposed,
    PredicateRevoked,
    ProposalDeclined,
    Sensitivity,
    SurfaceProposed,
    TurnCancelled,
    TurnExpired,
    TurnMode,
    TurnRequested,
    UtteranceObserved,
    UtteranceOrigin,
    VerdictRecorded,
)
from schemas.fate import RejectionReason

MILLION: Final = 1_000_000

Check = Callable[[Any, Event], Refusal | None]


def check_payload(event: Event) -> Refusal | None:
    """Refuse a payload whose fields cannot mean anything; None when all is well."""
    return _CHECKS[type(event.payload)](event.payload, event)


def _unknown(field: str) -> Refusal:
    return Refusal(
        RejectionReason.UNKNOWN_OPERATION, f"{field}: unknown to this release; upgrade or omit it"
    )


def _check_form(payload: FormSubmitted, _event: Event) -> Refusal | None:
    return check_statements(payload.statements) or check_names("scopes", payload.scopes)


def _check_outcome(payload: OutcomeObserved, _event: Event) -> Refusal | None:
    return (
        check_name("scene", payload.scene)
        or check_optional("commitment_id", payload.commitment_id)
        or check_statements(payload.statements)
        or check_names("scopes", payload.scopes)
    )


def _check_utterance(payload: UtteranceObserved, _event: Event) -> Refusal | None:
    if payload.origin is UtteranceOrigin.UNKNOWN:
        return _unknown("origin")
    return check_names("scopes", payload.scopes)


def _check_hint(payload: HintExtracted, event: Event) -> Refusal | None:
    if payload.kind is HintKind.UNKNOWN:
        return _unknown("kind")
    if not 0 <= payload.confidence <= MILLION:
        return violate(f"confidence: {payload.confidence}; give 0 to {MILLION} millionths")
    refusal = check_names("source_event_ids", payload.source_event_ids)
    refusal = refusal or check_optional("subject", payload.subject)
    if refusal is not None:
        return refusal
    if payload.kind is HintKind.CONSTRAINT:
        if payload.predicate is None:
            return violate("predicate: a constraint needs one; add it or send a preference")
        return check_predicate(payload.predicate, event)
    return check_name("slot", payload.slot)


def _check_evidence(payload: EvidenceRecorded, _event: Event) -> Refusal | None:
    for place, unit in enumerate(payload.units):
        field = f"units[{place}]"
        if unit.sensitivity is Sensitivity.UNKNOWN:
            return _unknown(f"{field}.sensitivity")
        if unit.cost is not None and unit.cost < 0:
            return violate(f"{field}.cost: {unit.cost} is negative; 0 is the least")
        refusal = (
            check_names(f"{field}.dimensions", unit.dimensions)
            or check_names(f"{field}.scopes", unit.scopes)
            or check_optional(f"{field}.slot", unit.slot)
            or check_interval(field, unit.valid_from_ms, unit.valid_to_ms)
        )
        if refusal is not None:
            return refusal
    return None


def _check_named_events(
    payload: ObservationWithdrawn | ObservationCorrected, _event: Event
) -> Refusal | None:
    if not payload.event_ids:
        return violate("event_ids: empty; name the events that this is about")
    refusal = check_names("event_ids", payload.event_ids)
    if refusal is None and isinstance(payload, ObservationCorrected):
        refusal = check_statements(payload.statements)
    return refusal


def _check_proposed(payload: PredicateProposed, event: Event) -> Refusal | None:
    if payload.kind is HintKind.UNKNOWN:
        return _unknown("kind")
    return check_names("replaces", payload.replaces) or check_predicate(payload.predicate, event)


def _check_confirmed(payload: PredicateConfirmed, event: Event) -> Refusal | None:
    refusal = check_names("replaces", payload.replaces)
    if refusal is not None:
        return refusal
    if payload.predicate is not None:
        return check_predicate(payload.predicate, event)
    if payload.digest is None:
        return violate("digest: name a proposal's digest or carry the predicate itself")
    return check_digest("digest", payload.digest)


def _check_declined(payload: ProposalDeclined, _event: Event) -> Refusal | None:
    return check_digest("digest", payload.digest)


def _check_revoked(payload: PredicateRevoked, _event: Event) -> Refusal | None:
    return check_name("predicate_id", payload.predicate_id)


def _check_commitment(payload: CommitmentObserved, _event: Event) -> Refusal | None:
    return (
        check_name("commitment_id", payload.commitment_id)
        or check_name("scene", payload.scene)
        or check_name("commitment_type", payload.commitment_type)
        or check_names("slots", tuple(slot.name for slot in payload.slots))
    )


def _check_opened(payload: ObligationOpened, _event: Event) -> Refusal | None:
    return (
        check_name("obligation_id", payload.obligation_id)
        or check_name("dimension", payload.dimension)
        or check_names("blocks", payload.blocks)
    )


def _check_discharged(payload: ObligationDischarged, _event: Event) -> Refusal | None:
    return check_name("obligation_id", payload.obligation_id)


def _check_verdict(payload: VerdictRecorded, _event: Event) -> Refusal | None:
    if payload.verdict is CheckVerdict.UNKNOWN:
        return _unknown("verdict")
    return check_name("check", payload.check) or check_digest(
        "candidate_digest", payload.candidate_digest
    )


def _check_request(payload: TurnRequested, _event: Event) -> Refusal | None:
    if payload.mode is TurnMode.UNKNOWN:
        return _unknown("mode")
    for field in ("budget_main", "budget_tail", "deadline_ms"):
        amount = getattr(payload, field)
        if amount is not None and amount < 0:
            return violate(f"{field}: {amount} is negative; 0 is the least")
    for place, score in enumerate(payload.scores):
        for amount in (score.relevance, score.over):
            if amount is not None and not 0 <= amount <= MILLION:
                return violate(f"scores[{place}]: {amount}; give 0 to {MILLION} millionths")
    return (
        check_name("scene", payload.scene)
        or check_names("participants", payload.participants)
        or check_names("scopes", payload.scopes)
        or check_names("wanted_dimensions", payload.wanted_dimensions)
        or check_names("asks", tuple(slot.name for slot in payload.asks))
        or check_optional("retry_of", payload.retry_of)
    )


def _check_failed(payload: GenerationFailed, _event: Event) -> Refusal | None:
    if payload.kind is FailureKind.UNKNOWN:
        return _unknown("kind")
    if payload.kind in {FailureKind.CANCELLED, FailureKind.EXPIRED}:
        return violate(f"kind: {payload.kind.value} is not a generator's; send the turn's event")
    return check_name("turn_id", payload.turn_id)


def _check_answered(payload: ClarificationAnswered, _event: Event) -> Refusal | None:
    if payload.answer is Answer.UNKNOWN:
        return _unknown("answer")
    if payload.answer is Answer.VALUE and not payload.values:
        return violate("values: empty; an answer by value carries at least one")
    return check_optional("question_id", payload.question_id) or check_names(
        "values", tuple(slot.name for slot in payload.values)
    )


def _check_turn(
    payload: CandidatesProposed | SurfaceProposed | TurnCancelled | TurnExpired, _event: Event
) -> Refusal | None:
    return check_name("turn_id", payload.turn_id)


def _check_erasure(payload: ErasureRequested, _event: Event) -> Refusal | None:
    return check_names("event_ids", payload.event_ids)


_CHECKS: Final[dict[type, Check]] = {
    FormSubmitted: _check_form,
    OutcomeObserved: _check_outcome,
    UtteranceObserved: _check_utterance,
    HintExtracted: _check_hint,
    EvidenceRecorded: _check_evidence,
    ObservationWithdrawn: _check_named_events,
    ObservationCorrected: _check_named_events,
    PredicateProposed: _check_proposed,
    PredicateConfirmed: _check_confirmed,
    ProposalDeclined: _check_declined,
    PredicateRevoked: _check_revoked,
    CommitmentObserved: _check_commitment,
    ObligationOpened: _check_opened,
    ObligationDischarged: _check_discharged,
    VerdictRecorded: _check_verdict,
    TurnRequested: _check_request,
    CandidatesProposed: _check_turn,
    GenerationFailed: _check_failed,
    ClarificationAnswered: _check_answered,
    SurfaceProposed: _check_turn,
    TurnCancelled: _check_turn,
    TurnExpired: _check_turn,
    ErasureRequested: _check_erasure,
}
