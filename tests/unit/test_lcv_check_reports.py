"""Right values of public fault reports on predicates and on what a check proves."""

import pytest

from processors.predicates.scope import Scope
from processors.validation.verdicts import Rule, close, judge_rules, list_rules
from schemas.catalogue import SlotType
from schemas.codec import digest
from schemas.outcome import Act, PredicateVerdict, Reason, Verdict
from schemas.value import build_record
from tests.lcv import (
    candidate,
    decided,
    judge,
    over,
    typed,
    violated,
)
from tests.situations import commitment_type, predicate, slot


def meal(*more):
    """Return the type ``meal`` with a dish and a list of allergens."""
    return typed("meal", slot("dish"), slot("allergens", slot_type=SlotType.LIST), *more)


NO_PEANUT = predicate("P1", 'slots.allergens excludes "peanut"')


def test_null_escapes_neither_a_list_of_the_allowed_nor_one_of_the_forbidden():
    """R70: a missing or null supplier violates both rules; only a known one satisfies them."""
    declared = meal(slot("supplier", slot_type=SlotType.RECORD))
    told = over(
        predicate("P1", 'slots.supplier.id in ["A", "B"]'),
        predicate("P2", 'slots.supplier.id not_in ["X"]'),
        types=(declared,),
    )
    given = [
        candidate(supplier=build_record(id="A")),
        candidate(supplier=build_record(id="X")),
        candidate(supplier=build_record()),
        candidate(),
        candidate(supplier=None),
        candidate(supplier=build_record(id=None)),
    ]

    both = ["P1", "P2"]

    assert [[], both, both, both, both, both] == [violated(one) for one in judge(told, *given)]


def test_a_value_of_the_wrong_type_is_a_violation():
    """R71: an evaluation error is never left out of the decision."""
    declared = typed("meal", slot("allergens", slot_type=SlotType.ANY))
    told = over(NO_PEANUT, types=(declared,))
    given = [
        candidate(allergens="peanut, sesame"),
        candidate(allergens=build_record(peanut=True)),
        candidate(allergens=("sesame",)),
        candidate(allergens=("sesame", 7)),
    ]

    assert [["P1"], ["P1"], [], ["P1"]] == [violated(one) for one in judge(told, *given)]
    assert digest(given[2]) == decided(told, *given).candidate_digest
    alone = decided(told, given[0])
    assert (Act.ABSTAIN, Reason.VALIDATOR_FAILURE) == (alone.act, alone.reason)


def test_a_machine_without_memory_gives_no_verdict():
    """What one machine could not compute is no finding: a replay elsewhere would differ."""

    def run_out(_scope):
        raise MemoryError

    held = PredicateVerdict("P1", 1, Verdict.HOLDS, "", ())

    with pytest.raises(MemoryError):
        judge_rules((Rule(None, run_out, held, ""),), lambda _subject: Scope(slots={}))


@pytest.mark.parametrize(
    ("ids", "checked_ids", "unchecked"),
    [
        (("P1", "P2"), (), ["P1", "P2"]),
        (("P1", "P2"), ("P1",), ["P2"]),
        ((), (), []),
        (("P1",), ("P1",), []),
    ],
)
def test_an_incomplete_check_is_no_pass(ids, checked_ids, unchecked):
    """R79: a predicate without verdict is unknown, however few violations were found."""
    told = over(*(predicate(one, "slots.dish == slots.dish") for one in ids), types=(meal(),))
    rules = list_rules(told, "meal")
    found = [
        PredicateVerdict(rule.held.predicate_id, rule.held.version, Verdict.HOLDS, "", ())
        for rule in rules
        if rule.held.predicate_id in checked_ids
    ]

    closed = close(rules, found)

    assert list(ids) == [one.predicate_id for one in closed]
    assert unchecked == [one.predicate_id for one in closed if one.verdict is Verdict.UNKNOWN]


def test_a_verdict_on_another_version_is_no_verdict():
    """R79: a check of the version before does not count for the one in force."""
    told = over(predicate("P1"), types=(commitment_type(),))
    rules = list_rules(told, "meal")

    (closed,) = close(rules, [PredicateVerdict("P1", 77, Verdict.HOLDS, "", ())])

    assert Verdict.UNKNOWN is closed.verdict


def test_an_empty_contract_is_marked():
    """R79 C: without predicates a commitment is possible, and says so."""
    outcome = decided(over(types=(meal(),)), candidate(dish="rice"))

    assert outcome.certificate.without_predicates
    assert () == outcome.certificate.candidates[0].verdicts


def test_the_certificate_lists_every_predicate_checked_and_its_version():
    """R79 D: the outcome names the predicates that were checked and their versions."""
    outcome = decided(over(NO_PEANUT, types=(meal(),)), candidate(allergens=("soy",)))

    assert not outcome.certificate.without_predicates
    assert [("P1", 1)] == [
        (one.predicate_id, one.version) for one in outcome.certificate.candidates[0].verdicts
    ]


def test_a_contradiction_names_its_members_and_settles_nothing():
    """R80: the three that cannot be kept together are named with provenance, the fourth not."""
    numbers = ("start_hour", "end_hour", "price")
    declared = typed("meal", *(slot(name, slot_type=SlotType.INT) for name in numbers))
    told = over(
        predicate("P1", "slots.start_hour >= 18"),
        predicate("P2", "slots.end_hour <= 17"),
        predicate("P3", "slots.start_hour < slots.end_hour"),
        predicate("P4", "slots.price <= 50"),
        types=(declared,),
    )

    act = decided(
        told,
        candidate(start_hour=18, end_hour=17, price=10),
        candidate(start_hour=16, end_hour=17, price=10),
    )

    assert (Act.RECONTRACT, Reason.CONTRACT_CONFLICT) == (act.act, act.reason)
    assert ["P1", "P2", "P3"] == [one.predicate_id for one in act.conflict]
    assert ["e1", "e2", "e3"] == [one.event_id for one in act.conflict]
    assert ["drop", "drop", "drop"] == [one.kind.value for one in act.relaxations]
    assert "16" not in act.text
