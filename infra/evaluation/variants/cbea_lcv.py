"""CBEA + LCV: the packet as the pipeline activates it, and the gate behind it.

The ablations and the other selectors are the same interface over another setting of its log.
"""

from dataclasses import replace
from typing import Final

from infra.evaluation.shown import Shown
from infra.evaluation.transcript import read_packet
from infra.evaluation.variants.variant import Material, Source, Variant
from schemas.packet import RequirementKind


def show_packet(material: Material) -> Shown:
    """Show the packet: its units, what must be cited, and the contract."""
    packet = material.packet
    assert packet is not None, "a turn without packet has ended and shows nothing"
    required = tuple(
        one.requirement.argument
        for one in packet.coverage
        if one.requirement.kind is RequirementKind.DIMENSION
    )
    return Shown(
        fixture_id=material.fixture.fixture_id,
        scene=packet.scene,
        request=packet.text or "",
        asks=packet.asks,
        lines=read_packet(packet),
        typed=True,
        required=required,
        contract=tuple(view.predicate for view in packet.contract),
    )


VARIANT: Final = Variant(
    name="cbea_lcv",
    log="cbea_lcv",
    source=Source.PIPELINE,
    show=show_packet,
    selector="two_level",
    typed=True,
)
WITHOUT_VALIDATION: Final = replace(VARIANT, name="no_validation", source=Source.ANSWER)
WITHOUT_REPAIR: Final = replace(VARIANT, name="no_repair", repairs=False)
