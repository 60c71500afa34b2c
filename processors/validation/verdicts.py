"""Verdicts: every applicable predicate on every candidate, and none left out.

A verdict that cannot be computed, or that is not there, is ``unknown`` and satisfies nothing
(spec 5.7 (5), 6.3). What follows from verdicts is ``vector`` and ``diagnosis``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from processors.predicates.applies import Occasion, applies
from processors.predicates.evaluation import Evaluation, Judgement, compile_predicate
from processors.predicates.scope import Scope, UnitValue
from processors.situation import InForce, Situation, Unit
from processors.validation.basis import Basis
from processors.validation.merging import Merged
from schemas.outcome import PredicateVerdict, Verdict
from schemas.predicate import Predicate
from schemas.value import Value

UNCHECKED: Final = "unchecked"

_VERDICTS: Final[dict[str, Verdict]] = {verdict.value: verdict for verdict in Verdict}

FindScope = Callable[[str], Scope]
"""What a candidate looks like to a predicate about the given subject."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A predicate in force that applies to a type, compiled; ``held`` is its usual verdict."""

    item: InForce
    judgement: Judgement
    held: PredicateVerdict


def list_rules(situation: Situation, type_name: str) -> tuple[Rule, ...]:
    """Return the predicates that apply to candidates of a type, sorted by id (spec 2.2)."""
    rules = []
    occasion = name_occasion(situation)
    for item in situation.contract:
        predicate = item.row.predicate
        if applies(predicate, commitment_type=type_name, occasion=occasion):
            held = PredicateVerdict(
                predicate.predicate_id, item.row.seq, Verdict.HOLDS, "", ()
            )
            rules.append(Rule(item, compile_predicate(predicate), held))
    return tuple(rules)


def name_occasion(situation: Situation) -> Occasion:
    """Return the circumstances that decide which predicates apply.

    ``situation.contract`` holds only predicates whose scope is alive.
    """
    return Occasion(
        scene=situation.scene.name,
        as_of_ms=situation.as_of_ms,
        user=situation.user,
        participants=situation.request.participants,
        types=situation.types,
    )


def judge_rules(
    rules: tuple[Rule, ...], find_scope: FindScope
) -> tuple[tuple[PredicateVerdict, ...], tuple[str, ...]]:
    """Return the verdict of each rule, and the ids of the units that its judging cited."""
    verdicts: list[PredicateVerdict] = []
    cited: list[str] = []
    scope, subject = find_scope(""), ""
    for rule in rules:
        about = rule.item.row.predicate.subject
        if about != subject:
            scope, subject = find_scope(about), about
        found = _run(rule.judgement, scope)
        if found is None:
            continue  # ``close`` reports it; nothing stands in for a verdict.
        cited.extend(found.cited)
        verdicts.append(_record(rule, found))
    return tuple(verdicts), tuple(dict.fromkeys(cited))


def judge_predicate(predicate: Predicate, find_scope: FindScope) -> Verdict:
    """Return the verdict of a predicate that is not in force, such as a proposal's."""
    found = _run(compile_predicate(predicate), find_scope(predicate.subject))
    return Verdict.UNKNOWN if found is None else _VERDICTS[found.verdict]


def close(
    rules: tuple[Rule, ...], found: Sequence[PredicateVerdict]
) -> tuple[PredicateVerdict, ...]:
    """Return exactly one verdict per applicable predicate, in the order of ``rules``.

    A predicate that was not checked, or only in another version, is ``unknown``: an empty or
    partial check is no pass, however few violations it found. Verdicts on predicates that do
    not apply count for nothing.
    """
    if len(found) == len(rules) and all(
        verdict.predicate_id == rule.held.predicate_id and verdict.version == rule.held.version
        for rule, verdict in zip(rules, found, strict=True)
    ):
        return tuple(found)
    by_version = {(verdict.predicate_id, verdict.version): verdict for verdict in found}
    return tuple(
        by_version.get(
            (rule.held.predicate_id, rule.held.version),
            PredicateVerdict(
                rule.held.predicate_id, rule.held.version, Verdict.UNKNOWN, UNCHECKED, ()
            ),
        )
        for rule in rules
    )


def build_scopes(
    situation: Situation,
    basis: Basis,
    *,
    digest: bytes,
    merged: Merged,
    cited: tuple[Unit, ...],
    evidence: tuple[UnitValue, ...],
) -> FindScope:
    """Return the view of one candidate that predicates about each subject have (spec 2.3)."""
    amended = None
    if merged.amended is not None:
        amended = {slot.name: slot.value for slot in merged.amended.slots}
    checks = _read_checks(basis, digest)
    units = list_values(cited)
    scopes: dict[str, Scope] = {}

    def find_scope(subject: str) -> Scope:
        scope = scopes.get(subject)
        if scope is None:
            scope = scopes[subject] = Scope(
                slots=merged.slots,
                state=_read_states(situation, subject),
                units=units,
                evidence=evidence,
                amended=amended,
                as_of_ms=situation.as_of_ms,
                zone=situation.zone,
                verdicts=checks,
            )
        return scope

    return find_scope


def list_values(units: tuple[Unit, ...]) -> tuple[UnitValue, ...]:
    """Return the typed values of units that have a slot, in their order."""
    return tuple(
        UnitValue(unit.unit_id, unit.slot, unit.value) for unit in units if unit.slot is not None
    )


def _run(judgement: Judgement, scope: Scope) -> Evaluation | None:
    """Return the evaluation, or None when computing it failed: that is a finding, not a fault."""
    try:
        return judgement(scope)
    except Exception:
        return None


def _record(rule: Rule, found: Evaluation) -> PredicateVerdict:
    verdict = _VERDICTS[found.verdict]
    if verdict is Verdict.HOLDS and not found.vacuous:
        return rule.held
    return PredicateVerdict(
        rule.held.predicate_id, rule.held.version, verdict, found.reason, found.vacuous
    )


def _read_checks(basis: Basis, digest: bytes) -> Mapping[str, str]:
    if not basis.attested:
        return {}
    prefix = f"{digest.hex()}\0"
    return {
        row_id.removeprefix(prefix): row.verdict.value
        for row_id, row in basis.attested.items()
        if row_id.startswith(prefix)
    }


def _read_states(situation: Situation, subject: str) -> Callable[[str], Value]:
    subjects = ("", situation.user) if subject in {"", situation.user} else (subject,)

    def read(name: str) -> Value:
        for one in subjects:
            state = situation.slots.get((one, name))
            if state is not None:
                return state.value
        return None

    return read
