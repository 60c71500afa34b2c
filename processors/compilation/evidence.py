"""Events that bear evidence: keeping their rows, and letting the oldest plain texts leave.

A user has at most ``UNITS_MAX`` units (spec 6.2). The oldest plain utterances leave first; what
they leave is ``oldest_text_seq`` in the head, and a word in the fate of the event that came.
"""

from typing import Final

from processors.compilation.draft import Draft
from processors.compilation.units import count_units, is_own_text
from processors.limits import UNITS_MAX
from schemas.record import compile_building
from schemas.row import EventRow, render_seq

_build_event_row: Final = compile_building(EventRow)


def keep_event(draft: Draft) -> None:
    """Keep an event that bears units or statements, as it came."""
    arrival = draft.arrival
    event = arrival.event
    draft.changes[EventRow, render_seq(arrival.seq)] = _build_event_row(
        arrival.digest, arrival.effective_ms, event
    )
    draft.units += count_units(event)
    if is_own_text(event):
        draft.texts += 1
    excess = draft.head.units + draft.units - UNITS_MAX
    if excess > 0:
        make_room(draft, excess)


def make_room(draft: Draft, excess: int) -> None:
    """Let so many of the oldest plain utterances leave; admission has seen that they exist.

    The search starts where the last one ended, so that it passes each event once in all.
    """
    at = draft.head.oldest_text_seq
    last = draft.arrival.seq
    while excess > 0 and at < last:
        row = draft.view.get(EventRow, render_seq(at))
        if row is not None and is_own_text(row.event):
            draft.changes[EventRow, render_seq(at)] = None
            draft.units -= 1
            draft.texts -= 1
            excess -= 1
        at += 1
    draft.oldest_text_seq = at
    draft.detail = f"utterances before seq {at} have left: {UNITS_MAX} units are the limit"
