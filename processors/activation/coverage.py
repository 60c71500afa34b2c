"""Gamma: the requirements R_t of a turn, whom they bind, and what meets them (spec 3.3).

Here live the sources of requirements and M_t over evidence units. Which units are taken is
``packet``; what a candidate meets is ``processors.validation.vector``.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from processors.activation.conflicts import find_conflicting
from processors.applicability import applies_to_scene, applies_to_type, find_fixings, find_slots
from processors.situation import InForce, Situation, Unit
from schemas.event import HintKind, TurnMode
from schemas.packet import Requirement, RequirementKind
from schemas.row import ObligationRow, ProposalRow
from schemas.value import RecordValue, StringSet, Value

WEIGHT_DEFAULT: Final = 1

Source = tuple[RequirementKind, str, str]
"""Kind, argument and one reason; R_t is these, grouped by kind and argument."""

SCENE: Final = "scene"
WANTED: Final = "wanted"
TYPE: Final = "type:"
PREDICATE: Final = "predicate:"
OBLIGATION: Final = "obligation:"
CONFLICT: Final = "conflict:"
PROPOSAL: Final = "proposal:"
VACUOUS: Final = "vacuous:"


def derive_requirements(
    situation: Situation, further: Sequence[Source] = ()
) -> tuple[Requirement, ...]:
    """Return R_t = Gamma(h_t, u_t, c_t), sorted by kind and argument (spec 3.3).

    ``further`` are the sources that only candidates bring to light: carried slots of types
    that confirm what they carry, open proposals that some candidate does not satisfy, and empty
    lists under ``all`` or ``none``; ``processors.validation`` names them with the functions here.
    """
    reasons: dict[tuple[RequirementKind, str], dict[str, None]] = {}
    for kind, argument, reason in (*_find_sources(situation), *further):
        reasons.setdefault((kind, argument), {})[reason] = None
    weights = {item.requirement: item.weight for item in situation.scene.weights}
    return tuple(
        Requirement(
            kind,
            argument,
            weights.get(f"{kind.value}:{argument}", WEIGHT_DEFAULT),
            tuple(sorted(found)),
        )
        for (kind, argument), found in sorted(reasons.items())
    )


def binds(situation: Situation, requirement: Requirement, type_name: str) -> bool:
    """Return whether a requirement is one for candidates of this type.

    It is when one of its reasons reaches the type: the scene and what the turn wants reach all;
    a type's own slots reach that type; a predicate, where it applies; an obligation, where it
    blocks. ``not_affected_by`` takes dimensions of predicates and obligations away (spec 3.4).
    """
    return any(
        _reaches(situation, requirement, reason, type_name) for reason in requirement.reasons
    )


def meets(unit: Unit, requirement: Requirement) -> bool:
    """Return M_t[i, r]: whether the unit meets the requirement.

    A slot is met by a unit that states its value. What h_t fixes or confirms is known without
    any unit (``is_known``); empty lists and open proposals are met by candidates alone.
    """
    match requirement.kind:
        case RequirementKind.DIMENSION:
            return requirement.argument in unit.dimensions
        case RequirementKind.SLOT:
            return unit.slot == requirement.argument and not is_empty(unit.value)
        case _:
            return False


def match_units(units: Sequence[Unit], requirements: Sequence[Requirement]) -> list[int]:
    """Return M_t as one mask per unit, bit r for requirement r.

    The same relation as ``meets``, read per dimension of a unit instead of per pair: a user's
    20,000 units are matched at every turn.
    """
    dimensions = _find_bits(requirements, RequirementKind.DIMENSION)
    slots = _find_bits(requirements, RequirementKind.SLOT)
    masks = []
    for unit in units:
        mask = 0
        for dimension in unit.dimensions:
            if dimension in dimensions:
                mask |= dimensions[dimension]
        if unit.slot in slots and not is_empty(unit.value):
            mask |= slots[unit.slot]
        masks.append(mask)
    return masks


def _find_bits(requirements: Sequence[Requirement], kind: RequirementKind) -> dict[str | None, int]:
    return {item.argument: 1 << bit for bit, item in enumerate(requirements) if item.kind is kind}


def is_known(situation: Situation, requirement: Requirement) -> bool:
    """Return whether u_t, h_t or the request already has the slot that is required.

    This is how ``slot`` and ``confirmed`` are covered before candidates exist (spec 3.3).
    """
    slot = requirement.argument
    if requirement.kind is RequirementKind.CONFIRMED:
        return bool(find_confirming(situation, slot))
    if requirement.kind is not RequirementKind.SLOT:
        return False
    subjects = ("", situation.user, *situation.request.participants)
    states = (situation.slots.get((subject, slot)) for subject in subjects)
    if any(state is not None and not is_empty(state.value) for state in states):
        return True
    if any(ask.name == slot and not is_empty(ask.value) for ask in situation.request.asks):
        return True
    return bool(find_confirming(situation, slot))


def is_held(situation: Situation, requirement: Requirement) -> bool:
    """Return whether E_t, u_t, h_t or the request has what a requirement asks for."""
    return is_known(situation, requirement) or any(
        meets(unit, requirement) for unit in situation.units
    )


def find_confirming(situation: Situation, slot: str) -> tuple[InForce, ...]:
    """Return the predicates in force that fix a value of this slot in the turn's scene."""
    return tuple(
        item
        for item in situation.contract
        if find_fixings(item.row.predicate, slot)
        and applies_to_scene(situation, item.row.predicate)
    )


def find_open_constraints(situation: Situation) -> tuple[ProposalRow, ...]:
    """Return the open proposals that a candidate may have to resolve (spec 3.3, ``resolve``).

    They are constraints, not preferences, about the user or a participant, and read some slot
    that no predicate in force reads.
    """
    held = {slot for item in situation.contract for slot in find_slots(item.row.predicate)}
    subjects = ("", situation.user, *situation.request.participants)
    return tuple(
        proposal
        for proposal in situation.proposals
        if proposal.status == "open"
        and proposal.kind is HintKind.CONSTRAINT
        and proposal.predicate.subject in subjects
        and any(slot not in held for slot in find_slots(proposal.predicate))
    )


def name_proposal(proposal: ProposalRow) -> Source:
    """Return the source of ``resolve`` for a proposal that some candidate does not satisfy."""
    argument = proposal.digest.hex()
    return RequirementKind.RESOLVE, argument, PROPOSAL + proposal.predicate.predicate_id


def name_vacuous(path: str, *, predicate_id: str) -> Source:
    """Return the source of ``non_empty`` for a list that a predicate found empty (spec 2.4)."""
    return RequirementKind.NON_EMPTY, path, VACUOUS + predicate_id


def name_carried(slot: str, *, type_name: str) -> Source:
    """Return the source of ``confirmed`` for a slot that a candidate of this type carries."""
    return RequirementKind.CONFIRMED, slot, TYPE + type_name


def is_empty(value: Value) -> bool:
    """Return whether a value counts as absent: null, or an empty text, list, set or record."""
    if value is None or value in ("", ()):
        return True
    if isinstance(value, StringSet):
        return not value.items
    return isinstance(value, RecordValue) and not value.fields


def _find_sources(situation: Situation) -> Iterator[Source]:
    for slot in situation.scene.required_slots:
        yield RequirementKind.SLOT, slot, SCENE
    for dimension in situation.scene.required_dimensions:
        yield RequirementKind.DIMENSION, dimension, SCENE
    for dimension in situation.request.wanted_dimensions:
        yield RequirementKind.DIMENSION, dimension, WANTED
    yield from _find_type_sources(situation)
    for item in situation.contract:
        predicate = item.row.predicate
        for dimension in predicate.dimensions:
            source = RequirementKind.DIMENSION, dimension, PREDICATE + predicate.predicate_id
            yield from _keep_if_reached(situation, source)
    for obligation_id, obligation in situation.obligations:
        source = RequirementKind.DIMENSION, obligation.dimension, OBLIGATION + obligation_id
        yield from _keep_if_reached(situation, source)
    for predicate in find_conflicting(situation):
        for dimension in predicate.dimensions:
            yield RequirementKind.DIMENSION, dimension, CONFLICT + predicate.predicate_id


def _find_type_sources(situation: Situation) -> Iterator[Source]:
    for name in situation.scene.commitment_types:
        declared = situation.types[name]
        for slot in declared.required_slots:
            yield RequirementKind.SLOT, slot, TYPE + name
        if declared.confirm_carried:
            own = {slot.name for slot in declared.slots}
            required = (*situation.scene.required_slots, *declared.required_slots)
            for slot in dict.fromkeys(required):
                if slot in own:
                    yield name_carried(slot, type_name=name)


def _keep_if_reached(situation: Situation, source: Source) -> Iterator[Source]:
    kind, argument, reason = source
    requirement = Requirement(kind, argument, WEIGHT_DEFAULT, (reason,))
    if any(binds(situation, requirement, name) for name in situation.scene.commitment_types):
        yield source


def _reaches(situation: Situation, requirement: Requirement, reason: str, type_name: str) -> bool:
    if reason.startswith(TYPE):
        return reason == TYPE + type_name
    declared = situation.types.get(type_name)
    spared = () if declared is None else declared.not_affected_by
    if reason.startswith((PREDICATE, OBLIGATION, CONFLICT)) and requirement.argument in spared:
        return False
    if reason.startswith(PREDICATE):
        predicate_id = reason.removeprefix(PREDICATE)
        return any(
            applies_to_type(situation, item.row.predicate, type_name)
            for item in situation.contract
            if item.row.predicate.predicate_id == predicate_id
        )
    if reason.startswith(OBLIGATION):
        obligation = dict(situation.obligations).get(reason.removeprefix(OBLIGATION))
        return obligation is not None and _blocks(situation, obligation, type_name)
    return True


def _blocks(situation: Situation, obligation: ObligationRow, type_name: str) -> bool:
    """Return whether an open obligation binds a type: in result mode every one does."""
    if obligation.discharged_seq is not None:
        return False
    if situation.request.mode is TurnMode.RESULT:
        return True
    return situation.scene.name in obligation.blocks or type_name in obligation.blocks
