"""A turn's situation: h_t, u_t, E_t and the request, read from the rows once (spec 3).

Built by ``processors.compilation.reading`` and read by activation and validation; plain data.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.catalogue import Authority, Catalogue, CommitmentType, Scene
from schemas.event import Sensitivity, TurnRequested
from schemas.row import (
    ActivationRow,
    CommitmentRow,
    EpisodeRow,
    ObligationRow,
    PredicateRow,
    ProposalRow,
    QuestionRow,
    RegimeRow,
    Standing,
    TouchRow,
)
from schemas.value import Value


@dataclass(frozen=True, slots=True)
class Unit:
    """One element of E_t (spec 3.2); ``unit_id`` is event seq + "#" + index.

    A predicate's unit has index "p" and its id; ``predicate_id`` is then set.
    """

    unit_id: str
    event_id: str
    event_digest: bytes
    seq: int
    content: str
    reference: str | None
    subject: str
    slot: str | None
    value: Value
    dimensions: tuple[str, ...]
    authority: Authority
    tail_witness: bool
    sensitivity: Sensitivity
    cost: int
    predicate_id: str | None


@dataclass(frozen=True, slots=True)
class InForce:
    """A predicate in force and alive, its row id, and the version that it replaced, if any."""

    row: PredicateRow
    predecessor: PredicateRow | None


@dataclass(frozen=True, slots=True)
class Situation:
    """All that deciding one turn may read.

    ``slots`` holds the winning statement per (subject, slot) at as_of; ``stated`` every value
    the user ever stated there (asserted or confirmed), newest first; subject "" is the user.
    ``contract`` is h_t at the candidates' seq, sorted by predicate id; ``units`` is E_t, sorted
    by (seq, index).
    """

    tenant: str
    user: str
    turn_id: str
    request: TurnRequested
    request_seq: int
    request_event_id: str
    request_digest: bytes
    seq: int
    effective_ms: int
    as_of_ms: int
    historical: bool
    zone: str | None
    regime: RegimeRow
    catalogue: Catalogue
    scene: Scene
    types: Mapping[str, CommitmentType]
    contract: tuple[InForce, ...]
    contract_version: int
    contract_digest: bytes
    slots: Mapping[tuple[str, str], Standing]
    stated: Mapping[tuple[str, str], tuple[Standing, ...]]
    preferences: Mapping[tuple[str, str], tuple[Standing, int]]
    units: tuple[Unit, ...]
    obligations: tuple[tuple[str, ObligationRow], ...]
    proposals: tuple[ProposalRow, ...]
    questions: tuple[tuple[str, QuestionRow], ...]
    touches: Mapping[str, TouchRow]
    commitments: Mapping[str, CommitmentRow]
    episode: EpisodeRow
    activation: ActivationRow
    incomplete: bool
    halted: bool
    chain: bytes
