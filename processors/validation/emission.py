"""Emission: the chosen candidate as a Commitment, with its text and what it opens and settles.

Only ``validation`` decides that there is one to emit.
"""

from collections.abc import Mapping
from typing import Final

from processors.situation import Situation
from processors.validation.assessment import Assessed
from processors.validation.basis import Basis
from processors.validation.certificate import certify
from processors.validation.merging import list_slots
from processors.validation.surface import find_mismatches
from processors.validation.texts import (
    fill,
    find_default,
    find_template,
    render_plain,
    render_slots,
)
from schemas.catalogue import Catalogue
from schemas.identity import outcome_id
from schemas.outcome import Commitment
from schemas.value import Value

FROM_CANDIDATE: Final = "candidate"
FROM_TEMPLATE: Final = "template"


def commit(
    situation: Situation, basis: Basis, assessed: tuple[Assessed, ...], chosen: Assessed
) -> Commitment:
    """Return the commitment of the chosen candidate (spec 5.6, 5.11).

    A new commitment is named by its outcome, an amended one keeps its id and gets the next
    version. The candidate's text stands if the surface check passes it, else the template's.
    """
    judged = chosen.judged
    declared = situation.types[judged.candidate.commitment_type]
    position = outcome_id(
        tenant=situation.tenant,
        user=situation.user,
        turn_id=situation.turn_id,
        seq=situation.seq,
    )
    amends, amended = judged.candidate.amends, judged.merged.amended
    spoken = judged.candidate.surface_text
    mismatches = phrase(
        spoken,
        judged.merged.slots,
        catalogue=situation.catalogue,
        scene=situation.scene.name,
        type_name=declared.name,
    )
    settled = [
        obligation_id
        for obligation_id, row in situation.obligations
        if row.discharged_seq is None and row.dimension in declared.discharges
    ]
    return Commitment(
        outcome_id=position,
        tenant=situation.tenant,
        user=situation.user,
        turn_id=situation.turn_id,
        seq=situation.seq,
        scene=situation.scene.name,
        commitment_type=declared.name,
        commitment_id=position.hex() if amends is None else amends.commitment_id,
        version=1 if amended is None else amended.version + 1,
        amends=amends,
        slots=list_slots(judged.merged),
        evidence_ids=chosen.report.cited,
        candidate_digest=judged.digest,
        utility=chosen.report.utility,
        opened=declared.opens,
        discharged=tuple(sorted(settled)),
        text=_render(situation, declared.name, judged.merged.slots) if mismatches else spoken,
        text_from=FROM_TEMPLATE if mismatches else FROM_CANDIDATE,
        surface_mismatches=mismatches,
        certificate=certify(situation, basis, assessed),
    )


def phrase(
    text: str,
    slots: Mapping[str, Value],
    *,
    catalogue: Catalogue,
    scene: str,
    type_name: str,
) -> tuple[str, ...]:
    """Return why a text may not phrase a commitment; empty when it may (spec 5.11).

    The words of the catalogue about this scene and type may be used: it has approved them.
    """
    vocabulary = [scene.replace("_", " "), type_name.replace("_", " ")]
    own = [one.templates for one in catalogue.scenes if one.name == scene]
    for templates in (*own, catalogue.templates):
        vocabulary += [item.text for item in templates if item.key in {type_name, "commitment"}]
    return find_mismatches(text, slots, tuple(vocabulary))


def _render(situation: Situation, type_name: str, slots: Mapping[str, Value]) -> str:
    keys = [type_name, "commitment"]
    fields = {
        **{name: render_plain(value) for name, value in slots.items()},
        "scene": situation.scene.name,
        "type": type_name,
        "slots": render_slots(slots),
    }
    template = find_template(situation, keys)
    last = find_default(situation, ["commitment"])
    return fill(last if template is None else template, fields)
