"""The JSON schema of an answer to one packet: what a server may be made to keep to.

It names the scene's types, their slots in the forms of ``answer``, the activated ids and the
commitments that may be amended, so a constrained model invents no reference; a slot that must be
grounded takes the values that the packet offers for it. It is an aid: whatever comes back is
read as strictly.
"""

from typing import Any, Final

from infra.generation.offered import list_offered, read_confirmed
from processors.compilation.amendable import is_commitment, read_amendment
from schemas.candidate import Amendment
from schemas.catalogue import Catalogue, CommitmentType, SlotDeclaration, SlotType
from schemas.packet import Packet, RequirementKind

TEXT_CHARACTERS_MAX: Final = 200  # Keeps a small model from running on inside a text.
ITEMS_MAX: Final = 16
FIELD_CHARACTERS_MAX: Final = 60  # Of a text inside a record that nothing in the packet states.

_PATTERNS: Final[dict[SlotType, str]] = {
    SlotType.DECIMAL: r"^-?[0-9]{1,12}(\.[0-9]{1,6})?$",
    SlotType.MONEY: r"^-?[0-9]{1,12}(\.[0-9]{1,4})? [A-Z]{3}$",
    SlotType.DATE: r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    SlotType.TIME: r"^[0-9]{2}:[0-9]{2}$",
    SlotType.LOCAL: r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}$",
    SlotType.PERIOD: r"^P([0-9]{1,3}M)?([0-9]{1,3}D)?$",
}
_WHOLE: Final = frozenset({SlotType.INT, SlotType.TIMESTAMP, SlotType.ELAPSED})


def build_schema(packet: Packet, catalogue: Catalogue, *, candidates_max: int) -> dict[str, Any]:
    """Return the schema of one candidate, or of a list of at most ``candidates_max``."""
    types = list_types(packet, catalogue)
    kinds = [_describe_type(kind, packet) for kind in types]
    kinds += [
        _describe_amendment(kind, amends, packet)
        for kind in types
        for name, amends in list_amendable(packet)
        if name == kind.name
    ]
    one = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if candidates_max == 1:
        return one
    listed = {"type": "array", "items": one, "minItems": 1, "maxItems": candidates_max}
    return _object({"candidates": listed}, required=["candidates"])


def list_types(packet: Packet, catalogue: Catalogue) -> tuple[CommitmentType, ...]:
    """Return the types that the packet's scene allows, in the catalogue's order."""
    return tuple(kind for kind in catalogue.types if kind.name in packet.commitment_types)


def list_amendable(packet: Packet) -> tuple[tuple[str, Amendment], ...]:
    """Return type, id and version of each commitment that the packet shows, in its order."""
    return tuple(found for unit in packet.units if (found := read_amendment(unit)) is not None)


def _describe_type(kind: CommitmentType, packet: Packet) -> dict[str, Any]:
    slots = {slot.name: _describe_slot(slot, packet) for slot in kind.slots}
    known = {*read_confirmed(packet), *(ask.name for ask in packet.asks)}
    # A value that no rule fixes and the turn does not name may be left out: never invented.
    own = {"slots": _object(slots, required=[name for name in slots if name in known])}
    return _describe_candidate(kind, own, packet)


def _describe_amendment(kind: CommitmentType, amends: Amendment, packet: Packet) -> dict[str, Any]:
    """Return the form that amends one commitment; a slot that it leaves out stays as it is."""
    named = {
        "commitment_id": {"type": "string", "enum": [amends.commitment_id]},
        "version": {"type": "integer", "enum": [amends.version]},
    }
    slots = {slot.name: _describe_slot(slot, packet) for slot in kind.slots}
    own = {
        "amends": _object(named, required=list(named)),
        "patch": _object(slots, required=[]) | {"minProperties": 1},
    }
    return _describe_candidate(kind, own, packet)


def _describe_candidate(
    kind: CommitmentType, own: dict[str, Any], packet: Packet
) -> dict[str, Any]:
    units = [unit.unit_id for unit in packet.units if not is_commitment(unit)]
    claims = [view.predicate.predicate_id for view in packet.contract]
    properties = {
        "commitment_type": {"type": "string", "enum": [kind.name]},
        **own,
        "evidence_ids": _list_of(units) | {"minItems": _count_citations(packet)},
    }
    required = list(properties)
    if claims:
        properties["claimed_predicates"] = _list_of(claims)
    return _object(properties, required=required)


def _count_citations(packet: Packet) -> int:
    """Return how many units no answer can do without that covers what the shown units can.

    That is the evidence R_t requires and a unit bears, by as many as one unit bears at most.
    """
    required = {
        one.requirement.argument
        for one in packet.coverage
        if one.requirement.kind is RequirementKind.DIMENSION
    }
    borne = [
        required.intersection(unit.dimensions) for unit in packet.units if not is_commitment(unit)
    ]
    most = max(map(len, borne), default=0)
    least = -(-len(frozenset().union(*borne)) // most) if most else 0
    return min(ITEMS_MAX, least)


def _describe_slot(slot: SlotDeclaration, packet: Packet) -> dict[str, Any]:
    """Return the form of one slot: its choices, what the packet offers, else a bounded value."""
    kind = slot.slot_type
    text: dict[str, Any] = {"type": "string", "maxLength": TEXT_CHARACTERS_MAX}
    offered = list_offered(packet, slot)
    if slot.choices:
        text = {"type": "string", "enum": list(slot.choices)}
    elif offered and kind is SlotType.SET:
        text = {"type": "string", "enum": offered}
    elif offered:
        return {"enum": offered}
    if kind in _PATTERNS:
        return {"type": "string", "pattern": _PATTERNS[kind]}
    if kind in _WHOLE:
        return {"type": "integer"}
    if kind is SlotType.BOOL:
        return {"type": "boolean"}
    if kind is SlotType.RECORD:
        return _describe_record()
    if kind in {SlotType.SET, SlotType.LIST}:
        return {"type": "array", "items": text, "maxItems": ITEMS_MAX}
    return text


def _describe_record() -> dict[str, Any]:
    """Return the form of a record of unknown fields: flat, and bounded in each of its parts."""
    text = {"type": "string", "maxLength": FIELD_CHARACTERS_MAX}
    listed = {"type": "array", "items": text, "maxItems": ITEMS_MAX}
    field = {"anyOf": [text, {"type": "integer"}, {"type": "boolean"}, listed]}
    return {"type": "object", "additionalProperties": field, "maxProperties": ITEMS_MAX}


def _list_of(names: list[str]) -> dict[str, Any]:
    item = {"type": "string", "enum": names} if names else {"type": "string"}
    return {"type": "array", "items": item, "maxItems": min(ITEMS_MAX, len(names))}


def _object(properties: dict[str, Any], *, required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
