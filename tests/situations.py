"""Situations made by hand for tests of activation: plain data, nothing is folded."""

from dataclasses import replace

from processors.situation import InForce, Situation, Unit
from schemas.catalogue import (
    Authority,
    Catalogue,
    CommitmentType,
    Scene,
    SlotDeclaration,
    SlotType,
)
from schemas.control import Weights
from schemas.event import PrincipalKind
from schemas.identity import catalogue_digest, predicate_digest
from schemas.observation import HintKind, Sensitivity
from schemas.predicate import Predicate, PredicateScope
from schemas.row import ActivationRow, EpisodeRow, PredicateRow, ProposalRow, RegimeRow
from schemas.turn import TurnRequested

DIGEST = bytes(32)


def slot(name, **changes):
    """Return the declaration of a plain optional text slot."""
    plain = SlotDeclaration(name=name, slot_type=SlotType.STRING, min_authority=Authority.HINT)
    return replace(plain, **changes)


def commitment_type(name="meal", slots=("diet", "dish"), **changes):
    """Return a commitment type with these plain slots."""
    plain = CommitmentType(
        name=name,
        slots=tuple(slot(one) for one in slots),
        required_slots=(),
        confirm_carried=False,
        opens=(),
        discharges=(),
        not_affected_by=(),
    )
    return replace(plain, **changes)


def scene(name="dinner", **changes):
    """Return a scene of the type ``meal`` that requires nothing."""
    plain = Scene(
        name=name,
        commitment_types=("meal",),
        required_slots=(),
        required_dimensions=(),
        weights=(),
        templates=(),
        fallback="",
    )
    return replace(plain, **changes)


def predicate(predicate_id="p1", expression='slots.diet == "vegan"', **changes):
    """Return a standing predicate of the user for all scenes."""
    plain = Predicate(
        predicate_id=predicate_id,
        expression=expression,
        unless=None,
        scenes=(),
        subject="",
        scope=PredicateScope.STANDING,
        valid_from_ms=None,
        valid_to_ms=None,
        dimensions=(),
        zone=None,
    )
    return replace(plain, **changes)


def in_force(confirmed):
    """Return a predicate as the contract holds it."""
    row = PredicateRow(
        predicate=confirmed,
        digest=predicate_digest(confirmed),
        seq=1,
        event_id="e1",
        principal_kind=PrincipalKind.USER,
        principal_id="u",
        effective_ms=0,
        replaces=(),
        ended_seq=None,
        ended_ms=None,
        ended_by="",
        findings=(),
    )
    return InForce(row, None)


def proposal(proposed, kind=HintKind.CONSTRAINT):
    """Return an open proposal."""
    return ProposalRow(
        predicate=proposed,
        digest=predicate_digest(proposed),
        kind=kind,
        subject=proposed.subject,
        slot="",
        value=None,
        authority=Authority.INFERRED,
        confidence=500_000,
        replaces=(),
        event_id="e2",
        seq=2,
        status="open",
        findings=(),
    )


def unit(unit_id="1#0", dimensions=(), **changes):
    """Return a unit that states nothing, of cost 10."""
    plain = Unit(
        unit_id=unit_id,
        event_id=f"e{unit_id}",
        event_digest=DIGEST,
        seq=int(unit_id.split("#")[0]),
        content=f"content of {unit_id}",
        reference=None,
        subject="",
        slot=None,
        value=None,
        dimensions=tuple(dimensions),
        authority=Authority.ASSERTED,
        tail_witness=False,
        sensitivity=Sensitivity.NONE,
        cost=10,
        predicate_id=None,
    )
    return replace(plain, **changes)


def request(**changes):
    """Return the request of a turn in the scene ``dinner``."""
    return TurnRequested(**{"scene": "dinner"} | changes)


def situation(
    *, units=(), contract=(), types=None, in_scene=None, asked=None, regime=None, **changes
):
    """Return the situation of a turn over these units and predicates."""
    types = types or (commitment_type(),)
    in_scene = in_scene or scene(commitment_types=tuple(one.name for one in types))
    catalogue = Catalogue("kitchen", (in_scene,), types, (), ())
    active = RegimeRow(
        ruleset=1,
        catalogue_digest=catalogue_digest(catalogue),
        weights=Weights(1, 2, 2, 1, 1),
        budget_main=8_000,
        budget_tail=2_000,
        selector="",
        partitions=1,
        rights=(),
        authenticated=False,
        deadline_ms=900_000,
        gaps=0,
        attested_gaps=0,
    )
    plain = Situation(
        tenant="t",
        user="u",
        turn_id="turn",
        request=asked or request(),
        request_seq=9,
        request_event_id="turn",
        request_digest=DIGEST,
        seq=9,
        effective_ms=1_000,
        as_of_ms=1_000,
        historical=False,
        zone="Europe/Berlin",
        regime=regime or active,
        catalogue=catalogue,
        scene=in_scene,
        types={one.name: one for one in types},
        contract=tuple(in_force(one) for one in contract),
        contract_version=len(contract),
        contract_digest=DIGEST,
        slots={},
        stated={},
        preferences={},
        units=tuple(units),
        obligations=(),
        proposals=(),
        questions=(),
        touches={},
        commitments={},
        episode=EpisodeRow(0, 0, None, None, 0, None),
        activation=ActivationRow((), ()),
        incomplete=False,
        halted=False,
        chain=DIGEST,
    )
    return replace(plain, **changes)
