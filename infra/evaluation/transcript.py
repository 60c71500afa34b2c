"""A history as the text that a system without contract reads: one line per thing said or noted.

Hints are internal to the pipeline and are not part of it. Unit ids stand in the text, so that a
reader without packet can cite as well.
"""

from collections.abc import Iterator
from dataclasses import replace

from infra.evaluation.shown import Line
from schemas.event import (
    CommitmentObserved,
    Event,
    EvidenceRecorded,
    FormSubmitted,
    ObligationDischarged,
    ObligationOpened,
    ObservationWithdrawn,
    OutcomeObserved,
    PredicateConfirmed,
    PrincipalKind,
    UnitDraft,
    UtteranceObserved,
)
from schemas.packet import Packet, PacketUnit
from schemas.predicate import Predicate
from schemas.value import RecordValue

_AGAINST = ("not so fond of ", "never wants ", "always avoids ", "I think ")


def read_history(events: tuple[Event, ...]) -> tuple[Line, ...]:
    """Return the lines of a history, oldest first; evidence of open obligations is marked."""
    lines = [line for seq, event in enumerate(events, 1) for line in _read_event(event, seq)]
    owed: dict[str, str] = {}
    for event in events:
        payload = event.payload
        if isinstance(payload, ObligationOpened):
            owed[payload.obligation_id] = payload.dimension
        elif isinstance(payload, ObligationDischarged):
            owed.pop(payload.obligation_id, None)
    open_dimensions = frozenset(owed.values())
    return tuple(
        replace(line, owed=True)
        if line.unit_id and not open_dimensions.isdisjoint(line.dimensions)
        else line
        for line in lines
    )


def read_packet(packet: Packet) -> tuple[Line, ...]:
    """Return the lines of a packet's units, in their order."""
    debts = {terms.unit_id: terms.debt > 0 for terms in packet.terms}
    rules = {view.predicate.predicate_id: view.predicate for view in packet.contract}
    return tuple(_read_unit(unit, rules, owed=debts[unit.unit_id]) for unit in packet.units)


def _read_unit(unit: PacketUnit, rules: dict[str, Predicate], *, owed: bool) -> Line:
    _, _, predicate_id = unit.unit_id.partition("#p:")
    return Line(
        key=unit.unit_id,
        event_id=unit.event_id,
        text=f"[{unit.unit_id}] {unit.content}",
        unit_id=unit.unit_id,
        dimensions=unit.dimensions,
        tail_witness=unit.tail_witness,
        owed=owed,
        offer=unit.value if isinstance(unit.value, RecordValue) else None,
        rule=rules.get(predicate_id),
        disliked=_find_disliked(unit.content),
        personal=unit.dimensions == ("text",),
    )


def _read_event(event: Event, seq: int) -> Iterator[Line]:
    payload = event.payload
    key, name = f"{seq}#0", event.event_id
    match payload:
        case UtteranceObserved():
            own = event.principal.kind is PrincipalKind.USER
            speaker = f"[{key}] user" if own else "assistant"
            yield Line(
                key, name, f"{speaker}: {payload.text}", key if own else "",
                ("text",) if own else (), disliked=_find_disliked(payload.text), personal=own,
            )  # fmt: skip
        case EvidenceRecorded():
            for index, draft in enumerate(payload.units):
                yield _read_draft(draft, f"{seq}#{index}", name)
        case FormSubmitted():
            for index, one in enumerate(payload.statements):
                unit_id = f"{seq}#{index}"
                text = f"[{unit_id}] form: {one.slot}: {one.value}"
                yield Line(unit_id, name, text, unit_id, (one.slot,))
        case PredicateConfirmed(predicate=Predicate() as rule):
            unit_id = f"{seq}#p:{rule.predicate_id}"
            unless = f" unless {rule.unless}" if rule.unless else ""
            text = f"[{unit_id}] user confirmed: {rule.expression}{unless}"
            yield Line(unit_id, name, text, unit_id, rule.dimensions, rule=rule)
        case ObservationWithdrawn():
            text = f"user withdrew {', '.join(payload.event_ids)}"
            yield Line(key, name, text, withdrawn=payload.event_ids)
        case _:
            yield from _read_errand(event, key)


def _read_errand(event: Event, key: str) -> Iterator[Line]:
    payload, name = event.payload, event.event_id
    match payload:
        case ObligationOpened():
            yield Line(key, name, f"desk: open errand {payload.obligation_id}")
        case ObligationDischarged():
            yield Line(key, name, f"desk: errand {payload.obligation_id} is settled")
        case CommitmentObserved():
            yield Line(key, name, f"desk: arranged {payload.commitment_type}")
        case OutcomeObserved():
            offered = [slot.value for way in payload.alternatives for slot in way.slots]
            text = f"desk: that failed; offered instead: {offered}"
            yield Line(key, name, text, failed=not payload.succeeded)
        case _:
            pass


def _read_draft(draft: UnitDraft, unit_id: str, event_id: str) -> Line:
    return Line(
        key=unit_id,
        event_id=event_id,
        text=f"[{unit_id}] record: {draft.content}",
        unit_id=unit_id,
        dimensions=draft.dimensions,
        tail_witness=draft.tail_witness,
        offer=draft.value if isinstance(draft.value, RecordValue) else None,
    )


def _find_disliked(text: str) -> str:
    for opening in _AGAINST:
        _, found, rest = text.partition(opening)
        if found:
            return rest.split(" ")[0].strip(".,;")
    return ""
