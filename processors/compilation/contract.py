"""The contract h_t: explicit confirmation is the only way in, and nothing is overwritten (spec 2).

Proposals, declining and revoking stand here too. Who may confirm is decided at admission.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from processors.compilation.derivation import own_authority
from processors.compilation.draft import Draft
from processors.compilation.findings import find_doubts
from processors.compilation.fixing import find_fixed_slot, resolve_predicate
from processors.compilation.proposals import (
    CLOSED,
    CONFIRMED,
    DECLINED,
    FULL_CONFIDENCE,
    OPEN,
    end_proposal,
    open_proposal,
    touch,
)
from processors.compilation.slots import slot_id
from processors.compilation.statements import fold_standing
from processors.compilation.withdrawal import settle_slots
from processors.predicates.walk import read_text_slots
from processors.view import View
from schemas.catalogue import Authority
from schemas.event import (
    PredicateConfirmed,
    PredicateProposed,
    PredicateRevoked,
    PrincipalKind,
    ProposalDeclined,
)
from schemas.identity import predicate_digest
from schemas.predicate import Predicate, PredicateScope
from schemas.row import EpisodeRow, PredicateRow, ProposalRow, Standing, render_seq

REVOKED: Final = "revoked"
REPLACED: Final = "replaced"
LAPSED: Final = "lapsed"

_MAY_REPLACE: Final = (PrincipalKind.USER, PrincipalKind.OPERATOR)


def list_versions(view: View, predicate_id: str) -> list[PredicateRow]:
    """Return every version of a predicate that was ever confirmed, oldest first."""
    return [row for _, row in view.scan(PredicateRow, f"{predicate_id}\0")]


def find_in_force(view: View, predicate_id: str) -> PredicateRow | None:
    """Return the version of a predicate that is in force, if any."""
    for row in reversed(list_versions(view, predicate_id)):
        if row.ended_seq is None:
            return row
    return None


def digest_contract(rows: Iterable[PredicateRow]) -> bytes:
    """Return SHA-256 over the digests of the predicates in force, sorted by id (spec 2.1)."""
    ordered = sorted(rows, key=lambda row: (row.predicate.predicate_id, row.seq))
    return hashlib.sha256(b"".join(row.digest for row in ordered)).digest()


def fold_proposed(draft: Draft, payload: PredicateProposed) -> None:
    """Open a proposal; it enters no contract.

    What it would replace counts only from a user or operator: the digest that is confirmed does
    not cover it, so a model could take a rule out of force by proposing a harmless one. The
    confirmation itself may name what it replaces.
    """
    predicate = payload.predicate
    own_word = draft.arrival.event.principal.kind in _MAY_REPLACE
    in_force = find_in_force(draft.view, predicate.predicate_id)
    if in_force is not None and in_force.digest == predicate_digest(predicate):
        draft.ignored = "in_force"
        return
    fixed = find_fixed_slot(predicate)
    slot, value = fixed if fixed is not None else (name_slot(predicate), None)
    draft.ignored = open_proposal(
        draft,
        predicate,
        kind=payload.kind,
        authority=own_authority(draft),
        confidence=FULL_CONFIDENCE,
        subject=predicate.subject,
        slot=slot,
        value=value,
        replaces=payload.replaces if own_word else (),
    )


def name_slot(predicate: Predicate) -> str:
    """Return the one slot that a predicate reads, or "" when it reads none or several."""
    slots = read_text_slots(predicate.expression)
    return slots[0] if len(slots) == 1 else ""


def fold_confirmed(draft: Draft, payload: PredicateConfirmed) -> None:
    """Put into force what the digest names, or the predicate carried (spec 1.8)."""
    if payload.predicate is not None:
        confirm(draft, payload.predicate, payload.replaces)
        return
    assert payload.digest is not None, "admission lets no confirmation without a subject in"
    proposal = draft.view.get(ProposalRow, payload.digest.hex())
    assert proposal is not None, "admission rejects a digest that is not open"
    confirm(draft, proposal.predicate, (*proposal.replaces, *payload.replaces))


def confirm(draft: Draft, predicate: Predicate, replaces: Iterable[str]) -> None:
    """Put one predicate into force, and those that it replaces out of force."""
    digest = predicate_digest(predicate)
    named = tuple(dict.fromkeys(name for name in replaces if name != predicate.predicate_id))
    if _is_late(draft, predicate.predicate_id, tuple(dict.fromkeys(replaces))):
        _end_proposals(draft, predicate.predicate_id, None)
        draft.ignored = "superseded"
        return
    _end_proposals(draft, predicate.predicate_id, digest)
    _clear_failures(draft)
    own = find_in_force(draft.view, predicate.predicate_id)
    stays = own is not None and own.digest == digest
    ended = [row for name in named if (row := find_in_force(draft.view, name)) is not None]
    if own is not None and not stays:
        ended.append(own)
    if stays and not ended:
        draft.ignored = draft.ignored or "in_force"
        return
    for row in ended:
        end_predicate(draft, row, REPLACED)
    draft.contract_changes += 1
    fixed = list_fixed_slots(ended)
    if stays:
        settle_slots(draft, fixed)
        return
    row = _enter(draft, predicate, digest, named)
    own_fixed = find_fixed_slot(row.predicate)
    if own_fixed is not None:
        fixed.pop((row.predicate.subject, own_fixed[0]), None)
    settle_slots(draft, fixed)
    _state_fixed(draft, row)


def _enter(
    draft: Draft, predicate: Predicate, digest: bytes, replaces: tuple[str, ...]
) -> PredicateRow:
    arrival = draft.arrival
    event = arrival.event
    resolved = resolve_predicate(predicate, event, arrival.effective_ms)
    row = PredicateRow(
        resolved, digest, arrival.seq, event.event_id, event.principal.kind,
        event.principal.id, arrival.effective_ms, replaces, None, None, "",
        find_doubts(draft, resolved), arrival.digest,
    )  # fmt: skip
    draft.changes[PredicateRow, predicate_row_id(row)] = row
    draft.predicates += 1
    touch(draft, f"predicate:{predicate.predicate_id}")
    return row


def predicate_row_id(row: PredicateRow) -> str:
    """Return the row id of one version of a predicate."""
    return f"{row.predicate.predicate_id}\0{render_seq(row.seq)}"


def _state_fixed(draft: Draft, row: PredicateRow) -> None:
    fixed = find_fixed_slot(row.predicate)
    if fixed is None:
        return
    slot, value = fixed
    start = row.predicate.valid_from_ms
    standing = Standing(
        value,
        Authority.CONFIRMED,
        row.event_id,
        row.seq,
        row.effective_ms if start is None else max(start, row.effective_ms),
        row.predicate.valid_to_ms,
    )
    fold_standing(draft, row.predicate.subject, slot, standing)
    touch(draft, f"slot:{slot_id(row.predicate.subject, slot)}")


def _is_late(draft: Draft, predicate_id: str, replaces: tuple[str, ...]) -> bool:
    """Return whether a confirmation comes after the revocation of what it is about.

    A correction (``replaces``) of what has been revoked brings nothing back, whenever it was
    said; a plain confirmation of the same id only when it was said before the revocation.
    """
    named = [versions for name in replaces if (versions := list_versions(draft.view, name))]
    if named and all(row.ended_seq is not None for versions in named for row in versions):
        return any(versions[-1].ended_by.startswith(REVOKED) for versions in named)
    own = list_versions(draft.view, predicate_id)
    if not own or own[-1].ended_ms is None or not own[-1].ended_by.startswith(REVOKED):
        return False
    return draft.arrival.event.occurred_at_ms < own[-1].ended_ms


def _end_proposals(draft: Draft, predicate_id: str, digest: bytes | None) -> None:
    """Close what was open under this id: the one confirmed, if any, and the others beside it."""
    for _, row in draft.view.scan(ProposalRow):
        if row.status == OPEN and row.predicate.predicate_id == predicate_id:
            end_proposal(draft, row, CONFIRMED if row.digest == digest else CLOSED)


def _clear_failures(draft: Draft) -> None:
    """Note a confirmation in every scene: a failed commitment may be tried anew (5.7 (1))."""
    for scene, episode in draft.view.scan(EpisodeRow):
        draft.changes[EpisodeRow, scene] = replace(
            episode, failed_seq=None, confirmed_seq=draft.arrival.seq
        )


def list_fixed_slots(rows: Iterable[PredicateRow]) -> dict[tuple[str, str], None]:
    """Return the (subject, slot) pairs that predicates state, without repetition."""
    found: dict[tuple[str, str], None] = {}
    for row in rows:
        fixed = find_fixed_slot(row.predicate)
        if fixed is not None:
            found[row.predicate.subject, fixed[0]] = None
    return found


def end_predicate(draft: Draft, row: PredicateRow, why: str) -> None:
    """End one version from here on; the row keeps saying what was in force, and until when."""
    arrival = draft.arrival
    draft.changes[PredicateRow, predicate_row_id(row)] = replace(
        row,
        ended_seq=arrival.seq,
        ended_ms=arrival.effective_ms,
        ended_by=f"{why}:{arrival.event.event_id}",
    )
    draft.predicates -= 1
    touch(draft, f"predicate:{row.predicate.predicate_id}")


def fold_declined(draft: Draft, payload: ProposalDeclined) -> None:
    """Close a proposal on the user's word; repetition by others does not reopen it."""
    row = draft.view.get(ProposalRow, payload.digest.hex())
    if row is None or row.status != OPEN:
        draft.ignored = "no_open_proposal"
        return
    end_proposal(draft, row, DECLINED)


def fold_revoked(draft: Draft, payload: PredicateRevoked) -> None:
    """End a predicate in force; one that is unknown or ended stays so."""
    row = find_in_force(draft.view, payload.predicate_id)
    if row is None:
        draft.ignored = "not_in_force"
        return
    end_all(draft, [row], REVOKED)


def lapse(draft: Draft, scene: str) -> None:
    """End the episode predicates of a scene, and those of all scenes (spec 2.2)."""
    rows = [
        row
        for _, row in draft.view.scan(PredicateRow)
        if row.ended_seq is None
        and row.predicate.scope is PredicateScope.EPISODE
        and (not row.predicate.scenes or scene in row.predicate.scenes)
    ]
    end_all(draft, rows, LAPSED)


def end_all(draft: Draft, rows: Iterable[PredicateRow], why: str) -> None:
    """End predicates, each one change of the contract, and settle the slots they stated."""
    ended = list(rows)
    for row in ended:
        end_predicate(draft, row, why)
        draft.contract_changes += 1
    settle_slots(draft, list_fixed_slots(ended))
