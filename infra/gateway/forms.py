"""Bodies of calls: read field by field, refused with the field's name, never half understood.

An event has the form of ``infra.event_json``. What a caller may not say through a gateway is
refused here: control records, the clock's events, and a user's or operator's words without
their own signature where signatures count (spec 1.6).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from infra.event_json import (
    EventFormError,
    parse_event,
    parse_object,
    parse_record,
    read_fault,
    to_ms,
)
from infra.gateway.speaking import AGENT, Speaker, propose_candidates
from infra.typed_values import check_moment
from processors.limits import CANDIDATES_MAX
from schemas.candidate import Candidate
from schemas.codec import encode
from schemas.event import CONTROL_PAYLOADS, Event, Principal, PrincipalKind
from schemas.record import RecordError
from schemas.turn import TurnRequested

M = TypeVar("M", bound=BaseModel)

EVENTS_MAX: Final = 100
OWN_CHANNEL: Final = (PrincipalKind.USER, PrincipalKind.OPERATOR)
"""Whose words an agent must not sign: only the edge that holds their own channel does."""

_KINDS: Final = (PrincipalKind.USER, PrincipalKind.ASSISTANT, PrincipalKind.TOOL,
                 PrincipalKind.OPERATOR, PrincipalKind.GENERATOR)  # fmt: skip


class FormError(ValueError):
    """A body is not as it should be: where, what is wrong, and what to write instead."""

    def __init__(self, field: str, message: str, remedy: str = "") -> None:
        """Name field, fault and remedy."""
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message
        self.remedy = remedy


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class _Principal(_Form):
    kind: str
    id: Annotated[str, Field(min_length=1)]


class _Caller(_Form):
    user: Annotated[str, Field(min_length=1, description="Whose turn it is.")]
    tenant: Annotated[str, Field(min_length=1)] = "default"
    at: Annotated[
        Annotated[AwareDatetime, BeforeValidator(check_moment)] | None,
        Field(strict=False, description="RFC 3339 with offset; default: the gateway's clock."),
    ] = None
    zone: Annotated[str | None, Field(description="IANA zone of the user.")] = None
    principal: Annotated[
        _Principal | None, Field(description="Who asks; default: assistant agent.")
    ] = None
    candidates: Annotated[
        list[dict[str, Any]] | None,
        Field(description="The caller's own candidates; none: the packet is returned."),
    ] = None
    packet_digest: Annotated[
        str | None, Field(description="Which packet they answer, in hexadecimal digits.")
    ] = None


class TurnForm(_Caller):
    """The body of ``POST /v1/turns``."""

    turn_id: Annotated[
        str | None, Field(min_length=1, description="Repeat it to repeat the call safely.")
    ] = None
    turn: Annotated[dict[str, Any], Field(description="The request: scene, text, asks, ...")]


class CandidatesForm(_Caller):
    """The body of ``POST /v1/turns/{turn_id}/candidates``."""


class EventsForm(_Form):
    """The body of ``POST /v1/events``."""

    events: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=EVENTS_MAX)]


@dataclass(frozen=True, slots=True)
class Asked:
    """A call about a turn as events: the request (None for a pending one), and candidates."""

    tenant: str
    user: str
    turn_id: str
    events: tuple[Event, ...]


def read_events(body: str, *, authenticated: bool) -> tuple[Event, ...]:
    """Return the events of a body: one event, or an object with a list of them.

    Raises:
        FormError: naming place, fault and remedy; then no event counts.

    """
    data = _read_object(body)
    listed = _check(EventsForm, data).events if "events" in data else [data]
    events = []
    for number, item in enumerate(listed):
        place = f"events[{number}]" if "events" in data else ""
        event = _named(place, partial(parse_event, json.dumps(item)))
        events.append(_permit(event, place, authenticated=authenticated))
    return tuple(events)


def read_turn(body: str, *, now_ms: int, authenticated: bool) -> Asked:
    """Return the events of a request for a turn.

    Raises:
        FormError: naming the field, the fault and the remedy.

    """
    form = _check(TurnForm, _read_object(body))
    request = _named("turn", partial(parse_record, TurnRequested, form.turn))
    speaker, by, at_ms = _read_caller(form, now_ms)
    event = speaker.say(request, by=by, at_ms=at_ms, event_id=form.turn_id)
    event = _permit(event, "principal", authenticated=authenticated)
    answer = _read_candidates(form, event.event_id, now_ms=now_ms)
    return Asked(form.tenant, form.user, event.event_id, (event, *answer))


def read_answer(body: str, turn_id: str, *, now_ms: int) -> Asked:
    """Return the event of candidates for a pending turn.

    Raises:
        FormError: naming the field, the fault and the remedy.

    """
    form = _check(CandidatesForm, _read_object(body))
    if form.candidates is None:
        raise FormError("candidates", "absent", "give a list of candidates; [] says there are none")
    return Asked(form.tenant, form.user, turn_id, _read_candidates(form, turn_id, now_ms=now_ms))


def _read_candidates(form: _Caller, turn_id: str, *, now_ms: int) -> tuple[Event, ...]:
    if form.candidates is None:
        return ()
    if len(form.candidates) > CANDIDATES_MAX:
        raise FormError("candidates", f"more than {CANDIDATES_MAX}", "offer the best ones only")
    candidates = tuple(
        _named(f"candidates[{number}]", partial(parse_record, Candidate, item))
        for number, item in enumerate(form.candidates)
    )
    digest = None
    if form.packet_digest is not None:
        try:
            digest = bytes.fromhex(form.packet_digest)
        except ValueError:
            raise FormError("packet_digest", "not hexadecimal digits") from None
    speaker, by, at_ms = _read_caller(form, now_ms)
    if by.kind not in {PrincipalKind.ASSISTANT, PrincipalKind.TOOL, PrincipalKind.GENERATOR}:
        by = AGENT  # The user asks; candidates are the agent's.
    payload = propose_candidates(turn_id, candidates, digest)
    return (_check_encodable(speaker.say(payload, by=by, at_ms=at_ms), "candidates"),)


def _read_caller(form: _Caller, now_ms: int) -> tuple[Speaker, Principal, int]:
    by = AGENT
    if form.principal is not None:
        kinds = [kind.value for kind in _KINDS]
        if form.principal.kind not in kinds:
            raise FormError("principal.kind", f"none of {', '.join(kinds)}")
        by = Principal(PrincipalKind(form.principal.kind), form.principal.id)
    if form.at is None:
        return Speaker(form.tenant, form.user, 0, form.zone), by, now_ms
    offset = form.at.utcoffset()
    assert offset is not None, "an aware time has an offset"
    minutes = int(offset.total_seconds() // 60)
    return Speaker(form.tenant, form.user, minutes, form.zone), by, to_ms(form.at)


def _permit(event: Event, place: str, *, authenticated: bool) -> Event:
    if isinstance(event.payload, CONTROL_PAYLOADS):
        raise FormError(
            _join(place, "payload.type"), "control records do not come through a gateway",
            "append them with the command line",
        )  # fmt: skip
    kind = event.principal.kind
    if kind not in _KINDS:
        raise FormError(_join(place, "principal.kind"), f"{kind.value} does not speak here")
    if authenticated and kind in OWN_CHANNEL and event.mac is None:
        raise FormError(
            _join(place, "mac"), f"a {kind.value}'s words need their own signature",
            "let the edge that holds their channel sign the event and send it to /v1/events",
        )  # fmt: skip
    return _check_encodable(event, place)


def _check_encodable(event: Event, place: str) -> Event:
    try:
        encode(event)
    except (RecordError, OverflowError) as error:
        raise FormError(place or "event", str(error)) from None
    return event


def _read_object(body: str) -> dict[str, Any]:
    try:
        return parse_object(body)
    except EventFormError as error:
        raise FormError("body", str(error), "send one JSON object") from None


def _check(form: type[M], data: Mapping[str, Any]) -> M:
    try:
        return TypeAdapter(form).validate_python(data)
    except ValidationError as error:
        place, said = read_fault(error)
        raise FormError(place or "body", said, "see /v1/openapi.json") from None


R = TypeVar("R")


def _named(place: str, read: Callable[[], R]) -> R:
    try:
        return read()
    except (EventFormError, RecordError) as error:
        field, _, message = str(error).partition(": ")
        if not message:
            field, message = "", str(error)
        raise FormError(_join(place, field) or "body", message, "see /v1/openapi.json") from None


def _join(place: str, field: str) -> str:
    return ".".join(part for part in (place, field) if part)
