"""A system's turn as events: the decision first, then what it shows, proposes and says.

Every decision point of a transactional intent asks for a turn before anything of that turn is
proposed, so that the pipeline decides on what the user had said and affirmed until then.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.importers.sgd_catalogue import Intent
from infra.importers.sgd_label import GOLD, Point, SgdLabel
from infra.importers.sgd_state import Memory, build_proposal, has_act, list_acts, list_slots
from infra.importers.sgd_turn import ASSISTANT, ask
from infra.importers.sgd_wrong import offer_early, offer_wrong
from schemas.candidate import SlotValue
from schemas.event import (
    Alternative,
    CommitmentObserved,
    Event,
    EvidenceRecorded,
    HintKind,
    OutcomeObserved,
    PredicateProposed,
    Principal,
    PrincipalKind,
    Sensitivity,
    UnitDraft,
    UtteranceObserved,
    UtteranceOrigin,
)
from schemas.value import Value, build_record


def read_system_turn(
    memory: Memory,
    turn: Mapping[str, Any],
    following: Sequence[Mapping[str, Any]],
    kinds: frozenset[str],
) -> Iterator[Event | SgdLabel]:
    """Yield the events and labels of one system turn; ``following`` are the turns after it."""
    for frame in turn["frames"]:
        for action in list_acts(frame, "CONFIRM", "OFFER", "REQUEST", "INFORM"):
            memory.learn_spellings(frame["service"], action)
        yield from _read_frame(memory, frame, kinds)
    said = memory.scribe.write(
        ASSISTANT, UtteranceObserved(turn["utterance"], UtteranceOrigin.SAID, "en", ())
    )
    memory.said_before = said.event_id
    yield said
    for frame in turn["frames"]:
        yield from _read_ahead(memory, frame["service"], following, kinds)


def _read_frame(
    memory: Memory, frame: Mapping[str, Any], kinds: frozenset[str]
) -> Iterator[Event | SgdLabel]:
    service = frame["service"]
    call = frame.get("service_call")
    called = None if call is None else memory.services[service].intents.get(call["method"])
    intent = called or memory.find_intent(service)
    if called is not None:
        complete = memory.complete_call(called, frame["service_call"]["parameters"])
        yield from offer_wrong(memory, called, complete, kinds)
        yield from _call(memory, called, frame, kinds)
    else:
        if intent is not None:
            yield from _decide(memory, intent, frame)
        yield from _show_rows(memory, frame)
    failed = has_act(frame, "NOTIFY_FAILURE") and intent is not None
    if not failed:
        yield from _show_offers(memory, frame)
    if intent is not None:
        yield from _propose(memory, intent, frame, names=("CONFIRM", "OFFER")[: 1 + failed])


def _decide(memory: Memory, intent: Intent, frame: Mapping[str, Any]) -> Iterator[Event | SgdLabel]:
    for point, name in ((Point.REQUEST, "REQUEST"), (Point.CONFIRM, "CONFIRM")):
        slots = tuple(sorted({action["slot"] for action in list_acts(frame, name)}))
        if slots:
            yield from ask(memory, intent, point, carried=memory.list_known(intent), slots=slots)
            return


def _call(
    memory: Memory, intent: Intent, frame: Mapping[str, Any], kinds: frozenset[str]
) -> Iterator[Event | SgdLabel]:
    """Yield the call as a candidate, its results, its outcome, and the turn after a failure."""
    if GOLD not in kinds:
        yield from _show_rows(memory, frame)
        return
    carried = list_slots(memory.complete_call(intent, frame["service_call"]["parameters"]))
    slots = tuple(slot.name for slot in carried)
    yield from ask(memory, intent, Point.CALL, carried=carried, slots=slots)
    yield from _show_rows(memory, frame)
    if not has_act(frame, "NOTIFY_SUCCESS", "NOTIFY_FAILURE"):
        return
    succeeded = has_act(frame, "NOTIFY_SUCCESS")
    offered = () if succeeded else _list_offered(frame)
    if not succeeded and memory.list_unseen(intent, carried):
        yield _observe_call(memory, intent, carried)
    yield memory.scribe.write(
        Principal(PrincipalKind.TOOL, intent.service),
        OutcomeObserved(
            scene=intent.scene,
            commitment_id=None,
            succeeded=succeeded,
            statements=(),
            alternatives=(Alternative(offered),) if offered else (),
            scopes=(intent.service,),
        ),
    )
    if succeeded:
        memory.in_force.pop(intent.scene, None)
        memory.failed.pop(intent.scene, None)
        return
    memory.failures[intent.scene] = memory.failures.get(intent.scene, 0) + 1
    for item in ask(
        memory,
        intent,
        Point.FAILURE,
        carried=carried,
        slots=tuple(slot.name for slot in offered),
        alternative=offered,
    ):
        if isinstance(item, SgdLabel):
            memory.failed[intent.scene] = item.turn_id
        yield item


def _observe_call(memory: Memory, intent: Intent, carried: tuple[SlotValue, ...]) -> Event:
    """Return the call as made elsewhere: the corpus made it, with a value that nobody was shown.

    The pipeline asks about that value and commits to nothing, so what failed is not its own.
    """
    scene = intent.scene
    commitment_id = f"{memory.scribe.place}/call"
    made = CommitmentObserved(commitment_id, scene, scene, carried)
    return memory.scribe.write(Principal(PrincipalKind.TOOL, intent.service), made, name="call")


def _list_offered(frame: Mapping[str, Any]) -> tuple[SlotValue, ...]:
    offers = {
        action["slot"]: action["canonical_values"][0]
        for action in list_acts(frame, "OFFER")
        if action["canonical_values"]
    }
    return list_slots(offers)


def _show_rows(memory: Memory, frame: Mapping[str, Any]) -> Iterator[Event]:
    method = frame.get("service_call", {}).get("method", "")
    units = tuple(
        _build_unit(
            frame["service"],
            content=json.dumps(row, ensure_ascii=False, sort_keys=True),
            reference=f"{method}[{number}]",
            slot=None,
            value=build_record(**row),
            dimensions=tuple(sorted(row)),
        )
        for number, row in enumerate(frame.get("service_results", ()))
    )
    yield from _record(memory, frame["service"], units)


def _show_offers(memory: Memory, frame: Mapping[str, Any]) -> Iterator[Event]:
    units = tuple(
        _build_unit(
            frame["service"],
            content=value,
            reference=None,
            slot=action["slot"],
            value=value,
            dimensions=(action["slot"],),
        )
        for action in list_acts(frame, "OFFER")
        for value in action["canonical_values"]
    )
    yield from _record(memory, frame["service"], units)


def _record(memory: Memory, service: str, units: tuple[UnitDraft, ...]) -> Iterator[Event]:
    if units:
        yield memory.scribe.write(Principal(PrincipalKind.TOOL, service), EvidenceRecorded(units))


def _build_unit(
    service: str,
    *,
    content: str,
    reference: str | None,
    slot: str | None,
    value: Value,
    dimensions: tuple[str, ...],
) -> UnitDraft:
    return UnitDraft(
        content=content,
        reference=reference,
        slot=slot,
        value=value,
        dimensions=dimensions,
        tail_witness=False,
        sensitivity=Sensitivity.NONE,
        scopes=(service,),
        cost=None,
        valid_from_ms=None,
        valid_to_ms=None,
    )


def _propose(
    memory: Memory, intent: Intent, frame: Mapping[str, Any], *, names: tuple[str, ...]
) -> Iterator[Event]:
    """Open one proposal per slot that is shown for confirmation; a later one takes its place."""
    service = intent.service
    for action in list_acts(frame, *names):
        if not action["canonical_values"]:
            continue
        slot, value = action["slot"], action["canonical_values"][0]
        before = memory.refusals.get((service, slot), 0) + memory.failures.get(intent.scene, 0)
        proposal = build_proposal(intent, slot=slot, value=value, before=before)
        memory.open.setdefault(service, {})[slot] = proposal
        memory.shown.setdefault((service, slot), []).append(value)
        yield memory.scribe.write(
            ASSISTANT, PredicateProposed(proposal.predicate, (), HintKind.CONSTRAINT)
        )


def _read_ahead(
    memory: Memory,
    service: str,
    following: Sequence[Mapping[str, Any]],
    kinds: frozenset[str],
) -> Iterator[Event | SgdLabel]:
    """Yield the premature turn when the user's next turn affirms and the call follows."""
    if len(following) < 2 or not memory.open.get(service):
        return
    answers = (frame for frame in following[0]["frames"] if frame["service"] == service)
    if not any(has_act(frame, "AFFIRM") for frame in answers):
        return
    for frame in following[1]["frames"]:
        call = frame.get("service_call")
        if frame["service"] != service or call is None:
            continue
        intent = memory.services[service].intents.get(call["method"])
        if intent is not None:
            yield from offer_early(memory, intent, call["parameters"], kinds)
