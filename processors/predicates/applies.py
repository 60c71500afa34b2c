"""When a predicate applies to a candidate (spec 2.2); whether it holds is ``evaluation``."""

from collections.abc import Mapping
from dataclasses import dataclass

from processors.predicates.text import PredicateTextError
from processors.predicates.walk import read_text_slots
from schemas.catalogue import CommitmentType
from schemas.predicate import Predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """The circumstances of one turn that decide which predicates apply.

    ``types`` are the catalogue's commitment types by name.
    """

    scene: str
    as_of_ms: int
    user: str
    participants: tuple[str, ...]
    types: Mapping[str, CommitmentType]


def applies(predicate: Predicate, *, commitment_type: str, occasion: Occasion) -> bool:
    """Return whether a predicate applies to candidates of this type.

    Its validity contains as_of, its subject is the user or a participant, and ``scenes`` names
    the scene; whether its scope is alive the contract says. With all scenes: the type declares
    a slot that the rule reads, or is not in the catalogue. A rule that reads no slot at all (it
    asks about the state, a unit or a check) binds every type, for nothing else would ever ask.
    Where each of its dimensions is one that never binds the type (``not_affected_by``) it does
    not apply.
    """
    if not contains(predicate, occasion.as_of_ms):
        return False
    if predicate.subject not in {"", occasion.user, *occasion.participants}:
        return False
    declared = occasion.types.get(commitment_type)
    if declared is not None and predicate.dimensions:
        spared = declared.not_affected_by
        if all(dimension in spared for dimension in predicate.dimensions):
            return False
    if predicate.scenes:
        return occasion.scene in predicate.scenes
    if declared is None:
        return True
    try:
        read = read_text_slots(predicate.expression)
    except PredicateTextError:
        return True  # Its verdict is invalid: an unreadable rule is met by nothing.
    return not read or any(slot.name in read for slot in declared.slots)


def contains(predicate: Predicate, as_of_ms: int) -> bool:
    """Return whether the validity interval [from, to) contains an instant."""
    starts, ends = predicate.valid_from_ms, predicate.valid_to_ms
    return (starts is None or starts <= as_of_ms) and (ends is None or as_of_ms < ends)
