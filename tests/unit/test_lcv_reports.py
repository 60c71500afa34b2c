"""Right values of public fault reports, as far as they are about validation (reports.jsonl)."""

import pytest

from processors.validation.certificate import is_proven
from schemas.agreement import CheckVerdict
from schemas.catalogue import SlotType
from schemas.codec import digest
from schemas.outcome import Act, Commitment, Reason, RepairAct
from schemas.row import VerdictRow
from schemas.value import build_record
from tests.lcv import (
    amendment,
    basis,
    candidate,
    commitment,
    decided,
    judge,
    over,
    typed,
    violated,
)
from tests.situations import commitment_type, predicate, scene, slot, unit


def test_an_exception_stays_with_its_rule():
    """R02: the rule keeps its exception; a broader utterance alone changes nothing."""
    notify = commitment_type("notify", ("channel", "topic"))
    rule = predicate(
        "P1", 'slots.channel not_in ["phone"]', unless='slots.topic == "school_emergency"'
    )
    told = over(rule, types=(notify,))
    urgent = candidate("notify", channel="phone", topic="school_emergency")
    news = candidate("notify", channel="phone", topic="newsletter")

    reports = judge(told, urgent, news)
    outcome = decided(told, urgent, news)

    assert [0, 1] == [report.violations for report in reports]
    assert isinstance(outcome, Commitment)
    assert digest(urgent) == outcome.candidate_digest


def meal(*more):
    """Return the type ``meal`` with a dish and a list of allergens."""
    return typed("meal", slot("dish"), slot("allergens", slot_type=SlotType.LIST), *more)


NO_PEANUT = predicate("P1", 'slots.allergens excludes "peanut"')


def test_absence_of_data_is_no_proof_of_absence():
    """R19 A: a dish without allergens violates the exclusion; the one with them is committed."""
    told = over(NO_PEANUT, types=(meal(),))
    unknown = candidate(dish="gado-gado")
    clean = candidate(dish="tofu rice", allergens=("soy",))

    assert [1, 0] == [report.violations for report in judge(told, unknown, clean)]
    assert digest(clean) == decided(told, unknown, clean).candidate_digest


def test_the_absent_allergens_are_asked_for_without_recommending_the_dish():
    """R19 B: the only dish lacks its allergens: Clarify for missing evidence, no dish named."""
    told = over(NO_PEANUT, types=(meal(),))

    act = decided(told, candidate(dish="gado-gado"))

    assert (Act.CLARIFY, Reason.MISSING_EVIDENCE) == (act.act, act.reason)
    assert ("allergens",) == act.question.slots
    assert "gado" not in act.text


def test_a_patch_is_validated_after_merging():
    """R26: swapping one day is judged on the whole plan."""
    plan = typed("plan", slot("days", slot_type=SlotType.LIST))
    told = over(
        predicate("P1", 'all d in slots.days: d.tags contains "vegetarian"'),
        predicate("P2", 'none d in slots.days: d.ingredients contains "soy"'),
        types=(plan,),
        commitments={
            "k1": commitment(
                "plan",
                days=(
                    build_record(d=1, tags=("vegetarian",), ingredients=("egg",)),
                    build_record(d=2, tags=("vegetarian",), ingredients=("rice",)),
                ),
            )
        },
    )
    soy = build_record(d=2, tags=("vegetarian",), ingredients=("tofu", "soy"))
    lentil = build_record(d=2, tags=("vegetarian",), ingredients=("lentil",))
    with_soy = amendment("k1", 1, "plan", **{"days[1]": soy})
    with_lentil = amendment("k1", 1, "plan", **{"days[1]": lentil})

    outcome = decided(told, with_soy, with_lentil)

    assert [1, 0] == [one.violations for one in judge(told, with_soy, with_lentil)]
    assert digest(with_lentil) == outcome.candidate_digest
    assert ("k1", 2) == (outcome.commitment_id, outcome.version)
    assert 2 == len(outcome.slots[0].value)


@pytest.mark.parametrize("value", ["false", "False", "no", "0", 0, ""])
def test_nothing_is_coerced_to_a_truth_value(value):
    """R34: a text or number in a truth slot is a wrong type, never false."""
    declared = typed("meal", slot("contains_peanut", slot_type=SlotType.BOOL))
    told = over(predicate("P1", "slots.contains_peanut == false"), types=(declared,))

    (report,) = judge(told, candidate(contains_peanut=value))

    assert ("wrong_type:contains_peanut",) == report.unsupported
    assert ["P1"] == violated(report)


@pytest.mark.parametrize(("value", "feasible"), [(False, True), (True, False), (None, False)])
def test_truth_values_are_judged_as_they_are(value, feasible):
    """R34: false holds, true fails, null is missing."""
    declared = meal(slot("contains_peanut", slot_type=SlotType.BOOL))
    told = over(predicate("P1", "slots.contains_peanut == false"), types=(declared,))

    (report,) = judge(told, candidate(contains_peanut=value))

    assert () == report.unsupported
    assert feasible == is_proven(report)


def checked(reply):
    """Return the outcome of a candidate whose external check ended in ``reply``."""
    declared = commitment_type(slots=("message",))
    told = over(predicate("P1", 'attested("policy-7")'), types=(declared,))
    hello = candidate(message="hello")
    attested = (
        {}
        if reply is None
        else {f"{digest(hello).hex()}\0policy-7": VerdictRow(reply, "HTTP 500", 8)}
    )
    return decided(told, hello, given=basis(attested=attested))


@pytest.mark.parametrize("reply", [CheckVerdict.ERROR, CheckVerdict.UNKNOWN, None])
def test_a_check_that_gave_no_verdict_lets_nothing_through(reply):
    """R37: an outage of an external check is a validator failure with its cause, no commitment."""
    act = checked(reply)

    assert isinstance(act, RepairAct)
    assert (Act.ABSTAIN, Reason.VALIDATOR_FAILURE) == (act.act, act.reason)
    assert "policy-7" in act.detail


def test_a_check_that_passed_lets_the_candidate_through():
    """R37: only a verdict of the check itself satisfies the predicate."""
    assert isinstance(checked(CheckVerdict.PASS), Commitment)


@pytest.mark.parametrize(("fallback", "act"), [("", Act.ABSTAIN), ("Ask us.", Act.FALLBACK)])
def test_a_wrong_choice_is_never_set_to_null(fallback, act):
    """R38: a venue outside the list ends in Abstain or Fallback; null satisfies nothing."""
    declared = commitment_type(slots=("venue",), required_slots=("venue",))
    told = over(
        predicate("P1", 'slots.venue in ["Hall A", "Hall B"]'),
        types=(declared,),
        in_scene=scene(fallback=fallback),
    )
    wrong, null = candidate(venue="Hall Z"), candidate(venue=None)

    outcome = decided(told, wrong)

    assert (act, Reason.UNSUPPORTED) == (outcome.act, outcome.reason)
    assert [1, 1] == [report.violations for report in judge(told, wrong, null)]
    assert "Hall Z" not in outcome.text + outcome.detail


def test_cited_evidence_must_exist_and_be_activated():
    """R40: invented and unactivated references are told apart, and cover nothing."""
    pool = (unit("1#0", ("r1",)), unit("2#0"), unit("3#0"))
    told = over(types=(commitment_type(),), in_scene=scene(required_dimensions=("r1",)), units=pool)
    given = basis(pool[:2])
    asked = [
        candidate(cites=("2#0", "99#0")),
        candidate(cites=("3#0",)),
        candidate(cites=("1#0",)),
        candidate(cites=("[1]",)),
    ]

    reports = judge(told, *asked, given=given)

    assert [
        ("unknown_evidence:99#0",),
        ("not_activated:3#0",),
        (),
        ("unknown_evidence:[1]",),
    ] == [report.unsupported for report in reports]
    assert [1, 1, 0, 1] == [len(report.unmet) for report in reports]
    assert digest(asked[2]) == decided(told, *asked, given=given).candidate_digest
