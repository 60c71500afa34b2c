"""What an outcome changes: consequences, obligations, questions, proposals, the end of a turn.

These changes fold in the step of the outcome itself; they are never separate events (spec 5.6).
"""

from processors.situation import Situation
from processors.validation.basis import Basis
from processors.view import Changes, View
from schemas.outcome import Commitment, RepairAct, TurnFailure


def fold_outcome(
    view: View,
    situation: Situation,
    basis: Basis,
    outcome: Commitment | RepairAct | TurnFailure,
) -> Changes:
    """Return the rows that an outcome changes; ``view`` shows the event's own changes already.

    The user's head row is not among them: ``processors.decision`` counts pending turns.
    """
    raise NotImplementedError
