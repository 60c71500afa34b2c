"""The scorer against hand-made fixtures, and against a runtime that is wrong in one way each."""

from dataclasses import replace

import pytest

from infra.evaluation.fixture import Check, Expected, Relation
from infra.evaluation.metrics import FAILURES, find_mean_failure, measure, measure_all
from infra.evaluation.observing import COMMITMENT, FAILURE, REPAIR
from infra.evaluation.reference import build_oracle_run
from infra.evaluation.scoring import score, violates
from schemas.candidate import SlotValue
from schemas.value import build_record
from tests.labelled import BAN, CAP, LABELS, label, right_runs

GOOD = {
    "ohcvr": 0,
    "ecf": 0,
    "wit": 0,
    "cons": 0,
    "nfer": 0,
    "repair": 1,
    "avail": 0.5,
    "failed": 0,
}


def evaluate(runs):
    """Return every metric of these runs."""
    known = {one.fixture_id: one for one in LABELS}
    return measure_all([score(run, known[run.fixture_id]) for run in runs])


def change(name, **changes):
    """Return the right runs with one of them changed."""
    return [replace(run, **changes) if run.fixture_id == name else run for run in right_runs()]


def carry(price=90, features=("stage",), day="monday"):
    """Return the slots of a commitment to Elm."""
    offer = build_record(name="Elm", price=price, features=features)
    return (
        SlotValue("day", day), SlotValue("offer", offer), SlotValue("party", 4),
        SlotValue("purpose", "recital"),
    )  # fmt: skip


ALL = ("1#0", "3#0", "5#0")
WRONG = {
    "ohcvr": change("a-1", slots=carry(price=101)),
    "ecf": change("a-1", cited=("1#0", "5#0")),
    "wit": change("a-1", cited=("2#0", "3#0", "5#0")),
    "cons": change("a-1", cited=("1#0", "3#0")),
    "nfer": change("c-1", kind=COMMITMENT, act="", slots=carry(), cited=ALL),
    "repair": change("c-1", act="abstain"),
    "avail": change("a-1", kind=REPAIR, act="abstain", slots=(), cited=()),
    "failed": change("e-1", kind=FAILURE, act="timeout"),
}
# D_0 lies within D_repair, and a failed turn is no act: these two must cost more than one metric.
IMPLIED = {"nfer": {"avail", "repair"}, "failed": {"repair"}}


def test_a_right_runtime_has_every_metric_at_its_best():
    """The oracle's runs give the best value everywhere, with the denominators of the protocol."""
    found = evaluate(right_runs())

    assert GOOD == {name: found[name].value for name in GOOD}
    denominators = {name: found[name].denominator for name in ("avail", "ohcvr", "nfer", "repair")}
    assert {"avail": 6, "ohcvr": 3, "nfer": 2, "repair": 3} == denominators
    assert find_mean_failure(found) == 0
    assert found["pass"].value == 1


@pytest.mark.parametrize("metric", WRONG)
def test_a_runtime_that_is_wrong_in_one_way_spoils_that_metric(metric):
    """Each deliberately wrong runtime makes its own metric bad, and no other but what follows."""
    found = evaluate(WRONG[metric])

    spoilt = {name for name, best in GOOD.items() if found[name].value != best}
    assert {metric} | IMPLIED.get(metric, set()) == spoilt
    assert found["pass"].value < 1 or metric in {"ecf", "wit", "cons"}


@pytest.mark.parametrize(
    ("metric", "changes", "value"),
    [
        ("cost", {"cost": 6_000}, 1_000),
        ("control", {"shown": ()}, 20 / 24),
        ("intrusive", {"shown": ("1#0", "3#0", "5#0", "7#0")}, 1 / 6),
        ("shadow_shown", {"shown": ("1#0", "3#0", "5#0", "6#0")}, 1 / 6),
        ("shadow_recalled", {"cited": ("1#0", "3#0", "5#0", "6#0")}, 1 / 6),
    ],
)
def test_a_diagnostic_moves_with_its_own_cause_and_with_no_other(metric, changes, value):
    """Payload, selection and shadow figures each change alone, and no main metric with them."""
    best, found = evaluate(right_runs()), evaluate(change("a-1", **changes))

    assert [metric] == [name for name in best if best[name].value != found[name].value]
    assert value == pytest.approx(found[metric].value)


def test_an_empty_denominator_is_not_zero():
    """Without commitments the rates over them are not applicable, and the mean leaves them out."""
    runs = [replace(run, kind=REPAIR, act="abstain", slots=(), cited=()) for run in right_runs()]

    found = evaluate(runs)

    assert [None] * 4 == [found[name].value for name in ("ohcvr", "ecf", "wit", "cons")]
    assert found["nfer"].value == 0
    assert find_mean_failure(found) == 0
    assert find_mean_failure({name: measure([], name) for name in FAILURES}) is None


def test_a_system_failure_is_attempted_and_never_passed():
    """A failure counts in availability's denominator, in no emission, and as not passed."""
    found = evaluate(change("a-1", kind=FAILURE, act="parse_failure", slots=(), cited=()))

    assert (2, 6) == (found["avail"].numerator, found["avail"].denominator)
    assert (1, 6) == (found["failed"].numerator, found["failed"].denominator)
    assert (5, 6) == (found["pass"].numerator, found["pass"].denominator)


def test_a_commitment_where_a_repair_is_expected_is_no_infeasible_emission_if_f_is_not_empty():
    """After a failed commitment F* is not empty: committing again is a wrong repair only."""
    found = evaluate(change("d-1", kind=COMMITMENT, act="", slots=carry(), cited=ALL))

    assert found["nfer"].value == 0
    assert found["repair"].numerator == 2


@pytest.mark.parametrize(
    ("check", "carried", "broken"),
    [
        (CAP, {"offer": build_record(price=100)}, False),
        (CAP, {"offer": build_record(price=101)}, True),
        (CAP, {}, True),
        (BAN, {"offer": build_record(features=("stage",))}, False),
        (BAN, {"offer": build_record(features=("nuts", "stage"))}, True),
        (BAN, {"offer": build_record()}, True),
        (replace(CAP, unless_purpose="gala"), {"purpose": "gala"}, False),
        (Check("d", "day", Relation.ONE_OF, 0, ("monday",), ""), {"day": "monday"}, False),
        (Check("d", "day", Relation.ONE_OF, 0, ("monday",), ""), {"day": "friday"}, True),
        (Check("d", "day", Relation.NONE_OF, 0, ("monday",), ""), {"day": "monday"}, True),
        (Check("p", "party", Relation.AT_LEAST, 3, (), ""), {"party": 2}, True),
    ],
)
def test_a_check_of_the_oracle_is_broken_by_what_is_wrong_or_absent(check, carried, broken):
    """The oracle's checks hold for what is carried, stated and right; absence breaks them."""
    assert broken is violates(carried, (check,))


def test_shown_and_cited_facts_are_counted_apart():
    """The shadow oracle counts visible uncompiled facts that were shown and that were cited."""
    own = label("a-1")
    run = replace(build_oracle_run(own), shown=("6#0", "7#0", "1#0"), cited=("6#0",))

    row = score(run, own)

    assert (1, 1, 1) == (row.uncompiled_total, row.uncompiled_shown, row.uncompiled_recalled)
    assert (1, 1) == (row.intrusive_total, row.intrusive_shown)
    # Clearance (by 1#0) and the witness 1#0 itself; neither the quote nor the key.
    assert (4, 2) == (row.control_total, row.control_shown)


def test_a_fallback_counts_as_abstaining():
    """A fallback is the scene's way of abstaining, so a label that expects Abstain accepts it."""
    own = label("e-1", Expected.ABSTAIN, feasible=())

    row = score(replace(build_oracle_run(own), act="fallback"), own)

    assert row.repair_correct
