"""What the annotation of a dialogue says about each turn: labels beside the events.

Labels never enter the log: the pipeline must not be able to read them. Evaluation joins them
to outcomes by turn id.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from schemas.candidate import SlotValue

GOLD: Final = "gold"
"""The kind of candidate that offers the annotated call itself."""


class Point(StrEnum):
    """Why a turn was asked for: the annotated act, or the kind of made-wrong candidate."""

    REQUEST = "request"
    CONFIRM = "confirm"
    CALL = "call"
    FAILURE = "failure"
    STALE = "stale"
    UNCONFIRMED = "unconfirmed"
    MISSING = "missing"
    PREMATURE = "premature"


MADE_WRONG: Final = (Point.STALE, Point.UNCONFIRMED, Point.MISSING, Point.PREMATURE)


@dataclass(frozen=True, slots=True)
class SgdLabel:
    """One turn as annotated.

    ``slots`` are those of the annotated acts: asked for at a request, shown at a confirm,
    offered at a failure, altered by a made-wrong candidate. ``confirmed`` is what the user had
    affirmed at that point and ``carried`` what the candidate carries. ``never_shown`` are
    carried slots of a gold call whose value the user was never shown in a confirm or an offer
    after a failure; ``alternative`` is what was offered then.
    """

    turn_id: str
    user: str
    scene: str
    point: Point
    slots: tuple[str, ...]
    carried: tuple[SlotValue, ...]
    confirmed: tuple[SlotValue, ...]
    never_shown: tuple[str, ...]
    alternative: tuple[SlotValue, ...]
