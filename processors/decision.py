"""One event: admit, fold, and open, continue or end the turn it touches; the order of steps.

Nothing else in the core calls the three parts in order. No rule lives here: what an event does
is ``compilation``, what a turn may read is ``activation``, what it may say is ``validation``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from processors.activation.coverage import derive_requirements
from processors.activation.packet import activate, describe_coverage
from processors.compilation.admission import admit_under
from processors.compilation.amendable import show_commitments
from processors.compilation.control import BEFORE_GENESIS, gaps_before_genesis, read_regime
from processors.compilation.draft import REGIME_ID
from processors.compilation.folding import fold
from processors.compilation.reading import read_situation
from processors.halting import halt, hide_history
from processors.limits import OUTPUT_BYTES_MAX
from processors.pending import keep_pending, mark_issued, open_pending, release_pending
from processors.ruleset import find_ruleset
from processors.situation import Situation
from processors.validation.basis import Basis, read_attested
from processors.validation.consequences import fold_outcome
from processors.validation.validation import abstain, check_surface, decide, fail, repair_early
from processors.view import Arrival, Changes, Output, Stamp, Step, View, lay_over
from schemas.candidate import Attempt
from schemas.codec import digest, encode
from schemas.event import Event
from schemas.fate import Fate, FateStatus, RejectionReason
from schemas.outcome import Commitment, EventReference, Reason, RepairAct, TurnFailure
from schemas.packet import Packet, Requirement, Uncovered
from schemas.record import compile_building
from schemas.row import AttestedRow, CatalogueRow, PendingRow, RegimeRow, VerdictRow
from schemas.turn import (
    CandidatesProposed,
    FailureKind,
    GenerationFailed,
    SurfaceProposed,
    TurnCancelled,
    TurnExpired,
    TurnRequested,
)

Outcome = Commitment | RepairAct | TurnFailure

TURN_ENDED: Final = "turn_ended"
STALE_PACKET: Final = "stale_packet"
NO_COMMITMENT: Final = "no_commitment"

_TURN_PAYLOADS: Final = frozenset(
    {
        TurnRequested,
        CandidatesProposed,
        GenerationFailed,
        TurnCancelled,
        TurnExpired,
        SurfaceProposed,
    }
)

_build_step: Final = compile_building(Step)


@dataclass(frozen=True, slots=True)
class _Turn:
    """What an event does to a turn beside its fold."""

    changes: Changes
    outputs: tuple[Output, ...]
    ignored: str = ""


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a turn ends without candidates."""

    kind: FailureKind
    packet_digest: bytes | None = None
    detail: str = ""
    attempts: tuple[Attempt, ...] = ()


def step(view: View, event: Event, stamp: Stamp) -> Step:
    """Return what one decoded event does: its fate, changed rows, outputs.

    A rejected event and a duplicate change nothing and take no seq (spec 1.2). Of the events
    that may end a turn the first in log order does; later ones are accepted and ignored with
    the reason in their fate (spec 1.9).

    Raises:
        UnknownRulesetError: the log has activated rules that this build lacks; the driver stops.

    """
    regime = view.get(RegimeRow, REGIME_ID)
    if regime is not None:
        find_ruleset(regime.ruleset)
    arrival = admit_under(regime, view, event, stamp)
    if isinstance(arrival, Fate):
        return Step(arrival, {}, ())
    folding = fold(view, arrival)
    if arrival.seq == 0:
        _check_ruleset(lay_over(view, folding.changes))
        return Step(Fate(FateStatus.ACCEPTED, None, None, "", folding.ignored), folding.changes, ())
    if type(event.payload) not in _TURN_PAYLOADS:
        fate = _accept(arrival.seq, folding.detail, folding.ignored)
        return _build_step(fate, folding.changes, ())
    turn = _decide_turn(lay_over(view, folding.changes), arrival, stamp)
    fate = Fate(FateStatus.ACCEPTED, arrival.seq, None, "", folding.ignored or turn.ignored)
    return Step(fate, {**folding.changes, **turn.changes}, turn.outputs)


@lru_cache(maxsize=4_096)
def _accept(seq: int, detail: str, ignored: str) -> Fate:
    return Fate(FateStatus.ACCEPTED, seq, None, detail, ignored)


def fault(view: View, event: Event, stamp: Stamp, error: str) -> Step:
    """Return the step of an event whose fold raised: rejected, and its user halted.

    The turns of a halted user Abstain until an operator's UserRefolded (architecture, "Batch").
    A control record has no user to halt.
    """
    detail = f"{error} at partition {stamp.partition}, offset {stamp.offset}"
    fate = Fate(FateStatus.REJECTED, None, RejectionReason.CORE_FAULT, detail, "")
    if not event.user:
        return Step(fate, {}, ())
    return Step(fate, halt(view), ())


def record_gap(view: View) -> Changes:
    """Return the change of a gap in the log: one more that no operator has attested (spec 1.8).

    Users of the partition, also those first seen later, are incomplete while its gaps exceed
    the attested ones. Before genesis nothing is admitted; a gap there counts from genesis on.
    """
    regime = view.get(RegimeRow, REGIME_ID)
    if regime is None:
        return {(AttestedRow, BEFORE_GENESIS): AttestedRow(gaps_before_genesis(view) + 1)}
    return {(RegimeRow, REGIME_ID): replace(regime, gaps=regime.gaps + 1)}


def _check_ruleset(view: View) -> None:
    regime = view.get(RegimeRow, REGIME_ID)
    if regime is not None:
        find_ruleset(regime.ruleset)


def _decide_turn(view: View, arrival: Arrival, stamp: Stamp) -> _Turn:
    payload = arrival.event.payload
    match payload:
        case TurnRequested():
            return _open_turn(view, arrival, payload, stamp)
        case CandidatesProposed():
            return _answer_turn(view, arrival, payload)
        case GenerationFailed():
            return _fail_turn(view, arrival, payload.turn_id, _read_failure(payload))
        case TurnCancelled():
            return _fail_turn(view, arrival, payload.turn_id, _Failure(FailureKind.CANCELLED))
        case TurnExpired():
            return _fail_turn(view, arrival, payload.turn_id, _Failure(FailureKind.EXPIRED))
        case SurfaceProposed():
            return _phrase_turn(view, arrival, payload)
        case _:
            raise AssertionError("only payloads of turns come here")


def _open_turn(view: View, arrival: Arrival, request: TurnRequested, stamp: Stamp) -> _Turn:
    """End the turn at once for reasons (0), (1), (2) of spec 5.7, or issue its packet."""
    pending = open_pending(arrival, request, read_regime(view), stamp)
    situation = _read_turn(view, pending, arrival)
    requirements = derive_requirements(situation)
    packet = activate(situation, requirements, number=1)
    issued = mark_issued(pending, packet)
    # Until the packet is out, nothing of Z* was shown to anyone.
    basis = replace(_build_basis(situation, requirements, issued, arrival, {}), packet_digest=None)
    act = repair_early(situation, requirements, basis)
    if act is not None:
        return _end_turn(view, situation, basis, act)
    return _issue(view, situation, basis, issued, packet)


def _answer_turn(view: View, arrival: Arrival, answer: CandidatesProposed) -> _Turn:
    """Decide a pending turn, or issue its second packet (spec 5.4)."""
    pending = view.get(PendingRow, answer.turn_id)
    if pending is None:
        return _Turn({}, (), TURN_ENDED)
    if answer.packet_digest not in (None, pending.packet_digest):
        return _Turn({}, (), STALE_PACKET)
    situation = _read_turn(view, pending, arrival)
    requirements = derive_requirements(situation)
    attested = read_attested(view, [digest(candidate) for candidate in answer.candidates])
    basis = _build_basis(situation, requirements, pending, arrival, attested)
    if _may_recover(situation, pending, basis):
        packet = activate(situation, requirements, number=pending.round + 1)
        return _issue(view, situation, basis, mark_issued(pending, packet), packet)
    candidates = () if situation.halted else answer.candidates
    outcome = decide(situation, requirements, basis, candidates)
    return _end_turn(view, situation, basis, outcome)


def _may_recover(situation: Situation, pending: PendingRow, basis: Basis) -> bool:
    """Return whether Z* lost a unit, and E_t holds another for what is now uncovered."""
    ruleset = find_ruleset(situation.regime.ruleset)
    if pending.round >= ruleset.packets_per_turn or situation.incomplete or situation.halted:
        return False
    return len(basis.evidence) < len(pending.evidence_ids) and any(
        item.status is Uncovered.CROWDED_OUT for item in basis.coverage
    )


def _fail_turn(view: View, arrival: Arrival, turn_id: str, failure: _Failure) -> _Turn:
    """End a pending turn without candidates (spec 5.10).

    A generator's failure for another packet is as stale as its candidates would be.
    """
    pending = view.get(PendingRow, turn_id)
    if pending is None:
        return _Turn({}, (), TURN_ENDED)
    if failure.packet_digest not in (None, pending.packet_digest):
        return _Turn({}, (), STALE_PACKET)
    situation = _read_turn(view, pending, arrival)
    requirements = derive_requirements(situation)
    basis = _build_basis(situation, requirements, pending, arrival, {})
    outcome = fail(
        situation, basis, kind=failure.kind, detail=failure.detail, attempts=failure.attempts
    )
    return _end_turn(view, situation, basis, outcome)


def _phrase_turn(view: View, arrival: Arrival, phrasing: SurfaceProposed) -> _Turn:
    """Check a later phrasing; it changes no row (spec 5.11)."""
    row = view.get(CatalogueRow, read_regime(view).catalogue_digest.hex())
    assert row is not None, "the active catalogue has a row"
    surface = check_surface(
        view,
        turn_id=phrasing.turn_id,
        seq=arrival.seq,
        text=phrasing.text,
        catalogue=row.catalogue,
    )
    return _Turn({}, (), NO_COMMITMENT) if surface is None else _Turn({}, (surface,))


def _read_turn(view: View, pending: PendingRow, arrival: Arrival) -> Situation:
    return show_commitments(read_situation(hide_history(view), pending, arrival))


def _issue(
    view: View, situation: Situation, basis: Basis, pending: PendingRow, packet: Packet
) -> _Turn:
    """Put a packet out and keep the turn pending, with its deadline."""
    if len(encode(packet)) > OUTPUT_BYTES_MAX:
        return _end_turn(view, situation, basis, _abstain_too_large(situation, basis))
    return _Turn(keep_pending(view, pending), (packet,))


def _end_turn(view: View, situation: Situation, basis: Basis, outcome: Outcome) -> _Turn:
    """Put the one outcome out and fold its consequences in the same step (spec 5.6)."""
    if len(encode(outcome)) > OUTPUT_BYTES_MAX:
        outcome = _abstain_too_large(situation, basis)
    changes = fold_outcome(hide_history(view), situation, basis, outcome)
    return _Turn({**changes, **release_pending(view, situation.turn_id)}, (outcome,))


def _abstain_too_large(situation: Situation, basis: Basis) -> RepairAct:
    """Return the act of a turn whose record would be too large; its lists are left out."""
    bare = replace(basis, evidence=(), coverage=())
    detail = f"more than {OUTPUT_BYTES_MAX} bytes: ask for less at once, or withdraw evidence"
    return abstain(situation, bare, reason=Reason.OUTCOME_TOO_LARGE, detail=detail)


def _build_basis(
    situation: Situation,
    requirements: tuple[Requirement, ...],
    pending: PendingRow,
    arrival: Arrival,
    attested: Mapping[str, VerdictRow],
) -> Basis:
    """Return the basis: Z* is the packet's minus what has been withdrawn since (spec 5.4)."""
    taken = frozenset(pending.evidence_ids)
    evidence = tuple(unit for unit in situation.units if unit.unit_id in taken)
    return Basis(
        decided_by=EventReference(arrival.event.event_id, arrival.seq, arrival.digest),
        packet_digest=pending.packet_digest,
        evidence=evidence,
        coverage=describe_coverage(situation, requirements, evidence),
        relevance=dict(zip(pending.evidence_ids, pending.relevance, strict=True)),
        attested=attested,
    )


def _read_failure(payload: GenerationFailed) -> _Failure:
    detail = payload.attempts[-1].detail if payload.attempts else ""
    return _Failure(payload.kind, payload.packet_digest, detail, payload.attempts)
