"""A packet looked at again: every unit's terms, and the budget at which one left out would enter.

Recomputes what the packet only digests (spec 4.5) from the rows of the moment it was issued at.
"""

from dataclasses import dataclass, field, replace

from processors.activation.coverage import derive_requirements
from processors.activation.formulation import formulate
from processors.activation.packet import activate, choose_search
from processors.activation.problem import COST_MAX, Mode, Problem
from processors.activation.selection import Selection
from processors.activation.selectors import select_units
from processors.activation.terms import rank_rest
from processors.compilation.admission import admit
from processors.compilation.amendable import show_commitments
from processors.compilation.control import read_regime
from processors.compilation.folding import fold
from processors.compilation.reading import read_situation
from processors.halting import hide_history
from processors.limits import LEFT_OUT_MAX
from processors.pending import open_pending
from processors.situation import Situation
from processors.view import Stamp, View, lay_over
from schemas.event import Event
from schemas.fate import Fate
from schemas.packet import Packet, UnitTerms
from schemas.row import PendingRow
from schemas.turn import CandidatesProposed, TurnRequested


@dataclass(frozen=True, slots=True)
class Entering:
    """The least B_main found at which a unit left out is in Z*, one less not; None for never."""

    unit_id: str
    budget_main: int | None


@dataclass(frozen=True, slots=True)
class Inspection:
    """The packet recomputed, all terms beside its Z*, and the budgets at which some would enter.

    ``terms_digest`` is that of the terms which the packet does not spell out.
    """

    packet: Packet
    rest: tuple[UnitTerms, ...]
    terms_digest: bytes
    entering: tuple[Entering, ...]


def inspect_packet(view: View, event: Event, stamp: Stamp, *, units_max: int) -> Inspection | None:
    """Return what a packet issued at this event left unsaid; None where none can have been.

    ``view`` is that before the event. Entering budgets are given for the best ``units_max``.
    """
    read = _read(view, event, stamp)
    if read is None:
        return None
    situation, number = read
    requirements = derive_requirements(situation)
    selector, mode = choose_search(situation)
    search = _Search(formulate(situation, requirements), selector, mode)
    selection = search.select(search.problem.budget_main)
    rest = rank_rest(search.problem, selection)
    return Inspection(
        packet=activate(situation, requirements, number=number),
        rest=rest.describe(len(rest.ranked)),
        terms_digest=rest.digest(LEFT_OUT_MAX),
        entering=tuple(
            Entering(terms.unit_id, _find_budget(search, terms.unit_id))
            for terms in rest.describe(units_max)
        ),
    )


@dataclass(frozen=True, slots=True)
class _Search:
    """One problem under other main budgets; what was selected is kept by budget."""

    problem: Problem
    selector: str
    mode: Mode
    found: dict[int, Selection] = field(default_factory=dict)

    def select(self, budget_main: int) -> Selection:
        if budget_main not in self.found:
            problem = replace(self.problem, budget_main=budget_main)
            self.found[budget_main] = select_units(problem, selector=self.selector, mode=self.mode)
        return self.found[budget_main]

    def takes(self, budget_main: int, unit_id: str) -> bool:
        return any(entry.unit_id == unit_id for entry in self.select(budget_main).entries)


def _find_budget(search: _Search, unit_id: str) -> int | None:
    """Return a B_main that takes the unit in while one less does not; halving, B_tail kept.

    A greedy choice is not monotone in its budget, so that a smaller such budget may exist.
    """
    low = search.problem.budget_main
    high = min(COST_MAX, low + sum(search.problem.cost))
    if not search.takes(high, unit_id):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if search.takes(middle, unit_id):
            high = middle
        else:
            low = middle
    return high


def _read(view: View, event: Event, stamp: Stamp) -> tuple[Situation, int] | None:
    arrival = admit(view, event, stamp)
    if isinstance(arrival, Fate):
        return None
    seen = lay_over(view, fold(view, arrival).changes)
    payload = event.payload
    pending: PendingRow | None = None
    if isinstance(payload, TurnRequested):
        pending = open_pending(arrival, payload, read_regime(seen), stamp)
    elif isinstance(payload, CandidatesProposed):
        pending = seen.get(PendingRow, payload.turn_id)
    if pending is None:
        return None
    situation = show_commitments(read_situation(hide_history(seen), pending, arrival))
    return situation, pending.round + 1
