"""The auditor's own account of what was agreed: contract, open proposals, questions, episodes.

From the specification (1.8, 2.1, 2.2, 5.9) alone. ``auditor_history`` adds everything else.
"""

import hashlib
from dataclasses import dataclass, field

from schemas.agreement import (
    Answer,
    ClarificationAnswered,
    PredicateConfirmed,
    PredicateProposed,
    PredicateRevoked,
    ProposalDeclined,
)
from schemas.codec import digest
from schemas.observation import HintExtracted, HintKind, OutcomeObserved
from schemas.outcome import Commitment, Reason
from schemas.predicate import PredicateScope
from schemas.turn import TurnCancelled, TurnRequested
from tests.auditor_text import read, slots_read


@dataclass
class Confirmed:
    """A predicate in force, as it was confirmed, and since when."""

    predicate: object
    digest: bytes
    seq: int
    event_id: str
    at_ms: int
    zone: str | None


@dataclass
class Agreement:
    """What one user has agreed to so far, and what is still open."""

    user: str
    contract: dict = field(default_factory=dict)
    known: dict = field(default_factory=dict)
    open: dict = field(default_factory=dict)
    revoked: set = field(default_factory=set)
    commitments: dict = field(default_factory=dict)
    last: dict = field(default_factory=dict)
    questions: dict = field(default_factory=dict)
    turns: dict = field(default_factory=dict)
    ended: dict = field(default_factory=dict)
    begun: dict = field(default_factory=dict)
    doubts: list = field(default_factory=list)
    at_ms: int = 0
    seq: int = 0

    def ask(self, act):
        """Take the question of a repair act, and the proposals that it offers."""
        asked = act.question
        if act.reason is Reason.AMBIGUOUS_ANSWER:
            self.questions.clear()
        digests = tuple(option.digest for option in asked.options)
        wanted = tuple((one.kind, one.argument) for one in asked.requirements)
        key = (act.scene, asked.subject, wanted, digests)
        self.questions = {k: one for k, one in self.questions.items() if one[2] != key}
        for one in digests:
            if one in self.known:
                self.open.setdefault(one, (self.known[one][0], HintKind.SLOT, act.turn_id))
        if asked.slots or digests:
            self.questions[asked.question_id] = (act.scene, asked, key)
        self.begun.setdefault(act.scene, 0)

    def learn(self, predicate, replaces=()):
        """Take a predicate that was published, such as an open proposal's; its digest names it."""
        self.known[digest(predicate)] = (predicate, tuple(replaces))

    def contract_digest(self):
        """Return SHA-256 over the digests in force, sorted by predicate id."""
        ordered = sorted(self.contract.items())
        return hashlib.sha256(b"".join(one.digest for _, one in ordered)).digest()

    def _confirm(self, event, predicate, replaces):
        named = digest(predicate)
        for one in (*replaces, predicate.predicate_id):
            self.contract.pop(one, None)
        zone = predicate.zone or event.zone or _offset(event)
        self.contract[predicate.predicate_id] = Confirmed(
            predicate, named, self.seq, event.event_id, self.at_ms, zone
        )
        self._close(predicate.predicate_id)

    def _close(self, predicate_id):
        self.open = {
            key: one for key, one in self.open.items() if one[0].predicate_id != predicate_id
        }

    def fold_predicate_confirmed(self, event, payload: PredicateConfirmed, ignored):
        predicate = payload.predicate or self.known.get(payload.digest, (None, ()))[0]
        if predicate is None:
            self.doubts.append(f"seq {self.seq}: a digest unheard of was confirmed")
            return
        replaces = payload.replaces
        if payload.predicate is None:
            replaces = (*self.known[payload.digest][1], *replaces)
        held = self.contract.get(predicate.predicate_id)
        if ignored == "superseded":
            if not ({predicate.predicate_id, *replaces} & self.revoked):
                self.doubts.append(f"seq {self.seq}: superseded, but nothing was revoked")
            self._close(predicate.predicate_id)
        elif ignored == "in_force":
            if held is None or held.digest != digest(predicate):
                self.doubts.append(f"seq {self.seq}: in_force, but it is not")
            self._close(predicate.predicate_id)
        else:
            if ignored:
                self.doubts.append(f"seq {self.seq}: a confirmation was {ignored}")
            self._confirm(event, predicate, replaces)

    def fold_predicate_revoked(self, _event, payload: PredicateRevoked, _ignored):
        if self.contract.pop(payload.predicate_id, None) is not None:
            self.revoked.add(payload.predicate_id)

    def fold_predicate_proposed(self, event, payload: PredicateProposed, ignored):
        if not ignored:
            self.learn(payload.predicate, payload.replaces)
            found = (payload.predicate, payload.kind, event.event_id)
            self.open.setdefault(digest(payload.predicate), found)

    def fold_hint_extracted(self, event, payload: HintExtracted, ignored):
        if payload.kind is HintKind.CONSTRAINT and not ignored:
            self.learn(payload.predicate)
            found = (payload.predicate, payload.kind, event.event_id)
            self.open.setdefault(digest(payload.predicate), found)

    def fold_proposal_declined(self, _event, payload: ProposalDeclined, _ignored):
        self.open.pop(payload.digest, None)

    def fold_clarification_answered(self, event, payload: ClarificationAnswered, ignored):
        if ignored:
            return
        named = payload.question_id or next(iter(self.questions), None)
        if named not in self.questions or (payload.question_id is None and len(self.questions) > 1):
            self.doubts.append(f"seq {self.seq}: an answer to a question that is not open")
            return
        _, asked, _ = self.questions.pop(named)
        offered = [option.digest for option in asked.options]
        picked = [one for one in offered if not payload.digests or one in payload.digests]
        if payload.answer is Answer.CONFIRM:
            for one in picked:
                if one in self.open:
                    self._confirm(event, *self.known[one])
        elif payload.answer is Answer.REJECT:
            for one in picked:
                self.open.pop(one, None)
        else:
            names = {value.name for value in payload.values}
            self.open = {
                key: one
                for key, one in self.open.items()
                if key not in offered or not _fixes(one[0], names)
            }

    def _lapse(self, scene):
        self.contract = {
            name: one
            for name, one in self.contract.items()
            if one.predicate.scope is not PredicateScope.EPISODE
            or (one.predicate.scenes and scene not in one.predicate.scenes)
        }

    def fold_outcome_observed(self, _event, payload: OutcomeObserved, _ignored):
        named = payload.commitment_id or self.last.get(payload.scene)
        if named not in self.commitments:
            return
        scene = self.commitments[named][3]
        if payload.succeeded:
            self._lapse(scene)
            self.begun[scene] = self.seq

    def fold_turn_cancelled(self, _event, payload: TurnCancelled, _ignored):
        scene = self.turns.get(payload.turn_id)
        outcome = self.ended.get(payload.turn_id)
        if scene is None or isinstance(outcome, Commitment):
            return
        if outcome is not None and (scene not in self.begun or outcome.seq < self.begun[scene]):
            return
        self._lapse(scene)
        self.begun[scene] = self.seq

    def fold_turn_requested(self, event, payload: TurnRequested, _ignored):
        self.turns[event.event_id] = payload.scene


def _offset(event):
    if event.utc_offset_min is None:
        return None
    hours, minutes = divmod(abs(event.utc_offset_min), 60)
    return f"{'-' if event.utc_offset_min < 0 else '+'}{hours:02d}:{minutes:02d}"


def _fixes(predicate, names):
    return bool(slots_read(read(predicate.expression)) & names)
