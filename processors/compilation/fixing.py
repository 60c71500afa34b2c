"""What confirming a predicate fixes: the slot that it states, and its relative thresholds.

A standing ``slots.<slot> == literal`` for all scenes and without exception is, once confirmed,
also the confirmed statement of that slot in u_t (spec 1.10), so that state and contract cannot
disagree about what the user has just confirmed.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Final

from processors.predicates.expression import SLOTS, Comparison, Literal, Operator, Path
from processors.predicates.rendering import render
from processors.predicates.resolution import resolve
from processors.predicates.text import PredicateTextError, parse
from processors.predicates.walk import is_relative
from schemas.event import Event
from schemas.predicate import Predicate, PredicateScope
from schemas.value import Value

_TEXTS_KEPT: Final = 4_096  # Parsed texts kept in memory; a cache of a pure function.


def find_fixed_slot(predicate: Predicate) -> tuple[str, Value] | None:
    """Return the (slot, value) that a predicate states for its subject, or None."""
    if predicate.unless is not None or predicate.scenes:
        return None
    if predicate.scope is not PredicateScope.STANDING:
        return None
    return _read_fixed(predicate.expression)


@lru_cache(maxsize=_TEXTS_KEPT)
def _read_fixed(text: str) -> tuple[str, Value] | None:
    try:
        expression = parse(text)
    except PredicateTextError:
        return None
    match expression:
        case Comparison(
            operator=Operator.EQ,
            left=Path(root=root, steps=(str(slot),)),
            right=Literal(value=value),
        ) if root == SLOTS:
            return slot, value
    return None


def resolve_predicate(predicate: Predicate, event: Event, effective_ms: int) -> Predicate:
    """Return the predicate as it is in force: subject and zone settled, thresholds as instants.

    The digest that was confirmed stays that of the record as sent (spec 2.5). A threshold that
    cannot be resolved was rejected at admission.
    """
    zone = predicate.zone or name_zone(event)
    return replace(
        predicate,
        expression=resolve_text(predicate.expression, effective_ms, zone),
        unless=None
        if predicate.unless is None
        else resolve_text(predicate.unless, effective_ms, zone),
        subject="" if predicate.subject == event.user else predicate.subject,
        zone=zone,
    )


def resolve_text(text: str, effective_ms: int, zone: str | None) -> str:
    """Return the text with relative thresholds resolved; one without any stays as sent.

    Raises:
        PredicateTextError: the text is no predicate.
        ResolutionError: a calendar duration without a known zone.

    """
    expression = parse(text)
    if not is_relative(expression):
        return text
    return render(resolve(expression, effective_ms=effective_ms, zone=zone))


def name_zone(event: Event) -> str | None:
    """Return the event's IANA zone, else its offset such as ``+02:00``, else None."""
    if event.zone is not None or event.utc_offset_min is None:
        return event.zone
    sign = "-" if event.utc_offset_min < 0 else "+"
    hours, minutes = divmod(abs(event.utc_offset_min), 60)
    return f"{sign}{hours:02d}:{minutes:02d}"
