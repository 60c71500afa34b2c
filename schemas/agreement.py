"""Agreement: proposals, confirmations, answers, verdicts and obligations (spec 1.8)."""

from dataclasses import dataclass
from enum import StrEnum

from schemas.candidate import SlotValue
from schemas.observation import HintKind
from schemas.predicate import Predicate


@dataclass(frozen=True, slots=True)
class PredicateProposed:
    """An open proposal; it enters no contract. ``preference`` proposals never block a turn."""

    predicate: Predicate
    replaces: tuple[str, ...]
    kind: HintKind


@dataclass(frozen=True, slots=True)
class PredicateConfirmed:
    """The only way into the contract: names a proposal's digest, or carries the tree itself."""

    digest: bytes | None
    predicate: Predicate | None
    replaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposalDeclined:
    """Closes an open proposal."""

    digest: bytes


@dataclass(frozen=True, slots=True)
class PredicateRevoked:
    """Ends a predicate in force from here; nothing is overwritten."""

    predicate_id: str


@dataclass(frozen=True, slots=True)
class ObligationOpened:
    """Consequence debt; ``blocks`` names scenes or commitment types."""

    obligation_id: str
    dimension: str
    due_ms: int | None
    blocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObligationDischarged:
    """Ends an obligation."""

    obligation_id: str


class CheckVerdict(StrEnum):
    """What an external check found."""

    UNKNOWN = "unknown"
    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class VerdictRecorded:
    """The result of an external check on one candidate; read by ``attested(check)``."""

    check: str
    candidate_digest: bytes
    verdict: CheckVerdict
    detail: str


class Answer(StrEnum):
    """What a user says to a question."""

    UNKNOWN = "unknown"
    CONFIRM = "confirm"
    REJECT = "reject"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class ClarificationAnswered:
    """An answer from the user's own channel; without question id it binds to the only open one.

    ``digests`` picks among the digests a question offers; empty means all of them.
    """

    question_id: str | None
    answer: Answer
    digests: tuple[bytes, ...]
    values: tuple[SlotValue, ...]
