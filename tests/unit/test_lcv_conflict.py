"""Contradictions of the contract, and the ways out that an act offers (spec 5.7 (4))."""

from dataclasses import replace

from schemas.candidate import SlotValue
from schemas.catalogue import SlotType
from schemas.identity import predicate_digest
from schemas.outcome import RelaxationKind
from tests.lcv import (
    candidate,
    confirmed,
    contract,
    decided,
    over,
    state,
    typed,
)
from tests.situations import predicate, request, slot

MEAL = typed("meal", slot("dish"), slot("guests", slot_type=SlotType.INT))


def kind(act):
    """Return act and reason."""
    return None if act is None else (act.act.value, act.reason.value)


def test_a_stated_value_against_a_promise_is_recontracted():
    """Reason (4): the user now wants what the contract forbids; the core is that promise."""
    told = over(
        predicate("P1", "slots.guests <= 4"),
        predicate("P2", 'slots.dish != "hotpot"'),
        types=(MEAL,),
        stated={("", "guests"): (state(6),)},
    )

    act = decided(told, candidate(guests=6, dish="rice"))

    assert ("recontract", "contract_conflict") == kind(act)
    assert ["P1"] == [one.predicate_id for one in act.conflict]
    assert ["drop", "adopt"] == [one.kind.value for one in act.relaxations]
    assert "slots.guests == 6" == act.relaxations[1].expression


def test_an_ask_of_the_request_is_stated_too():
    """What the turn itself asks for counts as the user's word."""
    told = over(
        predicate("P1", "slots.guests <= 4"),
        types=(MEAL,),
        asked=request(asks=(SlotValue("guests", 6),)),
    )

    assert ("recontract", "contract_conflict") == kind(decided(told, candidate(guests=6)))
    assert ("abstain", "unsupported") == kind(decided(told, candidate(guests=7)))


def test_outside_the_fragment_the_failed_promise_is_the_core():
    """Where no conflict can be proven, the predicate that failed is named."""
    told = over(
        predicate("P1", "slots.guests <= state.seats"),
        predicate("P2", "slots.guests != 13"),
        types=(MEAL,),
        slots={("", "seats"): state(4)},
        stated={("", "guests"): (state(6),)},
    )

    act = decided(told, candidate(guests=6))

    assert ["P1"] == [one.predicate_id for one in act.conflict]


def test_a_way_out_goes_back_to_the_predecessor():
    """A promise that replaced a wider one may be reverted; its digest is the predecessor's."""
    before = predicate("P1", "slots.guests <= 8")
    told = replace(
        over(types=(MEAL,), stated={("", "guests"): (state(6),)}),
        contract=contract(confirmed(predicate("P1", "slots.guests <= 4"), 2, before)),
    )

    act = decided(told, candidate(guests=6))
    reverts = [one for one in act.relaxations if one.kind is RelaxationKind.REVERT]

    assert [("slots.guests <= 8", predicate_digest(before))] == [
        (one.expression, one.digest) for one in reverts
    ]


def test_ways_out_never_take_a_value_from_a_candidate():
    """Only what was stated or offered may be adopted."""
    told = over(
        predicate("P1", "slots.guests >= 6"),
        predicate("P2", "slots.guests <= 4"),
        types=(MEAL,),
    )

    act = decided(told, candidate(guests=9))

    assert ["P1", "P2"] == [one.predicate_id for one in act.conflict]
    assert {RelaxationKind.DROP} == {one.kind for one in act.relaxations}
    assert "9" not in act.text


def test_dropping_is_offered_where_it_helps():
    """With two contradictions no single drop helps, so the members of the core are named."""
    told = over(
        predicate("P1", "slots.guests >= 6"),
        predicate("P2", "slots.guests <= 4"),
        predicate("P3", "slots.guests <= 3"),
        types=(MEAL,),
    )

    act = decided(told)

    assert ["P1", "P2"] == [one.predicate_id for one in act.conflict]
    assert ["P1"] == [one.predicate_id for one in act.relaxations]
