"""Who may send which payload (the table of spec 1.8), and what rights an operator needs."""

from typing import Final

from processors.compilation.refusal import Refusal
from schemas.event import (
    CandidatesProposed,
    ClarificationAnswered,
    CommitmentObserved,
    ErasureRequested,
    Event,
    EvidenceRecorded,
    FormSubmitted,
    GenerationFailed,
    HintExtracted,
    ObligationDischarged,
    ObligationOpened,
    ObservationCorrected,
    ObservationWithdrawn,
    OutcomeObserved,
    PredicateConfirmed,
    PredicateProposed,
    PredicateRevoked,
    PrincipalKind,
    ProposalDeclined,
    SurfaceProposed,
    TurnCancelled,
    TurnExpired,
    TurnRequested,
    UtteranceObserved,
    VerdictRecorded,
)
from schemas.fate import RejectionReason
from schemas.row import RegimeRow

_USER: Final = PrincipalKind.USER
_ASSISTANT: Final = PrincipalKind.ASSISTANT
_TOOL: Final = PrincipalKind.TOOL
_OPERATOR: Final = PrincipalKind.OPERATOR
_GENERATOR: Final = PrincipalKind.GENERATOR
_CLOCK: Final = PrincipalKind.CLOCK

_CLIENTS: Final = (_USER, _ASSISTANT, _TOOL, _OPERATOR, _GENERATOR)

SENDERS: Final[dict[type, tuple[PrincipalKind, ...]]] = {
    FormSubmitted: (_USER, _TOOL),
    OutcomeObserved: (_USER, _TOOL),
    UtteranceObserved: (_USER, _ASSISTANT, _TOOL),
    HintExtracted: (_GENERATOR,),
    EvidenceRecorded: (_USER, _TOOL, _OPERATOR),
    ObservationWithdrawn: (_USER, _OPERATOR),
    ObservationCorrected: (_USER, _OPERATOR),
    PredicateProposed: _CLIENTS,
    PredicateConfirmed: (_USER, _OPERATOR),
    ProposalDeclined: (_USER, _OPERATOR),
    PredicateRevoked: (_USER, _OPERATOR),
    CommitmentObserved: (_TOOL, _OPERATOR),
    ObligationOpened: (_TOOL, _OPERATOR),
    ObligationDischarged: (_TOOL, _OPERATOR),
    VerdictRecorded: (_TOOL,),
    TurnRequested: _CLIENTS,
    CandidatesProposed: (_GENERATOR, _ASSISTANT, _TOOL),
    GenerationFailed: (_GENERATOR,),
    ClarificationAnswered: (_USER,),
    SurfaceProposed: (_GENERATOR,),
    TurnCancelled: (_USER, _OPERATOR),
    TurnExpired: (_CLOCK,),
    ErasureRequested: (_USER, _OPERATOR),
}
"""Confirming is for the user, or an operator with the right: never for a model (spec 1.8)."""


def check_sender(event: Event, regime: RegimeRow) -> Refusal | None:
    """Refuse a payload that its principal may not send."""
    kind = event.principal.kind
    senders = SENDERS[type(event.payload)]
    if kind not in senders:
        name = type(event.payload).__name__
        allowed = ", ".join(sender.value for sender in senders)
        return deny(f"{name} from {kind.value}: only {allowed} may send it")
    if kind is not _OPERATOR:
        return None
    if isinstance(event.payload, PredicateConfirmed):
        return _check_right(event, regime, "confirm")
    return _check_right(event, regime, "operate")


def check_operator(event: Event, regime: RegimeRow | None) -> Refusal | None:
    """Refuse a control record that comes from no operator with the right to operate.

    Before genesis nobody has rights; then any operator may write the genesis record.
    """
    if event.principal.kind is not _OPERATOR:
        return deny(f"{type(event.payload).__name__}: only an operator may send it")
    return None if regime is None else _check_right(event, regime, "operate")


def deny(detail: str) -> Refusal:
    """Return the refusal of what its sender may not do."""
    return Refusal(RejectionReason.NOT_PERMITTED, detail)


def _check_right(event: Event, regime: RegimeRow, right: str) -> Refusal | None:
    for rights in regime.rights:
        if rights.principal_id == event.principal.id and getattr(rights, right):
            return None
    return deny(f"operator {event.principal.id!r} lacks the right to {right}; genesis grants it")
