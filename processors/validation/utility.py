"""S: how well a feasible candidate fits what the user likes and what it rests on (spec 5.5).

Whole numbers only. Nothing here can make an infeasible candidate feasible, and no score of a
generator is read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from processors.activation.coverage import is_empty
from processors.situation import Situation
from processors.validation.equality import same
from schemas.catalogue import Authority
from schemas.value import Value

CERTAIN: Final = 1_000_000  # The confidence of a statement that is no inference, in millionths.

FACTORS: Final[dict[Authority, int]] = {
    Authority.UNKNOWN: 0,
    Authority.HINT: 1,
    Authority.INFERRED: 2,
    Authority.OBSERVED: 3,
    Authority.ASSERTED: 4,
    Authority.CONFIRMED: 4,  # What is confirmed counts in h_t; here it is what the user said.
}


@dataclass(frozen=True, slots=True)
class Wish:
    """One value that a slot should have, and confidence times authority."""

    slot: str
    value: Value
    weight: int


def list_wishes(situation: Situation, type_name: str) -> tuple[Wish, ...]:
    """Return what the user would like of a type: its soft slots' state, and preferences.

    Both count only for slots that the type declares; subjects are the user and the turn's
    participants. Sorted by slot, subject and origin.
    """
    declared = situation.types.get(type_name)
    if declared is None:
        return ()
    soft = {slot.name: slot.soft for slot in declared.slots}
    subjects = ("", situation.user, *situation.request.participants)
    wishes: list[tuple[str, str, int, Wish]] = []
    for (subject, slot), state in situation.slots.items():
        if subject in subjects and soft.get(slot, False):
            weight = CERTAIN * FACTORS[state.authority]
            wishes.append((slot, subject, 0, Wish(slot, state.value, weight)))
    for (subject, slot), (state, confidence) in situation.preferences.items():
        if subject in subjects and slot in soft:
            weight = confidence * FACTORS[state.authority]
            wishes.append((slot, subject, 1, Wish(slot, state.value, weight)))
    return tuple(item[3] for item in sorted(wishes, key=lambda item: item[:3]))


def score(
    wishes: tuple[Wish, ...],
    slots: Mapping[str, Value],
    *,
    cited: Iterable[str],
    relevance: Mapping[str, int],
) -> int:
    """Return S in millionths: each wish +, - or 0 its weight, and rel of each cited unit."""
    total = sum(relevance.get(unit_id, 0) for unit_id in cited)
    for wish in wishes:
        value = slots.get(wish.slot)
        if not is_empty(value):
            total += wish.weight if same(value, wish.value) else -wish.weight
    return total
