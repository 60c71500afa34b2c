"""One user's conversation with a control point: every line said becomes events, then a turn.

No terminal and no clock of its own: the caller gives both, so a conversation can be a test.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from infra.extraction.extraction import extract
from infra.extraction.lexicon import build_lexicon
from infra.gateway.port import ControlPort, Outcome, Standing, Told
from infra.gateway.speaking import Speaker
from schemas.agreement import (
    Answer,
    ClarificationAnswered,
    PredicateConfirmed,
    PredicateRevoked,
    ProposalDeclined,
)
from schemas.candidate import SlotValue
from schemas.catalogue import Catalogue
from schemas.event import Event, UserPayload
from schemas.observation import FormSubmitted, SlotStatement, UtteranceObserved, UtteranceOrigin
from schemas.outcome import RepairAct
from schemas.packet import Packet
from schemas.predicate import Predicate
from schemas.turn import TurnRequested

YES: Final = frozenset({"yes", "y"})
NO: Final = frozenset({"no", "n"})
PACKETS_MAX: Final = 2
"""A turn has at most two packets (spec 5.4)."""


class Answerer(Protocol):
    """What makes candidates of a packet: ``infra.generation.Generator`` or a stand-in."""

    def answer(self, packet: Packet, catalogue: Catalogue) -> Event:
        """Return the event that answers a packet."""
        ...


@dataclass(slots=True)
class Session:
    """The state of one conversation; ``turn`` is the last one asked for."""

    control: ControlPort
    catalogue: Catalogue
    speaker: Speaker
    scene: str
    now_ms: Callable[[], int]
    answerer: Answerer | None = None
    packet: Packet | None = None
    outcome: Outcome | None = None
    turn: str = ""
    lines: list[tuple[str, str]] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Take a line of the user: an answer to the question just shown, else words and a turn."""
        self.lines.append(("you", text))
        question = self.question_id
        word = text.strip().lower().rstrip(".!")
        if question is not None and word in YES | NO:
            self.answer(Answer.CONFIRM if word in YES else Answer.REJECT)
            return
        said = self._build(UtteranceObserved(text, UtteranceOrigin.SAID, None, ()))
        lexicon = build_lexicon(self.catalogue, (self.scene,))
        found = extract(said, lexicon)
        self._tell([said, *found])
        self.ask(text, said.event_id)

    @property
    def question_id(self) -> str | None:
        """The question that the last outcome asks, or None."""
        outcome = self.outcome
        if isinstance(outcome, RepairAct) and outcome.question is not None:
            return outcome.question.question_id
        return None

    def answer(self, kind: Answer, values: tuple[SlotValue, ...] = ()) -> None:
        """Answer the question just shown, or the only open one, and ask for the turn again."""
        payload = ClarificationAnswered(self.question_id, kind, (), values)
        if self._tell([self._build(payload)])[0].ignored == "":
            self.ask(None, "")

    def state(self, values: tuple[SlotValue, ...]) -> None:
        """State values of slots, as a form would."""
        statements = tuple(SlotStatement("", one.name, one.value, None, None) for one in values)
        self._tell([self._build(FormSubmitted(self.scene, statements, ()))])

    def confirm(self, subject: bytes | Predicate) -> None:
        """Confirm an open proposal by its digest, or a rule written out."""
        if isinstance(subject, bytes):
            payload = PredicateConfirmed(subject, None, ())
        else:
            payload = PredicateConfirmed(None, subject, ())
        self._tell([self._build(payload)])

    def decline(self, digest: bytes) -> None:
        """Decline an open proposal."""
        self._tell([self._build(ProposalDeclined(digest))])

    def revoke(self, predicate_id: str) -> None:
        """Take a predicate out of force."""
        self._tell([self._build(PredicateRevoked(predicate_id))])

    def ask(self, text: str | None, utterance_id: str) -> None:
        """Ask for a turn in the scene; with an answerer it ends now, else its packet is shown."""
        request = TurnRequested(
            self.scene, text=text, utterance_ids=(utterance_id,) if utterance_id else ()
        )
        event = self._build(request)
        self.turn, self.packet, self.outcome = event.event_id, None, None
        if self._tell([event])[0].status != "accepted":
            return
        for _ in range(PACKETS_MAX):
            found = self.control.find_outcome(
                self.speaker.tenant, self.speaker.user, event.event_id
            )
            if not isinstance(found, Packet):
                self.outcome = found
                break
            self.packet = found
            if self.answerer is None:
                self.lines.append(("system", "The packet waits for candidates; no backend is set."))
                return
            self._tell([self.answerer.answer(found, self.catalogue)])
        else:
            last = self.control.find_outcome(self.speaker.tenant, self.speaker.user, self.turn)
            self.outcome = None if isinstance(last, Packet) else last
        if self.outcome is not None:
            self.lines.append(("system", read_text(self.outcome)))

    def look(self) -> Standing:
        """Return what stands for the user now."""
        return self.control.look(self.speaker.tenant, self.speaker.user)

    def _build(self, payload: UserPayload) -> Event:
        return self.speaker.say(payload, by=self.speaker.principal, at_ms=self.now_ms())

    def _tell(self, events: list[Event]) -> tuple[Told, ...]:
        told = self.control.tell(events)
        for one in told:
            if one.status == "rejected":
                self.lines.append(("log", f"rejected: {one.reason}: {one.detail}"))
            elif one.ignored:
                self.lines.append(("log", f"no effect: {one.ignored}"))
        return told


def read_text(outcome: Outcome) -> str:
    """Return what an outcome says to the user."""
    text = getattr(outcome, "text", "")
    if text:
        return str(text)
    kind = getattr(outcome, "kind", None)
    detail = getattr(outcome, "detail", "")
    return f"{kind.value if kind is not None else 'done'}: {detail}".rstrip(": ")
