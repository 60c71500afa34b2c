"""A correction that names itself, or is derived from what it corrects, still stands."""

import pytest

from schemas.observation import ErasureRequested
from schemas.row import WithdrawnRow
from tests.given import corrected, event, form, given, turn, withdrawn

FIRST = event(form(diet="meat"), event_id="e1")


@pytest.mark.parametrize(
    ("named", "sources"), [(("e1", "c"), ()), (("c",), ()), (("e1",), ("e1",)), (("e1",), ("c",))]
)
def test_a_correction_takes_back_others_and_never_itself(named, sources):
    """What it states holds, and what is later derived from it holds too."""
    history = given(
        [
            FIRST,
            event(corrected(*named, diet="vegan"), event_id="c", derived_from=sources),
            event(form(dish="tofu"), event_id="d", derived_from=("c",)),
        ]
    )

    assert "vegan" == history.slot("diet")[0]
    assert "tofu" == history.slot("dish")[0]
    assert history.get(WithdrawnRow, "c") is None
    assert 0 == history.head().foreseen
    assert ["vegan", "tofu"] == [one.value for one in history.situation(turn()).units][-2:]


@pytest.mark.parametrize("payload", [withdrawn("w", "e1"), ErasureRequested(("w", "e1"))])
def test_a_withdrawal_that_names_itself_waits_for_nothing(payload):
    """Its own id counts as arrived: nothing stays foreseen."""
    history = given([FIRST, event(payload, event_id="w")])

    assert history.slot("diet") is None
    assert 0 == history.head().foreseen
