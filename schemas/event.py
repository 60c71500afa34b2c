"""Events: the envelope of spec 1.4 and the union of every payload of spec 1.8.

The log holds nothing else; whatever can influence a decision is one of these. The payloads
stand in ``observation``, ``agreement``, ``turn`` and ``control`` and are all named here too.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from schemas.agreement import (
    Answer,
    CheckVerdict,
    ClarificationAnswered,
    ObligationDischarged,
    ObligationOpened,
    PredicateConfirmed,
    PredicateProposed,
    PredicateRevoked,
    ProposalDeclined,
    VerdictRecorded,
)
from schemas.control import (
    CatalogueActivated,
    ErasureCompleted,
    Genesis,
    HistoryAttested,
    PrincipalRights,
    RulesetActivated,
    UserRefolded,
    Weights,
)
from schemas.observation import (
    Alternative,
    CommitmentObserved,
    ErasureRequested,
    EvidenceRecorded,
    FormSubmitted,
    HintExtracted,
    HintKind,
    ObservationCorrected,
    ObservationWithdrawn,
    OutcomeObserved,
    Sensitivity,
    SlotStatement,
    UnitDraft,
    UtteranceObserved,
    UtteranceOrigin,
)
from schemas.turn import (
    CandidatesProposed,
    FailureKind,
    GenerationFailed,
    SurfaceProposed,
    TurnCancelled,
    TurnExpired,
    TurnMode,
    TurnRequested,
    UnitScore,
)

__all__ = [
    "CONTROL_PAYLOADS",
    "Alternative",
    "Answer",
    "CandidatesProposed",
    "CatalogueActivated",
    "CheckVerdict",
    "ClarificationAnswered",
    "CommitmentObserved",
    "ControlPayload",
    "ErasureCompleted",
    "ErasureRequested",
    "Event",
    "EvidenceRecorded",
    "FailureKind",
    "FormSubmitted",
    "GenerationFailed",
    "Genesis",
    "HintExtracted",
    "HintKind",
    "HistoryAttested",
    "ObligationDischarged",
    "ObligationOpened",
    "ObservationCorrected",
    "ObservationWithdrawn",
    "OutcomeObserved",
    "PredicateConfirmed",
    "PredicateProposed",
    "PredicateRevoked",
    "Principal",
    "PrincipalKind",
    "PrincipalRights",
    "ProposalDeclined",
    "RulesetActivated",
    "Sensitivity",
    "SlotStatement",
    "SurfaceProposed",
    "TurnCancelled",
    "TurnExpired",
    "TurnMode",
    "TurnRequested",
    "UnitDraft",
    "UnitScore",
    "UserPayload",
    "UserRefolded",
    "UtteranceObserved",
    "UtteranceOrigin",
    "VerdictRecorded",
    "Weights",
]


class PrincipalKind(StrEnum):
    """Who may speak; only ``user`` and an ``operator`` with the right can confirm."""

    UNKNOWN = "unknown"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    OPERATOR = "operator"
    GENERATOR = "generator"
    CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class Principal:
    """The sender of an event; it counts only when the envelope's mac verifies (spec 1.6)."""

    kind: PrincipalKind
    id: str


UserPayload: TypeAlias = (
    FormSubmitted
    | OutcomeObserved
    | UtteranceObserved
    | HintExtracted
    | EvidenceRecorded
    | ObservationWithdrawn
    | ObservationCorrected
    | PredicateProposed
    | PredicateConfirmed
    | ProposalDeclined
    | PredicateRevoked
    | CommitmentObserved
    | ObligationOpened
    | ObligationDischarged
    | VerdictRecorded
    | TurnRequested
    | CandidatesProposed
    | GenerationFailed
    | ClarificationAnswered
    | SurfaceProposed
    | TurnCancelled
    | TurnExpired
    | ErasureRequested
)

ControlPayload: TypeAlias = (
    Genesis
    | RulesetActivated
    | CatalogueActivated
    | HistoryAttested
    | UserRefolded
    | ErasureCompleted
)

CONTROL_PAYLOADS: Final = (
    Genesis,
    RulesetActivated,
    CatalogueActivated,
    HistoryAttested,
    UserRefolded,
    ErasureCompleted,
)


@dataclass(frozen=True, slots=True)
class Event:
    """The envelope (spec 1.4) and one payload; control records have tenant and user ""."""

    event_id: str
    tenant: str
    user: str
    occurred_at_ms: int
    utc_offset_min: int | None
    zone: str | None
    principal: Principal
    mac: bytes | None
    causation_id: str | None
    correlation_id: str | None
    derived_from: tuple[str, ...]
    source: str | None
    source_seq: int | None
    payload: UserPayload | ControlPayload
