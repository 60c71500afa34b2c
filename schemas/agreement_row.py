"""Rows of the contract and of turns: predicates, proposals, questions, commitments (spec 2, 5).

They are rows like those of ``row``, which names and numbers them all.
"""

from dataclasses import dataclass

from schemas.agreement import CheckVerdict
from schemas.candidate import SlotValue
from schemas.catalogue import Authority
from schemas.event import Event, PrincipalKind
from schemas.observation import Alternative, HintKind
from schemas.predicate import Predicate
from schemas.value import Value


@dataclass(frozen=True, slots=True)
class PredicateRow:
    """One version of a predicate; row id ``predicate id NUL seq``; ended, never overwritten.

    ``predicate`` is as in force, its relative thresholds resolved; ``digest`` names what was
    confirmed. ``ended_by`` is why (revoked, replaced, lapsed), a colon and the event's id.
    """

    predicate: Predicate
    digest: bytes
    seq: int
    event_id: str
    principal_kind: PrincipalKind
    principal_id: str
    effective_ms: int
    replaces: tuple[str, ...]
    ended_seq: int | None
    ended_ms: int | None
    ended_by: str
    findings: tuple[str, ...]
    event_digest: bytes = b""


@dataclass(frozen=True, slots=True)
class ProposalRow:
    """A proposal; row id the hex of its digest. ``status``: open, confirmed, declined, closed."""

    predicate: Predicate
    digest: bytes
    kind: HintKind
    subject: str
    slot: str
    value: Value
    authority: Authority
    confidence: int
    replaces: tuple[str, ...]
    event_id: str
    seq: int
    status: str
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObligationRow:
    """Consequence debt (row id the obligation id)."""

    dimension: str
    due_ms: int | None
    blocks: tuple[str, ...]
    event_id: str
    seq: int
    discharged_seq: int | None


@dataclass(frozen=True, slots=True)
class PendingRow:
    """A turn without outcome (row id the turn id): its request and its current packet.

    ``relevance`` is rel_i of each of ``evidence_ids`` in millionths, as the packet had it.
    """

    request: Event
    request_digest: bytes
    seq: int
    effective_ms: int
    deadline_at_ms: int
    round: int
    packet_digest: bytes | None
    evidence_ids: tuple[str, ...]
    relevance: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn that ended (row id the turn id); a turn that ended stays ended."""

    outcome: str
    outcome_id: bytes
    seq: int
    scene: str
    commitment_id: str | None


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question asked (row id the question id); ``status``: open, answered, closed.

    ``key`` identifies (scene, subject, requirement, proposal digest); the question may be put
    again once an accepted event touched it after ``asked_seq``.
    """

    key: str
    scene: str
    subject: str
    slots: tuple[str, ...]
    digests: tuple[bytes, ...]
    turn_id: str
    asked_seq: int
    status: str


@dataclass(frozen=True, slots=True)
class CommitmentRow:
    """A commitment (row id its id); ``result``: pending, succeeded, failed."""

    scene: str
    commitment_type: str
    slots: tuple[SlotValue, ...]
    version: int
    seq: int
    event_id: str
    result: str
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """What runs in one scene (row id its name).

    ``failed_seq`` is set by a failed outcome and cleared by a confirmation (spec 5.7 (1)).
    """

    questions: int
    started_seq: int
    last_commitment_id: str | None
    failed_seq: int | None
    confirmed_seq: int
    ambiguous_seq: int | None


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """An external verdict; row id ``candidate digest hex NUL check``."""

    verdict: CheckVerdict
    detail: str
    seq: int
