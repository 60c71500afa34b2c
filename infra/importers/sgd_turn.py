"""A turn of an imported dialogue: its request, its one candidate, its label.

Every turn carries a candidate, also where the annotated system asks: the caller's agent then
offers what the state holds so far. So each turn ends in one outcome by the pipeline's own
rules, whatever the annotation says, and none is left pending.
"""

from collections.abc import Iterator
from typing import Final

from infra.importers.sgd_catalogue import Intent
from infra.importers.sgd_label import Point, SgdLabel
from infra.importers.sgd_state import Memory
from schemas.candidate import Candidate, SlotValue
from schemas.event import (
    CandidatesProposed,
    Event,
    Principal,
    PrincipalKind,
    TurnRequested,
)

ASSISTANT: Final = Principal(PrincipalKind.ASSISTANT, "system")
ANNOTATION: Final = Principal(PrincipalKind.GENERATOR, "annotation")


def ask(
    memory: Memory,
    intent: Intent,
    point: Point,
    *,
    carried: tuple[SlotValue, ...],
    slots: tuple[str, ...],
    alternative: tuple[SlotValue, ...] = (),
    name: str | None = None,
) -> Iterator[Event | SgdLabel]:
    """Yield the request, the label and the candidate of one turn; ``name`` begins its ids."""
    request = memory.scribe.write(ASSISTANT, _build_request(memory, intent), name=name)
    yield request
    yield SgdLabel(
        turn_id=request.event_id,
        user=memory.scribe.user,
        scene=intent.scene,
        point=point,
        slots=slots,
        carried=carried,
        confirmed=memory.list_confirmed(intent.scene),
        never_shown=memory.list_unseen(intent, carried),
        alternative=alternative,
    )
    yield memory.scribe.write(
        ANNOTATION,
        CandidatesProposed(
            turn_id=request.event_id,
            packet_digest=None,
            candidates=(_build_candidate(intent, carried),),
            raw_output=None,
            decoding=None,
            attempts=(),
        ),
        name=None if name is None else f"{name}/candidates",
        caused_by=request.event_id,
    )


def _build_request(memory: Memory, intent: Intent) -> TurnRequested:
    return TurnRequested(
        scene=intent.scene, utterance_ids=(memory.utterance_id,), scopes=(intent.service,)
    )


def _build_candidate(intent: Intent, carried: tuple[SlotValue, ...]) -> Candidate:
    return Candidate(
        commitment_type=intent.scene,
        slots=carried,
        amends=None,
        patch=(),
        evidence_ids=(),
        claimed_predicates=(),
        required_slots=(),
        repair_status="",
        surface_text="",
    )
