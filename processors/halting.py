"""A halted user: one whose history raised in the fold, and whose rows nobody may rest on.

Until an operator has refolded the user, turns Abstain without reading what was folded
(architecture, "Batch"); when they end is ``processors.decision``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from processors.compilation.draft import HEAD_ID, NEW_HEAD
from processors.view import Changes, View
from schemas.row import (
    AttestedRow,
    CatalogueRow,
    PendingRow,
    RegimeRow,
    TurnRow,
    UserHead,
)

R = TypeVar("R")

_SHOWN: Final = frozenset({UserHead, RegimeRow, AttestedRow, CatalogueRow, PendingRow, TurnRow})


def halt(view: View) -> Changes:
    """Return the change that halts the view's user, also one without any accepted event."""
    head = view.get(UserHead, HEAD_ID) or NEW_HEAD
    return {(UserHead, HEAD_ID): replace(head, halted=True)}


def hide_history(view: View) -> View:
    """Return the view of a halted user: what is in force and its turns, and nothing said.

    For every other user it is the view itself.
    """
    head = view.get(UserHead, HEAD_ID)
    return _Hidden(view) if head is not None and head.halted else view


@dataclass(frozen=True, slots=True)
class _Hidden:
    below: View

    @property
    def tenant(self) -> str:
        return self.below.tenant

    @property
    def user(self) -> str:
        return self.below.user

    def get(self, record: type[R], row_id: str) -> R | None:
        return self.below.get(record, row_id) if record in _SHOWN else None

    def scan(self, record: type[R], prefix: str = "") -> Sequence[tuple[str, R]]:
        return self.below.scan(record, prefix) if record in _SHOWN else ()
