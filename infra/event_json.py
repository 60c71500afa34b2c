"""Events as people and machines write them: one JSON object, checked field by field.

The models are made from the records, so both always say the same; pydantic does the checking.
A field that may be null or empty may be left out; nothing else is filled in or coerced.
"""

import hashlib
import types
import typing
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
)

from infra.typed_values import check_moment, check_text, parse_document, read_value
from schemas.catalogue import Authority, SlotRole
from schemas.event import ControlPayload, Event, Principal, PrincipalKind, UserPayload
from schemas.observation import Sensitivity, UtteranceOrigin
from schemas.predicate import PredicateScope
from schemas.record import hints, is_value
from schemas.turn import TurnMode
from schemas.value import INT64_MAX, INT64_MIN
from schemas.value_json import ValueFormatError, to_json

R = TypeVar("R")

_DEFAULTS: Final[dict[str, Any]] = {
    "subject": "",
    "surface_text": "",
    "repair_status": "",
    "fallback": "",
    "grounded_by": "",
    "detail": "",
    "soft": False,
    "optional": False,
    "confirm_carried": False,
    "tail_witness": False,
    "sensitivity": Sensitivity.NONE,
    "origin": UtteranceOrigin.SAID,
    "mode": TurnMode.TURN,
    "scope": PredicateScope.STANDING,
    "role": SlotRole.PLAIN,
    "min_authority": Authority.HINT,
}


class EventFormError(ValueError):
    """A JSON text is no event; the message names the field, the fault and the remedy."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


def _read_value(data: Any) -> Any:
    try:
        return read_value(data)
    except ValueFormatError as error:
        raise ValueError(str(error)) from None


def _read_hex(data: Any) -> bytes:
    if not isinstance(data, str):
        raise ValueError("not a text of hexadecimal digits")  # noqa: TRY004 - pydantic's own
    try:
        return bytes.fromhex(data)
    except ValueError:
        raise ValueError("not hexadecimal digits, two for each byte") from None


_VALUE: Any = Annotated[Any, BeforeValidator(_read_value)]
_HEX: TypeAlias = Annotated[bytes, BeforeValidator(_read_hex)]
_TEXT: TypeAlias = Annotated[str, AfterValidator(check_text)]
_WHOLE: TypeAlias = Annotated[int, Field(ge=INT64_MIN, le=INT64_MAX)]
_BOUNDED: Final[dict[Any, Any]] = {bytes: _HEX, str: _TEXT, int: _WHOLE}
"""What stands for a type of which a record holds less than Python does."""


def _map(annotation: Any) -> Any:
    if is_value(annotation):
        return _VALUE
    if annotation in _BOUNDED:
        return _BOUNDED[annotation]
    if typing.get_origin(annotation) is tuple:
        item: Any = _map(typing.get_args(annotation)[0])
        listed: Any = tuple.__class_getitem__((item, ...))
        return Annotated[listed, BeforeValidator(_read_list)]
    if typing.get_origin(annotation) in {types.UnionType, typing.Union}:
        return typing.Union[tuple(_map(member) for member in typing.get_args(annotation))]  # noqa: UP007
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return Annotated[annotation, BeforeValidator(_read_enum(annotation))]
    nested: bool = is_dataclass(annotation)
    return model_of(annotation) if nested else annotation


def _read_list(data: Any) -> Any:
    return tuple(data) if isinstance(data, list) else data


def _read_enum(cls: type[StrEnum]) -> Any:
    names = [member.value for member in cls if member.value != "unknown"]

    def read(data: Any) -> Any:
        if data not in names:
            raise ValueError(f"not one of {', '.join(names)}")
        return cls(data)

    return read


@cache
def model_of(record: Any, *, tagged: bool = False) -> Any:
    """Return the pydantic model of a record class; ``tagged`` adds its name as ``type``."""
    parts: dict[str, Any] = {"type": (Literal[record.__name__], ...)} if tagged else {}
    for name, hint in hints(record).items():
        if type(None) in typing.get_args(hint) or is_value(hint):
            default = None
        elif typing.get_origin(hint) is tuple:
            default = ()
        else:
            default = _DEFAULTS.get(name, ...)
        parts[name] = (_map(hint), Field(default=default))
    return create_model(record.__name__, __base__=_Strict, **parts)


def build(record: type[R], model: Any) -> R:
    """Return the record of a checked model."""
    return record(**{f.name: _build(getattr(model, f.name), hint) for f, hint in _pairs(record)})


def _pairs(record: Any) -> list[tuple[Any, Any]]:
    kinds = hints(record)
    return [(field, kinds[field.name]) for field in fields(record)]


def _build(data: Any, hint: Any) -> Any:
    if isinstance(data, _Strict):
        members = typing.get_args(hint) or (hint,)
        cls = next(m for m in members if getattr(m, "__name__", "") == type(data).__name__)
        return build(cls, data)
    if typing.get_origin(hint) is tuple and not is_value(hint):
        return tuple(_build(item, typing.get_args(hint)[0]) for item in data)
    return data


class _PrincipalForm(_Strict):
    kind: Annotated[PrincipalKind, BeforeValidator(_read_enum(PrincipalKind))]
    id: _TEXT = ""


_PAYLOADS: Final[dict[str, Any]] = {
    cls.__name__: cls for cls in (*typing.get_args(UserPayload), *typing.get_args(ControlPayload))
}


class _EventForm(_Strict):
    event_id: _TEXT | None = None
    tenant: _TEXT = "default"
    user: _TEXT = ""
    at: Annotated[AwareDatetime, Field(strict=False), BeforeValidator(check_moment)]
    zone: _TEXT | None = None
    principal: _PrincipalForm | None = None
    mac: _HEX | None = None
    causation_id: _TEXT | None = None
    correlation_id: _TEXT | None = None
    derived_from: Annotated[tuple[_TEXT, ...], BeforeValidator(_read_list)] = ()
    source: _TEXT | None = None
    source_seq: _WHOLE | None = None
    payload: dict[str, Any]


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object of a text; duplicate names, NaN and non-objects are refused."""
    try:
        data = parse_document(text)
    except ValueFormatError as error:
        raise EventFormError(str(error)) from None
    if not isinstance(data, dict):
        raise EventFormError("not a JSON object; one event is one object on one line")
    return data


def parse_record(record: type[R], data: Any) -> R:
    """Return the record of a JSON structure.

    Raises:
        EventFormError: naming field and fault.

    """
    kind: Any = record
    return build(record, _check(model_of(kind), data))


def parse_event(text: str) -> Event:
    """Return the event of one JSON line.

    ``{"event_id", "tenant", "user", "at": RFC 3339 time with offset, "zone", "principal":
    {"kind", "id"}, "payload": {"type": "FormSubmitted", ...}}``. Without event_id the id is a
    digest of the text, so the same line twice is one event.

    Raises:
        EventFormError: naming field and fault.

    """
    data = parse_object(text)
    form: _EventForm = _check(_EventForm, data)
    name = form.payload.get("type")
    cls = _PAYLOADS.get(name) if isinstance(name, str) else None
    if cls is None:
        raise EventFormError(f"payload.type: {name!r:.40} is none of {', '.join(_PAYLOADS)}")
    payload = build(cls, _check(model_of(cls, tagged=True), form.payload, "payload."))
    principal = form.principal or _PrincipalForm(kind=PrincipalKind.USER, id=form.user)
    offset = form.at.utcoffset()
    assert offset is not None
    return Event(
        event_id=form.event_id or hashlib.sha256(text.strip().encode()).hexdigest()[:32],
        tenant="" if cls in typing.get_args(ControlPayload) else form.tenant,
        user=form.user,
        occurred_at_ms=to_ms(form.at),
        utc_offset_min=int(offset.total_seconds() // 60),
        zone=form.zone,
        principal=Principal(principal.kind, principal.id or form.user),
        mac=form.mac,
        causation_id=form.causation_id,
        correlation_id=form.correlation_id,
        derived_from=form.derived_from,
        source=form.source,
        source_seq=form.source_seq,
        payload=payload,
    )


def to_ms(at: datetime) -> int:
    """Return an aware time as milliseconds since the epoch, exactly."""
    whole = int(at.replace(microsecond=0).timestamp())
    return whole * 1_000 + at.microsecond // 1_000


_SAID: Final = {
    "model_type": "not a JSON object",
    "dict_type": "not a JSON object",
    "tuple_type": "not a JSON list",
    "missing": "missing; give this field",
    "extra_forbidden": "no field of this name is known; leave it out",
}
"""What our readers are told where pydantic speaks of Python."""


def _check(model: Any, data: Any, prefix: str = "") -> Any:
    try:
        return TypeAdapter(model).validate_python(data)
    except ValidationError as error:
        place, said = read_fault(error)
        place = prefix + place
        raise EventFormError(f"{place}: {said}" if place else said) from None


def read_fault(error: ValidationError) -> tuple[str, str]:
    """Return where the first fault stands, and what it is with its remedy, in our words."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return place, _SAID.get(first["type"], first["msg"].removeprefix("Value error, "))


def render_record(record: Any) -> Any:
    """Return any record as plain JSON: values in their JSON form, bytes as hexadecimal digits."""
    return _render(record, type(record))


def _render(data: Any, hint: Any) -> Any:
    if is_value(hint):
        return to_json(data)
    if isinstance(data, bytes):
        return data.hex()
    if isinstance(data, tuple):
        return [_render(item, typing.get_args(hint)[0]) for item in data]
    if is_dataclass(data):
        name = {"type": type(data).__name__} if len(typing.get_args(hint)) > 2 else {}
        return name | {k: _render(getattr(data, k), kind) for k, kind in hints(type(data)).items()}
    return data
