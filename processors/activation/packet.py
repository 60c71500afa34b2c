"""The packet of a turn: Z*, what became of R_t, and the proof of how good the choice is.

Here the kernel's integers become the record that a generator may see (spec 4.4, 4.5). Nothing
is chosen here.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from processors.activation.coverage import is_known, meets
from processors.activation.formulation import choose_budgets, formulate
from processors.activation.objective import measure_terms, sum_bits
from processors.activation.problem import MILLION, Mode, Problem
from processors.activation.selection import Selection
from processors.activation.selectors import SELECTORS, select_units
from processors.limits import LEFT_OUT_MAX
from processors.ruleset import find_ruleset
from processors.situation import InForce, Situation, Unit
from schemas.identity import prefix_lengths
from schemas.packet import (
    BudgetPart,
    Coverage,
    Packet,
    PacketUnit,
    PredicateView,
    Requirement,
    Uncovered,
    UnitTerms,
)
from schemas.record import compile_building
from schemas.turn import TurnMode

SELECTOR_DEFAULT: Final = "two_level"

_build_terms: Final = compile_building(UnitTerms)


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
    left_out, terms_digest = _describe_rest(problem, selection)
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
            _show_unit(unit, BudgetPart(place))
            for unit, place in zip(chosen, selection.places, strict=True)
        ),
        terms=_describe_entries(problem, selection.units),
        coverage=describe_coverage(situation, requirements, chosen),
        contract=tuple(_show_predicate(item) for item in situation.contract),
        contract_version=situation.contract_version,
        contract_digest=situation.contract_digest,
        objective=selection.value.j,
        bound=selection.bound.j,
        gap=selection.gap.j,
        left_out=left_out,
        terms_digest=terms_digest,
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
    held = sum(
        unit.cost
        for unit in evidence
        if not unit.tail_witness and any(meets(unit, item) for item in requirements)
    )
    described = []
    for requirement in requirements:
        taken = tuple(unit.unit_id for unit in evidence if meets(unit, requirement))
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


def _describe_entries(problem: Problem, rows: Sequence[int]) -> tuple[UnitTerms, ...]:
    """Return the terms of each unit at its entry, in the order of entry."""
    entries = []
    covered = discharged = 0
    for row in rows:
        added = _measure_added(problem, row, covered=covered, discharged=discharged)
        entries.append(_describe_terms(problem, row, added))
        covered |= problem.covers[row]
        discharged |= problem.debt[row]
    return tuple(entries)


def _describe_rest(problem: Problem, selection: Selection) -> tuple[tuple[UnitTerms, ...], bytes]:
    """Return the best 32 units beside Z*, by gain and id, and one digest of the others."""
    rest = list_rest(problem, selection)
    return tuple(rest[:LEFT_OUT_MAX]), digest_terms(rest[LEFT_OUT_MAX:])


def list_rest(problem: Problem, selection: Selection) -> list[UnitTerms]:
    """Return the terms of every unit beside Z* as if it entered last, by gain and id."""
    taken = frozenset(selection.units)
    kinds: dict[tuple[int, int, bool], _Added] = {}  # Of 20,000 units there are few.
    rest = []
    for row, kind in enumerate(
        zip(problem.covers, problem.debt, problem.tail_witness, strict=True)
    ):
        if row in taken:
            continue
        added = kinds.get(kind)
        if added is None:
            added = kinds[kind] = _measure_added(
                problem, row, covered=selection.covered, discharged=selection.discharged
            )
        rest.append(_describe_terms(problem, row, added))
    rest.sort(key=_by_gain)
    return rest


def _by_gain(terms: UnitTerms) -> tuple[int, str]:
    return -terms.gain, terms.unit_id


def digest_terms(terms: Iterable[UnitTerms]) -> bytes:
    """Return the digest of the terms that a packet does not spell out, in their order."""
    lines = (
        f"{item.unit_id}\0{item.cost} {item.relevance} {item.coverage} {item.tail} {item.debt} "
        f"{item.over} {item.gain}"
        for item in terms
    )
    return hashlib.sha256(prefix_lengths(*(line.encode() for line in lines))).digest()


class _Added(NamedTuple):
    """What a unit adds beside a set but for relevance and over: unweighted terms, their gain."""

    coverage: int
    tail: int
    debt: int
    gain: int


def _measure_added(problem: Problem, row: int, *, covered: int, discharged: int) -> _Added:
    mask = problem.covers[row]
    gained = measure_terms(problem, row, covered=covered, discharged=discharged)
    return _Added(
        coverage=MILLION * sum_bits(mask & ~covered, problem.requirement_weights),
        tail=MILLION if problem.tail_witness[row] and mask != 0 else 0,
        debt=MILLION * (problem.debt[row] & ~discharged).bit_count(),
        gain=gained.coverage + gained.tail + gained.debt,
    )


def _describe_terms(problem: Problem, row: int, added: _Added) -> UnitTerms:
    """Return one unit's unweighted terms beside a set, and its weighted gain."""
    rel, over, weights = problem.rel[row], problem.over[row], problem.weights
    gain = added.gain + weights.relevance * rel - weights.over * over
    return _build_terms(
        problem.unit_ids[row], problem.cost[row], rel, added.coverage, added.tail, added.debt,
        over, gain,
    )  # fmt: skip


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
