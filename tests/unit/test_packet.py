"""The packet: what a turn may read, what became of R_t, and the terms of the choice (spec 4)."""

import hashlib
from dataclasses import replace

import pytest

from processors.activation.coverage import derive_requirements
from processors.activation.formulation import formulate
from processors.activation.packet import activate, describe_coverage
from processors.limits import LEFT_OUT_MAX
from schemas.codec import encode
from schemas.observation import Sensitivity
from schemas.packet import BudgetPart, Uncovered
from schemas.row import ActivationRow, ObligationRow
from schemas.turn import TurnMode, UnitScore
from tests.situations import predicate, request, scene, situation, unit


def issue(given):
    """Return the first packet of a turn."""
    return activate(given, derive_requirements(given), number=1)


def wanting(*dimensions, **changes):
    """Return a request that wants these dimensions."""
    return request(wanted_dimensions=dimensions, **changes)


def test_a_packet_covers_what_the_evidence_can_cover():
    """Z* holds a unit of each requirement that E_t can meet within the budget."""
    given = situation(
        units=(unit("1#0", ("allergy",)), unit("2#0", ("mood",)), unit("3#0", ("noise",))),
        asked=wanting("allergy", "mood"),
    )

    packet = issue(given)

    assert {"1#0", "2#0"} == {one.unit_id for one in packet.units}
    assert [Uncovered.COVERED] * 2 == [one.status for one in packet.coverage]
    assert [("1#0",), ("2#0",)] == [one.unit_ids for one in packet.coverage]
    assert 20 == packet.cost_main
    assert packet.gap == packet.bound - packet.objective >= 0


def test_uncovered_requirements_say_why():
    """No unit, no unit that fits, and units crowded out are three different answers."""
    given = situation(
        units=(
            unit("1#0", ("large",), cost=90),
            unit("2#0", ("first",), cost=8),
            unit("3#0", ("second",), cost=8),
        ),
        asked=wanting("absent", "first", "large", "second", budget_main=10, budget_tail=0),
    )

    found = {one.requirement.argument: one for one in issue(given).coverage}

    assert Uncovered.NO_UNIT is found["absent"].status
    assert Uncovered.OVER_BUDGET is found["large"].status
    assert (("1#0",), 98) == (found["large"].unit_ids, found["large"].budget_needed)
    assert {Uncovered.COVERED, Uncovered.CROWDED_OUT} == {
        found["first"].status,
        found["second"].status,
    }


@pytest.mark.parametrize("mode", [TurnMode.TURN, TurnMode.RESULT])
def test_a_turn_can_lower_its_budget_but_not_raise_it(mode):
    """The budgets are the smaller of the active and the named ones; costs stay within them."""
    units = tuple(unit(f"{n}#0", (f"d{n}",), cost=3_000) for n in range(1, 6))
    wanted = tuple(f"d{n}" for n in range(1, 6))

    raised = issue(situation(units=units, asked=wanting(*wanted, mode=mode, budget_main=90_000)))
    lowered = issue(situation(units=units, asked=wanting(*wanted, mode=mode, budget_main=3_000)))
    none = issue(situation(units=units, asked=wanting(*wanted, mode=mode, budget_main=0)))

    assert (8_000, 6_000) == (raised.budget_main, raised.cost_main)
    assert (3_000, 3_000) == (lowered.budget_main, lowered.cost_main)
    assert (0, 0, ()) == (none.budget_main, none.cost_main, none.units)


def test_a_tail_witness_is_held_by_the_reserve():
    """A witness that covers a requirement is charged to B_tail when it fits there."""
    given = situation(
        units=(unit("1#0", ("allergy",), tail_witness=True), unit("2#0", ("mood",))),
        asked=wanting("allergy", "mood"),
    )

    packet = issue(given)

    assert {"1#0": BudgetPart.TAIL, "2#0": BudgetPart.MAIN} == {
        one.unit_id: one.part for one in packet.units
    }
    assert (10, 10) == (packet.cost_main, packet.cost_tail)


def test_the_best_units_left_out_are_named_and_the_others_are_one_digest():
    """At most 32 units beside Z* stand in the packet, by gain; a digest covers the rest."""
    units = tuple(
        unit(f"{n}#0", ("noise",), sensitivity=Sensitivity.LOW) for n in range(1, LEFT_OUT_MAX + 4)
    )
    given = situation(units=units, asked=wanting("allergy"))

    packet = issue(given)
    dearer = issue(replace(given, units=tuple(replace(one, cost=11) for one in units)))

    assert () == packet.units
    assert LEFT_OUT_MAX == len(packet.left_out)
    assert sorted(packet.left_out, key=lambda one: -one.gain) == list(packet.left_out)
    assert hashlib.sha256(b"").digest() != packet.terms_digest != dearer.terms_digest


def test_the_terms_of_a_packet_add_up_to_its_objective():
    """Each entry's gain is what it added to J, so the gains sum to J of Z*."""
    given = situation(
        units=(
            unit("1#0", ("allergy", "receipt"), tail_witness=True),
            unit("2#0", ("allergy",), sensitivity=Sensitivity.MEDIUM),
            unit("3#0", ("mood",)),
        ),
        obligations=(("o1", ObligationRow("receipt", None, ("dinner",), "e", 1, None)),),
        asked=wanting("allergy", "mood"),
    )

    packet = issue(given)

    assert packet.objective == sum(terms.gain for terms in packet.terms)
    assert [one.unit_id for one in packet.units] == [terms.unit_id for terms in packet.terms]


@pytest.mark.parametrize(
    ("changes", "covers", "expected"),
    [
        ({"sensitivity": Sensitivity.NONE}, False, 200_000),
        ({"sensitivity": Sensitivity.LOW}, False, 300_000),
        ({"sensitivity": Sensitivity.HIGH}, False, 1_000_000),
        ({"sensitivity": Sensitivity.HIGH}, True, 0),
        ({"dimensions": ("diet",), "sensitivity": Sensitivity.MEDIUM}, False, 400_000),
        ({"unit_id": "7#0", "seq": 7}, False, 500_000),
        ({"unit_id": "7#0", "seq": 7}, True, 0),
    ],
)
def test_overpersonalisation_counts_sensitivity_strangeness_and_repetition(
    changes, covers, expected
):
    """over_i is that of spec 4.3: nothing sensitive or repeated counts once it covers."""
    one = replace(unit("1#0", ("noise",)), **changes)
    if covers:
        one = replace(one, dimensions=("allergy",))
    given = situation(
        units=(one,), asked=wanting("allergy"), activation=ActivationRow(("7#0",), ())
    )

    assert (expected,) == formulate(given, derive_requirements(given)).over


def test_supplied_scores_replace_the_computed_ones():
    """A client's rel and over count as given; numbers out of range are brought to its edge."""
    given = situation(
        units=(unit("1#0", ("mood",)), unit("2#0", ("noise",))),
        asked=wanting(
            "mood", scores=(UnitScore("1#0", 5, None), UnitScore("2#0", None, -(10**15)))
        ),
    )

    problem = formulate(given, derive_requirements(given))

    assert 5 == problem.rel[0]
    assert -(10**9) == problem.over[1]


def test_words_of_the_turn_make_a_unit_relevant():
    """The unit that shares most with the turn's text has the full relevance."""
    given = situation(
        units=(
            unit("1#0", content="peanut allergy of the user"),
            unit("2#0", content="window seat"),
        ),
        asked=request(text="is there peanut in it?"),
    )

    assert (1_000_000, 0) == formulate(given, derive_requirements(given)).rel


def test_what_state_or_contract_knows_needs_no_unit():
    """A slot that h_t fixes is covered although no unit of Z* states it."""
    given = situation(
        contract=(predicate("p1", 'slots.dish == "soup"'),),
        in_scene=scene(required_slots=("dish",)),
    )

    found = describe_coverage(given, derive_requirements(given), ())

    assert [(Uncovered.COVERED, ())] == [(one.status, one.unit_ids) for one in found]


def test_a_packet_is_a_record():
    """Every packet has a body, and equal situations give equal bodies."""
    given = situation(
        units=(unit("1#0", ("allergy",)),),
        contract=(predicate(dimensions=("allergy",)),),
        asked=wanting("allergy"),
    )

    assert encode(issue(given)) == encode(issue(given))
