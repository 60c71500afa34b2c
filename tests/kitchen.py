"""The scene ``dinner`` told in tests: a catalogue, its candidates, and a turn that is asked for."""

from schemas.candidate import Candidate, SlotValue
from schemas.catalogue import Catalogue
from schemas.observation import (
    EvidenceRecorded,
    FormSubmitted,
    Sensitivity,
    SlotStatement,
    UnitDraft,
)
from schemas.packet import Packet
from schemas.turn import (
    CandidatesProposed,
    FailureKind,
    GenerationFailed,
)
from tests.conversation import OPERATOR, Conversation, genesis
from tests.situations import commitment_type, request, scene


def kitchen(**changes):
    """Return a catalogue with the scene ``dinner`` and the type ``meal``."""
    meal = commitment_type(required_slots=("dish",), **changes)
    return Catalogue("kitchen", (scene(),), (meal,), (), ())


def started(**changes):
    """Return a conversation after genesis."""
    conversation = Conversation()
    conversation.tell(genesis(kitchen(**changes)), by=OPERATOR)
    return conversation


def meal(dish="soup", evidence_ids=(), **slots):
    """Return a candidate that carries these slots."""
    carried = {"dish": dish, **slots}
    return Candidate(
        commitment_type="meal",
        slots=tuple(SlotValue(name, value) for name, value in sorted(carried.items())),
        amends=None,
        patch=(),
        evidence_ids=tuple(evidence_ids),
        claimed_predicates=(),
        required_slots=(),
        repair_status="",
        surface_text="",
    )


def candidates(*proposed, turn="turn", packet=None):
    """Return an answer to a turn."""
    return CandidatesProposed(turn, packet, proposed, None, None, ())


def failure(kind=FailureKind.TIMEOUT, turn="turn", packet=None):
    """Return a generator's failure."""
    return GenerationFailed(turn, packet, kind, None, None, ())


def form(**slots):
    """Return a form with these values."""
    return FormSubmitted(
        None, tuple(SlotStatement("", name, value, None, None) for name, value in slots.items()), ()
    )


def evidence(*dimensions):
    """Return one unit of evidence with these dimensions."""
    draft = UnitDraft(
        "a note", None, None, None, dimensions, False, Sensitivity.NONE, (), 10, None, None
    )
    return EvidenceRecorded((draft,))


def asked(conversation, **changes):
    """Tell a turn request and return its step."""
    return conversation.tell(request(**changes), event_id="turn")


def packet_of(step):
    """Return the packet that a step put out."""
    (packet,) = step.outputs
    assert isinstance(packet, Packet)
    return packet
