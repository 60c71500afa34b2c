"""Gamma and M_t: where requirements come from, whom they bind, and what meets them (spec 3.3)."""

from processors.activation.coverage import (
    binds,
    derive_requirements,
    find_open_constraints,
    is_known,
    meets,
    name_carried,
    name_proposal,
    name_vacuous,
)
from schemas.candidate import SlotValue
from schemas.catalogue import Authority, RequirementWeight
from schemas.observation import HintKind
from schemas.packet import Requirement, RequirementKind
from schemas.row import ObligationRow, Standing
from schemas.turn import TurnMode
from schemas.value import StringSet
from tests.situations import (
    commitment_type,
    predicate,
    proposal,
    request,
    scene,
    situation,
    unit,
)


def dimension(argument, *reasons, weight=1):
    """Return the requirement of a dimension."""
    return Requirement(RequirementKind.DIMENSION, argument, weight, reasons)


def required_slot(argument, *reasons):
    """Return the requirement of a slot."""
    return Requirement(RequirementKind.SLOT, argument, 1, reasons)


def confirmed(argument, *reasons):
    """Return the requirement of a confirmation."""
    return Requirement(RequirementKind.CONFIRMED, argument, 1, reasons)


def obligation(name, *blocks, discharged_seq=None):
    """Return an obligation with this dimension."""
    return ObligationRow(name, None, blocks, "e", 1, discharged_seq)


def test_an_empty_contract_and_an_undemanding_scene_require_nothing():
    """R_t is empty when no source names anything."""
    assert () == derive_requirements(situation())


def test_every_source_is_a_reason_of_its_requirement():
    """Two sources of one requirement make one element with both reasons, sorted."""
    given = situation(
        contract=(predicate(dimensions=("allergy",)),),
        in_scene=scene(required_dimensions=("allergy",), required_slots=("dish",)),
        asked=request(wanted_dimensions=("mood", "allergy")),
    )

    assert (
        dimension("allergy", "predicate:p1", "scene", "wanted"),
        dimension("mood", "wanted"),
        required_slot("dish", "scene"),
    ) == derive_requirements(given)


def test_only_a_predicate_that_applies_adds_its_dimensions():
    """A predicate of another scene, another subject or other slots is no source."""
    given = situation(
        contract=(
            predicate("p1", scenes=("travel",), dimensions=("visa",)),
            predicate("p2", subject="anna", dimensions=("nuts",)),
            predicate("p3", "slots.gate == 1", dimensions=("gate",)),
        )
    )

    assert () == derive_requirements(given)


def test_a_predicate_about_a_participant_binds_the_turn():
    """The subject of a predicate may be the user or any participant."""
    given = situation(
        contract=(predicate("p2", subject="anna", dimensions=("nuts",)),),
        asked=request(participants=("anna",)),
    )

    assert (dimension("nuts", "predicate:p2"),) == derive_requirements(given)


def test_debt_binds_a_turn_where_it_blocks_and_a_result_always():
    """In turn mode an obligation counts when it blocks the scene or one of its types."""
    debts = (("o1", obligation("receipt", "travel")), ("o2", obligation("thanks", "meal")))
    turn = situation(obligations=debts)
    result = situation(obligations=debts, asked=request(mode=TurnMode.RESULT))

    assert (dimension("thanks", "obligation:o2"),) == derive_requirements(turn)
    assert (
        dimension("receipt", "obligation:o1"),
        dimension("thanks", "obligation:o2"),
    ) == derive_requirements(result)


def test_a_discharged_obligation_asks_for_nothing():
    """Debt that was paid is no source in any mode."""
    given = situation(
        obligations=(("o1", obligation("receipt", "dinner", discharged_seq=4)),),
        asked=request(mode=TurnMode.RESULT),
    )

    assert () == derive_requirements(given)


def test_a_type_is_spared_what_never_affects_it():
    """``not_affected_by`` takes dimensions of obligations and predicates away, nothing else."""
    types = (
        commitment_type("meal", not_affected_by=("receipt",)),
        commitment_type("snack"),
    )
    given = situation(
        types=types,
        obligations=(("o1", obligation("receipt", "dinner")),),
        asked=request(wanted_dimensions=("receipt",)),
    )
    owed = dimension("receipt", "obligation:o1")

    assert (dimension("receipt", "obligation:o1", "wanted"),) == derive_requirements(given)
    assert [False, True] == [binds(given, owed, name) for name in ("meal", "snack")]
    assert binds(given, dimension("receipt", "wanted"), "meal")


def test_debt_that_spares_every_type_is_no_requirement():
    """A requirement that binds no type of the scene is not in R_t."""
    given = situation(
        types=(commitment_type(not_affected_by=("receipt",)),),
        obligations=(("o1", obligation("receipt", "dinner")),),
    )

    assert () == derive_requirements(given)


def test_a_type_that_confirms_what_it_carries_asks_for_confirmation_of_its_required_slots():
    """``confirmed s`` stands in R_t before candidates for the slots that they must carry."""
    types = (
        commitment_type("meal", required_slots=("dish",), confirm_carried=True),
        commitment_type("snack"),
    )
    given = situation(types=types)
    asked = confirmed("dish", "type:meal")

    assert (asked, required_slot("dish", "type:meal")) == derive_requirements(given)
    assert [True, False] == [binds(given, asked, name) for name in ("meal", "snack")]


def test_the_catalogue_weighs_requirements():
    """A weight named ``kind:argument`` is that requirement's; all others weigh 1."""
    given = situation(
        in_scene=scene(
            required_dimensions=("allergy", "mood"),
            weights=(RequirementWeight("dimension:allergy", 7),),
        )
    )

    assert (
        dimension("allergy", "scene", weight=7),
        dimension("mood", "scene"),
    ) == derive_requirements(given)


def test_a_contract_against_what_the_user_asserted_asks_for_the_dimensions_of_its_core():
    """Where no type of the scene can be satisfied, each member of the core is a reason."""
    state = Standing("fish", Authority.ASSERTED, "e", 1, 0, None)
    given = situation(
        contract=(
            predicate("p1", 'slots.dish == "soup"', dimensions=("menu",)),
            predicate("p2", 'slots.diet == "vegan"', dimensions=("allergy",)),
        ),
        slots={("", "dish"): state},
    )

    assert (
        dimension("allergy", "predicate:p2"),
        dimension("menu", "conflict:p1", "predicate:p1"),
    ) == derive_requirements(given)


def test_candidates_widen_the_requirements():
    """Carried slots, open proposals and empty lists are sources once candidates exist."""
    doubtful = proposal(predicate("p9", 'slots.dish != "fish"'))
    further = (
        name_carried("dish", type_name="meal"),
        name_proposal(doubtful),
        name_vacuous("slots.days", predicate_id="p1"),
    )

    assert (
        confirmed("dish", "type:meal"),
        Requirement(RequirementKind.NON_EMPTY, "slots.days", 1, ("vacuous:p1",)),
        Requirement(RequirementKind.RESOLVE, doubtful.digest.hex(), 1, ("proposal:p9",)),
    ) == derive_requirements(situation(), further)


def test_only_an_open_constraint_on_an_unconfirmed_slot_may_need_resolving():
    """Preferences, foreign subjects and slots that a predicate in force reads ask nothing."""
    kept = proposal(predicate("q1", 'slots.dish != "fish"'))
    given = situation(
        contract=(predicate("p1", 'slots.diet == "vegan"'),),
        proposals=(
            kept,
            proposal(predicate("q2", 'slots.dish != "soup"'), kind=HintKind.PREFERENCE),
            proposal(predicate("q3", 'slots.dish != "soup"', subject="anna")),
            proposal(predicate("q4", 'slots.diet != "keto"')),
        ),
    )

    assert (kept,) == find_open_constraints(given)


def test_a_unit_meets_its_dimensions_and_the_slot_whose_value_it_states():
    """M_t is 1 for a named dimension, and for a slot when the unit states a value of it."""
    states = unit(dimensions=("allergy", "dish"), slot="dish", value="soup")
    silent = unit(dimensions=("dish",), slot="dish", value=StringSet(()))

    assert meets(states, dimension("allergy"))
    assert meets(states, required_slot("dish"))
    assert not meets(silent, required_slot("dish"))
    assert not meets(states, confirmed("dish"))


def test_a_slot_is_known_from_state_contract_or_request():
    """Before candidates a slot is covered when u_t, h_t or the request has a value of it."""
    state = Standing("soup", Authority.ASSERTED, "e", 1, 0, None)
    wanted = required_slot("dish")
    fixed = situation(contract=(predicate("p1", 'slots.dish == "soup" and slots.diet != "x"'),))
    bounded = situation(contract=(predicate("p1", 'slots.dish != "soup"'),))
    asked = situation(asked=request(asks=(SlotValue("dish", "soup"),)))

    assert not is_known(situation(), wanted)
    assert is_known(situation(slots={("", "dish"): state}), wanted)
    assert is_known(fixed, wanted)
    assert is_known(asked, wanted)
    assert not is_known(bounded, wanted)
    assert is_known(fixed, confirmed("dish"))
    assert not is_known(asked, confirmed("dish"))
