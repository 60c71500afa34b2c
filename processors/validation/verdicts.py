"""Verdicts: every applicable predicate on every candidate, and none left out.

A verdict that cannot be computed, or that is not there, is ``unknown`` and satisfies nothing
(spec 5.7 (5), 6.3). What follows from verdicts is ``vector`` and ``diagnosis``.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Final, NamedTuple

from processors.applicability import name_occasion
from processors.predicates.applies import applies
from processors.predicates.evaluation import (
    Evaluation,
    Judgement,
    compile_predicate,
)
from processors.predicates.scope import Scope, UnitValue
from processors.predicates.verdict import HOLDS
from processors.situation import InForce, Situation, Unit
from processors.validation.basis import Basis
from processors.validation.merging import Merged
from schemas.outcome import PredicateVerdict, Verdict
from schemas.predicate import Predicate
from schemas.value import Value

UNCHECKED: Final = "unchecked"

_HELD_MAX: Final = 16_384  # Verdicts kept: thirty-two full contracts of 512.
_KEY: Final = attrgetter("predicate_id", "version")
_VERDICTS: Final[dict[str, Verdict]] = {verdict.value: verdict for verdict in Verdict}

FindScope = Callable[[str], Scope]
"""What a candidate looks like to a predicate about the given subject."""


class Rule(NamedTuple):
    """A predicate in force that applies to a type, compiled; ``held`` is its usual verdict."""

    item: InForce
    judgement: Judgement
    held: PredicateVerdict
    subject: str


def list_rules(situation: Situation, type_name: str) -> tuple[Rule, ...]:
    """Return the predicates that apply to candidates of a type, sorted by id (spec 2.2)."""
    rules = []
    occasion = name_occasion(situation)
    for item in situation.contract:
        predicate = item.row.predicate
        if applies(predicate, commitment_type=type_name, occasion=occasion):
            held = _hold(predicate.predicate_id, item.row.seq)
            rules.append(Rule(item, compile_predicate(predicate), held, predicate.subject))
    return tuple(rules)


@lru_cache(maxsize=_HELD_MAX)
def _hold(predicate_id: str, version: int) -> PredicateVerdict:
    """Return the usual verdict, made once: records equal in all fields are the same to anyone."""
    return PredicateVerdict(predicate_id, version, Verdict.HOLDS, "", ())


def judge_rules(
    rules: tuple[Rule, ...], find_scope: FindScope
) -> tuple[tuple[PredicateVerdict, ...], tuple[str, ...]]:
    """Return the verdict of each rule, and the ids of the units that its judging cited.

    A verdict whose computing failed is left out: ``close`` reports it, nothing stands in for it.
    """
    verdicts: list[PredicateVerdict] = []
    cited: dict[str, None] = {}
    scope, subject = find_scope(""), ""
    for rule in rules:
        if rule.subject != subject:
            scope, subject = find_scope(rule.subject), rule.subject
        # The loop that the cost of a decision hangs on: hence no call more than the judgement.
        try:
            found = rule.judgement(scope)
        except MemoryError:
            raise  # The machine's fault is no verdict: a replay elsewhere would find another.
        except Exception:  # noqa: S112 - a finding (``close``), not a fault
            continue
        if found.cited:
            cited.update(dict.fromkeys(found.cited))
        if found.verdict is HOLDS and not found.vacuous:
            verdicts.append(rule.held)
        else:
            verdicts.append(_record(rule, found))
    return tuple(verdicts), tuple(cited)


def judge_predicate(predicate: Predicate, find_scope: FindScope) -> Verdict:
    """Return the verdict of a predicate that is not in force, such as a proposal's."""
    try:
        return _VERDICTS[compile_predicate(predicate)(find_scope(predicate.subject)).verdict]
    except MemoryError:
        raise
    except Exception:
        return Verdict.UNKNOWN


def close(
    rules: tuple[Rule, ...], found: Sequence[PredicateVerdict]
) -> tuple[PredicateVerdict, ...]:
    """Return exactly one verdict per applicable predicate, in the order of ``rules``.

    A predicate that was not checked, or only in another version, is ``unknown``: an empty or
    partial check is no pass, however few violations it found. Verdicts on predicates that do
    not apply count for nothing.
    """
    held = tuple([rule.held for rule in rules])
    complete = tuple(found)
    if complete == held or list(map(_KEY, complete)) == list(map(_KEY, held)):
        return complete
    by_version = {(verdict.predicate_id, verdict.version): verdict for verdict in found}
    return tuple(
        by_version.get((one.predicate_id, one.version))
        or PredicateVerdict(one.predicate_id, one.version, Verdict.UNKNOWN, UNCHECKED, ())
        for one in held
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


def _record(rule: Rule, found: Evaluation) -> PredicateVerdict:
    return PredicateVerdict(
        rule.held.predicate_id,
        rule.held.version,
        _VERDICTS[found.verdict],
        found.reason,
        found.vacuous,
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
