"""Control records: a catalogue or genesis that no turn could be decided under is refused."""

from dataclasses import replace

import pytest

from schemas.catalogue import Catalogue, RequirementWeight
from schemas.control import CatalogueActivated, Weights
from schemas.fate import FateStatus, RejectionReason
from schemas.row import RegimeRow
from tests.conversation import OPERATOR, Conversation, genesis
from tests.situations import commitment_type, scene

SOUND = Catalogue("kitchen", (scene(),), (commitment_type(),), (), ())


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"selector": "best"}, "selector"),
        ({"budget_main": -1}, "budget_main"),
        ({"weights": Weights(1, 2, 2, 1, 1_001)}, "weights.over"),
        ({"partitions": 0}, "partitions"),
        ({"deadline_ms": 0}, "deadline_ms"),
        ({"catalogue": replace(SOUND, types=())}, "scenes.dinner.commitment_types"),
    ],
)
def test_an_unsound_genesis_is_refused_with_its_field(changes, field):
    """The rejection names the field, and nothing is in force."""
    conversation = Conversation()

    fate = conversation.tell(genesis(**{"catalogue": SOUND, **changes}), by=OPERATOR).fate

    assert (FateStatus.REJECTED, RejectionReason.SCHEMA_VIOLATION) == (fate.status, fate.reason)
    assert fate.detail.startswith(f"{field}: ")
    assert None is conversation.view().get(RegimeRow, "")


@pytest.mark.parametrize(
    "unsound",
    [
        replace(SOUND, scenes=(scene(), scene())),
        replace(SOUND, types=(commitment_type(), commitment_type())),
        replace(SOUND, types=(commitment_type(slots=("dish", "dish")),)),
        replace(SOUND, scenes=(scene(weights=(RequirementWeight("slot:dish", 0),)),)),
    ],
)
def test_an_unsound_catalogue_is_refused_and_the_active_one_stays(unsound):
    """Names are unique, and weights lie between 1 and 1000."""
    conversation = Conversation()
    conversation.tell(genesis(SOUND), by=OPERATOR)
    before = conversation.view().get(RegimeRow, "")

    fate = conversation.tell(CatalogueActivated(unsound), by=OPERATOR).fate

    assert FateStatus.REJECTED is fate.status
    assert before == conversation.view().get(RegimeRow, "")
