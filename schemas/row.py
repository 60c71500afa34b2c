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
from schemas.catalogue import Catalogue
from schemas.control import PrincipalRights, Weights
from schemas.history_row import (
    ActivationRow,
    ConsequenceRow,
    DerivedRow,
    EventRow,
    OrderRow,
    SeenRow,
    SlotRow,
    SourceRow,
    Standing,
    StatementRow,
    TextsRow,
    TouchRow,
    UserHead,
    WithdrawnRow,
)

__all__ = [
    "CONTRACT_KINDS",
    "KIND_OF",
    "PARTITION_KINDS",
    "ROW_RECORDS",
    "STATE_KINDS",
    "ActivationRow",
    "AttestedRow",
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
    "Standing",
    "StatementRow",
    "TextsRow",
    "TouchRow",
    "TurnRow",
    "UserHead",
    "VerdictRow",
    "WithdrawnRow",
    "render_seq",
]


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
class AttestedRow:
    """Per partition; row id ``tenant NUL user`` (user "" = all): gaps an operator vouched for."""

    gaps: int


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
    STATEMENT = 24
    ATTESTED = 25
    TEXTS = 26


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
    | StatementRow
    | AttestedRow
    | TextsRow
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
    Kind.STATEMENT: StatementRow,
    Kind.ATTESTED: AttestedRow,
    Kind.TEXTS: TextsRow,
}

KIND_OF: Final[dict[type, Kind]] = {record: kind for kind, record in ROW_RECORDS.items()}

PARTITION_KINDS: Final = frozenset({Kind.REGIME, Kind.CATALOGUE, Kind.DEADLINE, Kind.ATTESTED})
CONTRACT_KINDS: Final = frozenset({Kind.PREDICATE})  # Published on ``contracts``.
STATE_KINDS: Final = frozenset(  # Published on ``states``.
    {Kind.SLOT, Kind.PROPOSAL, Kind.OBLIGATION, Kind.QUESTION, Kind.COMMITMENT}
)


def render_seq(seq: int) -> str:
    """Return a seq as a text of fixed width, so that texts sort as numbers do."""
    return f"{seq:016d}"
