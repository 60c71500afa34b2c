"""The merged commitment: a candidate's slots, or a commitment with the candidate's patch.

Validation judges what would be in force afterwards, never the patch alone (spec 5.2). Reasons
found here are those of the support check; the others stand in ``support``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from processors.validation.equality import measure_depth
from schemas.candidate import Candidate, SlotValue
from schemas.row import CommitmentRow
from schemas.value import VALUE_DEPTH_MAX, RecordValue, Value

_NAME_ENDS: Final = ".["
_INDEX_DIGITS_MAX: Final = 6  # No list of an event has a million items.

Step = str | int


@dataclass(frozen=True, slots=True)
class Merged:
    """The slots that would be in force, sorted by name, and what stands in the way.

    ``amended`` is the commitment that the candidate amends, when it is known and current.
    ``refusals`` are reasons of the support check, in the order found.
    """

    slots: Mapping[str, Value]
    amended: CommitmentRow | None
    refusals: tuple[str, ...]


def merge(candidate: Candidate, commitments: Mapping[str, CommitmentRow]) -> Merged:
    """Return the merged commitment of a candidate (spec 5.2); never fails."""
    if candidate.amends is None:
        slots, refusals = _read_slots(candidate.slots)
        if candidate.patch:
            refusals = (*refusals, "patch_without_amends")
        return Merged(slots, None, refusals)
    if candidate.slots:
        return Merged(_read_slots(candidate.slots)[0], None, ("slots_with_amends",))
    amends = candidate.amends
    amended = commitments.get(amends.commitment_id)
    if amended is None:
        return Merged({}, None, (f"unknown_commitment:{amends.commitment_id}",))
    found: list[str] = []
    if amended.version != amends.version:
        found.append(f"stale_version:{amends.commitment_id}")
    if amended.commitment_type != candidate.commitment_type:
        found.append(f"other_type:{amended.commitment_type}")
    slots = {slot.name: slot.value for slot in amended.slots}
    for operation in candidate.patch:
        try:
            slots = _apply(slots, operation.path, operation.value)
        except ValueError:
            found.append(f"bad_path:{operation.path}")
    return Merged(dict(sorted(slots.items())), amended, (*found, *_check_depth(slots)))


def list_slots(merged: Merged) -> tuple[SlotValue, ...]:
    """Return the merged slots as a record's field, sorted by name."""
    return tuple(SlotValue(name, value) for name, value in merged.slots.items())


def _read_slots(slots: tuple[SlotValue, ...]) -> tuple[dict[str, Value], tuple[str, ...]]:
    read: dict[str, Value] = {}
    found: list[str] = []
    for slot in slots:
        if slot.name in read:
            # Which of the two is meant is not ours to guess; the first stands for the report.
            found.append(f"duplicate_slot:{slot.name}")
        else:
            read[slot.name] = slot.value
    return dict(sorted(read.items())), tuple(dict.fromkeys(found))


def _check_depth(slots: Mapping[str, Value]) -> tuple[str, ...]:
    return tuple(
        f"too_deep:{name}"
        for name, value in sorted(slots.items())
        if measure_depth(value) > VALUE_DEPTH_MAX
    )


def _apply(slots: dict[str, Value], path: str, value: Value) -> dict[str, Value]:
    """Set the value at a path such as ``days[1].meal``; an index one past the end appends."""
    first, *rest = split_path(path)
    assert isinstance(first, str)
    if not rest:
        return {**slots, first: value}
    if first not in slots:
        raise ValueError(path)
    return {**slots, first: _set(slots[first], rest, value)}


def _set(container: Value, steps: list[Step], value: Value) -> Value:
    if not steps:
        return value
    step, *rest = steps
    if isinstance(step, str) and isinstance(container, RecordValue):
        if step.startswith("$"):
            raise ValueError(step)  # In JSON such a name is the tag of a type, never a field.
        fields = dict(container.fields)
        if rest and step not in fields:
            raise ValueError(step)
        fields[step] = _set(fields.get(step), rest, value)
        return RecordValue(tuple(sorted(fields.items())))
    if isinstance(step, int) and isinstance(container, tuple):
        if step > len(container) or (rest and step == len(container)):
            raise ValueError(step)
        inner = container[step] if step < len(container) else None
        return (*container[:step], _set(inner, rest, value), *container[step + 1 :])
    raise ValueError(step)


def split_path(path: str) -> list[Step]:
    """Return the names and zero-based indexes of a patch path.

    Raises:
        ValueError: the path is not ``name`` followed by ``.name`` and ``[n]`` steps.

    """
    steps: list[Step] = []
    rest = f".{path}"
    while rest:
        if rest[0] == ".":
            end = min((at for at in (rest.find(c, 1) for c in _NAME_ENDS) if at > 0), default=None)
            name, rest = (rest[1:], "") if end is None else (rest[1:end], rest[end:])
            if not name or "]" in name:
                raise ValueError(path)
            steps.append(name)
        else:
            digits, bracket, rest = rest[1:].partition("]")
            if rest[:1] not in {"", ".", "["} or rest == "." or not bracket:
                raise ValueError(path)
            steps.append(_read_index(digits))
    return steps


def _read_index(digits: str) -> int:
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _INDEX_DIGITS_MAX:
        raise ValueError(digits)
    if digits != str(int(digits)):
        raise ValueError(digits)
    return int(digits)
