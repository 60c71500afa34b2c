"""What a generator gives for one turn, and the port behind which generators stand."""

from dataclasses import dataclass
from typing import Final, Protocol

from infra.evaluation.shown import Shown
from schemas.candidate import Attempt, Candidate, Decoding
from schemas.turn import FailureKind

CANDIDATES: Final = 4  # Asked of every generator, in every variant.
TOKENS_MAX: Final = 2_200
ATTEMPTS_MAX: Final = 4  # The first call and three retries.
TIMEOUT_MS: Final = 180_000
TEMPERATURE: Final = 200_000  # Millionths.


@dataclass(frozen=True, slots=True)
class Answer:
    """Candidates, the generator's own choice first, or the kind of failure after all retries.

    The choice may be a repair: a candidate with ``repair_status``.
    """

    candidates: tuple[Candidate, ...]
    failure: FailureKind | None
    attempts: tuple[Attempt, ...]
    decoding: Decoding


class Generator(Protocol):
    """Whatever answers; ``simulated`` must stand beside every figure that comes of it."""

    @property
    def name(self) -> str:
        """Backend and model."""
        ...

    @property
    def simulated(self) -> bool:
        """Whether answers are drawn, not generated."""
        ...

    def answer(self, shown: Shown, *, tokens_max: int) -> Answer:
        """Return the answer for what a variant shows."""
        ...

    def close(self) -> None:
        """Release what the generator holds."""
        ...
