"""One recorded run as events: what was said, what tools showed, what the agent tried to do.

The database rows of the user stand first, then the operator's policy. Every mutating call is a
turn with one candidate; what the tool made of it follows as an observation.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from infra.importers.envelope import OPERATOR, Scribe
from infra.importers.tau_catalogue import ELSEWHERE, MUTATING, RESERVATION_TYPE
from infra.importers.tau_label import Gold, TauLabel
from infra.importers.tau_limits import Limit, find_limits, repeats, says_yes
from infra.importers.tau_policy import build_policy
from infra.importers.tau_world import World
from schemas.candidate import SlotValue
from schemas.event import (
    CandidatesProposed,
    CommitmentObserved,
    Event,
    EvidenceRecorded,
    FormSubmitted,
    HintKind,
    OutcomeObserved,
    PredicateConfirmed,
    PredicateProposed,
    Principal,
    PrincipalKind,
    Sensitivity,
    SlotStatement,
    TurnCancelled,
    TurnRequested,
    UnitDraft,
    UtteranceObserved,
    UtteranceOrigin,
)

TOOL: Final = Principal(PrincipalKind.TOOL, "airline-database")
AGENT: Final = Principal(PrincipalKind.ASSISTANT, "airline-agent")
RECORDED: Final = Principal(PrincipalKind.GENERATOR, "recorded-agent")
_SHOWN: Final = ("get_", "search_", "list_")
_REFUSED: Final = "Error"


@dataclass(slots=True)
class Course:
    """One run so far; ``refused`` names the turn after the tool's last refusal of a scene."""

    scribe: Scribe
    world: World
    gold: Gold
    task_id: int
    trial: int
    utterance_id: str = ""
    limits: dict[str, Limit] = field(default_factory=dict)
    restated: tuple[Limit, ...] = ()
    in_force: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    made: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)


def read_run(course: Course, messages: list[Mapping[str, Any]]) -> Iterator[Event | TauLabel]:
    """Yield the events and labels of one run."""
    yield from _load_rows(course)
    for predicate in build_policy():
        yield course.scribe.write(OPERATOR, PredicateConfirmed(None, predicate, ()))
    user = Principal(PrincipalKind.USER, course.scribe.user)
    calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for number, message in enumerate(messages):
        course.scribe.move(f"{course.scribe.user}/{number}", at_ms=course.scribe.at_ms)
        text = message.get("content") or ""
        if message["role"] == "user":
            yield from _hear_user(course, text, user)
        elif message["role"] == "assistant":
            yield from _hear_agent(course, text)
            for call in message.get("tool_calls") or ():
                name = call["function"]["name"]
                calls[call["id"]] = name, json.loads(call["function"]["arguments"])
                if name in MUTATING:
                    answer = _find_answer(messages[number + 1 :], call["id"])
                    yield from _ask(course, *calls[call["id"]], answer=answer, repeat=False)
        elif message["role"] == "tool":
            made = calls.get(message.get("tool_call_id", ""))
            if made is not None:
                yield from _show(course, *made, answer=text)


def _load_rows(course: Course) -> Iterator[Event]:
    world = course.world
    yield _state(course, world.describe_user())
    profile = world.sources.users.get(world.user_id, {})
    for name in profile.get("reservations", ()):
        row = world.sources.reservations.get(name)
        if row is not None:
            yield _observe(course, row)
    yield _state(course, (SlotValue("trips", world.describe_trips()),))


def _state(course: Course, slots: tuple[SlotValue, ...]) -> Event:
    statements = tuple(SlotStatement("", slot.name, slot.value, None, None) for slot in slots)
    return course.scribe.write(TOOL, FormSubmitted(None, statements, ()))


def _observe(course: Course, row: Mapping[str, Any]) -> Event:
    commitment_id, slots = course.world.observe(row)
    return course.scribe.write(
        TOOL, CommitmentObserved(commitment_id, ELSEWHERE, RESERVATION_TYPE, slots)
    )


def _hear_user(course: Course, text: str, user: Principal) -> Iterator[Event]:
    """Yield what the user said, a new start after a refusal, the limits stated and agreed to."""
    said = course.scribe.write(user, UtteranceObserved(text, UtteranceOrigin.SAID, None, ()))
    course.utterance_id = said.event_id
    yield said
    for scene in sorted(course.refused):
        yield course.scribe.write(
            user, TurnCancelled(course.refused.pop(scene)), caused_by=said.event_id
        )
    if says_yes(text):
        for limit in course.restated:
            name = limit.predicate.predicate_id
            replaced = (name,) if name in course.in_force else ()
            course.in_force.append(name)
            yield course.scribe.write(
                user, PredicateConfirmed(limit.digest, None, replaced), caused_by=said.event_id
            )
    course.restated = ()
    for limit in find_limits(text):
        course.limits[limit.slot] = limit
        statement = SlotStatement("", limit.slot, limit.value, None, None)
        yield course.scribe.write(
            user, FormSubmitted(None, (statement,), ()), caused_by=said.event_id
        )


def _hear_agent(course: Course, text: str) -> Iterator[Event]:
    if not text:
        return
    said = course.scribe.write(AGENT, UtteranceObserved(text, UtteranceOrigin.SAID, None, ()))
    yield said
    found = (limit for _, limit in sorted(course.limits.items()) if repeats(text, limit))
    course.restated = tuple(found)
    for limit in course.restated:
        yield course.scribe.write(
            AGENT,
            PredicateProposed(limit.predicate, (), HintKind.CONSTRAINT),
            caused_by=said.event_id,
        )


def _find_answer(messages: list[Mapping[str, Any]], call_id: str) -> str:
    for message in messages:
        if message["role"] == "tool" and message.get("tool_call_id") == call_id:
            return message.get("content") or ""
    return ""


def _ask(
    course: Course, call: str, arguments: Mapping[str, Any], *, answer: str, repeat: bool
) -> Iterator[Event | TauLabel]:
    """Yield the database's rows of the legs named, the turn, its label and its candidate."""
    if arguments.get("flights"):
        offers = SlotValue("offers", course.world.describe_offers(arguments["flights"]))
        yield _state(course, (offers,))
    request = course.scribe.write(AGENT, _build_request(call, course.utterance_id))
    yield request
    yield TauLabel(
        turn_id=request.event_id,
        user=course.scribe.user,
        task_id=course.task_id,
        trial=course.trial,
        call=call,
        reservation_id=arguments.get("reservation_id"),
        gold=course.gold.is_original(call, arguments),
        standing=course.gold.judge(call, arguments, course.made),
        error=answer if answer.startswith(_REFUSED) else "",
        repeat=repeat,
    )
    yield course.scribe.write(
        RECORDED,
        CandidatesProposed(
            turn_id=request.event_id,
            packet_digest=None,
            candidates=(course.world.build_candidate(call, arguments),),
            raw_output=None,
            decoding=None,
            attempts=(),
        ),
        caused_by=request.event_id,
    )


def _build_request(scene: str, utterance_id: str) -> TurnRequested:
    return TurnRequested(scene=scene, utterance_ids=(utterance_id,) if utterance_id else ())


def _show(
    course: Course, call: str, arguments: Mapping[str, Any], *, answer: str
) -> Iterator[Event | TauLabel]:
    """Yield what a tool answered: evidence, and what became of a mutating call."""
    if call in MUTATING:
        yield from _conclude(course, call, arguments, answer=answer)
    elif not call.startswith(_SHOWN):
        return
    unit = UnitDraft(
        content=answer,
        reference=f"{call}({json.dumps(arguments, sort_keys=True)})",
        slot=None,
        value=None,
        dimensions=(call,),
        tail_witness=False,
        sensitivity=Sensitivity.NONE,
        scopes=(),
        cost=None,
        valid_from_ms=None,
        valid_to_ms=None,
    )
    yield course.scribe.write(TOOL, EvidenceRecorded((unit,)))


def _conclude(
    course: Course, call: str, arguments: Mapping[str, Any], *, answer: str
) -> Iterator[Event | TauLabel]:
    succeeded = not answer.startswith(_REFUSED)
    yield course.scribe.write(TOOL, OutcomeObserved(call, None, succeeded, (), (), ()))
    if not succeeded:
        for item in _ask(course, call, arguments, answer=answer, repeat=True):
            if isinstance(item, TauLabel):
                course.refused[call] = item.turn_id
            yield item
        return
    course.refused.pop(call, None)
    course.made.append((call, arguments))
    reservation_id = arguments.get("reservation_id")
    if reservation_id is not None:
        course.world.changed.append(reservation_id)
    row = _read_row(answer)
    if row is not None:
        yield _observe(course, row)
        yield _state(course, (SlotValue("trips", course.world.describe_trips()),))


def _read_row(answer: str) -> Mapping[str, Any] | None:
    """Return the reservation that a tool's answer shows, if it shows one."""
    try:
        row = json.loads(answer)
    except json.JSONDecodeError:
        return None
    return row if isinstance(row, dict) and "reservation_id" in row else None
