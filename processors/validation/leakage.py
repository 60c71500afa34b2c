"""The leakage check: no repair act carries a commitment in disguise (spec 5.8).

A value leaks when it occurs in the act and in a rejected candidate, but nowhere in h_t, u_t,
valid units, catalogue, request or outcome.
"""

from collections.abc import Iterator
from typing import Final

from processors.predicates.rendering import render_literal
from processors.situation import Situation
from processors.validation.assessment import Assessed
from processors.validation.diagnosis import NO_CANDIDATES, NOT_MET, NOT_USED
from processors.validation.equality import list_leaves
from processors.validation.support import CODES
from processors.validation.texts import DEFAULTS, list_built_in, render_plain
from processors.validation.verdicts import UNCHECKED
from processors.validation.words import Words, join_words, occurs, read_words
from schemas.agreement import CheckVerdict
from schemas.candidate import SlotValue
from schemas.outcome import RelaxationKind, RepairAct, Verdict
from schemas.packet import RequirementKind, Uncovered
from schemas.value import RecordValue, StringSet, Value

_OWN_TEXTS: Final = (
    *DEFAULTS.values(),
    *CODES,
    *(
        member.value
        for words in (Verdict, RequirementKind, RelaxationKind, Uncovered, CheckVerdict)
        for member in words
    ),
    *(NOT_USED, NOT_MET, NO_CANDIDATES, UNCHECKED),
    # The remarks of an evaluation on external checks, whose cause an act names.
    *("check has no verdict", "check ended in", "for"),
)
"""The words of the acts themselves; a candidate that says "missing" gives nothing away by it."""


def find_leaks(
    situation: Situation, assessed: tuple[Assessed, ...], act: RepairAct
) -> tuple[str, ...]:
    """Return the values of candidates that an act would give away; empty when it is clean."""
    shown = join_words(_list_act_texts(act))
    present = frozenset(shown)
    suspects: dict[Words, str] = {}
    for item in assessed:
        for value in _list_values(item):
            for text in _list_forms(value):
                words = read_words(text)
                if words and present.issuperset(words) and occurs(words, shown):
                    suspects.setdefault(words, text)
    if not suspects:
        return ()
    # Only what is suspected is sought in the history, which may be long.
    allowed = join_words(_list_sources(situation))
    return tuple(text for words, text in sorted(suspects.items()) if not occurs(words, allowed))


def _list_values(item: Assessed) -> Iterator[Value]:
    candidate = item.judged.candidate
    for slot in candidate.slots:
        yield from list_leaves(slot.value)
    for operation in candidate.patch:
        yield from list_leaves(operation.value)


def _list_forms(value: Value) -> Iterator[str]:
    yield render_plain(value)
    if not isinstance(value, RecordValue) and value is not None:
        yield render_literal(value)


def _list_act_texts(act: RepairAct) -> Iterator[str]:
    yield act.text
    yield act.detail
    if act.question is not None:
        yield from act.question.slots
        for requirement in act.question.requirements:
            yield requirement.argument
        for option in act.question.options:
            yield option.slot
            yield option.expression
    for member in act.conflict:
        yield member.expression
    for relaxation in act.relaxations:
        yield relaxation.expression
    for alternative in act.alternatives:
        yield from _list_slot_texts(alternative.slots)


def _list_sources(situation: Situation) -> Iterator[str]:
    """Yield all that an act may repeat."""
    yield from _OWN_TEXTS
    yield from list_built_in(situation).values()
    yield from _list_contract_texts(situation)
    yield from _list_state_texts(situation)
    yield from _list_catalogue_texts(situation)
    for unit in situation.units:
        yield from (unit.unit_id, unit.content, unit.slot or "")
        yield from unit.dimensions
        yield from _list_value_texts(unit.value)
    request = situation.request
    yield from (request.scene, request.text or "", *request.participants, *request.scopes)
    yield from request.wanted_dimensions
    yield from _list_slot_texts(request.asks)


def _list_contract_texts(situation: Situation) -> Iterator[str]:
    for item in situation.contract:
        predicate = item.row.predicate
        yield from (predicate.predicate_id, predicate.expression, predicate.unless or "")
        yield from predicate.dimensions
        if item.predecessor is not None:
            yield item.predecessor.predicate.expression
            yield item.predecessor.predicate.unless or ""


def _list_state_texts(situation: Situation) -> Iterator[str]:
    for (subject, slot), state in situation.slots.items():
        yield from (subject, slot, *_list_value_texts(state.value))
    for (_, slot), states in situation.stated.items():
        yield slot
        for state in states:
            yield from _list_value_texts(state.value)
    for (_, slot), (state, _) in situation.preferences.items():
        yield from (slot, *_list_value_texts(state.value))
    for obligation_id, obligation in situation.obligations:
        yield from (obligation_id, obligation.dimension, *obligation.blocks)
    for row in situation.proposals:
        predicate = row.predicate
        yield from (predicate.predicate_id, predicate.expression, predicate.unless or "", row.slot)
        yield from _list_value_texts(row.value)
    for _, question in situation.questions:
        yield from question.slots
    for commitment_id, commitment in situation.commitments.items():
        yield from (commitment_id, *_list_slot_texts(commitment.slots))
        for alternative in commitment.alternatives:
            yield from _list_slot_texts(alternative.slots)


def _list_catalogue_texts(situation: Situation) -> Iterator[str]:
    catalogue = situation.catalogue
    yield from (template.text for template in catalogue.templates)
    yield from catalogue.set_slots
    for scene in catalogue.scenes:
        yield from (scene.name, scene.fallback, *scene.required_slots)
        yield from scene.required_dimensions
        yield from (template.text for template in scene.templates)
    for declared in catalogue.types:
        yield from (declared.name, *declared.required_slots, *declared.discharges)
        yield from (template.dimension for template in declared.opens)
        for slot in declared.slots:
            yield from (slot.name, *slot.choices)
            yield from _list_value_texts(slot.low)
            yield from _list_value_texts(slot.high)


def _list_slot_texts(slots: tuple[SlotValue, ...]) -> Iterator[str]:
    for slot in slots:
        yield from (slot.name, *_list_value_texts(slot.value))


def _list_value_texts(value: Value) -> Iterator[str]:
    yield render_plain(value)
    for leaf in list_leaves(value):
        yield render_plain(leaf)
        if not isinstance(leaf, RecordValue | StringSet):
            yield render_literal(leaf)
