"""Commitments seen from the world: made elsewhere, succeeded or failed, checked by others.

What a commitment of our own changes is ``processors.validation.consequences``.
"""

from dataclasses import replace
from typing import Final

from processors.compilation.contract import lapse
from processors.compilation.draft import Draft
from processors.compilation.withdrawal import settle_slots
from schemas.event import CommitmentObserved, OutcomeObserved, VerdictRecorded
from schemas.row import CommitmentRow, ConsequenceRow, EpisodeRow, VerdictRow

PENDING: Final = "pending"
SUCCEEDED: Final = "succeeded"
FAILED: Final = "failed"


def new_episode(seq: int) -> EpisodeRow:
    """Return the episode of a scene in which nothing has happened yet."""
    return EpisodeRow(
        questions=0,
        started_seq=seq,
        last_commitment_id=None,
        failed_seq=None,
        confirmed_seq=0,
        ambiguous_seq=None,
    )


def fold_commitment(draft: Draft, payload: CommitmentObserved) -> None:
    """Keep a commitment made elsewhere; seen again it is the next version of the same."""
    arrival = draft.arrival
    before = draft.view.get(CommitmentRow, payload.commitment_id)
    draft.changes[CommitmentRow, payload.commitment_id] = CommitmentRow(
        payload.scene, payload.commitment_type, payload.slots,
        1 if before is None else before.version + 1, arrival.seq, arrival.event.event_id,
        PENDING, (),
    )  # fmt: skip
    episode = draft.view.get(EpisodeRow, payload.scene) or new_episode(arrival.seq)
    draft.changes[EpisodeRow, payload.scene] = replace(
        episode, last_commitment_id=payload.commitment_id, failed_seq=None
    )


def fold_result(draft: Draft, payload: OutcomeObserved) -> None:
    """Note what became of a commitment: the one named, else the scene's last (spec 1.8).

    A success ends the episode: its predicates lapse and questions count anew. A failure of the
    scene's last commitment asks for a new contract until something is confirmed (5.7 (1)); what
    a failed commitment made true holds no more.
    """
    episode = draft.view.get(EpisodeRow, payload.scene)
    last_id = None if episode is None else episode.last_commitment_id
    commitment_id = payload.commitment_id or last_id
    commitment = None if commitment_id is None else draft.view.get(CommitmentRow, commitment_id)
    if commitment is None or commitment_id is None:
        draft.ignored = draft.ignored or ("" if payload.statements else "unknown_commitment")
        return
    was_failed = commitment.result == FAILED
    draft.changes[CommitmentRow, commitment_id] = replace(
        commitment,
        result=SUCCEEDED if payload.succeeded else FAILED,
        alternatives=payload.alternatives,
    )
    if was_failed or not payload.succeeded:
        _settle_consequences(draft, commitment_id)
    scene = commitment.scene
    if payload.succeeded:
        lapse(draft, scene)
    _fold_episode(draft, payload, scene, commitment_id)


def _fold_episode(draft: Draft, payload: OutcomeObserved, scene: str, commitment_id: str) -> None:
    seq = draft.arrival.seq
    episode = draft.view.get(EpisodeRow, scene) or new_episode(seq)
    if payload.succeeded:
        draft.changes[EpisodeRow, scene] = replace(
            episode,
            questions=0,
            started_seq=seq,
            failed_seq=None if commitment_id == episode.last_commitment_id else episode.failed_seq,
            ambiguous_seq=None,
        )
    elif commitment_id == episode.last_commitment_id:
        draft.changes[EpisodeRow, scene] = replace(episode, failed_seq=seq)


def _settle_consequences(draft: Draft, commitment_id: str) -> None:
    slots = {
        (row.subject, slot.name): None
        for _, row in draft.view.scan(ConsequenceRow)
        if row.commitment_id == commitment_id
        for slot in row.slots
    }
    settle_slots(draft, slots)


def fold_verdict(draft: Draft, payload: VerdictRecorded) -> None:
    """Keep an external check's verdict on one candidate; a later one replaces it."""
    row_id = f"{payload.candidate_digest.hex()}\0{payload.check}"
    draft.changes[VerdictRow, row_id] = VerdictRow(
        payload.verdict, payload.detail, draft.arrival.seq
    )
