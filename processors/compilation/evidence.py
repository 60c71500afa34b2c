"""Events that bear evidence: keeping their rows, and letting the oldest plain texts leave.

A user has at most ``UNITS_MAX`` units (spec 6.2). The oldest plain utterances leave first; what
they leave is ``oldest_text_seq`` in the head, and a word in the fate of the event that came.
"""

from typing import Final

from processors.compilation.draft import Draft
from processors.compilation.units import count_units, is_own_text
from processors.compilation.utterances import note_text, take_oldest
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
        note_text(draft, arrival.seq)
    excess = draft.head.units + draft.units - UNITS_MAX
    if excess > 0:
        make_room(draft, excess)


def make_room(draft: Draft, excess: int) -> None:
    """Let so many of the oldest plain utterances leave; admission has seen that they exist."""
    leaving = take_oldest(draft, excess)
    for seq in leaving:
        draft.changes[EventRow, render_seq(seq)] = None
    draft.units -= len(leaving)
    draft.texts -= len(leaving)
    at = leaving[-1] + 1 if len(leaving) == excess else draft.arrival.seq
    draft.oldest_text_seq = at
    draft.detail = f"utterances before seq {at} have left: {UNITS_MAX} units are the limit"
