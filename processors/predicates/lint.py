"""Lint of a predicate before it is confirmed (spec 2.6): shown and recorded, never blocking.

Findings: contradictory with predicates in force, vacuous, shadowed by its exception, never
matching a declared scene, ill typed. Each names a counterexample where one can be computed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from processors.predicates.checking import check_types, declare_slots
from processors.predicates.conflict import constrain, find_conflict
from processors.predicates.evaluation import evaluate
from processors.predicates.example import find_example
from processors.predicates.expression import SLOTS, Expression, Or, Unless
from processors.predicates.fragment import translate
from processors.predicates.rendering import render, render_literal
from processors.predicates.satisfiability import contradict
from processors.predicates.scope import Scope
from processors.predicates.text import PredicateTextError, parse
from processors.predicates.verdict import HOLDS
from processors.predicates.walk import collect_reads, read_slots
from schemas.catalogue import Catalogue, CommitmentType, SlotType
from schemas.predicate import Predicate
from schemas.value import RecordValue, Value
from schemas.value_json import render_json


class LintKind(StrEnum):
    """What is doubtful about a predicate."""

    UNREADABLE = "unreadable"
    CONTRADICTORY = "contradictory"
    VACUOUS = "vacuous"
    SHADOWED = "shadowed"
    UNMATCHED = "unmatched"
    ILL_TYPED = "ill_typed"


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One doubt: its kind, a sentence, a counterexample ("" if none), other predicates named."""

    kind: LintKind
    detail: str
    counterexample: str
    predicate_ids: tuple[str, ...] = ()


def lint(
    predicate: Predicate, *, in_force: Sequence[Predicate], catalogue: Catalogue
) -> tuple[LintFinding, ...]:
    """Return what is doubtful about a predicate, the gravest first.

    ``in_force`` is the contract in order of confirmation, oldest first, without the predicate.
    """
    try:
        whole = _join(predicate)
    except PredicateTextError as error:
        return (LintFinding(LintKind.UNREADABLE, str(error), ""),)
    rule, exception = (whole.rule, whole.exception) if isinstance(whole, Unless) else (whole, None)
    types = declare_types(catalogue, predicate.scenes)
    return (
        *_find_contradictions(predicate, whole, in_force, types),
        *_find_vacuous(rule, exception, types),
        *_find_shadow(rule, exception, types),
        *_find_unmatched(predicate, rule, catalogue),
    )


def declare_types(catalogue: Catalogue, scenes: Sequence[str]) -> dict[str, SlotType]:
    """Return slot types by path that every type of these scenes (all when empty) agrees on."""
    found: dict[str, SlotType] = {}
    unclear: list[str] = []
    for kind in _list_types(catalogue, scenes):
        for slot in kind.slots:
            path = f"{SLOTS}.{slot.name}"
            if found.setdefault(path, slot.slot_type) is not slot.slot_type:
                unclear.append(path)
    return {path: kind for path, kind in found.items() if path not in unclear}


def _list_types(catalogue: Catalogue, scenes: Sequence[str]) -> tuple[CommitmentType, ...]:
    names = [
        name
        for scene in catalogue.scenes
        if not scenes or scene.name in scenes
        for name in scene.commitment_types
    ]
    return tuple(kind for kind in catalogue.types if kind.name in names)


def _find_contradictions(
    predicate: Predicate,
    whole: Expression,
    in_force: Sequence[Predicate],
    types: Mapping[str, SlotType],
) -> Iterator[LintFinding]:
    if contradict([translate(whole, positive=True)], types):
        yield LintFinding(LintKind.CONTRADICTORY, "no value satisfies it", "")
        return
    together = [other for other in in_force if _may_meet(predicate, other)]
    constraints = [constrain(other) for other in together]
    conflict = find_conflict([*constraints, constrain(predicate)], types=types)
    if conflict is None or find_conflict(constraints, types=types) is not None:
        return  # A contract that contradicts itself already is not this predicate's doing.
    others = tuple(name for name in conflict.core if name != predicate.predicate_id)
    example = find_example(holding=[whole], types=types)
    failed = [
        p.predicate_id
        for p in together
        if example is not None
        and p.predicate_id in others
        and evaluate(_join(p), Scope(slots=example)).verdict is not HOLDS
    ]
    against = f"{describe_slots(example)} satisfies it and not {', '.join(failed)}"
    yield LintFinding(
        LintKind.CONTRADICTORY,
        f"no value satisfies it together with {', '.join(others)}",
        against if example is not None and failed else "",
        others,
    )


def _may_meet(predicate: Predicate, other: Predicate) -> bool:
    """Return whether both can apply to one candidate."""
    if predicate.subject != other.subject or other.predicate_id == predicate.predicate_id:
        return False
    if not predicate.scenes or not other.scenes:
        return True
    return any(scene in other.scenes for scene in predicate.scenes)


def _join(predicate: Predicate) -> Expression:
    rule = parse(predicate.expression)
    return rule if predicate.unless is None else Unless(rule, parse(predicate.unless))


def _find_vacuous(
    rule: Expression, exception: Expression | None, types: Mapping[str, SlotType]
) -> Iterator[LintFinding]:
    if contradict([translate(rule, positive=False)], types):
        example = find_example(holding=[rule], types=types)
        yield LintFinding(
            LintKind.VACUOUS, "no value fails it", f"{describe_slots(example)} satisfies it"
        )
    elif isinstance(rule, Or):
        for item in rule.items:
            if contradict([translate(item, positive=True)], types):
                yield LintFinding(
                    LintKind.VACUOUS, f"the alternative {render(item)} never holds", ""
                )
    if exception is None:
        return
    forbidden = translate(rule, positive=False)
    if contradict([forbidden, translate(exception, positive=True)], types):
        example = find_example(holding=(), failing=[rule], types=types)
        yield LintFinding(
            LintKind.VACUOUS,
            "its exception admits nothing that the rule forbids",
            f"{describe_slots(example)} is forbidden with and without it" if example else "",
        )


def _find_shadow(
    rule: Expression, exception: Expression | None, types: Mapping[str, SlotType]
) -> Iterator[LintFinding]:
    if exception is None:
        return
    ruled, excepted = collect_reads(rule), collect_reads(exception)
    # An exception that reads more can be missing where the rule fails: then it shadows nothing.
    if excepted.state or excepted.units or excepted.checks or excepted.amended:
        return
    if any(slot not in ruled.slots for slot in excepted.slots):
        return
    both = [translate(rule, positive=False), translate(exception, positive=False)]
    if not contradict(both, types) or contradict(both[:1], types):
        return
    example = find_example(holding=[exception], failing=[rule], types=types)
    yield LintFinding(
        LintKind.SHADOWED,
        "its exception admits everything that the rule forbids",
        f"{describe_slots(example)} fails the rule and is admitted" if example else "",
    )


def _find_unmatched(
    predicate: Predicate, rule: Expression, catalogue: Catalogue
) -> Iterator[LintFinding]:
    known = [scene.name for scene in catalogue.scenes]
    for name in predicate.scenes:
        if name not in known:
            yield LintFinding(
                LintKind.UNMATCHED, f"no scene {name} is declared", f"declared: {', '.join(known)}"
            )
    read = read_slots(rule)
    types = _list_types(catalogue, predicate.scenes)
    matching = [kind for kind in types if any(slot.name in read for slot in kind.slots)]
    if read and not matching and any(name in known for name in predicate.scenes or known):
        slots = sorted({slot.name for kind in types for slot in kind.slots})
        yield LintFinding(
            LintKind.UNMATCHED,
            f"no commitment type in reach declares {', '.join(read)}",
            f"declared slots: {', '.join(slots) or 'none'}",
        )
    for kind in matching:
        for finding in check_types(rule, declare_slots(kind)):
            yield LintFinding(
                LintKind.ILL_TYPED,
                f"{finding.place} in {kind.name}: {finding.detail}; {finding.remedy}",
                "",
            )


def describe_slots(slots: Mapping[str, Value] | None) -> str:
    """Return slots as people read them, sorted by name."""
    if not slots:
        return "every value"
    return ", ".join(f"{name} = {_describe(slots[name])}" for name in sorted(slots))


def _describe(value: Value) -> str:
    return render_json(value) if isinstance(value, RecordValue) else render_literal(value)
