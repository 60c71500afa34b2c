"""The packet of a turn: Z*, what became of R_t, and the proof of how good the choice is.

Here the kernel's integers become the record that a generator may see (spec 4.4, 4.5). Nothing
is chosen here.
"""

from collections.abc import Sequence
from typing import Final

from processors.activation.coverage import is_known, match_units, meets
from processors.activation.formulation import choose_budgets, formulate
from processors.activation.problem import Mode
from processors.activation.selectors import SELECTORS, select_units
from processors.activation.terms import describe_entries, rank_rest
from processors.limits import LEFT_OUT_MAX
from processors.ruleset import find_ruleset
from processors.situation import InForce, Situation, Unit
from schemas.packet import (
    BudgetPart,
    Coverage,
    Packet,
    PacketUnit,
    PredicateView,
    Requirement,
    Uncovered,
)
from schemas.turn import TurnMode

SELECTOR_DEFAULT: Final = "two_level"
_PARTS: Final = {part.value: part for part in BudgetPart}


def activate(situation: Situation, requirements: tuple[Requirement, ...], *, number: int) -> Packet:
    """Return the packet of a turn in its first or second round (spec 4, 5.4).

    Units stand in the order in which they entered Z*; ``terms`` has the same order, and each
    entry holds what its unit added to J at that moment.
    """
    problem = formulate(situation, requirements)
    request, regime = situation.request, situation.regime
    selector, mode = choose_search(situation)
    selection = select_units(problem, selector=selector, mode=mode)
    chosen = tuple(situation.units[row] for row in selection.units)
    rest = rank_rest(problem, selection)
    return Packet(
        tenant=situation.tenant,
        user=situation.user,
        turn_id=situation.turn_id,
        seq=situation.seq,
        round=number,
        scene=situation.scene.name,
        commitment_types=situation.scene.commitment_types,
        mode=request.mode,
        text=request.text,
        asks=request.asks,
        participants=request.participants,
        as_of_ms=situation.as_of_ms,
        ruleset=regime.ruleset,
        catalogue_digest=regime.catalogue_digest,
        selector=selection.selector,
        weights=regime.weights,
        budget_main=selection.budget_main,
        budget_tail=selection.budget_tail,
        cost_main=selection.main_spent,
        cost_tail=selection.tail_spent,
        units=tuple(
            _show_unit(unit, _PARTS[place])
            for unit, place in zip(chosen, selection.places, strict=True)
        ),
        terms=describe_entries(problem, selection.units),
        coverage=describe_coverage(situation, requirements, chosen),
        contract=tuple(_show_predicate(item) for item in situation.contract),
        contract_version=situation.contract_version,
        contract_digest=situation.contract_digest,
        objective=selection.value.j,
        bound=selection.bound.j,
        gap=selection.gap.j,
        left_out=rest.describe(LEFT_OUT_MAX),
        terms_digest=rest.digest(LEFT_OUT_MAX),
    )


def choose_search(situation: Situation) -> tuple[str, Mode]:
    """Return the selector in force and how far it searches for this turn (spec 1.7, 4.2)."""
    regime = situation.regime
    selector = regime.selector if regime.selector in SELECTORS else SELECTOR_DEFAULT
    if situation.request.mode is TurnMode.RESULT:
        return selector, "result"
    return selector, find_ruleset(regime.ruleset).turn_search


def describe_coverage(
    situation: Situation, requirements: tuple[Requirement, ...], evidence: Sequence[Unit]
) -> tuple[Coverage, ...]:
    """Return what became of each requirement under this Z* (spec 4.4), in their order.

    What is not covered has no unit, only units that fit no empty budget, or some that fit but
    were crowded out. It names the cheapest of them, at most 32, and the B_main that would hold
    the first beside the ordinary units of Z* that cover something.
    """
    budget_main, budget_tail = choose_budgets(situation)
    met = list(zip(evidence, match_units(evidence, requirements), strict=True))
    held = sum(unit.cost for unit, mask in met if mask and not unit.tail_witness)
    described = []
    for bit, requirement in enumerate(requirements):
        taken = tuple([unit.unit_id for unit, mask in met if mask >> bit & 1])
        if taken or is_known(situation, requirement):
            described.append(Coverage(requirement, Uncovered.COVERED, taken, None))
            continue
        able = [unit for unit in situation.units if meets(unit, requirement)]
        if not able:
            described.append(Coverage(requirement, Uncovered.NO_UNIT, (), None))
            continue
        able.sort(key=lambda unit: (unit.cost, unit.unit_id))
        fits = any(
            unit.cost <= budget_main or (unit.tail_witness and unit.cost <= budget_tail)
            for unit in able
        )
        status = Uncovered.CROWDED_OUT if fits else Uncovered.OVER_BUDGET
        named = tuple(unit.unit_id for unit in able[:LEFT_OUT_MAX])
        described.append(Coverage(requirement, status, named, held + able[0].cost))
    return tuple(described)


def _show_unit(unit: Unit, part: BudgetPart) -> PacketUnit:
    return PacketUnit(
        unit_id=unit.unit_id,
        content=unit.content,
        reference=unit.reference,
        slot=unit.slot,
        value=unit.value,
        dimensions=unit.dimensions,
        authority=unit.authority,
        tail_witness=unit.tail_witness,
        part=part,
        event_id=unit.event_id,
        event_digest=unit.event_digest,
    )


def _show_predicate(item: InForce) -> PredicateView:
    row = item.row
    return PredicateView(
        predicate=row.predicate,
        digest=row.digest,
        version=row.seq,
        confirmed_at_ms=row.effective_ms,
        confirmed_by=row.principal_id,
    )
