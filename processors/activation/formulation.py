"""The activation problem of a turn: situation and requirements put into integers (spec 4).

Here live rel_i, over_i and the masks of M_t. Nothing is chosen here, and the search that reads
the problem knows nothing of situations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import chain

from processors.activation.coverage import match_units
from processors.activation.problem import (
    COST_MAX,
    MILLION,
    REQUIREMENTS_MAX,
    TERM_MAX,
    WEIGHT_MAX,
    Problem,
    Weights,
)
from processors.activation.relevance import measure_relevance
from processors.activation.tokens import split_tokens
from processors.ruleset import find_ruleset
from processors.situation import Situation, Unit
from schemas.packet import Requirement
from schemas.turn import UnitScore


def formulate(situation: Situation, requirements: tuple[Requirement, ...]) -> Problem:
    """Return the problem over E_t: rows are ``situation.units``, in their order.

    Requirements that no unit meets are left out: they are the same for every choice. Numbers
    outside the kernel's range are brought to its edge, where they decide the same.
    """
    units = situation.units
    met, covers = keep_met(requirements, match_units(units, requirements))
    obligations, debt = _match_obligations(situation)
    known = _find_known_dimensions(situation, requirements)
    scores = {score.unit_id: score for score in situation.request.scores}
    regime = situation.regime
    budget_main, budget_tail = choose_budgets(situation)
    return Problem(
        unit_ids=tuple(unit.unit_id for unit in units),
        rel=_measure_rel(situation, scores),
        over=_measure_over(situation, covers, known, scores),
        cost=tuple(min(unit.cost, COST_MAX) for unit in units),
        tail_witness=tuple(unit.tail_witness for unit in units),
        covers=covers,
        debt=debt,
        requirement_weights=tuple(_clamp_weight(item.weight, least=1) for item in met),
        obligations=obligations,
        budget_main=budget_main,
        budget_tail=budget_tail,
        weights=Weights(
            **{
                field.name: _clamp_weight(getattr(regime.weights, field.name), least=0)
                for field in fields(Weights)
            }
        ),
        tokens=_read_tokens(units) if regime.selector == "mmr" else (),
    )


def _read_tokens(units: Sequence[Unit]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(split_tokens(unit.content)) for unit in units)


def keep_met(
    requirements: tuple[Requirement, ...], masks: list[int]
) -> tuple[tuple[Requirement, ...], tuple[int, ...]]:
    """Return the requirements that some unit meets, and the masks of M_t over these alone."""
    reached = 0
    for mask in masks:
        reached |= mask
    kept = [bit for bit in range(len(requirements)) if reached >> bit & 1][:REQUIREMENTS_MAX]
    if len(kept) < len(requirements):
        distinct = {mask: _compress(mask, kept) for mask in dict.fromkeys(masks)}
        masks = [distinct[mask] for mask in masks]
    return tuple(requirements[bit] for bit in kept), tuple(masks)


def _compress(mask: int, kept: Sequence[int]) -> int:
    return sum(1 << place for place, bit in enumerate(kept) if mask >> bit & 1)


def _match_obligations(situation: Situation) -> tuple[int, tuple[int, ...]]:
    """Return the number of open obligations that some unit could cover, and who covers which."""
    held = frozenset(chain.from_iterable([unit.dimensions for unit in situation.units]))
    owed = [
        obligation.dimension
        for _, obligation in situation.obligations
        if obligation.discharged_seq is None and obligation.dimension in held
    ][:REQUIREMENTS_MAX]
    if not owed:
        return 0, (0,) * len(situation.units)
    bits: dict[str, int] = {}
    for bit, dimension in enumerate(owed):
        bits[dimension] = bits.get(dimension, 0) | 1 << bit
    masks = []
    for unit in situation.units:
        mask = 0
        for dimension in unit.dimensions:
            mask |= bits.get(dimension, 0)
        masks.append(mask)
    return len(owed), tuple(masks)


def choose_budgets(situation: Situation) -> tuple[int, int]:
    """Return B_main and B_tail: the smaller of the active ones and the turn's own (spec 1.7)."""
    request, regime = situation.request, situation.regime
    return (
        _choose_budget(request.budget_main, regime.budget_main),
        _choose_budget(request.budget_tail, regime.budget_tail),
    )


def _find_known_dimensions(
    situation: Situation, requirements: tuple[Requirement, ...]
) -> frozenset[str]:
    """Return the dimensions that R_t, the scene or the request names (spec 4.3)."""
    scene, request = situation.scene, situation.request
    declared = (
        slot.name for name in scene.commitment_types for slot in situation.types[name].slots
    )
    return frozenset(
        (
            *(item.argument for item in requirements),
            *scene.required_slots,
            *scene.required_dimensions,
            *declared,
            *request.wanted_dimensions,
            *(ask.name for ask in request.asks),
        )
    )


def _measure_rel(situation: Situation, scores: Mapping[str, UnitScore]) -> tuple[int, ...]:
    wanted = frozenset(situation.request.wanted_dimensions)
    texts = tuple(unit.content for unit in situation.units)
    measured = measure_relevance(read_query(situation), texts)
    if not scores and not wanted:
        return measured
    rel = []
    for unit, relevance in zip(situation.units, measured, strict=True):
        score = scores.get(unit.unit_id)
        if score is not None and score.relevance is not None:
            rel.append(_clamp_term(score.relevance))
        else:
            rel.append(relevance if wanted.isdisjoint(unit.dimensions) else MILLION)
    return tuple(rel)


def read_query(situation: Situation) -> str:
    """Return the text of the turn: its own, and the utterances that it names, in log order."""
    request = situation.request
    named = frozenset(request.utterance_ids)
    said = (unit.content for unit in situation.units if unit.event_id in named)
    return "\n".join((request.text or "", *said))


def _measure_over(
    situation: Situation,
    covers: Sequence[int],
    known: frozenset[str],
    scores: Mapping[str, UnitScore],
) -> tuple[int, ...]:
    """Return over_i: what activating each unit costs in overpersonalisation (spec 4.3)."""
    ruleset = find_ruleset(situation.regime.ruleset)
    sensitive = dict(ruleset.sensitivity_over)
    recent = frozenset((*situation.activation.last, *situation.activation.before))
    unrelated, most = ruleset.unrelated_over, ruleset.over_max
    measured = []
    for unit, mask in zip(situation.units, covers, strict=True):
        over = unrelated if known.isdisjoint(unit.dimensions) else 0
        if not mask:
            over += sensitive.get(unit.sensitivity, 0)
            if unit.unit_id in recent:
                over += ruleset.repeated_over
        measured.append(min(most, over))
    if scores:
        supplied = [scores.get(unit.unit_id) for unit in situation.units]
        measured = [
            over if score is None or score.over is None else _clamp_term(score.over)
            for over, score in zip(measured, supplied, strict=True)
        ]
    return tuple(measured)


def _clamp_term(value: int) -> int:
    return max(-TERM_MAX, min(TERM_MAX, value))


def _clamp_weight(value: int, *, least: int) -> int:
    return max(least, min(WEIGHT_MAX, value))


def _choose_budget(asked: int | None, active: int) -> int:
    budget = active if asked is None else min(asked, active)
    return max(0, min(COST_MAX, budget))
