"""nu: violations, unmet requirements and S of one candidate (spec 5, 5.5, 3.3)."""

from dataclasses import replace
from decimal import Decimal

from processors.activation.coverage import derive_requirements
from processors.validation.assessment import assess
from schemas.catalogue import Authority, SlotType
from schemas.codec import digest
from schemas.outcome import Commitment, Verdict
from schemas.packet import RequirementKind
from schemas.value import Money
from tests.lcv import basis, candidate, decided, judge, over, state, typed, violated
from tests.situations import predicate, proposal, request, scene, slot, unit

FREE = typed("meal", slot("dish"), slot("diet"), slot("tags", slot_type=SlotType.LIST))


def unmet(told, *asked, given=None):
    """Return per candidate the unmet requirements as kind and argument."""
    return [
        [(one.kind.value, one.argument) for one in report.unmet]
        for report in judge(told, *asked, given=given)
    ]


def test_equal_candidates_count_once():
    """Repetition neither adds a report nor a vote."""
    found = assess(over(types=(FREE,)), (), basis(), (candidate(dish="a"),) * 3)

    assert 1 == len(found.assessed)


def test_a_dimension_is_met_by_citing_a_unit_with_it():
    """What Z* holds counts for a candidate only when it cites it."""
    told = over(
        types=(FREE,),
        in_scene=scene(required_dimensions=("menu",)),
        units=(unit("1#0", ("menu",)), unit("2#0", ("text",))),
    )

    assert [[], [("dimension", "menu")], [("dimension", "menu")]] == unmet(
        told, candidate(cites=("1#0",)), candidate(cites=("2#0",)), candidate(dish="x")
    )


def test_a_required_slot_is_carried_non_null_and_non_empty():
    """Null and the empty text are as good as nothing."""
    told = over(types=(replace(FREE, required_slots=("dish",)),))
    missing = [("slot", "dish")]

    assert [[], missing, missing, missing] == unmet(
        told, candidate(dish="rice"), candidate(dish=""), candidate(dish=None), candidate()
    )


def test_the_requirements_of_one_type_do_not_bind_another():
    """A type's required slots count against its own candidates alone."""
    call = typed("call", slot("number"), required_slots=("number",))
    told = over(types=(FREE, call))

    assert [[], [("slot", "number")]] == unmet(told, candidate(dish="x"), candidate("call"))


def test_what_is_carried_must_be_confirmed_where_the_type_says_so():
    """A predicate in force must fix the very value; what is not carried needs nothing."""
    told = over(
        predicate("P1", 'slots.dish == "rice" and slots.diet != "halal"'),
        predicate("P2", 'slots.diet in ["vegan"]'),
        types=(replace(FREE, confirm_carried=True),),
    )

    assert [[("confirmed", "diet")], [], [("confirmed", "dish")]] == [
        [one for one in found if one[0] == "confirmed"]
        for found in unmet(
            told,
            candidate(dish="rice", diet="vegan"),
            candidate(dish="rice"),
            candidate(dish="soup"),
        )
    ]


def test_a_list_of_nothing_is_no_proof():
    """Quantifiers over an empty list hold, and ask for a list that is not empty."""
    told = over(predicate("P1", 'all t in slots.tags: t != "soy"'), types=(FREE,))
    given = [candidate(tags=()), candidate(tags=("mild",)), candidate(tags=("soy",))]

    assert [0, 0, 1] == [report.violations for report in judge(told, *given)]
    assert [[("non_empty", "slots.tags")], [], []] == unmet(told, *given)
    assert (("slots.tags",),) == tuple(v.vacuous for v in judge(told, given[0])[0].verdicts)


def test_an_open_constraint_must_be_resolved_once_a_candidate_breaks_it():
    """It adds nothing while all satisfy it; preferences and held slots add nothing at all."""
    open_rule = proposal(predicate("q", 'slots.dish != "hotpot"'))
    told = over(types=(FREE,), proposals=(open_rule,))
    held = over(predicate("P", "exists(slots.dish)"), types=(FREE,), proposals=(open_rule,))
    required = [("resolve", open_rule.digest.hex())]

    assert [[], required] == unmet(told, candidate(dish="rice"), candidate(dish="hotpot"))
    assert [[]] == unmet(told, candidate(dish="rice"))
    assert [[]] == unmet(held, candidate(dish="hotpot"))


def test_rates_that_were_used_count_as_cited():
    """An exchange rate in Z* makes amounts comparable, and its unit is cited by that."""
    rate = unit("5#0", slot="rate:USD/EUR", value=Decimal("0.90"))
    told = over(
        predicate("P1", 'slots.price <= money("90.00 EUR")'),
        types=(typed("meal", slot("price", slot_type=SlotType.MONEY)),),
        units=(rate,),
    )
    asked = candidate(price=Money(Decimal("100.00"), "USD"))

    (with_rate,) = judge(told, asked)
    (without,) = judge(told, asked, given=basis())

    assert ([], ("5#0",)) == (violated(with_rate), with_rate.cited)
    assert [Verdict.MISSING] == [one.verdict for one in without.verdicts]


def test_utility_weighs_confidence_by_authority():
    """S adds each wish met, subtracts each wish missed, ignores what is absent (spec 5.5)."""
    soft = typed("meal", slot("dish", soft=True), slot("diet"), slot("x"))
    told = over(
        types=(soft,),
        slots={
            ("", "dish"): state("rice", Authority.OBSERVED),
            ("", "x"): state("hard slots have no vote"),
        },
        preferences={
            ("", "diet"): (state("vegan", Authority.INFERRED), 600_000),
            ("", "elsewhere"): (state("y", Authority.ASSERTED), 1_000_000),
            ("someone", "diet"): (state("halal", Authority.ASSERTED), 1_000_000),
        },
    )

    reports = judge(
        told,
        candidate(dish="rice", diet="vegan"),
        candidate(dish="soup", diet="vegan"),
        candidate(dish="rice", diet="halal"),
        candidate(diet="vegan", x="other"),
        candidate(),
    )

    assert [4_200_000, -1_800_000, 1_800_000, 1_200_000, 0] == [one.utility for one in reports]


def test_wishes_of_participants_count():
    """Who takes part has a say; who does not, has none."""
    told = over(
        types=(FREE,),
        asked=request(participants=("bo",)),
        preferences={("bo", "diet"): (state("vegan", Authority.ASSERTED), 500_000)},
    )

    assert [2_000_000] == [one.utility for one in judge(told, candidate(diet="vegan"))]


def test_relevance_of_cited_units_counts_once():
    """rel of each cited unit is added, in millionths, however often it is cited."""
    units = (unit("1#0"), unit("2#0"))
    given = basis(units, relevance={"1#0": 700_000, "2#0": 50_000})

    (report,) = judge(
        over(types=(FREE,), units=units), candidate(cites=("1#0", "1#0", "2#0")), given=given
    )

    assert (750_000, ("1#0", "2#0")) == (report.utility, report.cited)


def test_no_utility_outweighs_a_violation():
    """The order is lexicographic: a feasible candidate beats a better liked one."""
    told = over(
        predicate("P1", 'slots.dish != "hotpot"'),
        types=(FREE,),
        preferences={("", "dish"): (state("hotpot", Authority.ASSERTED), 1_000_000)},
    )
    plain = candidate(dish="rice")

    outcome = decided(told, candidate(dish="hotpot"), plain)

    assert isinstance(outcome, Commitment)
    assert (digest(plain), -4_000_000) == (outcome.candidate_digest, outcome.utility)


def test_ties_go_to_the_smaller_digest():
    """Equal vectors are ordered by digest, so the choice is one."""
    given = [candidate(dish=name) for name in ("a", "b", "c")]

    outcome = decided(over(types=(FREE,)), *given)

    assert min(digest(one) for one in given) == outcome.candidate_digest


def test_nu_0_marks_a_claim_while_nothing_is_feasible():
    """Who claims a commitment though none is feasible is marked; who states a repair is not."""
    told = over(predicate("P1", 'slots.dish == "rice"'), types=(FREE,))
    repairing = replace(candidate(dish="soup"), repair_status="clarify")

    assert [1, 0] == [one.infeasible for one in judge(told, candidate(dish="soup"), repairing)]
    assert [0, 0] == [
        one.infeasible for one in judge(told, candidate(dish="soup"), candidate(dish="rice"))
    ]


def test_weights_do_not_change_the_count():
    """nu_c counts requirements, unweighted."""
    told = over(types=(FREE,), in_scene=scene(required_slots=("dish", "diet")))

    (report,) = judge(told, candidate())

    assert 2 == len(report.unmet)
    assert {RequirementKind.SLOT} == {one.kind for one in derive_requirements(told)}
