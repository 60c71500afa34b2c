"""What events about turns do to contract and state; how a turn ends is ``processors.decision``."""

from dataclasses import replace

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
from schemas.row import EpisodeRow, PendingRow, TurnRow

Silent = TurnRequested | CandidatesProposed | GenerationFailed | SurfaceProposed | TurnExpired


def fold_silent(_draft: Draft, _payload: Silent) -> None:
    """Change nothing: what such an event does, it does to its turn."""


def fold_cancelled(draft: Draft, payload: TurnCancelled) -> None:
    """End the chain of the cancelled turn: its scene's episode predicates lapse (spec 2.2).

    A chain is the turns of one episode, and most of them end at once in a repair act. So its
    last turn may have ended already: the act stays what it was, the chain ends all the same,
    and the next turn begins anew, after a failed commitment too. A turn that ended in a
    commitment, or before the episode began, belongs to no running chain.
    """
    scene = _find_scene(draft, payload.turn_id)
    if scene is None:
        return
    lapse(draft, scene)
    episode = draft.view.get(EpisodeRow, scene)
    if episode is not None:
        draft.changes[EpisodeRow, scene] = replace(
            episode,
            questions=0,
            started_seq=draft.arrival.seq,
            failed_seq=None,
            ambiguous_seq=None,
        )


def _find_scene(draft: Draft, turn_id: str) -> str | None:
    """Return the scene whose running chain the turn belongs to, if any."""
    pending = draft.view.get(PendingRow, turn_id)
    if pending is not None:
        request = pending.request.payload
        assert isinstance(request, TurnRequested), "a pending turn holds its request"
        return request.scene
    ended = draft.view.get(TurnRow, turn_id)
    if ended is None or ended.commitment_id is not None:
        return None
    episode = draft.view.get(EpisodeRow, ended.scene)
    running = episode is not None and ended.seq >= episode.started_seq
    return ended.scene if running else None
