"""What an event is derived from: what that makes it worth, and when it is void (spec 1.10, 7.5).

An event derived from a withdrawn or erased one is void, however late it comes; so is one whose
own id was withdrawn before it arrived.
"""

from dataclasses import replace
from typing import Final

from processors.authority import lowest, speak
from processors.compilation.draft import Draft
from processors.compilation.history import cap_authority
from processors.compilation.window import find_seq
from schemas.catalogue import Authority
from schemas.event import HintExtracted
from schemas.row import DerivedRow, EventRow, StatementRow, WithdrawnRow, render_seq

WITHDRAWN: Final = "withdrawn"
SOURCE_WITHDRAWN: Final = "source_withdrawn"


def list_sources(draft: Draft) -> tuple[str, ...]:
    """Return the ids of the events that this one says it is derived from, without repetition."""
    event = draft.arrival.event
    payload = event.payload
    if isinstance(payload, HintExtracted):
        return tuple(dict.fromkeys((*event.derived_from, *payload.source_event_ids)))
    return tuple(dict.fromkeys(event.derived_from))


def note_derivation(draft: Draft) -> None:
    """Write one row per source, so that withdrawing a source finds this event."""
    event = draft.arrival.event
    if not event.derived_from and not isinstance(event.payload, HintExtracted):
        return
    sources = list_sources(draft)
    worth = lowest([worth_of(draft, source) for source in sources])
    draft.sourced = worth
    seq = draft.arrival.seq
    for source in sources:
        draft.changes[DerivedRow, f"{source}\0{render_seq(seq)}"] = DerivedRow(
            event.event_id, seq, worth
        )


def own_authority(draft: Draft) -> Authority:
    """Return what the event's statements are worth: never more than its sources (spec 1.10)."""
    spoken = speak(draft.arrival.event.principal.kind)
    return spoken if draft.sourced is None else lowest((spoken, draft.sourced))


def worth_of(draft: Draft, event_id: str) -> Authority:
    """Return what a source is worth: ``hint`` when it is unknown, mere text or not the user's.

    The user's own utterance and statements are asserted, what a tool observed is observed. A
    source that is itself derived is worth no more than its own sources.
    """
    view = draft.view
    seq = find_seq(view, draft.head, event_id)
    if seq is None:
        return Authority.HINT
    row = view.get(EventRow, render_seq(seq))
    if row is None:
        answered = view.scan(StatementRow, f"{render_seq(seq)}\0")
        return lowest([statement.authority for _, statement in answered])
    return cap_authority(view, row, seq)


def find_suppression(draft: Draft) -> str:
    """Return why the event bears nothing: itself or a source was withdrawn or erased; or "".

    A void event is noted as withdrawn itself, so that what is derived from it is void too.
    """
    head, view, arrival = draft.head, draft.view, draft.arrival
    event_id = arrival.event.event_id
    if head.foreseen:
        foreseen = view.get(WithdrawnRow, event_id)
        if foreseen is not None and foreseen.seq is None:
            draft.changes[WithdrawnRow, event_id] = replace(foreseen, seq=arrival.seq)
            draft.foreseen -= 1
            return WITHDRAWN
    if draft.sourced is None or not any(_is_void(draft, s) for s in list_sources(draft)):
        return ""
    draft.changes[WithdrawnRow, event_id] = WithdrawnRow(
        arrival.seq, arrival.effective_ms, arrival.seq
    )
    return SOURCE_WITHDRAWN


def _is_void(draft: Draft, source: str) -> bool:
    if draft.view.get(WithdrawnRow, source) is not None:
        return True
    if not draft.head.erased_seq:
        return False
    seq = find_seq(draft.view, draft.head, source)
    return seq is None or seq <= draft.head.erased_seq
