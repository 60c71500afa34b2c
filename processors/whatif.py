"""Decisions under other settings than those in force: the pure half of a backfill (spec 7.2).

A view that shows another regime, a contract without some predicates, and a turn's own what-if
packet; ``processors.decision`` decides over it as over any other. Nothing here folds a history.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from processors import decision
from processors.compilation.draft import HEAD_ID, open_draft
from processors.compilation.erasure import fold_erasure
from processors.view import Arrival, Changes, Stamp, Step, View, lay_over
from schemas.candidate import Candidate
from schemas.control import Weights
from schemas.event import ErasureRequested, Event, Principal, PrincipalKind
from schemas.row import PendingRow, PredicateRow, RegimeRow, SeenRow, TurnRow, UserHead
from schemas.turn import (
    CandidatesProposed,
    GenerationFailed,
    TurnCancelled,
    TurnExpired,
    TurnRequested,
)

R = TypeVar("R")

ANSWERS: Final = (CandidatesProposed, GenerationFailed, TurnCancelled, TurnExpired)
"""Payloads that may end a pending turn (spec 1.9)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """What is otherwise than it was; None keeps what was in force at each moment.

    ``without`` names predicates that are in no contract; nothing else of what confirming them
    did is undone. ``forgotten`` names events that are as if erased, with all derived from them.
    """

    ruleset: int | None = None
    weights: Weights | None = None
    budget_main: int | None = None
    budget_tail: int | None = None
    selector: str | None = None
    without: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Otherwise:
    """One event's part in a what-if turn: its step, and the turn if it is still pending."""

    step: Step
    pending: PendingRow | None


def override_regime(regime: RegimeRow, override: Override) -> RegimeRow:
    """Return what is in force under an override."""
    named = {
        field: getattr(override, field)
        for field in ("ruleset", "weights", "budget_main", "budget_tail", "selector")
        if getattr(override, field) is not None
    }
    return replace(regime, **named)


def show_otherwise(view: View, override: Override) -> View:
    """Return the view under an override: other regime, contract without what it leaves out."""
    known = tuple(name for name in override.forgotten if view.get(SeenRow, name) is not None)
    below = lay_over(view, _forget(view, known)) if known else view
    return _Otherwise(below, override, frozenset(override.without))


def _forget(view: View, event_ids: tuple[str, ...]) -> Changes:
    """Return what erasing these events would change, but for the head, which goes on."""
    head = view.get(UserHead, HEAD_ID)
    assert head is not None, "a user with seen events has a head"
    erasure = Event(
        "", view.tenant, view.user, head.effective_ms, 0, None, Principal(PrincipalKind.USER, ""),
        None, None, None, (), None, None, ErasureRequested(event_ids),
    )  # fmt: skip
    draft = open_draft(view, Arrival(erasure, head.seq, head.effective_ms, b""))
    fold_erasure(draft, ErasureRequested(event_ids))
    return draft.changes


def answer_otherwise(event: Event, candidates: tuple[Candidate, ...] | None = None) -> Event:
    """Return an answer as one to whatever packet the turn has, with other candidates if given.

    A turn's recorded answer names the packet that was issued then; under other settings it
    answers the packet that would have been. Other candidates take the place of recorded ones,
    and of a failure or an expiry; a cancellation stays one.
    """
    payload = event.payload
    if candidates is not None and isinstance(
        payload, (CandidatesProposed, GenerationFailed, TurnExpired)
    ):
        answer = CandidatesProposed(payload.turn_id, None, candidates, None, None, ())
        sender = Principal(PrincipalKind.GENERATOR, event.principal.id)
        return replace(event, payload=answer, principal=sender)
    if isinstance(payload, (CandidatesProposed, GenerationFailed)):
        return replace(event, payload=replace(payload, packet_digest=None))
    return event


def ask_otherwise(event: Event, override: Override) -> Event:
    """Return a request as it could be made under an override: no more than its budgets.

    A request that named the active ruleset names none: the override does.
    """
    payload = event.payload
    assert isinstance(payload, TurnRequested), "only requests are asked"
    return replace(
        event,
        payload=replace(
            payload,
            ruleset=None,
            budget_main=_bound(payload.budget_main, override.budget_main),
            budget_tail=_bound(payload.budget_tail, override.budget_tail),
        ),
    )


def decide_otherwise(
    view: View, event: Event, stamp: Stamp, override: Override, pending: PendingRow | None
) -> Otherwise:
    """Return what a turn event would have done on this history under an override.

    ``view`` is the recorded history before the event; ``pending`` is the turn as it stands
    under the override, None for a request. Nothing of the answer is folded into the history.

    Raises:
        UnknownRulesetError: the override names rules that this build lacks.
    """
    turn_id = read_turn_id(event)
    changes: Changes = {(PendingRow, turn_id): pending, (TurnRow, turn_id): None}
    head = view.get(UserHead, HEAD_ID)
    if head is not None and pending is not None:
        # The turn counts as pending here, also where it had ended in the recorded history.
        changes[UserHead, HEAD_ID] = replace(head, pending_turns=max(1, head.pending_turns))
    seen = lay_over(show_otherwise(view, override), changes)
    step = decision.step(seen, event, stamp)
    after: Any = step.changes.get((PendingRow, turn_id), pending)
    return Otherwise(step, after)


def read_turn_id(event: Event) -> str:
    """Return the turn that a turn event is about: a request's is its own id (spec 6.1)."""
    payload = event.payload
    if isinstance(payload, TurnRequested):
        return event.event_id
    assert isinstance(payload, ANSWERS), "only requests and answers are about turns"
    return payload.turn_id


def _bound(named: int | None, allowed: int | None) -> int | None:
    if named is None or allowed is None:
        return named
    return min(named, allowed)


@dataclass(frozen=True, slots=True)
class _Otherwise:
    """A view in which a regime and a contract are otherwise."""

    below: View
    override: Override
    without: frozenset[str]

    @property
    def tenant(self) -> str:
        return self.below.tenant

    @property
    def user(self) -> str:
        return self.below.user

    def get(self, record: type[R], row_id: str) -> R | None:
        found: R | None = self._show(self.below.get(record, row_id))
        return found

    def scan(self, record: type[R], prefix: str = "") -> Sequence[tuple[str, R]]:
        found = self.below.scan(record, prefix)
        if record is not PredicateRow or not self.without:
            return found
        shown = ((row_id, self._show(row)) for row_id, row in found)
        return [(row_id, row) for row_id, row in shown if row is not None]

    def _show(self, row: Any) -> Any:
        if isinstance(row, RegimeRow):
            return override_regime(row, self.override)
        if isinstance(row, PredicateRow) and row.predicate.predicate_id in self.without:
            return None
        return row
