"""Turns: requests, and what can decide or end them (spec 1.8, 1.9); payloads of events."""

from dataclasses import dataclass
from enum import StrEnum

from schemas.candidate import Attempt, Candidate, Decoding, SlotValue


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
    text: str | None = None
    utterance_ids: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    asks: tuple[SlotValue, ...] = ()
    wanted_dimensions: tuple[str, ...] = ()
    mode: TurnMode = TurnMode.TURN
    budget_main: int | None = None
    budget_tail: int | None = None
    as_of_ms: int | None = None
    deadline_ms: int | None = None
    catalogue_digest: bytes | None = None
    ruleset: int | None = None
    scores: tuple[UnitScore, ...] = ()
    retry_of: str | None = None


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
