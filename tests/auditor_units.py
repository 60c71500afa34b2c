"""Evidence units as the auditor counts them, from the specification (3.2) alone.

One unit for each utterance of the user, each recorded unit, each statement of a form, an outcome,
a correction or an answer. Which of them may be cited in a turn stands here too.
"""

from dataclasses import dataclass, replace

from schemas.agreement import Answer, ClarificationAnswered
from schemas.catalogue import Authority
from schemas.event import PrincipalKind
from schemas.observation import (
    EvidenceRecorded,
    FormSubmitted,
    ObservationCorrected,
    OutcomeObserved,
    SlotStatement,
    UtteranceObserved,
    UtteranceOrigin,
)

RANK = list(Authority)


@dataclass
class Unit:
    """One unit as the auditor counts them; ``rank`` None when its sources are not followed."""

    seq: int
    event_id: str
    dimensions: tuple
    slot: str | None
    value: object
    subject: str
    scopes: tuple
    from_ms: int
    to_ms: int | None
    rank: int | None
    stated: bool = False


def list_units(event, *, seq, at_ms):
    """Return the units of an accepted event by id."""
    payload = event.payload
    kind = event.principal.kind
    rank = None if event.derived_from else RANK.index(_worth(kind))
    plain = Unit(seq, event.event_id, (), None, None, "", (), at_ms, None, rank)
    if isinstance(payload, UtteranceObserved):
        if kind is PrincipalKind.USER and payload.origin is UtteranceOrigin.SAID:
            return {f"{seq}#0": replace(plain, dimensions=("text",), scopes=payload.scopes)}
    elif isinstance(payload, EvidenceRecorded):
        return {
            f"{seq}#{at}": replace(
                plain, dimensions=draft.dimensions, slot=draft.slot, value=draft.value,
                scopes=draft.scopes, to_ms=draft.valid_to_ms,
                from_ms=at_ms if draft.valid_from_ms is None else draft.valid_from_ms,
            )
            for at, draft in enumerate(payload.units)
        }  # fmt: skip
    elif isinstance(payload, FormSubmitted | OutcomeObserved | ObservationCorrected):
        scopes = getattr(payload, "scopes", ())
        return {
            f"{seq}#{at}": _state(plain, one, event.user, scopes)
            for at, one in enumerate(payload.statements)
        }
    elif isinstance(payload, ClarificationAnswered) and payload.answer is Answer.VALUE:
        said = [SlotStatement("", one.name, one.value, None, None) for one in payload.values]
        return {f"{seq}#{at}": _state(plain, one, event.user, ()) for at, one in enumerate(said)}
    return {}


def is_usable(unit_id, units, *, withdrawn, as_of_ms, scopes, sets):
    """Return whether a unit is in E_t: known, not withdrawn, in scope, valid, not replaced."""
    unit = units.get(unit_id)
    if unit is None or unit.event_id in withdrawn or not _is_valid(unit, as_of_ms):
        return False
    if unit.scopes and not set(unit.scopes) & set(scopes):
        return False
    if not unit.stated or unit.slot in sets or unit.rank is None:
        return True
    return not any(
        later.stated
        and (later.subject, later.slot) == (unit.subject, unit.slot)
        and (later.seq, other_id) > (unit.seq, unit_id)
        and later.event_id not in withdrawn
        and later.rank is not None
        and later.rank >= unit.rank
        and _is_valid(later, as_of_ms)
        for other_id, later in units.items()
    )


def list_states(units, *, withdrawn, as_of_ms):
    """Return what stands in each slot of the user: equal or higher authority replaces."""
    standing = {}
    for unit in sorted(units.values(), key=lambda one: one.seq):
        if not unit.stated or unit.subject or unit.event_id in withdrawn or unit.rank is None:
            continue
        held = standing.get(unit.slot)
        if _is_valid(unit, as_of_ms) and (held is None or unit.rank >= held.rank):
            standing[unit.slot] = unit
    return {slot: unit.value for slot, unit in standing.items()}


def _is_valid(unit, as_of_ms):
    return unit.from_ms <= as_of_ms and (unit.to_ms is None or as_of_ms < unit.to_ms)


def _state(plain, one, user, scopes):
    return replace(
        plain, dimensions=(one.slot,), slot=one.slot, value=one.value, scopes=scopes,
        subject="" if one.subject == user else one.subject,
        from_ms=plain.from_ms if one.valid_from_ms is None else one.valid_from_ms,
        to_ms=one.valid_to_ms, stated=True,
    )  # fmt: skip


def _worth(kind):
    if kind is PrincipalKind.USER:
        return Authority.ASSERTED
    observes = kind in {PrincipalKind.TOOL, PrincipalKind.OPERATOR}
    return Authority.OBSERVED if observes else Authority.HINT
