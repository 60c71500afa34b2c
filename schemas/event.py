"""Events: the envelope and every payload of spec 1.8, in the past tense.

The log holds nothing else; whatever can influence a decision is one of these.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from schemas.candidate import Attempt, Candidate, Decoding, SlotValue
from schemas.catalogue import Catalogue
from schemas.predicate import Predicate
from schemas.value import Value


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


@dataclass(frozen=True, slots=True)
class SlotStatement:
    """One statement ``subject.slot = value`` for [valid_from, valid_to); subject "" = user."""

    subject: str
    slot: str
    value: Value
    valid_from_ms: int | None
    valid_to_ms: int | None


@dataclass(frozen=True, slots=True)
class FormSubmitted:
    """Slots that the user filled in, or a tool read: statements of u_t and evidence units."""

    scene: str | None
    statements: tuple[SlotStatement, ...]
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """A way out that a tool offered after a failure."""

    slots: tuple[SlotValue, ...]


@dataclass(frozen=True, slots=True)
class OutcomeObserved:
    """What became of a commitment in the world; ``commitment_id`` or the scene's last one."""

    scene: str
    commitment_id: str | None
    succeeded: bool
    statements: tuple[SlotStatement, ...]
    alternatives: tuple[Alternative, ...]
    scopes: tuple[str, ...]


class UtteranceOrigin(StrEnum):
    """Where a text comes from; only what the user said becomes a unit."""

    UNKNOWN = "unknown"
    SAID = "said"
    SUMMARY = "summary"
    RECALLED = "recalled"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class UtteranceObserved:
    """A text; one unit of dimension ``text`` when the user said it, else only history."""

    text: str
    origin: UtteranceOrigin
    language: str | None
    scopes: tuple[str, ...]


class HintKind(StrEnum):
    """What a hint is about; only a ``constraint`` can ask for its resolution (spec 3.3)."""

    UNKNOWN = "unknown"
    SLOT = "slot"
    PREFERENCE = "preference"
    CONSTRAINT = "constraint"


@dataclass(frozen=True, slots=True)
class HintExtracted:
    """An inference from source events, never above ``inferred``.

    A constraint carries ``predicate``; a slot or preference carries slot and value.
    ``confidence`` is in millionths.
    """

    kind: HintKind
    subject: str
    slot: str
    value: Value
    predicate: Predicate | None
    confidence: int
    source_event_ids: tuple[str, ...]


class Sensitivity(StrEnum):
    """How much showing a unit costs: 0, 100,000, 400,000, 800,000 millionths (spec 4.3)."""

    UNKNOWN = "unknown"
    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class UnitDraft:
    """One evidence unit z, d, rho, tau, kappa before it has an id (spec 3.2).

    ``cost`` None means the UTF-8 bytes of its content.
    """

    content: str
    reference: str | None
    slot: str | None
    value: Value
    dimensions: tuple[str, ...]
    tail_witness: bool
    sensitivity: Sensitivity
    scopes: tuple[str, ...]
    cost: int | None
    valid_from_ms: int | None
    valid_to_ms: int | None


@dataclass(frozen=True, slots=True)
class EvidenceRecorded:
    """Evidence units, content or reference."""

    units: tuple[UnitDraft, ...]


@dataclass(frozen=True, slots=True)
class ObservationWithdrawn:
    """Takes the units and slots of the named events, and all derived from them, out of force."""

    event_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObservationCorrected:
    """Withdraws the named events and states what is right instead."""

    event_ids: tuple[str, ...]
    statements: tuple[SlotStatement, ...]


@dataclass(frozen=True, slots=True)
class PredicateProposed:
    """An open proposal; it enters no contract. ``preference`` proposals never block a turn."""

    predicate: Predicate
    replaces: tuple[str, ...]
    kind: HintKind


@dataclass(frozen=True, slots=True)
class PredicateConfirmed:
    """The only way into the contract: names a proposal's digest, or carries the tree itself."""

    digest: bytes | None
    predicate: Predicate | None
    replaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposalDeclined:
    """Closes an open proposal."""

    digest: bytes


@dataclass(frozen=True, slots=True)
class PredicateRevoked:
    """Ends a predicate in force from here; nothing is overwritten."""

    predicate_id: str


@dataclass(frozen=True, slots=True)
class CommitmentObserved:
    """A commitment made elsewhere, amendable here."""

    commitment_id: str
    scene: str
    commitment_type: str
    slots: tuple[SlotValue, ...]


@dataclass(frozen=True, slots=True)
class ObligationOpened:
    """Consequence debt; ``blocks`` names scenes or commitment types."""

    obligation_id: str
    dimension: str
    due_ms: int | None
    blocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObligationDischarged:
    """Ends an obligation."""

    obligation_id: str


class CheckVerdict(StrEnum):
    """What an external check found."""

    UNKNOWN = "unknown"
    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class VerdictRecorded:
    """The result of an external check on one candidate; read by ``attested(check)``."""

    check: str
    candidate_digest: bytes
    verdict: CheckVerdict
    detail: str


class TurnMode(StrEnum):
    """Turn activation prioritises latency, result activation synthesis (paper section 4)."""

    UNKNOWN = "unknown"
    TURN = "turn"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class UnitScore:
    """A relevance and overpersonalisation supplied by the client, in millionths."""

    unit_id: str
    relevance: int | None
    over: int | None


@dataclass(frozen=True, slots=True)
class TurnRequested:
    """Asks for exactly one outcome; the event's id is the turn id (spec 6.1).

    ``deadline_ms`` counts from the append timestamp. Ruleset and catalogue name what must be
    active; only an operator may name a ruleset or as_of.
    """

    scene: str
    text: str | None
    utterance_ids: tuple[str, ...]
    participants: tuple[str, ...]
    scopes: tuple[str, ...]
    asks: tuple[SlotValue, ...]
    wanted_dimensions: tuple[str, ...]
    mode: TurnMode
    budget_main: int | None
    budget_tail: int | None
    as_of_ms: int | None
    deadline_ms: int | None
    catalogue_digest: bytes | None
    ruleset: int | None
    scores: tuple[UnitScore, ...]
    retry_of: str | None


@dataclass(frozen=True, slots=True)
class CandidatesProposed:
    """Answers a packet digest (None from a caller without packet)."""

    turn_id: str
    packet_digest: bytes | None
    candidates: tuple[Candidate, ...]
    raw_output: str | None
    decoding: Decoding | None
    attempts: tuple[Attempt, ...]


class FailureKind(StrEnum):
    """How a turn failed; never a safe emission (spec 5.10)."""

    UNKNOWN = "unknown"
    TIMEOUT = "timeout"
    NO_OUTPUT = "no_output"
    PARSE_FAILURE = "parse_failure"
    PARTIAL_OUTPUT = "partial_output"
    BLANK_OUTPUT = "blank_output"
    BACKEND_ERROR = "backend_error"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class GenerationFailed:
    """A generator gave no usable answer for the packet of a turn."""

    turn_id: str
    packet_digest: bytes | None
    kind: FailureKind
    raw_output: str | None
    decoding: Decoding | None
    attempts: tuple[Attempt, ...]


class Answer(StrEnum):
    """What a user says to a question."""

    UNKNOWN = "unknown"
    CONFIRM = "confirm"
    REJECT = "reject"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class ClarificationAnswered:
    """An answer from the user's own channel; without question id it binds to the only open one.

    ``digests`` picks among the digests a question offers; empty means all of them.
    """

    question_id: str | None
    answer: Answer
    digests: tuple[bytes, ...]
    values: tuple[SlotValue, ...]


@dataclass(frozen=True, slots=True)
class SurfaceProposed:
    """A later phrasing of a commitment; it never changes or delays it."""

    turn_id: str
    text: str
    language: str | None


@dataclass(frozen=True, slots=True)
class TurnCancelled:
    """Ends a pending turn on the user's or operator's word."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class TurnExpired:
    """Ends a pending turn whose deadline has passed; sent by the partition's owner."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class ErasureRequested:
    """Asks for the erasure of the named events, or of the whole user when none is named."""

    event_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """The five weights of J_t (spec 4); fixed priors (1, 2, 2, 1, 1)."""

    relevance: int
    coverage: int
    tail: int
    debt: int
    over: int


@dataclass(frozen=True, slots=True)
class PrincipalRights:
    """Rights of one operator."""

    principal_id: str
    confirm: bool
    operate: bool


@dataclass(frozen=True, slots=True)
class Genesis:
    """The first record of a partition: rules, catalogue, weights, budgets, rights, partitions."""

    ruleset: int
    catalogue: Catalogue
    weights: Weights
    budget_main: int
    budget_tail: int
    selector: str
    partitions: int
    rights: tuple[PrincipalRights, ...]
    authenticated: bool
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class RulesetActivated:
    """From here on decisions are made under this ruleset."""

    ruleset: int


@dataclass(frozen=True, slots=True)
class CatalogueActivated:
    """From here on turns are decided under this catalogue."""

    catalogue: Catalogue


@dataclass(frozen=True, slots=True)
class HistoryAttested:
    """An operator vouches for incomplete histories; None widens it to all users or tenants."""

    tenant: str | None
    user: str | None


@dataclass(frozen=True, slots=True)
class UserRefolded:
    """Releases a user halted by a core fault, after a rebuild."""

    tenant: str
    user: str


@dataclass(frozen=True, slots=True)
class ErasureCompleted:
    """The key store's receipt for an erasure."""

    tenant: str
    user: str
    event_ids: tuple[str, ...]
    receipt: str


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
