"""What must be so in the rows for an event to be accepted: turns, digests, limits (spec 1.11)."""

from collections.abc import Callable
from typing import Any, Final

from processors.compilation.answers import find_question, list_confirmed
from processors.compilation.contract import find_in_force
from processors.compilation.draft import NEW_HEAD, read_catalogue
from processors.compilation.permissions import deny
from processors.compilation.proposals import OPEN, count_open
from processors.compilation.refusal import Refusal, violate
from processors.compilation.units import count_units
from processors.limits import (
    CANDIDATES_MAX,
    HINTS_MAX,
    PENDING_TURNS_MAX,
    PREDICATES_MAX,
    PROPOSALS_MAX,
    UNITS_MAX,
)
from processors.view import View
from schemas.codec import digest
from schemas.event import (
    Answer,
    CandidatesProposed,
    ClarificationAnswered,
    Event,
    EvidenceRecorded,
    FormSubmitted,
    GenerationFailed,
    HintExtracted,
    HintKind,
    ObservationCorrected,
    OutcomeObserved,
    PredicateConfirmed,
    PredicateProposed,
    PrincipalKind,
    SurfaceProposed,
    TurnCancelled,
    TurnExpired,
    TurnRequested,
    UtteranceObserved,
)
from schemas.fate import RejectionReason
from schemas.identity import predicate_digest
from schemas.row import PendingRow, ProposalRow, RegimeRow, TurnRow, UserHead

Condition = Callable[[View, Event, Any, UserHead, RegimeRow], Refusal | None]


def check_conditions(
    view: View, event: Event, head: UserHead | None, regime: RegimeRow
) -> Refusal | None:
    """Refuse an event for which the rows are not as it needs them; None when all is well."""
    condition = _CONDITIONS.get(type(event.payload))
    if condition is None:
        return None
    return condition(view, event, event.payload, head or NEW_HEAD, regime)


def exceed(detail: str) -> Refusal:
    """Return the refusal of what would pass a limit."""
    return Refusal(RejectionReason.LIMIT_EXCEEDED, detail)


def _check_room(
    _view: View, event: Event, _payload: object, head: UserHead, _regime: RegimeRow
) -> Refusal | None:
    units = count_units(event)
    if head.units + units - head.texts <= UNITS_MAX:
        return None
    return exceed(f"{units} units more than the {UNITS_MAX} that a user may have; withdraw some")


def _check_hint(
    view: View, _event: Event, payload: HintExtracted, head: UserHead, _regime: RegimeRow
) -> Refusal | None:
    if payload.kind is HintKind.CONSTRAINT:
        return _check_proposals(view)
    if head.hints < HINTS_MAX:
        return None
    return exceed(f"more than {HINTS_MAX} hints; withdraw events that they come from")


def _check_proposed(
    view: View, _event: Event, _payload: object, _head: UserHead, _regime: RegimeRow
) -> Refusal | None:
    return _check_proposals(view)


def _check_proposals(view: View) -> Refusal | None:
    if count_open(view) < PROPOSALS_MAX:
        return None
    return exceed(f"more than {PROPOSALS_MAX} open proposals; confirm or decline some")


def _check_turn(
    view: View, _event: Event, payload: Any, _head: UserHead, _regime: RegimeRow
) -> Refusal | None:
    turn_id = payload.turn_id
    if view.get(PendingRow, turn_id) is None and view.get(TurnRow, turn_id) is None:
        return _unknown_turn("turn_id", turn_id)
    return None


def _unknown_turn(field: str, turn_id: str) -> Refusal:
    return Refusal(
        RejectionReason.UNKNOWN_TURN,
        f"{field}: no turn {turn_id!r} of this user; name the event_id of its TurnRequested",
    )


def _check_candidates(
    view: View, event: Event, payload: CandidatesProposed, head: UserHead, regime: RegimeRow
) -> Refusal | None:
    refusal = _check_turn(view, event, payload, head, regime)
    if refusal is not None or len(payload.candidates) <= CANDIDATES_MAX:
        return refusal
    distinct = len({digest(candidate) for candidate in payload.candidates})
    if distinct > CANDIDATES_MAX:
        return exceed(f"candidates: {distinct} different ones; send at most {CANDIDATES_MAX}")
    return None


def _check_confirmed(
    view: View, _event: Event, payload: PredicateConfirmed, head: UserHead, _regime: RegimeRow
) -> Refusal | None:
    predicate, named = payload.predicate, payload.digest
    replaces = payload.replaces
    if predicate is None:
        assert named is not None, "its shape was checked"
        proposal = view.get(ProposalRow, named.hex())
        if proposal is None or proposal.status != OPEN:
            return Refusal(
                RejectionReason.STALE_DIGEST,
                f"digest {named.hex()}: no open proposal has it; confirm what is proposed now",
            )
        predicate = proposal.predicate
        replaces = (*replaces, *proposal.replaces)
    elif named is not None and named != predicate_digest(predicate):
        return Refusal(
            RejectionReason.STALE_DIGEST,
            f"digest {named.hex()} is not that of the predicate carried; send them as a pair",
        )
    ended = {
        name
        for name in (*replaces, predicate.predicate_id)
        if find_in_force(view, name) is not None
    }
    return _check_contract_size(head, 1 - len(ended))


def _check_contract_size(head: UserHead, more: int) -> Refusal | None:
    if more <= 0 or head.predicates + more <= PREDICATES_MAX:
        return None
    return exceed(f"more than {PREDICATES_MAX} predicates in force; revoke or replace some")


def _check_answered(
    view: View, _event: Event, payload: ClarificationAnswered, head: UserHead, _regime: RegimeRow
) -> Refusal | None:
    asked = find_question(view, payload)
    if asked is None:
        return None
    if payload.answer is Answer.CONFIRM:
        return _check_contract_size(head, len(list_confirmed(view, payload, asked[1])))
    units = len(payload.values) if payload.answer is Answer.VALUE else 0
    if units and head.units + units > UNITS_MAX:
        return exceed(f"{units} units more than the {UNITS_MAX} of a user; withdraw some")
    return None


def _check_request(
    view: View, event: Event, payload: TurnRequested, head: UserHead, regime: RegimeRow
) -> Refusal | None:
    return (
        _check_authority(event, payload, head)
        or _check_versions(view, payload, regime)
        or _check_budgets(payload, regime)
        or _check_chain(view, event, payload, head)
    )


def _check_authority(event: Event, payload: TurnRequested, head: UserHead) -> Refusal | None:
    """Only an operator names the ruleset, or another as_of than the turn's own (1.7, 3.5)."""
    if event.principal.kind is PrincipalKind.OPERATOR:
        return None
    if payload.ruleset is not None:
        return deny("ruleset: only an operator may name it; leave it out")
    effective_ms = max(event.occurred_at_ms, head.effective_ms)
    if payload.as_of_ms is not None and payload.as_of_ms != effective_ms:
        return deny("as_of_ms: only an operator may ask about another moment; leave it out")
    return None


def _check_versions(view: View, payload: TurnRequested, regime: RegimeRow) -> Refusal | None:
    if payload.ruleset is not None and payload.ruleset != regime.ruleset:
        return Refusal(
            RejectionReason.STALE_DIGEST,
            f"ruleset {payload.ruleset} is not active, {regime.ruleset} is; activate it first",
        )
    named = payload.catalogue_digest
    if named is not None and named != regime.catalogue_digest:
        return Refusal(
            RejectionReason.STALE_DIGEST,
            f"catalogue_digest {named.hex()} is not active, "
            f"{regime.catalogue_digest.hex()} is; name that one or none",
        )
    catalogue = read_catalogue(view)
    scenes = () if catalogue is None else tuple(scene.name for scene in catalogue.scenes)
    if payload.scene not in scenes:
        known = ", ".join(scenes[:10])
        return violate(f"scene: {payload.scene!r} is not in the catalogue; it has {known}")
    return None


def _check_budgets(payload: TurnRequested, regime: RegimeRow) -> Refusal | None:
    for field, allowed in (
        ("budget_main", regime.budget_main),
        ("budget_tail", regime.budget_tail),
    ):
        amount = getattr(payload, field)
        if amount is not None and amount > allowed:
            return exceed(f"{field}: {amount} is above the {allowed} in force; ask for less")
    return None


def _check_chain(
    view: View, event: Event, payload: TurnRequested, head: UserHead
) -> Refusal | None:
    turn_id = event.event_id
    if view.get(PendingRow, turn_id) is not None or view.get(TurnRow, turn_id) is not None:
        return Refusal(
            RejectionReason.EVENT_ID_CONFLICT, f"event_id: turn {turn_id!r} exists; use a new id"
        )
    earlier = payload.retry_of
    if earlier and view.get(PendingRow, earlier) is None and view.get(TurnRow, earlier) is None:
        return _unknown_turn("retry_of", earlier)
    if head.pending_turns >= PENDING_TURNS_MAX:
        return exceed(f"{PENDING_TURNS_MAX} turns are pending; let some end or cancel them")
    return None


_CONDITIONS: Final[dict[type, Condition]] = {
    FormSubmitted: _check_room,
    OutcomeObserved: _check_room,
    UtteranceObserved: _check_room,
    EvidenceRecorded: _check_room,
    ObservationCorrected: _check_room,
    HintExtracted: _check_hint,
    PredicateProposed: _check_proposed,
    PredicateConfirmed: _check_confirmed,
    ClarificationAnswered: _check_answered,
    TurnRequested: _check_request,
    CandidatesProposed: _check_candidates,
    GenerationFailed: _check_turn,
    TurnCancelled: _check_turn,
    TurnExpired: _check_turn,
    SurfaceProposed: _check_turn,
}
