"""What events about turns do to contract and state; how a turn ends is ``processors.decision``."""

from processors.compilation.contract import lapse
from processors.compilation.draft import Draft
from schemas.event import (
    CandidatesProposed,
    GenerationFailed,
    SurfaceProposed,
    TurnCancelled,
    TurnExpired,
    TurnRequested,
)
from schemas.row import PendingRow

Silent = TurnRequested | CandidatesProposed | GenerationFailed | SurfaceProposed | TurnExpired


def fold_silent(_draft: Draft, _payload: Silent) -> None:
    """Change nothing: what such an event does, it does to its turn."""


def fold_cancelled(draft: Draft, payload: TurnCancelled) -> None:
    """Let the episode predicates of the cancelled turn's scene lapse (spec 2.2)."""
    pending = draft.view.get(PendingRow, payload.turn_id)
    if pending is None:
        return
    request = pending.request.payload
    assert isinstance(request, TurnRequested), "a pending turn holds its request"
    lapse(draft, request.scene)
