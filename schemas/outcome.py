"""Outcomes: a turn ends in exactly one Commitment, RepairAct or TurnFailure (spec 6)."""

from dataclasses import dataclass
from enum import StrEnum

from schemas.candidate import Amendment, Attempt, SlotValue
from schemas.catalogue import ObligationTemplate
from schemas.event import Alternative, FailureKind
from schemas.packet import Coverage, Requirement


class Verdict(StrEnum):
    """What became of a predicate on a candidate; only ``holds`` satisfies (spec 2.4)."""

    UNKNOWN = "unknown"
    HOLDS = "holds"
    FAILS = "fails"
    MISSING = "missing"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class PredicateVerdict:
    """One applicable predicate (id, version = seq of its confirmation) and its verdict."""

    predicate_id: str
    version: int
    verdict: Verdict
    reason: str
    vacuous: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CandidateReport:
    """The violation vector nu of one candidate and what it is made of (spec 5).

    ``unsupported`` are the reasons of the support check; a candidate with any is in neither
    A_t nor F_t. ``violations`` is nu_h, ``unmet`` counts nu_c, ``infeasible`` is nu_0 and
    ``utility`` is S in millionths.
    """

    digest: bytes
    commitment_type: str
    unsupported: tuple[str, ...]
    verdicts: tuple[PredicateVerdict, ...]
    unmet: tuple[Requirement, ...]
    violations: int
    infeasible: int
    utility: int
    cited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EventReference:
    """An event that an outcome rests on."""

    event_id: str
    seq: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Certificate:
    """All that is needed to recompute one outcome from the log (spec 6.3).

    ``without_predicates`` marks an empty contract, ``history_incomplete`` a gap of spec 1.8.
    """

    seq_from: int
    seq_to: int
    rests_on: tuple[EventReference, ...]
    contract_version: int
    contract_digest: bytes
    packet_digest: bytes | None
    evidence_digest: bytes
    evidence_ids: tuple[str, ...]
    coverage: tuple[Coverage, ...]
    candidates: tuple[CandidateReport, ...]
    as_of_ms: int
    historical: bool
    ruleset: int
    catalogue_digest: bytes
    authenticated: bool
    without_predicates: bool
    history_incomplete: bool
    chain: bytes


@dataclass(frozen=True, slots=True)
class Commitment:
    """A validated structured commitment; ``slots`` are those after merging an amendment.

    ``text`` is the candidate's own if it passed the surface check, else the scene's template
    (``text_from`` "candidate" or "template"); ``surface_mismatches`` says why.
    """

    outcome_id: bytes
    tenant: str
    user: str
    turn_id: str
    seq: int
    scene: str
    commitment_type: str
    commitment_id: str
    version: int
    amends: Amendment | None
    slots: tuple[SlotValue, ...]
    evidence_ids: tuple[str, ...]
    candidate_digest: bytes
    utility: int
    opened: tuple[ObligationTemplate, ...]
    discharged: tuple[str, ...]
    text: str
    text_from: str
    surface_mismatches: tuple[str, ...]
    certificate: Certificate


class Act(StrEnum):
    """The repair acts; none carries a commitment."""

    UNKNOWN = "unknown"
    CLARIFY = "clarify"
    RECONTRACT = "recontract"
    ABSTAIN = "abstain"
    FALLBACK = "fallback"


class Reason(StrEnum):
    """delta: why no commitment was feasible (spec 5.7), and the further reasons to abstain."""

    UNKNOWN = "unknown"
    HISTORY_INCOMPLETE = "history_incomplete"
    COMMITMENT_FAILED = "commitment_failed"
    MISSING_EVIDENCE = "missing_evidence"
    CONTRACT_CONFLICT = "contract_conflict"
    VALIDATOR_FAILURE = "validator_failure"
    UNSUPPORTED = "unsupported"
    QUESTIONS_EXHAUSTED = "questions_exhausted"
    AMBIGUOUS_ANSWER = "ambiguous_answer"
    USER_HALTED = "user_halted"
    OUTCOME_TOO_LARGE = "outcome_too_large"


@dataclass(frozen=True, slots=True)
class QuestionOption:
    """One thing a user can confirm by its digest; ``predicate_id`` names the open proposal."""

    digest: bytes
    predicate_id: str
    slot: str
    expression: str


@dataclass(frozen=True, slots=True)
class Question:
    """What a Clarify asks: requirements, slots to give, proposals to confirm (spec 5.9).

    ``unblocks`` are the numbers of candidates that it alone blocks and that it blocks.
    """

    question_id: str
    subject: str
    requirements: tuple[Requirement, ...]
    slots: tuple[str, ...]
    options: tuple[QuestionOption, ...]
    unblocks: tuple[int, ...]


class RelaxationKind(StrEnum):
    """The ways out of a conflict that a Recontract may offer (spec 5.7)."""

    UNKNOWN = "unknown"
    DROP = "drop"
    REVERT = "revert"
    ADOPT = "adopt"


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One smallest change of the contract that would resolve the conflict."""

    kind: RelaxationKind
    predicate_id: str
    expression: str
    digest: bytes | None


@dataclass(frozen=True, slots=True)
class ConflictMember:
    """One predicate of a conflict core, with its provenance."""

    predicate_id: str
    version: int
    expression: str
    confirmed_by: str
    event_id: str


@dataclass(frozen=True, slots=True)
class RepairAct:
    """A normal answer without commitment: Clarify, Recontract, Abstain or Fallback."""

    outcome_id: bytes
    tenant: str
    user: str
    turn_id: str
    seq: int
    scene: str
    act: Act
    reason: Reason
    detail: str
    question: Question | None
    conflict: tuple[ConflictMember, ...]
    relaxations: tuple[Relaxation, ...]
    alternatives: tuple[Alternative, ...]
    text: str
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class TurnFailure:
    """A system failure, a cancellation or an expiry; counted, never a safe emission."""

    outcome_id: bytes
    tenant: str
    user: str
    turn_id: str
    seq: int
    scene: str
    kind: FailureKind
    detail: str
    attempts: tuple[Attempt, ...]
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Surface:
    """A later phrasing of a commitment that passed, or did not pass, the surface check."""

    outcome_id: bytes
    tenant: str
    user: str
    turn_id: str
    seq: int
    text: str
    accepted: bool
    mismatches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rejection:
    """A record that was not accepted: position, hash, reason; bytes where policy allows."""

    partition: int
    offset: int
    digest: bytes
    reason: str
    detail: str
    data: bytes | None
