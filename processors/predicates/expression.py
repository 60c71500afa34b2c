"""Expressions as frozen trees: what a predicate's text means before it is evaluated (spec 2.3).

Here live the nodes and the operators. Text is ``text`` and ``rendering``,
meaning is ``evaluation``. Trees are compared by their canonical text, never with ``==``:
Python holds ``1``, ``True`` and ``Decimal("1.0")`` equal.
"""

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final, TypeAlias

from schemas.value import Elapsed, Period, Value


class Operator(StrEnum):
    """Comparisons; the value is the canonical spelling."""

    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    IN = "in"
    NOT_IN = "not_in"
    CONTAINS = "contains"
    EXCLUDES = "excludes"
    SUBSET_OF = "subset_of"
    DISJOINT_FROM = "disjoint_from"


ORDER_OPERATORS: Final = (Operator.LT, Operator.LE, Operator.GT, Operator.GE)
EXCLUSIONS: Final = (Operator.NE, Operator.NOT_IN, Operator.EXCLUDES, Operator.DISJOINT_FROM)
COLLECTION_LEFT: Final = (
    Operator.CONTAINS,
    Operator.EXCLUDES,
    Operator.SUBSET_OF,
    Operator.DISJOINT_FROM,
)
COLLECTION_RIGHT: Final = (
    Operator.IN,
    Operator.NOT_IN,
    Operator.SUBSET_OF,
    Operator.DISJOINT_FROM,
)


class Match(StrEnum):
    """When two strings count as equal (spec 2.5)."""

    EXACT = "exact"
    FOLDED = "folded"
    WORD = "word"


class Quantifier(StrEnum):
    """How a body binds the items of a list."""

    ALL = "all"
    ANY = "any"
    NONE = "none"


class Every(Enum):
    """The step ``[*]``; a type of its own, so that no field name can be taken for it."""

    EVERY = "*"


EVERY: Final = Every.EVERY
Step: TypeAlias = str | int | Every

SLOTS: Final = "slots"
STATE: Final = "state"
UNIT: Final = "unit"
AMENDED: Final = "amended"
ROOTS: Final = (SLOTS, STATE, UNIT, AMENDED)


@dataclass(frozen=True, slots=True)
class Literal:
    """A typed constant; never null."""

    value: Value


@dataclass(frozen=True, slots=True)
class Path:
    """A root (one of ``ROOTS`` or a variable bound by a quantifier) and the steps below it."""

    root: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class AsOf:
    """The instant as of which the turn decides."""


@dataclass(frozen=True, slots=True)
class After:
    """The instant of confirmation plus a duration; ``resolution`` turns it into a literal."""

    duration: Period | Elapsed


@dataclass(frozen=True, slots=True)
class Sum:
    """The exact sum of a list's numbers, amounts or elapsed durations."""

    path: Path


@dataclass(frozen=True, slots=True)
class Count:
    """The number of items of a list or set."""

    path: Path


@dataclass(frozen=True, slots=True)
class Plus:
    """left + right; the right side is never itself a sum or difference."""

    left: "Operand"
    right: "Operand"


@dataclass(frozen=True, slots=True)
class Minus:
    """left - right; the right side is never itself a sum or difference."""

    left: "Operand"
    right: "Operand"


Operand: TypeAlias = Literal | Path | AsOf | After | Sum | Count | Plus | Minus


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison; ``match`` says how its strings are compared."""

    operator: Operator
    left: Operand
    right: Operand
    match: Match


@dataclass(frozen=True, slots=True)
class Exists:
    """Holds when the path has a value that is not null, else fails."""

    path: Path


@dataclass(frozen=True, slots=True)
class IsNull:
    """Holds when the path is absent or null, else fails."""

    path: Path


@dataclass(frozen=True, slots=True)
class Attested:
    """The verdict of the external check of that name on this candidate."""

    check: str


@dataclass(frozen=True, slots=True)
class Not:
    """Swaps holds and fails."""

    item: "Expression"


@dataclass(frozen=True, slots=True)
class And:
    """Two or more conditions that must all hold."""

    items: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Two or more conditions of which one must hold."""

    items: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Unless:
    """A rule and its exception."""

    rule: "Expression"
    exception: "Expression"


@dataclass(frozen=True, slots=True)
class Quantified:
    """A body over the items of a list; inside it ``variable`` is a root."""

    quantifier: Quantifier
    variable: str
    domain: Path
    body: "Expression"


Expression: TypeAlias = (
    Comparison | Exists | IsNull | Attested | Not | And | Or | Unless | Quantified
)


def default_match(operator: Operator) -> Match:
    """Return the match of an operator that names none: exclusions are folded, others exact."""
    return Match.FOLDED if operator in EXCLUSIONS else Match.EXACT


def has_every(path: Path) -> bool:
    """Return whether the path has a step ``[*]`` and so denotes several values."""
    return any(step is EVERY for step in path.steps)
