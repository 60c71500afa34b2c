"""Control records: what an operator puts in force for a partition; they have no user (spec 1.7)."""

from dataclasses import replace
from typing import Any, Final

from processors.compilation.draft import HEAD_ID, REGIME_ID, Draft
from processors.view import View
from schemas.event import (
    CatalogueActivated,
    Genesis,
    HistoryAttested,
    RulesetActivated,
    UserRefolded,
)
from schemas.identity import catalogue_digest
from schemas.row import AttestedRow, CatalogueRow, RegimeRow, UserHead

BEFORE_GENESIS: Final = ""
"""The row that counts gaps while there is no regime to count them; no tenant has this id."""


def fold_control(draft: Draft, payload: Any) -> None:
    """Fold a control record; ErasureCompleted is a receipt and changes nothing here."""
    match payload:
        case Genesis():
            _fold_genesis(draft, payload)
        case RulesetActivated():
            draft.changes[RegimeRow, REGIME_ID] = replace(
                read_regime(draft.view), ruleset=payload.ruleset
            )
        case CatalogueActivated():
            digest = catalogue_digest(payload.catalogue)
            draft.changes[CatalogueRow, digest.hex()] = CatalogueRow(payload.catalogue)
            draft.changes[RegimeRow, REGIME_ID] = replace(
                read_regime(draft.view), catalogue_digest=digest
            )
        case HistoryAttested():
            _fold_attested(draft, payload)
        case UserRefolded():
            head = draft.view.get(UserHead, HEAD_ID)
            if head is None or not head.halted:
                draft.ignored = "not_halted"
                return
            draft.changes[UserHead, HEAD_ID] = replace(head, halted=False)


def read_regime(view: View) -> RegimeRow:
    """Return what is in force; admission lets nothing in before genesis."""
    regime = view.get(RegimeRow, REGIME_ID)
    assert regime is not None, "admission lets nothing in before genesis"
    return regime


def is_incomplete(view: View, regime: RegimeRow) -> bool:
    """Return whether the log has a gap that nobody attested for this user (spec 1.8)."""
    if regime.gaps <= regime.attested_gaps:
        return False
    for row_id in (f"{view.tenant}\0", f"{view.tenant}\0{view.user}"):
        attested = view.get(AttestedRow, row_id)
        if attested is not None and attested.gaps >= regime.gaps:
            return False
    return True


def build_regime(payload: Genesis) -> RegimeRow:
    """Return the regime that a genesis record puts in force."""
    return RegimeRow(
        payload.ruleset, catalogue_digest(payload.catalogue), payload.weights,
        payload.budget_main, payload.budget_tail, payload.selector, payload.partitions,
        payload.rights, payload.authenticated, payload.deadline_ms, 0, 0,
    )  # fmt: skip


def gaps_before_genesis(view: View) -> int:
    """Return how many gaps the log has before its genesis record."""
    counted = view.get(AttestedRow, BEFORE_GENESIS)
    return 0 if counted is None else counted.gaps


def _fold_genesis(draft: Draft, payload: Genesis) -> None:
    regime = replace(build_regime(payload), gaps=gaps_before_genesis(draft.view))
    draft.changes[RegimeRow, REGIME_ID] = regime
    draft.changes[CatalogueRow, regime.catalogue_digest.hex()] = CatalogueRow(payload.catalogue)


def _fold_attested(draft: Draft, payload: HistoryAttested) -> None:
    regime = read_regime(draft.view)
    if payload.tenant is None:
        draft.changes[RegimeRow, REGIME_ID] = replace(regime, attested_gaps=regime.gaps)
        return
    row_id = f"{payload.tenant}\0{payload.user or ''}"
    draft.changes[AttestedRow, row_id] = AttestedRow(regime.gaps)
