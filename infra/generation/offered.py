"""The values that a packet offers for a slot, each in the form in which an answer gives it.

They stand in its units, its asks and its contract; no log, no history and no label is read.
"""

from collections.abc import Iterator
from typing import Any, Final

from infra.generation.answer import read_slot
from infra.generation.answer_object import AnswerFormError
from processors.applicability import list_fixed
from processors.authority import rank
from processors.validation.equality import same
from processors.validation.grounding import describe_grounding, read_least
from schemas.catalogue import SlotDeclaration, SlotType
from schemas.packet import Packet
from schemas.value import RecordValue, StringSet, Value
from schemas.value_json import ValueFormatError, to_json

_TAGGED: Final = frozenset({SlotType.ANY, SlotType.RECORD, SlotType.LIST})


def list_offered(packet: Packet, slot: SlotDeclaration) -> list[Any]:
    """Return the different forms that ``read_slot`` reads as a value which the packet states.

    Only a slot that must be grounded, or holds a record, is bound to them: [] leaves it free, as
    does a packet that states no value of the slot's type (spec 5.3). A unit counts with the
    authority that the slot demands, so that a hint alone is never the only choice. Of a set,
    the forms are its items.
    """
    if not describe_grounding(slot) and slot.slot_type is not SlotType.RECORD:
        return []
    offered: list[Any] = []
    for value in _list_stated(packet, slot):
        for form in _write_forms(value, slot):
            if form not in offered:
                offered.append(form)
    return offered


def read_confirmed(packet: Packet) -> dict[str, Value]:
    """Return the values that rules of this scene fix, by slot: a reading of the contract view."""
    found: dict[str, Value] = {}
    for view in packet.contract:
        predicate = view.predicate
        own = predicate.subject in {"", packet.user}
        if own and (not predicate.scenes or packet.scene in predicate.scenes):
            for name, value in list_fixed(predicate):
                found.setdefault(name, value)
    return found


def _list_stated(packet: Packet, slot: SlotDeclaration) -> Iterator[Value]:
    names = {slot.name, describe_grounding(slot).partition(":")[2]}
    least = rank(read_least(slot))
    for unit in packet.units:
        if unit.slot in names and rank(unit.authority) >= least:
            yield unit.value
    for ask in packet.asks:
        if ask.name in names:
            yield ask.value
    for name, value in read_confirmed(packet).items():
        if name in names:
            yield value


def _write_forms(value: Value, slot: SlotDeclaration) -> Iterator[Any]:
    """Yield what of a value an answer can carry in this slot; a value of another type is none."""
    if isinstance(value, StringSet) and slot.slot_type in {SlotType.SET, SlotType.STRING}:
        yield from value.items
        return
    form = to_json(value)
    if slot.slot_type is SlotType.SET:
        if isinstance(form, str):
            yield form
        return
    if slot.slot_type not in _TAGGED and not isinstance(value, RecordValue | tuple):
        form = next(iter(form.values())) if isinstance(form, dict) else form
    try:
        read = read_slot(form, slot, slot.name)
    except (AnswerFormError, ValueFormatError):
        return
    if value is not None and same(read, value):
        yield form
