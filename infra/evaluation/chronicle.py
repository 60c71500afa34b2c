"""Writing one fixture's history: envelopes, positions and unit ids; nothing is invented here.

Every event is acceptable, so its position is its seq and unit ids are known when it is written.
"""

from random import Random
from typing import Final

from infra.importers.envelope import Scribe
from schemas.event import (
    Event,
    EvidenceRecorded,
    FormSubmitted,
    PredicateConfirmed,
    Principal,
    PrincipalKind,
    Sensitivity,
    SlotStatement,
    UnitDraft,
    UserPayload,
    UtteranceObserved,
    UtteranceOrigin,
)
from schemas.predicate import Predicate, PredicateScope
from schemas.value import Value

TENANT: Final = "fixtures"
BEGIN_MS: Final = 1_767_254_400_000  # 2026-01-01T08:00Z.
STEP_MS: Final = 3_600_000  # An hour between events: 300 of them are twelve days.

USER: Final = Principal(PrincipalKind.USER, "user")
TOOL: Final = Principal(PrincipalKind.TOOL, "desk")
ASSISTANT: Final = Principal(PrincipalKind.ASSISTANT, "assistant")
EXTRACTOR: Final = Principal(PrincipalKind.GENERATOR, "extractor")


class Chronicle:
    """One history in the making; ``draw`` is the fixture's own source of chance."""

    def __init__(self, fixture_id: str, draw: Random) -> None:
        """Begin an empty history."""
        self.fixture_id = fixture_id
        self.draw = draw
        self.events: list[Event] = []
        self.uncompiled: list[str] = []
        self.intrusive: list[str] = []
        self._scribe = Scribe(TENANT, fixture_id, at_ms=BEGIN_MS, utc_offset_min=0)

    def tell(
        self, principal: Principal, payload: UserPayload, derived_from: tuple[str, ...] = ()
    ) -> Event:
        """Append an event and return it; its position counts from 1."""
        seq = len(self.events) + 1
        self._scribe.move(self.fixture_id, at_ms=BEGIN_MS + seq * STEP_MS)
        event = self._scribe.write(principal, payload, name=f"{seq}", derived_from=derived_from)
        self.events.append(event)
        return event

    def say(self, text: str) -> str:
        """Append an utterance of the user and return its unit's id."""
        self.tell(USER, UtteranceObserved(text, UtteranceOrigin.SAID, "en", ()))
        return f"{len(self.events)}#0"

    def reply(self, text: str, origin: UtteranceOrigin = UtteranceOrigin.SAID) -> None:
        """Append an utterance of the assistant; it makes no unit."""
        self.tell(ASSISTANT, UtteranceObserved(text, origin, "en", ()))

    def record(self, *drafts: UnitDraft) -> tuple[str, ...]:
        """Append units that a tool recorded and return their ids."""
        self.tell(TOOL, EvidenceRecorded(drafts))
        return tuple(f"{len(self.events)}#{index}" for index in range(len(drafts)))

    def fill(self, scene: str | None, **slots: Value) -> None:
        """Append a form of the user."""
        stated = tuple(SlotStatement("", name, value, None, None) for name, value in slots.items())
        self.tell(USER, FormSubmitted(scene, stated, ()))

    def confirm(self, predicate: Predicate, replaces: tuple[str, ...] = ()) -> str:
        """Append a confirmation by the user and return the unit id of the predicate."""
        self.tell(USER, PredicateConfirmed(None, predicate, replaces))
        return f"{len(self.events)}#p:{predicate.predicate_id}"


def draft_unit(
    content: str,
    *dimensions: str,
    slot: str | None = None,
    value: Value = None,
    tail_witness: bool = False,
    sensitivity: Sensitivity = Sensitivity.NONE,
) -> UnitDraft:
    """Return a unit that costs its bytes and is valid from its event on."""
    return UnitDraft(
        content=content,
        reference=None,
        slot=slot,
        value=value,
        dimensions=dimensions,
        tail_witness=tail_witness,
        sensitivity=sensitivity,
        scopes=(),
        cost=None,
        valid_from_ms=None,
        valid_to_ms=None,
    )


def build_predicate(
    predicate_id: str,
    expression: str,
    *dimensions: str,
    scene: str,
    unless: str | None = None,
) -> Predicate:
    """Return a standing predicate of one scene."""
    return Predicate(
        predicate_id=predicate_id,
        expression=expression,
        unless=unless,
        scenes=(scene,),
        subject="",
        scope=PredicateScope.STANDING,
        valid_from_ms=None,
        valid_to_ms=None,
        dimensions=dimensions,
        zone=None,
    )
