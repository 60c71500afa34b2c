"""The merged commitment: slots as carried, or a commitment with its patch (spec 5.2)."""

from dataclasses import replace

import pytest

from processors.validation.merging import merge
from schemas.value import VALUE_DEPTH_MAX, RecordValue, build_record
from tests.lcv import amendment, candidate, commitment

PLAN = {
    "c1": commitment(
        dish="rice", days=(build_record(meal="egg"), build_record(meal="rice")), note=None
    )
}


def merged(**patch):
    """Return the slots after this patch of the plan, or the refusals."""
    found = merge(amendment(**patch), PLAN)
    return found.refusals or dict(found.slots)


def test_slots_stand_as_they_are_carried():
    """Without amendment the merged commitment is what the candidate carries, sorted."""
    assert {"dish": "rice", "guests": 2} == merge(candidate(guests=2, dish="rice"), {}).slots


@pytest.mark.parametrize(
    ("path", "value", "days"),
    [
        ("days[1].meal", "lentils", ("egg", "lentils")),
        ("days[0]", build_record(meal="soup"), ("soup", "rice")),
        ("days[2]", build_record(meal="soup"), ("egg", "rice", "soup")),
    ],
)
def test_a_path_reaches_into_lists_and_records(path, value, days):
    """Indexes are zero-based; one past the end appends."""
    found = merged(**{path: value})

    assert days == tuple(day.get("meal") for day in found["days"])
    assert "rice" == found["dish"]


def test_what_is_not_patched_stays():
    """A patch sets what it names and nothing else."""
    found = merged(guests=4, dish=None)

    assert (None, 4, 2) == (found["dish"], found["guests"], len(found["days"]))


def test_operations_apply_in_order():
    """A later operation sees what an earlier one has set."""
    found = merge(
        replace(
            amendment(**{"days[2]": build_record(meal="soup")}),
            patch=(
                *amendment(**{"days[2]": build_record(meal="soup")}).patch,
                *amendment(**{"days[2].meal": "stew"}).patch,
            ),
        ),
        PLAN,
    )

    assert "stew" == found.slots["days"][2].get("meal")


@pytest.mark.parametrize(
    "path",
    ["", ".", "days[3]", "days[x]", "days[01]", "days[-1]", "days[0", "days.meal", "dish.a",
     "ghost.a", "days[0]meal", "a..b", "note.x", "days[1].meal[0]", "days[1].$date"],
)  # fmt: skip
def test_a_path_that_leads_nowhere_is_refused(path):
    """What cannot be set is a reason of the support check, never a guess."""
    assert (f"bad_path:{path}",) == merged(**{path: 1})


def test_the_amended_version_must_be_current():
    """A patch of an older version is stale, of an unknown commitment or other type refused."""
    assert ("stale_version:c1",) == merge(amendment(version=2), PLAN).refusals
    assert ("unknown_commitment:c9",) == merge(amendment("c9"), PLAN).refusals
    assert ("other_type:meal",) == merge(amendment(commitment_type="trip"), PLAN).refusals


def test_a_candidate_is_either_new_or_an_amendment():
    """Slots with amends, and a patch without, are both refused."""
    both = replace(amendment(), slots=candidate(dish="x").slots)
    bare = replace(amendment(dish="x"), amends=None)

    assert ("slots_with_amends",) == merge(both, PLAN).refusals
    assert ("patch_without_amends",) == merge(bare, PLAN).refusals


def test_a_slot_carried_twice_is_refused():
    """Which of two values is meant is not guessed."""
    twice = replace(candidate(), slots=(*candidate(a=1).slots, *candidate(a=2).slots))

    assert ("duplicate_slot:a",) == merge(twice, {}).refusals


def test_a_patch_cannot_nest_deeper_than_values_may():
    """What could be stored but never read again is refused before it is stored."""
    deep = "x"
    for _ in range(VALUE_DEPTH_MAX):
        deep = RecordValue((("a", deep),))

    assert ("too_deep:days",) == merged(**{"days[0].meal": deep})
