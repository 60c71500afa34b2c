"""Observations: what users, tools and extractors report (spec 1.8); payloads of events."""

from dataclasses import dataclass
from enum import StrEnum

from schemas.candidate import SlotValue
from schemas.predicate import Predicate
from schemas.value import Value


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
class CommitmentObserved:
    """A commitment made elsewhere, amendable here."""

    commitment_id: str
    scene: str
    commitment_type: str
    slots: tuple[SlotValue, ...]


@dataclass(frozen=True, slots=True)
class ErasureRequested:
    """Asks for the erasure of the named events, or of the whole user when none is named."""

    event_ids: tuple[str, ...]
