"""Beliefs and cases as events: the structured arm, and the log that peers are gated on.

A user is one case's copy of the seed, so that no case depends on another. A belief is one unit
of cost 1; pinned, it carries the dimension ``pinned:<id>``, which is wanted by every turn whose
scope it shares; superseded, it is withdrawn; resolved, it is valid until then. Tiers (facts,
questions, persona) are scopes of the unit, so that each is a turn with its own budget.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from infra.evaluation.memory.beliefs import UNIVERSAL, Belief, Case
from infra.importers.envelope import Scribe, build_genesis
from schemas.catalogue import (
    Catalogue,
    CommitmentType,
    Scene,
    SlotDeclaration,
    SlotType,
)
from schemas.event import (
    Event,
    EvidenceRecorded,
    ObservationWithdrawn,
    Principal,
    PrincipalKind,
    Sensitivity,
    TurnRequested,
    UnitDraft,
    UnitScore,
)

TENANT: Final = "memory"
SCENE: Final = "recall"
BEGIN_MS: Final = 1_577_836_800_000  # Times are made: what was resolved ended when this began.
FACTS: Final = "facts"
QUESTIONS: Final = "questions"
PERSONA: Final = "persona"
PROVIDER: Final = Principal(PrincipalKind.ASSISTANT, "memory-client")


def build_catalogue() -> Catalogue:
    """Return the catalogue: one scene, one type that carries what is recalled."""
    slot = SlotDeclaration(name="beliefs", slot_type=SlotType.LIST)
    return Catalogue(
        name="memory",
        scenes=(Scene(SCENE, (SCENE,), (), (), (), (), ""),),
        types=(CommitmentType(SCENE, (slot,), (), False, (), (), ()),),
        set_slots=(),
        templates=(),
    )


def begin_log() -> Event:
    """Return the genesis record."""
    return build_genesis(TENANT, build_catalogue(), at_ms=BEGIN_MS, utc_offset_min=0)


def name_user(user: str, case: Case) -> str:
    """Return the user of the log that holds a user's beliefs for one case."""
    return f"{user}/{case.case_id}"


def open_scribe(user: str, case: Case) -> Scribe:
    """Return the writer of one user's events for one case."""
    name = name_user(user, case)
    return Scribe(TENANT, name, at_ms=BEGIN_MS, utc_offset_min=0, place=name)


def tell_beliefs(scribe: Scribe, beliefs: Sequence[Belief]) -> Iterator[Event]:
    """Yield one event per belief, then the withdrawal of those that were superseded."""
    user = Principal(PrincipalKind.USER, scribe.user)
    withdrawn = []
    for belief in beliefs:
        told = scribe.write(user, EvidenceRecorded((build_unit(belief),)), name=belief.belief_id)
        if belief.superseded_by:
            withdrawn.append(told.event_id)
        yield told
    if withdrawn:
        yield scribe.write(user, ObservationWithdrawn(tuple(withdrawn)))


def build_unit(belief: Belief) -> UnitDraft:
    """Return a belief as evidence; what is searched is its name and aliases."""
    return UnitDraft(
        content=" ".join((belief.name.replace("_", " "), *belief.aliases)),
        reference=belief.belief_id,
        slot=None,
        value=None,
        dimensions=(f"pinned:{belief.belief_id}",) if belief.pinned else (),
        tail_witness=False,
        sensitivity=Sensitivity.NONE,
        scopes=tuple(f"{name_tier(belief, scope)}:{scope}" for scope in belief.scopes),
        cost=1,
        valid_from_ms=None,
        valid_to_ms=None if belief.ended_at is None else BEGIN_MS,
    )


def name_tier(belief: Belief, scope: str) -> str:
    """Return the tier that a belief is told in."""
    if scope == UNIVERSAL:
        return PERSONA
    return QUESTIONS if belief.is_question else FACTS


def list_wanted(case: Case, beliefs: Sequence[Belief], tier: str) -> tuple[str, ...]:
    """Return the dimensions that a turn of a tier requires: of the pinned beliefs in scope."""
    scopes = (UNIVERSAL,) if tier == PERSONA else case.scopes
    return tuple(
        f"pinned:{one.belief_id}"
        for one in beliefs
        if one.pinned
        and one.user == case.user
        and not one.superseded_by
        and one.ended_at is None
        and any(scope in scopes and name_tier(one, scope) == tier for scope in one.scopes)
    )


def build_turn(
    case: Case,
    tiers: Sequence[str],
    *,
    text: str,
    wanted: tuple[str, ...],
    budget: int | None,
    scores: tuple[UnitScore, ...] = (),
) -> TurnRequested:
    """Return the request for what a case needs of some tiers; cost 1 a belief, no tail."""
    return TurnRequested(
        scene=SCENE,
        text=text or None,
        scopes=tuple(
            f"{tier}:{scope}"
            for tier in tiers
            for scope in ((UNIVERSAL,) if tier == PERSONA else case.scopes)
        ),
        wanted_dimensions=wanted,
        budget_main=budget,
        budget_tail=0,
        scores=scores,
    )
