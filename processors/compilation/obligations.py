"""Consequence debt that tools and operators report; commitments open their own (spec 1.8)."""

from dataclasses import replace

from processors.compilation.draft import Draft
from processors.compilation.proposals import touch
from schemas.event import ObligationDischarged, ObligationOpened
from schemas.row import ObligationRow


def fold_opened(draft: Draft, payload: ObligationOpened) -> None:
    """Open an obligation; one that is open already stays as it is."""
    before = draft.view.get(ObligationRow, payload.obligation_id)
    if before is not None and before.discharged_seq is None:
        draft.ignored = "already_open"
        return
    arrival = draft.arrival
    draft.changes[ObligationRow, payload.obligation_id] = ObligationRow(
        payload.dimension, payload.due_ms, payload.blocks, arrival.event.event_id,
        arrival.seq, None,
    )  # fmt: skip
    touch(draft, f"obligation:{payload.obligation_id}")


def fold_discharged(draft: Draft, payload: ObligationDischarged) -> None:
    """End an obligation; one that is unknown or discharged is left alone."""
    row = draft.view.get(ObligationRow, payload.obligation_id)
    if row is None or row.discharged_seq is not None:
        draft.ignored = "no_open_obligation"
        return
    draft.changes[ObligationRow, payload.obligation_id] = replace(
        row, discharged_seq=draft.arrival.seq
    )
    touch(draft, f"obligation:{payload.obligation_id}")
