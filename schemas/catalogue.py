"""The catalogue: the content-addressed action space A of spec 3.4."""

from dataclasses import dataclass
from enum import StrEnum

from schemas.value import Value


class Authority(StrEnum):
    """How much a value is worth; the order is that of ``processors.authority`` (spec 1.10)."""

    UNKNOWN = "unknown"
    HINT = "hint"
    INFERRED = "inferred"
    OBSERVED = "observed"
    ASSERTED = "asserted"
    CONFIRMED = "confirmed"


class SlotType(StrEnum):
    """The type a slot's value must have."""

    UNKNOWN = "unknown"
    STRING = "string"
    BOOL = "bool"
    INT = "int"
    DECIMAL = "decimal"
    MONEY = "money"
    DATE = "date"
    TIME = "time"
    LOCAL = "local"
    TIMESTAMP = "timestamp"
    ELAPSED = "elapsed"
    PERIOD = "period"
    RECORD = "record"
    LIST = "list"
    SET = "set"
    ANY = "any"


class SlotRole(StrEnum):
    """What a slot is for; recipients, accounts and URLs must be asserted by default."""

    UNKNOWN = "unknown"
    PLAIN = "plain"
    RECIPIENT = "recipient"
    ACCOUNT = "account"
    URL = "url"


@dataclass(frozen=True, slots=True)
class SlotDeclaration:
    """One typed slot of a commitment type or of the state.

    ``soft`` slots are scored, not required. ``grounded_by`` "" means none, "evidence" a cited
    unit whose slot has this slot's name, "evidence:NAME" one named NAME, "state" and
    "state:NAME" a state slot with at least ``min_authority``, "any" either of the two.
    ``low``/``high`` bound a value inclusively; ``choices`` () means no list.
    """

    name: str
    slot_type: SlotType
    soft: bool = False
    optional: bool = True
    role: SlotRole = SlotRole.PLAIN
    low: Value = None
    high: Value = None
    choices: tuple[str, ...] = ()
    grounded_by: str = ""
    min_authority: Authority = Authority.UNKNOWN


@dataclass(frozen=True, slots=True)
class ObligationTemplate:
    """Consequence debt that a commitment opens; ``due_after_ms`` from its effective time."""

    name: str
    dimension: str
    due_after_ms: int | None
    blocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommitmentType:
    """One action: its slots, what it opens and discharges, and when it counts as confirmed.

    ``confirm_carried``: every carried slot needs a predicate in force that fixes its value.
    ``discharges`` names obligation dimensions that a commitment of this type settles.
    ``not_affected_by`` names dimensions of obligations and predicates that never bind it.
    """

    name: str
    slots: tuple[SlotDeclaration, ...]
    required_slots: tuple[str, ...]
    confirm_carried: bool
    opens: tuple[ObligationTemplate, ...]
    discharges: tuple[str, ...]
    not_affected_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RequirementWeight:
    """The weight (1..1000) of one requirement, named ``kind:argument``."""

    requirement: str
    weight: int


@dataclass(frozen=True, slots=True)
class TextTemplate:
    """A text with ``{field}`` places; ``key`` is an act, a reason or a commitment type."""

    key: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Scene:
    """A situation in which a turn may be asked for; ``fallback`` "" means abstain instead."""

    name: str
    commitment_types: tuple[str, ...]
    required_slots: tuple[str, ...]
    required_dimensions: tuple[str, ...]
    weights: tuple[RequirementWeight, ...]
    templates: tuple[TextTemplate, ...]
    fallback: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Scenes, commitment types and set-valued state slots; its digest names it."""

    name: str
    scenes: tuple[Scene, ...]
    types: tuple[CommitmentType, ...]
    set_slots: tuple[str, ...]
    templates: tuple[TextTemplate, ...]
