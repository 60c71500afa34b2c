"""Predicates as they travel: an expression in its text form, and when it applies (spec 2.2)."""

from dataclasses import dataclass
from enum import StrEnum


class PredicateScope(StrEnum):
    """How long a predicate is alive."""

    UNKNOWN = "unknown"
    STANDING = "standing"
    EPISODE = "episode"  # Lapses when a commitment of its scene succeeds, or the turn chain ends.


@dataclass(frozen=True, slots=True)
class Predicate:
    """One hard predicate; its digest (SHA-256 of this record's body) is what a user confirms.

    ``expression`` and ``unless`` are canonical text forms (``processors.predicates.text``).
    Empty ``scenes`` means all; ``subject`` "" means the user; bounds of [valid_from, valid_to)
    are None when open; ``zone`` is an IANA name for dates and calendar durations.
    """

    predicate_id: str
    expression: str
    unless: str | None
    scenes: tuple[str, ...]
    subject: str
    scope: PredicateScope
    valid_from_ms: int | None
    valid_to_ms: int | None
    dimensions: tuple[str, ...]
    zone: str | None
