"""The work of folding one event: what it reads, what it has changed so far, what it counts.

A plain record that the modules of this folder write into; no rule lives here.
"""

from dataclasses import dataclass
from typing import Final

from processors.view import Arrival, Changes, View, lay_over
from schemas.catalogue import Authority, Catalogue
from schemas.event import Event, UserRefolded
from schemas.row import CatalogueRow, RegimeRow, UserHead

HEAD_ID: Final = ""
REGIME_ID: Final = ""

NEW_HEAD: Final = UserHead(
    seq=0,
    effective_ms=0,
    chain=bytes(32),
    contract_version=0,
    predicates=0,
    pending_turns=0,
    units=0,
    texts=0,
    hints=0,
    oldest_text_seq=1,
    text_block=0,
    text_places=b"",
    recent_ids="",
    oldest_order=1,
    foreseen=0,
    erased_seq=0,
    halted=False,
)
"""The head of a user without events."""


@dataclass(slots=True)
class Draft:
    """One event's fold in progress; ``view`` shows the changes made so far, ``before`` none.

    The counters are differences that ``folding`` adds to the head. ``sourced`` is the lowest
    authority of a derived event's sources, ``filling`` the head's new block of utterances and
    their places, None for its own. ``ignored`` says why the event had no effect,
    ``detail`` what a person should know of its effect.
    """

    before: View
    view: View
    arrival: Arrival
    changes: Changes
    head: UserHead
    units: int = 0
    texts: int = 0
    hints: int = 0
    predicates: int = 0
    contract_changes: int = 0
    foreseen: int = 0
    oldest_text_seq: int = 0
    filling: tuple[int, bytes] | None = None
    erased_seq: int = 0
    sourced: Authority | None = None
    ignored: str = ""
    detail: str = ""


def open_draft(view: View, arrival: Arrival) -> Draft:
    """Return a draft without changes."""
    changes: Changes = {}
    head = arrival.head or view.get(UserHead, HEAD_ID) or NEW_HEAD
    return Draft(view, lay_over(view, changes), arrival, changes, head)


def read_catalogue(view: View) -> Catalogue | None:
    """Return the active catalogue, or None before genesis."""
    regime = view.get(RegimeRow, REGIME_ID)
    if regime is None:
        return None
    row = view.get(CatalogueRow, regime.catalogue_digest.hex())
    return None if row is None else row.catalogue


def owner_of(event: Event) -> tuple[str, str]:
    """Return (tenant, user) whose rows an event is folded over; drivers open that view.

    It is the envelope's, except for UserRefolded: a control record that names its user.
    """
    payload = event.payload
    if isinstance(payload, UserRefolded):
        return payload.tenant, payload.user
    return event.tenant, event.user
