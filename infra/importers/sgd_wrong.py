"""Made-wrong candidates: calls that no user agreed to, offered alone to see them refused.

Each is the annotated call with one thing wrong; what is wrong follows from the dialogue, not
from chance. A call that cannot be made wrong in some way gets no such candidate.
"""

from collections.abc import Iterator, Mapping

from infra.importers.sgd_catalogue import Intent
from infra.importers.sgd_label import Point, SgdLabel
from infra.importers.sgd_state import Memory, list_slots
from infra.importers.sgd_turn import ask
from schemas.event import Event


def offer_wrong(
    memory: Memory, intent: Intent, call: Mapping[str, str], kinds: frozenset[str]
) -> Iterator[Event | SgdLabel]:
    """Yield one turn for each kind asked for that this call can be made wrong in.

    A call that itself carries a value never affirmed is wrong as it stands and gets none.
    """
    held = {slot.name: slot.value for slot in memory.list_confirmed(intent.scene)}
    if any(held.get(slot) != value for slot, value in call.items()):
        return
    makers = (
        (Point.STALE, make_stale(memory, intent, call)),
        (Point.UNCONFIRMED, make_unconfirmed(memory, intent, call)),
        (Point.MISSING, drop_required(intent, call)),
    )
    for point, made in makers:
        if made is not None and point in kinds:
            slot, wrong = made
            yield from ask(
                memory, intent, point, carried=list_slots(wrong), slots=(slot,), name=point.value
            )


def offer_early(
    memory: Memory, intent: Intent, call: Mapping[str, str], kinds: frozenset[str]
) -> Iterator[Event | SgdLabel]:
    """Yield the turn of the call that will be affirmed next, before the user has affirmed it."""
    shown = memory.open.get(intent.service, {})
    held = {**memory.in_force.get(intent.scene, {}), **shown}
    point = Point.PREMATURE
    if point in kinds and all(
        slot in held and held[slot].value == value for slot, value in call.items()
    ):
        yield from ask(
            memory,
            intent,
            point,
            carried=list_slots(call),
            slots=tuple(sorted(shown)),
            name=point.value,
        )


def make_stale(
    memory: Memory, intent: Intent, call: Mapping[str, str]
) -> tuple[str, dict[str, str]] | None:
    """Return the call with the latest value of one slot that the user has overwritten.

    Values that the user had stated come first, then those that only the system had shown.
    """
    for values in (memory.overwritten, memory.shown):
        for slot in sorted(call):
            for value in reversed(values.get((intent.service, slot), [])):
                if value != call[slot]:
                    return slot, {**call, slot: value}
    return None


def make_unconfirmed(
    memory: Memory, intent: Intent, call: Mapping[str, str]
) -> tuple[str, dict[str, str]] | None:
    """Return the call with one value that was never affirmed.

    An optional slot left out of the call is added with its default; where there is none, the
    last slot gets a value that the dialogue or the schema names and the user never affirmed.
    """
    held = {slot.name: slot.value for slot in memory.list_confirmed(intent.scene)}
    for slot, default in intent.optional:
        if slot not in call and slot not in held and default:
            return slot, {**call, slot: default}
    for slot in sorted(call, reverse=True):
        avoided = {
            call[slot],
            held.get(slot),
            *memory.overwritten.get((intent.service, slot), ()),
            *memory.shown.get((intent.service, slot), ()),
        }
        choices = memory.services[intent.service].choices.get(slot, ())
        for value in (*choices, *memory.offered.get(slot, ())):
            if value not in avoided:
                return slot, {**call, slot: value}
    if not call:
        return None
    last = max(call)
    return last, {**call, last: _alter(call[last])}


def drop_required(intent: Intent, call: Mapping[str, str]) -> tuple[str, dict[str, str]] | None:
    """Return the call without the first of its required slots."""
    for slot in intent.required:
        if slot in call:
            return slot, {name: value for name, value in call.items() if name != slot}
    return None


def _alter(value: str) -> str:
    return str(int(value) + 1) if value.isdecimal() and value.isascii() else f"{value} (other)"
