"""What an importer remembers of one dialogue while it walks through its turns.

The memory follows the annotation, never the pipeline: which proposals are open, which values
were affirmed, what was overwritten. Values are canonical wherever the dialogue says how.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from infra.importers.envelope import Scribe
from infra.importers.sgd_catalogue import Intent, Service
from processors.predicates.expression import SLOTS, Comparison, Literal, Match, Operator, Path
from processors.predicates.rendering import render
from schemas.candidate import SlotValue
from schemas.identity import predicate_digest
from schemas.predicate import Predicate, PredicateScope

DONT_CARE: Final = "dontcare"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal ``slot == value`` in the intent's scene."""

    scene: str
    slot: str
    value: str
    predicate: Predicate
    digest: bytes


@dataclass(slots=True)
class Memory:
    """One dialogue so far; keys are service names, scenes below that, then slots.

    ``current`` are the values of the annotated state, ``overwritten`` those that the user had
    stated and replaced, ``shown`` all that a confirm or an offer after a failure showed;
    ``refusals`` counts the proposals declined for a slot, ``failures`` a scene's failed calls.
    ``failed`` names the turn that followed the failure of a scene's last commitment.
    """

    scribe: Scribe
    services: Mapping[str, Service]
    active: dict[str, str] = field(default_factory=dict)
    current: dict[tuple[str, str], str] = field(default_factory=dict)
    overwritten: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    shown: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    offered: dict[str, list[str]] = field(default_factory=dict)
    open: dict[str, dict[str, Proposal]] = field(default_factory=dict)
    refusals: dict[tuple[str, str], int] = field(default_factory=dict)
    in_force: dict[str, dict[str, Proposal]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    spellings: dict[tuple[str, str, str], str] = field(default_factory=dict)
    spoken: dict[str, str] = field(default_factory=dict)
    utterance_id: str = ""
    said_before: str = ""

    def find_intent(self, service: str) -> Intent | None:
        """Return the transactional intent that is active for a service."""
        return self.services[service].intents.get(self.active.get(service, ""))

    def learn_spellings(self, service: str, action: Mapping[str, Any]) -> None:
        """Remember which canonical value each spelling of an act stands for."""
        values, canonical = action["values"], action["canonical_values"]
        if len(values) != len(canonical):
            return
        for value, standard in zip(values, canonical, strict=True):
            self.spellings[service, action["slot"], value] = standard
            self.spoken[value] = standard
            self.offered.setdefault(action["slot"], []).append(standard)

    def find_canonical(self, service: str, slot: str, spellings: list[str]) -> str:
        """Return the canonical value of a state's spellings of one value.

        A value carried over from another service is known by its spelling there; one that no
        act ever spelt stands for itself.
        """
        for spelling in spellings:
            known = self.spellings.get((service, slot, spelling))
            if known is not None:
                return known
        for spelling in spellings:
            if spelling in self.spoken:
                return self.spoken[spelling]
        return spellings[0]

    def list_known(self, intent: Intent) -> tuple[SlotValue, ...]:
        """Return the current values of the slots that the intent declares, sorted by slot."""
        declared = (*intent.required, *(slot for slot, _ in intent.optional))
        return tuple(
            SlotValue(slot, self.current[intent.service, slot])
            for slot in sorted(declared)
            if (intent.service, slot) in self.current
        )

    def complete_call(self, intent: Intent, parameters: Mapping[str, str]) -> dict[str, str]:
        """Return a call with the affirmed value of each slot that the user does not care about.

        The corpus leaves such a parameter out of the call, though the system showed the value
        that it had chosen and the user affirmed it: that value is what is carried out.
        """
        held = self.in_force.get(intent.scene, {})
        chosen = {
            slot: held[slot].value
            for slot, _ in intent.optional
            if slot in held and self.current.get((intent.service, slot)) == DONT_CARE
        }
        return {**chosen, **parameters}

    def list_unseen(self, intent: Intent, carried: tuple[SlotValue, ...]) -> tuple[str, ...]:
        """Return the carried slots whose value no confirm and no offer after a failure showed."""
        return tuple(
            slot.name
            for slot in carried
            if slot.value not in self.shown.get((intent.service, slot.name), ())
        )

    def list_confirmed(self, scene: str) -> tuple[SlotValue, ...]:
        """Return the values in force for a scene, sorted by slot."""
        held = self.in_force.get(scene, {})
        return tuple(SlotValue(slot, held[slot].value) for slot in sorted(held))


def build_proposal(intent: Intent, *, slot: str, value: str, before: int) -> Proposal:
    """Return the proposal that the slot has this value, for an episode of the intent's scene.

    After a refusal or a failure (``before`` counts them) it has another id: what was declined
    stays so, whoever repeats it, and what was affirmed for one attempt is asked for anew.

    A slot that the intent does not declare, such as the fare of an offered bus, can bind none of
    its calls: that proposal names no scene, and so applies where a type declares the slot.
    """
    declared = (*intent.required, *(name for name, _ in intent.optional))
    text = unicodedata.normalize("NFC", value)
    rule = Comparison(Operator.EQ, Path(SLOTS, (slot,)), Literal(text), Match.EXACT)
    predicate = Predicate(
        predicate_id=f"{intent.scene}.{slot}" + (f".{before + 1}" if before else ""),
        expression=render(rule),
        unless=None,
        scenes=(intent.scene,) if slot in declared else (),
        subject="",
        scope=PredicateScope.EPISODE,
        valid_from_ms=None,
        valid_to_ms=None,
        dimensions=(),
        zone=None,
    )
    return Proposal(intent.scene, slot, text, predicate, predicate_digest(predicate))


def list_acts(frame: Mapping[str, Any], *names: str) -> Iterator[Mapping[str, Any]]:
    """Yield the frame's acts of these names in their order."""
    return (action for action in frame["actions"] if action["act"] in names)


def has_act(frame: Mapping[str, Any], *names: str) -> bool:
    """Return whether the frame has an act of one of these names."""
    return any(True for _ in list_acts(frame, *names))


def list_slots(parameters: Mapping[str, str]) -> tuple[SlotValue, ...]:
    """Return the parameters of a call as carried slots, sorted by name."""
    return tuple(SlotValue(name, parameters[name]) for name in sorted(parameters))
