"""LCV from the outside: the four functions by which a turn ends, or does not end yet.

``processors.decision`` calls these and nothing else of this package but ``fold_outcome``
(consequences) and the builders of ``Basis``.
"""

from processors.situation import Situation
from processors.validation.basis import Basis
from processors.view import View
from schemas.candidate import Attempt, Candidate
from schemas.catalogue import Catalogue
from schemas.outcome import Commitment, RepairAct, Surface, TurnFailure
from schemas.packet import Requirement
from schemas.turn import FailureKind


def repair_early(
    situation: Situation, requirements: tuple[Requirement, ...], basis: Basis
) -> RepairAct | None:
    """Return the act of reasons (0), (1) and (2) of spec 5.7, decided without generation.

    None means that candidates may be asked for.
    """
    raise NotImplementedError


def decide(
    situation: Situation,
    requirements: tuple[Requirement, ...],
    basis: Basis,
    candidates: tuple[Candidate, ...],
) -> Commitment | RepairAct:
    """Return the one outcome of a turn whose candidates have arrived (spec 5).

    ``situation`` and ``requirements`` (R_t without what candidates bring to light) are those at
    the candidates' seq; an empty list of candidates is legal and ends in a repair act.
    """
    raise NotImplementedError


def fail(
    situation: Situation,
    basis: Basis,
    *,
    kind: FailureKind,
    detail: str,
    attempts: tuple[Attempt, ...],
) -> TurnFailure:
    """Return the failure of a turn that ends without candidates (spec 5.10)."""
    raise NotImplementedError


def check_surface(
    view: View, *, turn_id: str, seq: int, text: str, catalogue: Catalogue
) -> Surface | None:
    """Return what became of a later phrasing (spec 5.11); None when the turn made no commitment."""
    raise NotImplementedError
