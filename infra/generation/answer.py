"""Answers of generators: finish reason, text and catalogue in, candidates or a failure out.

The grammar of spec 5.12, pure. A candidate carries what the text says and nothing else: no
default, no coercion. A slot that the catalogue does not declare stays, for the support check to
refuse, and is named. Where the object stands in the text is ``answer_object``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from infra.generation.answer_object import AnswerFormError, find_object, refuse
from processors.limits import CANDIDATES_MAX
from schemas.candidate import Amendment, Candidate, PatchOperation, SlotValue
from schemas.catalogue import Catalogue, SlotDeclaration, SlotType
from schemas.turn import FailureKind
from schemas.value import RecordValue, StringSet, Value
from schemas.value_json import ValueFormatError, from_json

FINISHED: Final = frozenset(
    {"stop", "eos", "end_turn", "stop_sequence", "tool_calls", "function_call", "tool_use"}
)
CUT: Final = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
FILTERED: Final = frozenset({"content_filter", "filter", "safety", "refusal", "blocked"})

NEW: Final = frozenset({"commitment_type", "slots", "evidence_ids"})
AMENDING: Final = frozenset({"commitment_type", "amends", "patch", "evidence_ids"})
OPTIONAL: Final = frozenset(
    {"claimed_predicates", "required_slots", "repair_status", "surface_text"}
)
"""Top-level names of a candidate; a name of ``OPTIONAL`` that is absent carries nothing."""

_TAGS: Final[dict[SlotType, str]] = {
    SlotType.DECIMAL: "$decimal",
    SlotType.MONEY: "$money",
    SlotType.DATE: "$date",
    SlotType.TIME: "$time",
    SlotType.LOCAL: "$local",
    SlotType.TIMESTAMP: "$timestamp",
    SlotType.ELAPSED: "$elapsed",
    SlotType.PERIOD: "$period",
}
_PLAIN: Final[dict[SlotType, type]] = {
    SlotType.STRING: str,
    SlotType.BOOL: bool,
    SlotType.INT: int,
}
_ROOT: Final = re.compile(r"[^.\[]*")


@dataclass(frozen=True, slots=True)
class Answer:
    """The candidates of an answer in their order; ``undeclared`` names slots outside the types."""

    candidates: tuple[Candidate, ...]
    undeclared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Broken:
    """An answer that is none: its kind, and where and why it is so; ``final``: do not ask again."""

    kind: FailureKind
    detail: str
    final: bool = False


def read_answer(
    text: str | None, finish_reason: str | None, catalogue: Catalogue
) -> Answer | Broken:
    """Return the candidates of a generator's text, or the way in which it is broken.

    The finish reason counts before the text: an answer that was cut or filtered is never read.
    """
    broken = judge_finish(text, finish_reason)
    if broken is not None or text is None:
        return broken or Broken(FailureKind.NO_OUTPUT, "the backend gave no text")
    try:
        listed = _list_candidates(find_object(text))
        undeclared: list[str] = []
        candidates = tuple(
            _read_candidate(data, place, catalogue, undeclared) for place, data in listed
        )
    except (AnswerFormError, ValueFormatError) as error:
        return Broken(FailureKind.PARSE_FAILURE, str(error))
    return Answer(candidates, tuple(undeclared))


def judge_finish(text: str | None, finish_reason: str | None) -> Broken | None:
    """Return how an answer is broken before anyone looks into its text, or None."""
    reason = (finish_reason or "").casefold()
    if reason in FILTERED:
        return Broken(FailureKind.NO_OUTPUT, reason, final=True)
    if reason in CUT:
        return Broken(FailureKind.PARTIAL_OUTPUT, f"finish reason {reason}: the answer was cut")
    if text is None:
        return Broken(FailureKind.NO_OUTPUT, "the backend gave no text")
    if not text.strip():
        return Broken(FailureKind.BLANK_OUTPUT, f"{len(text)} characters of white space")
    if reason not in FINISHED:
        detail = f"finish reason {reason[:40]!r} does not say that the answer is whole"
        return Broken(FailureKind.PARTIAL_OUTPUT, detail)
    return None


def _list_candidates(data: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    if "candidates" not in data:
        return [("", data)]
    if strange := sorted(data.keys() - {"candidates"}):
        refuse(strange[0], "unknown key beside candidates")
    listed = data["candidates"]
    if not isinstance(listed, list):
        refuse("candidates", "no list")
    if len(listed) > CANDIDATES_MAX:
        refuse("candidates", f"{len(listed)} of them; at most {CANDIDATES_MAX}")
    places = [f"candidates[{n}]" for n in range(len(listed))]
    for place, item in zip(places, listed, strict=True):
        if not isinstance(item, dict):
            refuse(place, "no object")
    return list(zip((f"{place}." for place in places), listed, strict=True))


def _read_candidate(
    data: dict[str, Any], prefix: str, catalogue: Catalogue, undeclared: list[str]
) -> Candidate:
    form = AMENDING if "amends" in data or "patch" in data else NEW
    for name in sorted(data.keys() - form - OPTIONAL):
        refuse(prefix + name, "unknown key")
    for name in sorted(form - data.keys()):
        refuse(prefix + name, "missing key")
    type_name = _read_text(data["commitment_type"], f"{prefix}commitment_type")
    declared = _find_slots(catalogue, type_name)
    slots = _read_object(data.get("slots", {}), f"{prefix}slots")
    patch = _read_object(data.get("patch", {}), f"{prefix}patch")
    undeclared += [f"{prefix}slots.{name}" for name in slots if name not in declared]
    return Candidate(
        commitment_type=type_name,
        slots=tuple(
            SlotValue(name, read_slot(item, declared.get(name), f"{prefix}slots.{name}"))
            for name, item in slots.items()
        ),
        amends=None if form is NEW else _read_amendment(data["amends"], f"{prefix}amends"),
        patch=tuple(
            PatchOperation(path, _read_patch(path, item, declared, f"{prefix}patch.{path}"))
            for path, item in patch.items()
        ),
        evidence_ids=_read_texts(data["evidence_ids"], f"{prefix}evidence_ids"),
        claimed_predicates=_read_texts(
            data.get("claimed_predicates", []), f"{prefix}claimed_predicates"
        ),
        required_slots=_read_texts(data.get("required_slots", []), f"{prefix}required_slots"),
        repair_status=_read_text(data.get("repair_status", ""), f"{prefix}repair_status"),
        surface_text=_read_text(data.get("surface_text", ""), f"{prefix}surface_text"),
    )


def read_slot(data: Any, declared: SlotDeclaration | None, place: str) -> Value:
    """Return a slot's value in the one JSON form of its declared type.

    Text for a decimal, money, date, time, local date-time or period; whole milliseconds for a
    timestamp or an elapsed duration; a list of different texts for a set. Null only where the
    slot is optional. Without declaration the tagged forms of ``schemas.value_json`` are read.

    Raises:
        AnswerFormError, ValueFormatError: naming the place and the form that is right.

    """
    kind = SlotType.ANY if declared is None else declared.slot_type
    if kind in {SlotType.ANY, SlotType.UNKNOWN}:
        return from_json(data, place)
    if data is None:
        if declared is not None and declared.optional:
            return None
        refuse(place, f"null is no {kind.value}; leave the slot out")
    if kind in _PLAIN:
        if type(data) is not _PLAIN[kind]:
            refuse(place, f"type_error: {type(data).__name__} is no {kind.value}")
        return from_json(data, place)
    if kind is SlotType.DECIMAL and type(data) is int:
        return data  # Whole numbers and decimals compare exactly with each other (spec 2.5).
    if kind in _TAGS:
        return from_json({_TAGS[kind]: data}, place)
    return _read_many(data, kind, place)


def _read_many(data: Any, kind: SlotType, place: str) -> Value:
    if kind is SlotType.SET:
        items = _read_texts(data, place)
        if len(set(items)) < len(items):
            refuse(place, "the same text twice in a set")
        return StringSet(tuple(sorted(items)))
    value = from_json(data, place)
    if type(value) is not (RecordValue if kind is SlotType.RECORD else tuple):
        refuse(place, f"type_error: {type(data).__name__} is no {kind.value}")
    return value


def _read_patch(path: str, data: Any, declared: Mapping[str, SlotDeclaration], place: str) -> Value:
    """Return the value for a path: typed for a whole slot, by tags for a place within one."""
    root = _ROOT.match(path)
    whole = declared.get(path) if root is not None and root[0] == path else None
    return read_slot(data, whole, place)


def _find_slots(catalogue: Catalogue, type_name: str) -> dict[str, SlotDeclaration]:
    for declared in catalogue.types:
        if declared.name == type_name:
            return {slot.name: slot for slot in declared.slots}
    return {}


def _read_amendment(data: Any, place: str) -> Amendment:
    fields = _read_object(data, place)
    if fields.keys() != {"commitment_id", "version"}:
        refuse(place, "needs commitment_id and version, nothing else")
    if type(fields["version"]) is not int:
        refuse(f"{place}.version", "no whole number")
    return Amendment(
        _read_text(fields["commitment_id"], f"{place}.commitment_id"), fields["version"]
    )


def _read_object(data: Any, place: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        refuse(place, "no object")
    return data


def _read_text(data: Any, place: str) -> str:
    if type(data) is not str:
        refuse(place, f"{type(data).__name__} is no text")
    return data


def _read_texts(data: Any, place: str) -> tuple[str, ...]:
    if not isinstance(data, list):
        refuse(place, "no list of texts")
    return tuple(_read_text(item, f"{place}[{n}]") for n, item in enumerate(data))
