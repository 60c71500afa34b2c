"""The packet: all that a generator may see of a turn, and why (spec 4.5)."""

from dataclasses import dataclass
from enum import StrEnum

from schemas.candidate import SlotValue
from schemas.catalogue import Authority
from schemas.event import TurnMode, Weights
from schemas.predicate import Predicate
from schemas.record import Embodied
from schemas.value import Value


class RequirementKind(StrEnum):
    """The kinds of spec 3.3."""

    UNKNOWN = "unknown"
    DIMENSION = "dimension"
    SLOT = "slot"
    CONFIRMED = "confirmed"
    NON_EMPTY = "non_empty"
    RESOLVE = "resolve"


class Uncovered(StrEnum):
    """Why a requirement is not covered by Z* (spec 4.4); ``covered`` when it is."""

    UNKNOWN = "unknown"
    COVERED = "covered"
    NO_UNIT = "no_unit"
    OVER_BUDGET = "over_budget"
    CROWDED_OUT = "crowded_out"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One element of R_t: kind, argument, weight (1..1000) and where it comes from."""

    kind: RequirementKind
    argument: str
    weight: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of a requirement: the covering units, or those that would and the budget."""

    requirement: Requirement
    status: Uncovered
    unit_ids: tuple[str, ...]
    budget_needed: int | None


class BudgetPart(StrEnum):
    """The budget that a unit was charged to."""

    UNKNOWN = "unknown"
    MAIN = "main"
    TAIL = "tail"


@dataclass(frozen=True, slots=True)
class UnitTerms:
    """The five terms of J for one unit, unweighted millionths, and its marginal gain."""

    unit_id: str
    cost: int
    relevance: int
    coverage: int
    tail: int
    debt: int
    over: int
    gain: int


@dataclass(frozen=True, slots=True)
class PacketUnit:
    """One activated unit of Z*."""

    unit_id: str
    content: str
    reference: str | None
    slot: str | None
    value: Value
    dimensions: tuple[str, ...]
    authority: Authority
    tail_witness: bool
    part: BudgetPart
    event_id: str
    event_digest: bytes


@dataclass(frozen=True, slots=True)
class PredicateView:
    """One predicate in force as the generator sees it."""

    predicate: Predicate
    digest: bytes
    version: int
    confirmed_at_ms: int
    confirmed_by: str


@dataclass(frozen=True, slots=True)
class Packet(Embodied):
    """Z*, R_t, the contract view and the scene of one turn; its digest is SHA-256 of its body.

    ``objective``, ``bound`` and ``gap`` are millionths: J of Z*, a certified upper bound on the
    two-level optimum, and their difference. ``left_out`` are the best 32 units not taken;
    ``terms_digest`` covers the terms of all others.
    """

    tenant: str
    user: str
    turn_id: str
    seq: int
    round: int
    scene: str
    commitment_types: tuple[str, ...]
    mode: TurnMode
    text: str | None
    asks: tuple[SlotValue, ...]
    participants: tuple[str, ...]
    as_of_ms: int
    ruleset: int
    catalogue_digest: bytes
    selector: str
    weights: Weights
    budget_main: int
    budget_tail: int
    cost_main: int
    cost_tail: int
    units: tuple[PacketUnit, ...]
    terms: tuple[UnitTerms, ...]
    coverage: tuple[Coverage, ...]
    contract: tuple[PredicateView, ...]
    contract_version: int
    contract_digest: bytes
    objective: int
    bound: int
    gap: int
    left_out: tuple[UnitTerms, ...]
    terms_digest: bytes
