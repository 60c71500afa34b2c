"""Formulation: the fast reading of M_t is the relation that ``meets`` states."""

from hypothesis import given, settings
from hypothesis import strategies as st

from processors.activation.coverage import match_units, meets
from processors.activation.formulation import keep_met
from schemas.packet import Requirement, RequirementKind
from tests.situations import unit

names = st.sampled_from(["a", "b", "c"])
kinds = st.sampled_from(list(RequirementKind))
requirements = st.lists(
    st.builds(Requirement, kinds, names, st.just(1), st.just(())),
    unique_by=lambda one: (one.kind, one.argument),
    max_size=8,
).map(tuple)
units = st.lists(
    st.builds(
        lambda dimensions, slot, value, predicate_id: unit(
            dimensions=dimensions, slot=slot, value=value, predicate_id=predicate_id
        ),
        st.lists(names, unique=True, max_size=3).map(tuple),
        st.none() | names,
        st.sampled_from([None, "", "x", 0, False, ()]),
        st.sampled_from([None, "p"]),
    ),
    max_size=6,
).map(tuple)


@settings(max_examples=200)
@given(units=units, requirements=requirements)
def test_masks_say_what_meets_says(units, requirements):
    """A bit is set exactly where the unit meets the requirement; unmet ones have no bit."""
    met, masks = keep_met(requirements, match_units(units, requirements))

    assert met == tuple(r for r in requirements if any(meets(one, r) for one in units))
    assert masks == tuple(
        sum(1 << bit for bit, r in enumerate(met) if meets(one, r)) for one in units
    )
