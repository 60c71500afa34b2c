"""Grounding: a value that must come from somewhere does (spec 5.3).

What a unit or a state slot is worth is its authority; text of assistants, tools and documents
is a hint and grounds no recipient, account or URL.
"""

from collections.abc import Iterator
from typing import Final

from processors.authority import rank
from processors.situation import Situation, Unit
from processors.validation.equality import same
from schemas.catalogue import Authority, SlotDeclaration, SlotRole
from schemas.value import StringSet, Value

EVIDENCE: Final = "evidence"
STATE: Final = "state"
ANY: Final = "any"

_GUARDED: Final = (SlotRole.RECIPIENT, SlotRole.ACCOUNT, SlotRole.URL)


def is_grounded(
    situation: Situation, declaration: SlotDeclaration, value: Value, cited: tuple[Unit, ...]
) -> bool:
    """Return whether a carried value is stated where the declaration wants it stated.

    A value is stated by an equal value, or by a set of strings that holds it: a set-valued slot
    is the set of what was stated there. Both cited units and state slots need the least
    authority; without one, a recipient, account or URL needs ``asserted``, others none.
    """
    source = describe_grounding(declaration)
    if not source:
        return True
    least = read_least(declaration)
    return any(_states(stated, value) for stated in _find_stated(situation, source, cited, least))


def describe_grounding(declaration: SlotDeclaration) -> str:
    """Return where a slot's value must come from, its name spelt out; "" means anywhere."""
    source = declaration.grounded_by or (STATE if declaration.role in _GUARDED else "")
    if not source or source == ANY or ":" in source:
        return f"{source}:{declaration.name}" if source == ANY else source
    return f"{source}:{declaration.name}"


def read_least(declaration: SlotDeclaration) -> Authority:
    """Return the least authority that grounds this slot."""
    if declaration.min_authority is not Authority.UNKNOWN:
        return declaration.min_authority
    return Authority.ASSERTED if declaration.role in _GUARDED else Authority.UNKNOWN


def _find_stated(
    situation: Situation, source: str, cited: tuple[Unit, ...], least: Authority
) -> Iterator[Value]:
    kind, _, name = source.partition(":")
    if kind in {EVIDENCE, ANY}:
        for unit in cited:
            if unit.slot == name and rank(unit.authority) >= rank(least):
                yield unit.value
    if kind in {STATE, ANY}:
        for subject in ("", situation.user):
            state = situation.slots.get((subject, name))
            if state is not None and rank(state.authority) >= rank(least):
                yield state.value


def _states(stated: Value, value: Value) -> bool:
    if same(stated, value):
        return True
    if not isinstance(stated, StringSet):
        return False
    items = value.items if isinstance(value, StringSet) else value
    wanted = items if isinstance(items, tuple) else (items,)
    return bool(wanted) and all(any(same(item, one) for one in stated.items) for item in wanted)
