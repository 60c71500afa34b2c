"""The scorer: one run against its label, by the label's own small checks.

It uses neither the predicate language nor the validators, so that what it says of them is
independent. Only the scorer and its tests read labels.
"""

from dataclasses import dataclass
from typing import Final

from infra.evaluation.fixture import Bucket, Check, Expected, Label, Need, Relation
from infra.evaluation.observing import COMMITMENT, FAILURE, REPAIR, Run
from schemas.value import RecordValue, StringSet, Value

_CATEGORY: Final = {
    "clarify": Expected.CLARIFY,
    "recontract": Expected.RECONTRACT,
    "abstain": Expected.ABSTAIN,
    "fallback": Expected.ABSTAIN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One scored run. A verdict is None where its metric has no such fixture.

    ``emitted`` is q_f, ``violated`` v_f, ``infeasible_emission`` n_f of the paper; ``uncovered``,
    ``witness_lost`` and ``debt_lost`` are those of ECF, Wit and Cons; ``control`` counts the
    labelled typed evidence, and how much of it was shown.
    """

    variant: str
    fixture_id: str
    case_id: str
    bucket: Bucket
    domain: str
    tier: str
    history_events: int
    obligations: int
    expected: Expected
    kind: str
    act: str
    reason: str
    emitted: bool
    violated: bool | None
    uncovered: bool | None
    witness_lost: bool | None
    debt_lost: bool | None
    infeasible_emission: bool | None
    repair_correct: bool | None
    passed: bool
    system_failure: bool
    cost: int
    control_total: int
    control_shown: int
    uncompiled_total: int
    uncompiled_shown: int
    uncompiled_recalled: int
    intrusive_total: int
    intrusive_shown: int
    surface_mismatches: int
    turn_id: str
    log: str
    topic: str
    offset: int
    outcome_id: str
    packet_digest: str
    contract_digest: str
    evidence_digest: str
    certificate: str


def score(run: Run, label: Label) -> Row:
    """Return the row of a run; a system failure is attempted, never emitted, never passed."""
    assert run.fixture_id == label.fixture_id, "a run is scored against its own label"
    emitted = run.kind == COMMITMENT
    carried = {slot.name: slot.value for slot in run.slots}
    cited, shown = frozenset(run.cited), frozenset(run.shown)
    control = _list_control(label)
    return Row(
        variant=run.variant,
        fixture_id=run.fixture_id,
        case_id=label.case_id,
        bucket=label.bucket,
        domain=label.domain,
        tier=label.tier,
        history_events=label.history_events,
        obligations=len(label.obligations),
        expected=label.expected,
        kind=run.kind,
        act=run.act,
        reason=run.reason,
        emitted=emitted,
        violated=violates(carried, label.checks) if emitted else None,
        uncovered=_lacks_any(cited, label.needs) if emitted else None,
        witness_lost=(
            not cited.issuperset(label.witnesses) if emitted and label.witnesses else None
        ),
        debt_lost=_lacks_any(cited, label.obligations) if emitted else None,
        infeasible_emission=None if label.feasible else emitted,
        repair_correct=(
            None
            if label.expected is Expected.COMMIT
            else run.kind == REPAIR and _CATEGORY.get(run.act) is label.expected
        ),
        passed=_equals(run, label, carried),
        system_failure=run.kind == FAILURE,
        cost=run.cost,
        control_total=len(control),
        control_shown=sum(not shown.isdisjoint(units) for units in control),
        uncompiled_total=len(label.uncompiled),
        uncompiled_shown=sum(unit in shown for unit in label.uncompiled),
        uncompiled_recalled=sum(unit in cited for unit in label.uncompiled),
        intrusive_total=len(label.intrusive),
        intrusive_shown=sum(unit in shown for unit in label.intrusive),
        surface_mismatches=run.mismatches,
        turn_id=run.turn_id,
        log=run.log,
        topic=run.topic,
        offset=run.offset,
        outcome_id=run.outcome_id,
        packet_digest=run.packet_digest,
        contract_digest=run.contract_digest,
        evidence_digest=run.evidence_digest,
        certificate=run.certificate,
    )


def violates(carried: dict[str, Value], checks: tuple[Check, ...]) -> bool:
    """Return whether what a commitment carries breaks some check; what is absent breaks it."""
    return any(not _keeps(carried, check) for check in checks)


def _keeps(carried: dict[str, Value], check: Check) -> bool:
    if check.unless_purpose and carried.get("purpose") == check.unless_purpose:
        return True
    value = _read(carried, check.path)
    match check.relation:
        case Relation.AT_MOST:
            return type(value) is int and value <= check.number
        case Relation.AT_LEAST:
            return type(value) is int and value >= check.number
        case Relation.ONE_OF:
            words = _list_words(value)
            return bool(words) and all(word in check.words for word in words)
        case Relation.NONE_OF:
            return value is not None and all(word not in check.words for word in _list_words(value))


def _read(carried: dict[str, Value], path: str) -> Value:
    name, _, field = path.partition(".")
    value = carried.get(name)
    if field:
        return value.get(field) if isinstance(value, RecordValue) else None
    return value


def _list_words(value: Value) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    items = value.items if isinstance(value, StringSet) else value
    return tuple(one for one in items if isinstance(one, str)) if isinstance(items, tuple) else ()


def _lacks_any(cited: frozenset[str], needs: tuple[Need, ...]) -> bool:
    return any(cited.isdisjoint(need.unit_ids) for need in needs)


def _list_control(label: Label) -> list[tuple[str, ...]]:
    """Return the labelled typed control evidence: per need, witness and debt the units."""
    named = {need.unit_ids: None for need in (*label.needs, *label.obligations) if need.unit_ids}
    named.update({(unit,): None for unit in label.witnesses})
    return list(named)


def _equals(run: Run, label: Label, carried: dict[str, Value]) -> bool:
    """Return whether an outcome is the label's: its act, and for a commitment one of F*."""
    if label.expected is not Expected.COMMIT:
        return run.kind == REPAIR and _CATEGORY.get(run.act) is label.expected
    if run.kind != COMMITMENT:
        return False
    asked = (label.day, label.party, label.purpose)
    return (
        _read(carried, "offer.name") in [one.name for one in label.feasible]
        and (carried.get("day"), carried.get("party"), carried.get("purpose")) == asked
        and not violates(carried, label.checks)
    )
