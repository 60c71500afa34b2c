"""The auditor's support check of one candidate (5.3): declared, typed, claimed, grounded."""

from datetime import date, datetime, time
from decimal import Decimal

from schemas.catalogue import Authority, SlotRole, SlotType
from schemas.value import Elapsed, Money, Period, RecordValue, StringSet, Timestamp
from tests.auditor_text import read, slots_read

TYPES = {
    SlotType.STRING: (str,), SlotType.BOOL: (bool,), SlotType.INT: (int,),
    SlotType.DECIMAL: (Decimal, int), SlotType.MONEY: (Money,), SlotType.DATE: (date,),
    SlotType.TIME: (time,), SlotType.LOCAL: (datetime,), SlotType.TIMESTAMP: (Timestamp,),
    SlotType.ELAPSED: (Elapsed,), SlotType.PERIOD: (Period,), SlotType.RECORD: (RecordValue,),
    SlotType.LIST: (tuple,), SlotType.SET: (StringSet,),
}  # fmt: skip
EMPTY = (None, "", (), StringSet(()), RecordValue(()))
GUARDED = (SlotRole.RECIPIENT, SlotRole.ACCOUNT, SlotRole.URL)


def check_support(frame, judged, candidate, declared, slots, cited):
    """Note every reason for which a candidate may not be judged at all."""
    declarations = {slot.name: slot for slot in declared.slots}
    for claim in candidate.claimed_predicates:
        if claim not in frame.story.contract:
            judged.unsupported.append(f"{claim} is not in force")
    if candidate.repair_status:
        judged.unsupported.append("it states a repair")
    for name, value in slots.items():
        slot = declarations.get(name)
        if slot is None:
            judged.unsupported.append(f"{name} is not declared")
        elif value is not None and slot.slot_type is not SlotType.ANY:
            if type(value) not in TYPES[slot.slot_type]:
                judged.unsupported.append(f"{name} has the wrong type")
            elif slot.choices and isinstance(value, str) and value not in slot.choices:
                judged.unsupported.append(f"{name} is no choice")
        if slot is not None and value not in EMPTY and not _is_grounded(frame, slot, value, cited):
            judged.unsupported.append(f"{name} comes from nowhere")


def _is_grounded(frame, slot, value, cited):
    """Return whether someone stated a value that must have been stated; sets are not followed."""
    if not slot.grounded_by and slot.role not in GUARDED:
        return True
    name = slot.grounded_by.partition(":")[2] or slot.name
    least = slot.min_authority
    if least is Authority.UNKNOWN and slot.role in GUARDED:
        least = Authority.ASSERTED
    story = frame.story
    said = [one for one in story.units.values() if one.slot == name]
    ranks = list(Authority)
    stated = [one.value for one in said if one.rank is None or one.rank >= ranks.index(least)]
    stated += [value for _, one, value in cited if one == name]
    stated += [fixed_by(one.predicate)[1] for one in story.contract.values()]
    if least in {Authority.UNKNOWN, Authority.HINT, Authority.INFERRED}:
        stated += [slots.get(name) for _, _, slots, _ in story.consequences]
    return value in stated or any(isinstance(one, StringSet) for one in stated)


def fixed_by(predicate):
    """Return the one slot that a predicate is about, and the value that it fixes, if any."""
    tree = read(predicate.expression)
    names = sorted(slots_read(tree))
    if tree[0] == "eq" and tree[2][0] == "path" and tree[3][0] == "value":
        return names[0] if names else None, tree[3][1]
    return (names[0] if len(names) == 1 else None), None
