"""Hints: what a generator infers; never above ``inferred``, never in the contract (spec 1.10)."""

from processors.compilation.contract import find_in_force, name_slot
from processors.compilation.derivation import list_sources
from processors.compilation.draft import Draft
from processors.compilation.proposals import open_proposal
from processors.compilation.statements import fold_standing
from processors.compilation.units import is_own_text
from processors.compilation.window import find_seq
from schemas.catalogue import Authority
from schemas.event import HintExtracted, HintKind
from schemas.identity import predicate_digest
from schemas.row import EventRow, Standing, StatementRow, render_seq


def fold_hint(draft: Draft, payload: HintExtracted) -> None:
    """Fold a hint: a constraint opens a proposal, a slot or preference is stated."""
    worth = judge_sources(draft)
    if payload.kind is HintKind.CONSTRAINT:
        _propose(draft, payload, worth)
        return
    arrival = draft.arrival
    event_id = arrival.event.event_id
    subject = "" if payload.subject == arrival.event.user else payload.subject
    draft.changes[StatementRow, f"{render_seq(arrival.seq)}\0{0:04d}"] = StatementRow(
        payload.kind, subject, payload.slot, payload.value, worth, payload.confidence,
        event_id, arrival.digest, arrival.effective_ms,
    )  # fmt: skip
    draft.hints += 1
    if payload.kind is HintKind.SLOT:
        standing = Standing(payload.value, worth, event_id, arrival.seq, arrival.effective_ms, None)
        fold_standing(draft, subject, payload.slot, standing, payload.confidence)


def judge_sources(draft: Draft) -> Authority:
    """Return ``inferred`` when every source is the user's own utterance, else ``hint``.

    Without sources, or with one that is no longer known, it is a hint.
    """
    sources = list_sources(draft)
    for source in sources:
        seq = find_seq(draft.view, draft.head, source)
        row = None if seq is None else draft.view.get(EventRow, render_seq(seq))
        if row is None or not is_own_text(row.event) or row.event.derived_from:
            return Authority.HINT
    return Authority.INFERRED if sources else Authority.HINT


def _propose(draft: Draft, payload: HintExtracted, worth: Authority) -> None:
    predicate = payload.predicate
    assert predicate is not None, "admission lets no constraint without predicate in"
    in_force = find_in_force(draft.view, predicate.predicate_id)
    if in_force is not None and in_force.digest == predicate_digest(predicate):
        draft.ignored = "in_force"
        return
    draft.ignored = open_proposal(
        draft,
        predicate,
        kind=payload.kind,
        authority=worth,
        confidence=payload.confidence,
        subject=predicate.subject,
        slot=payload.slot or name_slot(predicate),
        value=payload.value,
        replaces=(),
    )
