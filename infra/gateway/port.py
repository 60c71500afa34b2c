"""What a control point offers its callers, whichever log stands behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from schemas.event import Event
from schemas.outcome import Commitment, RepairAct, TurnFailure
from schemas.packet import Packet
from schemas.row import PredicateRow, ProposalRow, QuestionRow, SlotRow

Outcome: TypeAlias = Commitment | RepairAct | TurnFailure


class ControlError(Exception):
    """The control point cannot answer now; the message says why, ``remedy`` what to do."""

    def __init__(self, message: str, remedy: str = "") -> None:
        """Say what is wrong and how to mend it."""
        super().__init__(message)
        self.message = message
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one event: accepted with a seq, a duplicate, or rejected with a reason.

    ``ignored`` says why an accepted event had no effect.
    """

    event_id: str
    status: str
    seq: int | None
    reason: str
    detail: str
    ignored: str


@dataclass(frozen=True, slots=True)
class Standing:
    """What is in force and open for one user: contract h_t, proposals, questions, slots of u_t."""

    contract: tuple[PredicateRow, ...]
    proposals: tuple[ProposalRow, ...]
    questions: tuple[tuple[str, QuestionRow], ...]
    slots: tuple[SlotRow, ...]


class ControlPort(Protocol):
    """A log that folds: events go in, and what became of them comes back."""

    def tell(self, events: Sequence[Event]) -> tuple[Told, ...]:
        """Append events durably, wait until they are folded, and return the fate of each.

        Raises:
            ControlError: they were not folded in time; they may be later.

        """
        ...

    def find_outcome(self, tenant: str, user: str, turn_id: str) -> Outcome | Packet | None:
        """Return the outcome of a turn, else its newest packet, else None."""
        ...

    def look(self, tenant: str, user: str) -> Standing:
        """Return what stands for a user now."""
        ...
