"""A user's turn as events: what was said, declined, stated, and affirmed, in this order.

Only an affirmation confirms. Stating a value closes that slot's own proposal; refusing
without a value leaves the other proposals open.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from infra.importers.sgd_state import DONT_CARE, Memory, Proposal, has_act, list_acts
from schemas.event import (
    Event,
    EvidenceRecorded,
    FormSubmitted,
    PredicateConfirmed,
    Principal,
    PrincipalKind,
    ProposalDeclined,
    Sensitivity,
    SlotStatement,
    TurnCancelled,
    UnitDraft,
    UtteranceObserved,
    UtteranceOrigin,
)


def read_user_turn(memory: Memory, turn: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the events of one user turn."""
    user = Principal(PrincipalKind.USER, memory.scribe.user)
    said = memory.scribe.write(
        user, UtteranceObserved(turn["utterance"], UtteranceOrigin.SAID, "en", ())
    )
    memory.said_before, memory.utterance_id = memory.utterance_id, said.event_id
    yield said
    for frame in turn["frames"]:
        for action in list_acts(frame, "INFORM", "SELECT"):
            memory.learn_spellings(frame["service"], action)
    for frame in turn["frames"]:
        yield from _read_frame(memory, frame, user=user, text=turn["utterance"])


def _read_frame(
    memory: Memory, frame: Mapping[str, Any], *, user: Principal, text: str
) -> Iterator[Event]:
    service = frame["service"]
    memory.active[service] = frame["state"]["active_intent"]
    yield from _restart(memory, frame, user)
    yield from _decline(memory, frame, user)
    yield from _state_values(memory, frame, user)
    yield from _quote(memory, frame, user=user, text=text)
    if has_act(frame, "AFFIRM"):
        yield from _affirm(memory, service, user)


def _restart(memory: Memory, frame: Mapping[str, Any], user: Principal) -> Iterator[Event]:
    """Cancel the chain of a failed attempt when the user names the same intent anew.

    What was affirmed for the attempt that failed was affirmed for that episode; the annotated
    system, too, asks for every value again.
    """
    intent = memory.find_intent(frame["service"])
    if intent is None or not has_act(frame, "INFORM_INTENT"):
        return
    turn_id = memory.failed.pop(intent.scene, None)
    if turn_id is not None:
        memory.in_force.pop(intent.scene, None)
        yield memory.scribe.write(user, TurnCancelled(turn_id), caused_by=memory.utterance_id)


def _decline(memory: Memory, frame: Mapping[str, Any], user: Principal) -> Iterator[Event]:
    proposals = memory.open.get(frame["service"], {})
    for action in list_acts(frame, "INFORM"):
        proposal = proposals.pop(action["slot"], None)
        if proposal is not None:
            key = frame["service"], proposal.slot
            memory.refusals[key] = memory.refusals.get(key, 0) + 1
            yield memory.scribe.write(
                user, ProposalDeclined(proposal.digest), caused_by=memory.utterance_id
            )


def _state_values(memory: Memory, frame: Mapping[str, Any], user: Principal) -> Iterator[Event]:
    """Yield the new and changed values: first those with an act of this turn, then the others.

    A value without an act was carried over, or taken from what the system had said. That the user
    does not care is no value for a slot that a call must carry, since somebody has to choose one:
    it empties the slot.
    """
    service = frame["service"]
    needed = memory.services[service].list_required()
    acted = {action["slot"] for action in list_acts(frame, "INFORM", "SELECT")}
    changed = {
        slot: value
        for slot, spellings in sorted(frame["state"]["slot_values"].items())
        for said in (memory.find_canonical(service, slot, spellings),)
        for value in (None if said == DONT_CARE and slot in needed else said,)
        if spellings and memory.current.get((service, slot)) != value
    }
    intent = memory.find_intent(service)
    scene = None if intent is None else intent.scene
    for slots, cause in (
        ([slot for slot in changed if slot in acted], memory.utterance_id),
        ([slot for slot in changed if slot not in acted], memory.said_before),
    ):
        if slots:
            statements = tuple(SlotStatement("", slot, changed[slot], None, None) for slot in slots)
            yield memory.scribe.write(
                user, FormSubmitted(scene, statements, (service,)), caused_by=cause or None
            )
    for slot, value in changed.items():
        before = memory.current.get((service, slot))
        if before is not None:
            memory.overwritten.setdefault((service, slot), []).append(before)
        if value is None:
            del memory.current[service, slot]
        else:
            memory.current[service, slot] = value


def _quote(
    memory: Memory, frame: Mapping[str, Any], *, user: Principal, text: str
) -> Iterator[Event]:
    """Yield the spans of the utterance that name a slot's value, as evidence.

    Spans of the system's utterances are the assistant's text and make no unit (spec 3.2).
    """
    service = frame["service"]
    units = tuple(
        UnitDraft(
            content=words,
            reference=f"{memory.utterance_id}[{span['start']}:{span['exclusive_end']}]",
            slot=span["slot"],
            value=memory.find_canonical(service, span["slot"], [words]),
            dimensions=(span["slot"],),
            tail_witness=False,
            sensitivity=Sensitivity.NONE,
            scopes=(service,),
            cost=None,
            valid_from_ms=None,
            valid_to_ms=None,
        )
        for span in frame["slots"]
        for words in (text[span["start"] : span["exclusive_end"]],)
    )
    if units:
        yield memory.scribe.write(
            user,
            EvidenceRecorded(units),
            caused_by=memory.utterance_id,
            derived_from=(memory.utterance_id,),
        )


def _affirm(memory: Memory, service: str, user: Principal) -> Iterator[Event]:
    for _, proposal in sorted(memory.open.pop(service, {}).items()):
        yield confirm(memory, proposal, user)


def confirm(memory: Memory, proposal: Proposal, user: Principal) -> Event:
    """Return the confirmation of a proposal, which replaces what was in force for its slot."""
    memory.failed.pop(proposal.scene, None)
    held = memory.in_force.setdefault(proposal.scene, {})
    older = held.get(proposal.slot)
    held[proposal.slot] = proposal
    return memory.scribe.write(
        user,
        PredicateConfirmed(
            digest=proposal.digest,
            predicate=None,
            replaces=() if older is None else (older.predicate.predicate_id,),
        ),
        caused_by=memory.utterance_id,
    )
