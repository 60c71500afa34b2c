"""What an evaluation runs, and what only its scorer knows.

A ``Fixture`` is a history whose last event asks for a turn; nothing in it says what is right.
``Label`` is the oracle's side (h*, E*, F*, expected act); ``labelling`` keeps it in a file of
its own. The checks of h* are stated in a small form of their own, so that the scorer judges
without the predicate language that it judges.
"""

from dataclasses import dataclass
from enum import StrEnum

from schemas.event import Event


class Bucket(StrEnum):
    """The six exported stress surfaces (paper, 5.1)."""

    FALSE_HARDENING = "false_hardening"
    HIDDEN_EXCEPTION = "hidden_exception"
    WITNESS_DROP = "witness_drop"
    INFEASIBLE_CONTINUATION = "infeasible_continuation"
    CONSEQUENCE_DEBT = "consequence_debt"
    SURFACE_MISMATCH = "surface_mismatch"


class Expected(StrEnum):
    """The act that the label expects; all but ``commit`` are repairs."""

    COMMIT = "commit"
    CLARIFY = "clarify"
    RECONTRACT = "recontract"
    ABSTAIN = "abstain"


@dataclass(frozen=True, slots=True)
class Fixture:
    """One user's history; the last event is the turn's request, and its id the turn's."""

    fixture_id: str
    events: tuple[Event, ...]

    @property
    def turn_id(self) -> str:
        """The id of the request."""
        return self.events[-1].event_id


class Relation(StrEnum):
    """How a check compares what a commitment carries with its bound."""

    AT_MOST = "at_most"
    AT_LEAST = "at_least"
    ONE_OF = "one_of"
    NONE_OF = "none_of"


@dataclass(frozen=True, slots=True)
class Check:
    """One predicate of h*: a path such as ``offer.price`` against a bound.

    ``unless_purpose`` lifts the check for that purpose; "" means that nothing does.
    """

    predicate_id: str
    path: str
    relation: Relation
    number: int
    words: tuple[str, ...]
    unless_purpose: str


@dataclass(frozen=True, slots=True)
class Need:
    """A dimension of E* and the units that have it, or an obligation and its evidence."""

    name: str
    unit_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """One offer of F*: what a right commitment carries."""

    name: str
    price: int
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """The oracle's side of one fixture; only the scorer reads it.

    ``feasible`` are the offers of F*; ``witnesses`` the tail witnesses of E*;
    ``uncompiled`` visible facts that no compiler turned into anything typed; ``intrusive`` units
    that no turn of this kind should be shown.
    """

    fixture_id: str
    case_id: str
    bucket: Bucket
    domain: str
    tier: str
    history_events: int
    expected: Expected
    checks: tuple[Check, ...]
    needs: tuple[Need, ...]
    witnesses: tuple[str, ...]
    obligations: tuple[Need, ...]
    feasible: tuple[Terms, ...]
    day: str
    party: int
    purpose: str
    uncompiled: tuple[str, ...]
    intrusive: tuple[str, ...]
