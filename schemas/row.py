"""Rows: the folded state, small and keyed by (tenant, user, kind, id) (architecture, "Rows").

Row ids are texts that sort as they should: a seq is written with ``render_seq``.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

from schemas.agreement_row import (
    CommitmentRow,
    EpisodeRow,
    ObligationRow,
    PendingRow,
    PredicateRow,
    ProposalRow,
    QuestionRow,
    TurnRow,
    VerdictRow,
)
from schemas.candidate import SlotValue
from schemas.catalogue import Authority, Catalogue
from schemas.control import PrincipalRights, Weights
from schemas.event import Event
from schemas.value import Value

__all__ = [
    "CONTRACT_KINDS",
    "KIND_OF",
    "PARTITION_KINDS",
    "ROW_RECORDS",
    "STATE_KINDS",
    "ActivationRow",
    "CatalogueRow",
    "CommitmentRow",
    "ConsequenceRow",
    "DeadlineRow",
    "DerivedRow",
    "EpisodeRow",
    "EventRow",
    "Kind",
    "ObligationRow",
    "OrderRow",
    "PendingRow",
    "PredicateRow",
    "ProposalRow",
    "QuestionRow",
    "RegimeRow",
    "Row",
    "SeenRow",
    "SlotRow",
    "SourceRow",
    "TouchRow",
    "TurnRow",
    "UserHead",
    "VerdictRow",
    "WithdrawnRow",
    "render_seq",
]


@dataclass(frozen=True, slots=True)
class UserHead:
    """One per user: all that folding an observation must know; its size does not grow.

    ``recent_ids`` are the event ids not yet moved to an OrderRow; ``chain`` is the digest chain.
    """

    seq: int
    effective_ms: int
    chain: bytes
    contract_version: int
    predicates: int
    pending_turns: int
    units: int
    oldest_text_seq: int
    recent_ids: tuple[str, ...]
    oldest_order: int
    halted: bool
    incomplete: bool


@dataclass(frozen=True, slots=True)
class SeenRow:
    """An accepted event id (row id): digest of its body, seq, effective time; for duplicates."""

    digest: bytes
    seq: int
    effective_ms: int


@dataclass(frozen=True, slots=True)
class OrderRow:
    """A block of event ids in seq order (row id: first seq); tells which SeenRows to drop."""

    event_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceRow:
    """The greatest ``source_seq`` accepted of one source (row id)."""

    source_seq: int


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event that bears units or statements (row id its seq), as it came: digest and body.

    Its Avro body is the digest followed by the event's own bytes, so storing it encodes nothing.
    """

    digest: bytes
    event: Event


@dataclass(frozen=True, slots=True)
class SlotRow:
    """The statement in force of one (subject, slot); row id ``subject NUL slot``."""

    subject: str
    slot: str
    value: Value
    authority: Authority
    event_id: str
    seq: int
    valid_from_ms: int
    valid_to_ms: int | None


@dataclass(frozen=True, slots=True)
class ConsequenceRow:
    """Statements that a commitment made true; row id its seq (u_{t+1} = U(u_t, a*, x))."""

    commitment_id: str
    event_id: str
    effective_ms: int
    subject: str
    slots: tuple[SlotValue, ...]


@dataclass(frozen=True, slots=True)
class WithdrawnRow:
    """An event (row id its seq) whose units and slots are out of force since ``by_seq``."""

    by_seq: int


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """Row id ``source event id NUL seq``: the event of that seq is derived from the source."""

    event_id: str
    seq: int


@dataclass(frozen=True, slots=True)
class TouchRow:
    """The last seq at which something about a subject's slot or a proposal changed."""

    seq: int


@dataclass(frozen=True, slots=True)
class ActivationRow:
    """The unit ids of Z* of the last two turns, for the overpersonalisation term."""

    last: tuple[str, ...]
    before: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RegimeRow:
    """Per partition: what control records have put in force."""

    ruleset: int
    catalogue_digest: bytes
    weights: Weights
    budget_main: int
    budget_tail: int
    selector: str
    partitions: int
    rights: tuple[PrincipalRights, ...]
    authenticated: bool
    deadline_ms: int
    gaps: int
    attested_gaps: int


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """A catalogue by its digest (row id hex)."""

    catalogue: Catalogue


@dataclass(frozen=True, slots=True)
class DeadlineRow:
    """Per partition; row id ``deadline NUL tenant NUL user NUL turn``: when to expire a turn."""

    tenant: str
    user: str
    turn_id: str


class Kind(IntEnum):
    """The kind of a row; its number is one byte of the row key and never changes."""

    HEAD = 1
    SEEN = 2
    ORDER = 3
    SOURCE = 4
    EVENT = 5
    SLOT = 6
    CONSEQUENCE = 7
    WITHDRAWN = 8
    DERIVED = 9
    PREDICATE = 10
    PROPOSAL = 11
    OBLIGATION = 12
    PENDING = 13
    TURN = 14
    QUESTION = 15
    TOUCH = 16
    COMMITMENT = 17
    EPISODE = 18
    VERDICT = 19
    ACTIVATION = 20
    REGIME = 21
    CATALOGUE = 22
    DEADLINE = 23


Row: TypeAlias = (
    UserHead
    | SeenRow
    | OrderRow
    | SourceRow
    | EventRow
    | SlotRow
    | ConsequenceRow
    | WithdrawnRow
    | DerivedRow
    | PredicateRow
    | ProposalRow
    | ObligationRow
    | PendingRow
    | TurnRow
    | QuestionRow
    | TouchRow
    | CommitmentRow
    | EpisodeRow
    | VerdictRow
    | ActivationRow
    | RegimeRow
    | CatalogueRow
    | DeadlineRow
)

ROW_RECORDS: Final[dict[Kind, type]] = {
    Kind.HEAD: UserHead,
    Kind.SEEN: SeenRow,
    Kind.ORDER: OrderRow,
    Kind.SOURCE: SourceRow,
    Kind.EVENT: EventRow,
    Kind.SLOT: SlotRow,
    Kind.CONSEQUENCE: ConsequenceRow,
    Kind.WITHDRAWN: WithdrawnRow,
    Kind.DERIVED: DerivedRow,
    Kind.PREDICATE: PredicateRow,
    Kind.PROPOSAL: ProposalRow,
    Kind.OBLIGATION: ObligationRow,
    Kind.PENDING: PendingRow,
    Kind.TURN: TurnRow,
    Kind.QUESTION: QuestionRow,
    Kind.TOUCH: TouchRow,
    Kind.COMMITMENT: CommitmentRow,
    Kind.EPISODE: EpisodeRow,
    Kind.VERDICT: VerdictRow,
    Kind.ACTIVATION: ActivationRow,
    Kind.REGIME: RegimeRow,
    Kind.CATALOGUE: CatalogueRow,
    Kind.DEADLINE: DeadlineRow,
}

KIND_OF: Final[dict[type, Kind]] = {record: kind for kind, record in ROW_RECORDS.items()}

PARTITION_KINDS: Final = frozenset({Kind.REGIME, Kind.CATALOGUE, Kind.DEADLINE})
CONTRACT_KINDS: Final = frozenset({Kind.PREDICATE})  # Published on ``contracts``.
STATE_KINDS: Final = frozenset(  # Published on ``states``.
    {Kind.SLOT, Kind.PROPOSAL, Kind.OBLIGATION, Kind.QUESTION, Kind.COMMITMENT}
)


def render_seq(seq: int) -> str:
    """Return a seq as a text of fixed width, so that texts sort as numbers do."""
    return f"{seq:016d}"
