"""Atoms and formulas of the fragment in which conflict is decided (spec 2.7).

Bounds, equalities, slot differences, finite sets, and their conjunctions and disjunctions.
Whatever lies outside is ``UNKNOWN`` and constrains nothing, so it can hide a conflict but
never invent one. Translation is ``fragment``, consistency is ``theory``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeAlias

from processors.predicates.expression import Match
from schemas.value import Value

NOTHING: Final = ""
"""The variable that is always zero: ``x - NOTHING <= 5`` is the bound ``x <= 5``."""

NUMBER: Final = "number"
MONEY: Final = "money:"  # Followed by the currency: amounts of two currencies have no order.
DATE: Final = "date"
TIMESTAMP: Final = "timestamp"
LOCAL: Final = "local"
ELAPSED: Final = "elapsed"
TIME: Final = "time"
DAYS: Final = "days"

Exact: TypeAlias = int | Fraction


# Atoms are tuples for speed; tuples of two classes can be equal, so atoms are never compared.
class Difference(NamedTuple):
    """``left - right <= bound``, or ``<`` when strict; ``scale`` is None when not yet known."""

    left: str
    right: str
    bound: Exact
    strict: bool
    scale: str | None


class Unequal(NamedTuple):
    """``left - right != bound``."""

    left: str
    right: str
    bound: Exact
    scale: str | None


class Text(NamedTuple):
    """The string equals the literal under that match, or must not."""

    name: str
    match: Match
    literal: str
    positive: bool


class OneOf(NamedTuple):
    """The string equals one of the literals under that match."""

    name: str
    match: Match
    literals: tuple[str, ...]


class Pair(NamedTuple):
    """Two slots have the same value under that match, or must not; their type is not known."""

    left: str
    right: str
    match: Match
    positive: bool


class Truth(NamedTuple):
    """The truth value is this."""

    name: str
    value: bool


class Contains(NamedTuple):
    """Some item equals the literal, or none does."""

    name: str
    match: Match
    literal: Value
    positive: bool


class Within(NamedTuple):
    """Every item equals one of the literals."""

    name: str
    match: Match
    literals: tuple[Value, ...]


class Presence(NamedTuple):
    """The path has a value that is not null, or has none."""

    name: str
    positive: bool


Atom: TypeAlias = Difference | Unequal | Text | OneOf | Pair | Truth | Contains | Within | Presence


ByKind: TypeAlias = Mapping[type, list[Any]]
"""Atoms by their class, each list in the order given."""


@dataclass(frozen=True, slots=True)
class Every:
    """All of these must be true; of nothing: true."""

    items: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class Some:
    """One of these must be true; of nothing: false."""

    items: tuple["Formula", ...]


Formula: TypeAlias = Every | Some | Atom | None
UNKNOWN: Final[None] = None


def require_every(items: "list[Formula] | tuple[Formula, ...]") -> Formula:
    """Return the conjunction; what is unknown constrains nothing."""
    known = tuple(item for item in items if item is not None)
    return known[0] if len(known) == 1 else Every(known) if known else UNKNOWN


def require_some(items: "list[Formula] | tuple[Formula, ...]") -> Formula:
    """Return the disjunction; one unknown branch makes all of it unknown."""
    if any(item is None for item in items):
        return UNKNOWN
    return items[0] if len(items) == 1 else Some(tuple(items))


_TWO_SIDED: Final = (Difference, Unequal, Pair)


def name_variables(atom: Atom) -> tuple[str, ...]:
    """Return the variables of an atom, the always-zero one left out."""
    kind = type(atom)
    if kind is not Difference and kind not in _TWO_SIDED:
        return (atom[0],)
    left, right = str(atom[0]), str(atom[1])
    return (left, right) if left and right else (left or right,) if left or right else ()
