"""The support check: whether a candidate may be judged at all (spec 5.3).

Every reason is ``code`` or ``code:argument``, the codes being the closed list ``CODES``. A
candidate with any reason is in neither A_t nor F_t. A slot that is absent or null is missing,
not unsupported. Where values come from is ``grounding``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from processors.activation.coverage import is_empty
from processors.situation import Situation, Unit
from processors.validation.grounding import is_grounded
from processors.validation.merging import Merged
from schemas.candidate import Candidate
from schemas.catalogue import CommitmentType, SlotDeclaration, SlotType
from schemas.value import Elapsed, Money, Period, RecordValue, StringSet, Timestamp, Value

CODES: Final[dict[str, str]] = {
    "type_not_in_scene": "the commitment type is none of the scene's",
    "repair_status": "the candidate states a repair; repairs are decided here, not proposed",
    "slots_with_amends": "an amendment carries a patch, never slots",
    "patch_without_amends": "a patch needs the commitment that it amends",
    "unknown_commitment": "no such commitment of this user",
    "stale_version": "the amended commitment has another version now",
    "other_type": "the amended commitment has another type",
    "bad_path": "the patch path leads nowhere in the amended commitment",
    "too_deep": "the slot nests deeper than values may",
    "duplicate_slot": "the slot is carried twice",
    "undeclared_slot": "the commitment type declares no such slot",
    "wrong_type": "the slot's value has another type than declared",
    "out_of_range": "the slot's value is outside its bounds, or not comparable with them",
    "not_a_choice": "the slot's value is none of its choices",
    "ungrounded": "no cited unit and no state slot of enough authority states this value",
    "unknown_evidence": "no unit of that id is valid for this turn",
    "not_activated": "the unit was not activated for this turn",
    "unknown_claim": "no predicate of that id is in force",
}
"""The closed list of reasons, each with its meaning; the argument names what it is about."""

_NATIVE: Final[dict[SlotType, tuple[type, ...]]] = {
    SlotType.STRING: (str,),
    SlotType.BOOL: (bool,),
    SlotType.INT: (int,),
    # Whole numbers and decimals compare exactly with each other (spec 2.5): nothing is coerced.
    SlotType.DECIMAL: (Decimal, int),
    SlotType.MONEY: (Money,),
    SlotType.DATE: (date,),
    SlotType.TIME: (time,),
    SlotType.LOCAL: (datetime,),
    SlotType.TIMESTAMP: (Timestamp,),
    SlotType.ELAPSED: (Elapsed,),
    SlotType.PERIOD: (Period,),
    SlotType.RECORD: (RecordValue,),
    SlotType.LIST: (tuple,),
    SlotType.SET: (StringSet,),
}
_ORDERED: Final = (date, time, datetime, Timestamp, Elapsed)


@dataclass(frozen=True, slots=True)
class Known:
    """What candidates may refer to, by name: built once per turn."""

    activated: Mapping[str, Unit]
    claims: frozenset[str]


def list_known(situation: Situation, evidence: tuple[Unit, ...]) -> Known:
    """Return the names that the candidates of a turn may cite and claim."""
    return Known(
        activated={unit.unit_id: unit for unit in evidence},
        claims=frozenset(item.row.predicate.predicate_id for item in situation.contract),
    )


def cite(candidate: Candidate, known: Known) -> tuple[Unit, ...]:
    """Return the units of Z* that a candidate cites, each once, in log order."""
    cited = {unit_id: known.activated.get(unit_id) for unit_id in candidate.evidence_ids}
    return tuple(sorted((u for u in cited.values() if u is not None), key=_rank_unit))


def check_support(
    situation: Situation,
    known: Known,
    candidate: Candidate,
    merged: Merged,
    cited: tuple[Unit, ...],
) -> tuple[str, ...]:
    """Return the reasons why a candidate is unsupported; empty when it is supported."""
    found = list(merged.refusals)
    if candidate.repair_status:
        found.append(f"repair_status:{candidate.repair_status}")
    found.extend(_check_evidence(situation, known, candidate))
    found.extend(
        f"unknown_claim:{claim}"
        for claim in candidate.claimed_predicates
        if claim not in known.claims
    )
    declared = situation.types.get(candidate.commitment_type)
    if declared is None or candidate.commitment_type not in situation.scene.commitment_types:
        found.append(f"type_not_in_scene:{candidate.commitment_type}")
    else:
        found.extend(_check_slots(situation, declared, candidate, merged, cited))
    return tuple(dict.fromkeys(found))


def _check_evidence(situation: Situation, known: Known, candidate: Candidate) -> Iterator[str]:
    strange = [one for one in candidate.evidence_ids if one not in known.activated]
    if strange:
        # A user may have 20,000 units; they are looked through only for a candidate that errs.
        valid = frozenset([unit.unit_id for unit in situation.units])
        for unit_id in strange:
            yield f"{'not_activated' if unit_id in valid else 'unknown_evidence'}:{unit_id}"


def _rank_unit(unit: Unit) -> tuple[int, str]:
    return unit.seq, unit.unit_id


def _check_slots(
    situation: Situation,
    declared: CommitmentType,
    candidate: Candidate,
    merged: Merged,
    cited: tuple[Unit, ...],
) -> Iterator[str]:
    declarations = {slot.name: slot for slot in declared.slots}
    for name in candidate.required_slots:
        if name not in declarations:
            yield f"undeclared_slot:{name}"
    for name, value in merged.slots.items():
        declaration = declarations.get(name)
        if declaration is None:
            yield f"undeclared_slot:{name}"
        elif value is not None:
            code = _check_value(declaration, value)
            if code:
                yield f"{code}:{name}"
            elif not is_empty(value) and not is_grounded(situation, declaration, value, cited):
                yield f"ungrounded:{name}"


def _check_value(declaration: SlotDeclaration, value: Value) -> str:
    """Return the code of what is wrong with a value that is not null, or ""."""
    natives = _NATIVE.get(declaration.slot_type, ())
    if declaration.slot_type is not SlotType.ANY and type(value) not in natives:
        return "wrong_type"
    for bound in (declaration.low, declaration.high):
        if bound is not None and not _is_within(value, bound, declaration):
            return "out_of_range"
    if declaration.choices and not _is_chosen(value, declaration.choices):
        return "not_a_choice"
    return ""


def _is_within(value: Value, bound: Value, declaration: SlotDeclaration) -> bool:
    """Return whether a value keeps an inclusive bound; what cannot be compared does not."""
    pair = _order(value, bound)
    if pair is None:
        return False
    own, limit = pair
    return bool(own >= limit) if bound is declaration.low else bool(own <= limit)


def _order(value: Value, bound: Value) -> tuple[Any, Any] | None:
    numbers = (int, Decimal)
    if type(value) in numbers and type(bound) in numbers:
        return value, bound
    if isinstance(value, Money) and isinstance(bound, Money):
        same_unit = value.currency == bound.currency != ""
        return (value.amount, bound.amount) if same_unit else None
    if type(value) is type(bound) and type(value) in _ORDERED:
        return value, bound
    return None


def _is_chosen(value: Value, choices: tuple[str, ...]) -> bool:
    if isinstance(value, str):
        return value in choices
    items = value.items if isinstance(value, StringSet) else value
    return isinstance(items, tuple) and all(item in choices for item in items)
