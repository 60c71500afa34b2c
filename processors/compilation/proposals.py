"""Open proposals: they enter no contract, whoever makes them (spec 1.8, 1.10).

Opening, closing and declining stand here; turning one into a predicate is ``contract``.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Final

from processors.compilation.draft import Draft
from processors.compilation.findings import find_doubts
from processors.limits import PROPOSALS_MAX
from processors.predicates.expression import (
    SLOTS,
    Comparison,
    Literal,
    Operator,
    Path,
    default_match,
)
from processors.predicates.rendering import render
from processors.view import View
from schemas.catalogue import Authority
from schemas.event import HintKind
from schemas.identity import predicate_digest
from schemas.predicate import Predicate, PredicateScope
from schemas.row import ProposalRow, Standing, TouchRow
from schemas.value import RecordValue, Value

OPEN: Final = "open"
CONFIRMED: Final = "confirmed"
DECLINED: Final = "declined"
CLOSED: Final = "closed"

FULL_CONFIDENCE: Final = 1_000_000
_TEXTS_KEPT: Final = 4_096  # Values stated again and again by weaker sources.


def slot_predicate_id(subject: str, slot: str) -> str:
    """Return the predicate id under which a value of (subject, slot) is proposed."""
    return f"slot:{subject}.{slot}"


def build_slot_predicate(subject: str, slot: str, value: Value) -> Predicate | None:
    """Return the predicate ``slots.<slot> == value``; None for a value that no literal has."""
    if isinstance(value, str):
        return _build_text_predicate(subject, slot, value)
    return None if _has_no_literal(value) else _build(subject, slot, value)


@lru_cache(maxsize=_TEXTS_KEPT)
def _build_text_predicate(subject: str, slot: str, value: str) -> Predicate:
    return _build(subject, slot, value)


def _build(subject: str, slot: str, value: Value) -> Predicate:
    comparison = Comparison(
        Operator.EQ, Path(SLOTS, (slot,)), Literal(value), default_match(Operator.EQ)
    )
    return Predicate(
        slot_predicate_id(subject, slot), render(comparison), None, (), subject,
        PredicateScope.STANDING, None, None, (), None,
    )  # fmt: skip


def build_episode_predicate(scene: str, subject: str, slot: str, value: Value) -> Predicate | None:
    """Return the predicate that fixes a slot for what now runs in a scene, and for no longer.

    It has an id of its own: confirming a booking's time ends no standing rule about times.
    """
    predicate = build_slot_predicate(subject, slot, value)
    if predicate is None:
        return None
    return replace(
        predicate,
        predicate_id=f"slot:{scene}:{subject}.{slot}",
        scenes=(scene,),
        scope=PredicateScope.EPISODE,
    )


def propose_value(
    draft: Draft, subject: str, slot: str, standing: Standing, confidence: int = FULL_CONFIDENCE
) -> None:
    """Open the proposal that a weaker statement makes about a slot."""
    _propose(
        draft,
        build_slot_predicate(subject, slot, standing.value),
        subject=subject,
        slot=slot,
        standing=standing,
        confidence=confidence,
    )


def propose_answer(draft: Draft, scene: str, subject: str, slot: str, standing: Standing) -> None:
    """Open the proposal that an answer makes: for the scene in which it was asked (spec 5.9)."""
    _propose(
        draft,
        build_episode_predicate(scene, subject, slot, standing.value),
        subject=subject,
        slot=slot,
        standing=standing,
        confidence=FULL_CONFIDENCE,
    )


def _propose(
    draft: Draft,
    predicate: Predicate | None,
    *,
    subject: str,
    slot: str,
    standing: Standing,
    confidence: int,
) -> None:
    if predicate is None:
        return
    open_proposal(
        draft,
        predicate,
        kind=HintKind.SLOT,
        authority=standing.authority,
        confidence=confidence,
        subject=subject,
        slot=slot,
        value=standing.value,
        replaces=(),
    )


def open_proposal(
    draft: Draft,
    predicate: Predicate,
    *,
    kind: HintKind,
    authority: Authority,
    confidence: int,
    subject: str,
    slot: str,
    value: Value,
    replaces: tuple[str, ...],
) -> str:
    """Open a proposal; return why it stays as it is, or "" when it is open now.

    One that is open or declined stays so: repetition neither raises it nor asks again, until the
    user's own word (asserted) opens a declined one anew.
    """
    digest = predicate_digest(predicate)
    row_id = digest.hex()
    before = draft.view.get(ProposalRow, row_id)
    own_word = authority in {Authority.ASSERTED, Authority.CONFIRMED}
    if before is not None and before.status == OPEN:
        return "already_open"
    if before is not None and before.status == DECLINED and not own_word:
        return "declined"
    if count_open(draft.view) >= PROPOSALS_MAX:
        return "too_many_proposals"
    arrival = draft.arrival
    draft.changes[ProposalRow, row_id] = ProposalRow(
        predicate, digest, kind, subject, slot, value, authority, confidence, replaces,
        arrival.event.event_id, arrival.seq, OPEN, find_doubts(draft, predicate, replaces),
    )  # fmt: skip
    touch(draft, f"proposal:{row_id}")
    return ""


def count_open(view: View) -> int:
    """Return how many proposals wait for the user."""
    return sum(row.status == OPEN for _, row in view.scan(ProposalRow))


def end_proposal(draft: Draft, row: ProposalRow, status: str) -> None:
    """Give a proposal its final status."""
    row_id = row.digest.hex()
    draft.changes[ProposalRow, row_id] = replace(row, status=status)
    touch(draft, f"proposal:{row_id}")


def touch(draft: Draft, what: str) -> None:
    """Note that something a question may be about has changed (spec 5.9)."""
    draft.changes[TouchRow, what] = TouchRow(draft.arrival.seq)


def _has_no_literal(value: Value) -> bool:
    if isinstance(value, tuple):
        return any(_has_no_literal(item) for item in value)
    return value is None or isinstance(value, RecordValue)
