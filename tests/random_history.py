"""Histories drawn by a seed: every payload of one user, sensible and absurd, in any order.

The same seed gives the same history in every process. What must hold whatever is told stands in
the property tests.
"""

import hashlib
import random
from dataclasses import replace

from schemas.agreement import (
    Answer,
    CheckVerdict,
    ClarificationAnswered,
    ObligationDischarged,
    ObligationOpened,
    PredicateConfirmed,
    PredicateProposed,
    PredicateRevoked,
    ProposalDeclined,
    VerdictRecorded,
)
from schemas.candidate import SlotValue
from schemas.codec import digest, encode
from schemas.control import CatalogueActivated, HistoryAttested, UserRefolded
from schemas.identity import predicate_digest, prefix_lengths
from schemas.observation import (
    Alternative,
    CommitmentObserved,
    ErasureRequested,
    EvidenceRecorded,
    FormSubmitted,
    HintExtracted,
    HintKind,
    ObservationCorrected,
    ObservationWithdrawn,
    OutcomeObserved,
    UtteranceObserved,
    UtteranceOrigin,
)
from schemas.outcome import Commitment, RepairAct
from schemas.packet import Packet
from schemas.row import KIND_OF
from schemas.turn import (
    CandidatesProposed,
    FailureKind,
    GenerationFailed,
    SurfaceProposed,
    TurnCancelled,
    TurnExpired,
    TurnMode,
    UnitScore,
)
from tests.conversation import CLOCK, GENERATOR, OPERATOR, TOOL, USER, Conversation, genesis
from tests.random_parts import (
    DIMENSIONS,
    SCENES,
    SLOTS,
    VALUES,
    catalogue,
    draw_candidate,
    draw_predicate,
    draw_statements,
    draw_unit,
)
from tests.situations import request


def tell_history(seed, events=60):
    """Return the conversation of a seed: genesis, then about this many drawn events."""
    teller = _Teller(random.Random(seed))
    for _ in range(events):
        teller.tell_one()
    return teller.conversation


def tell_crowd(seed, *, users=4, events=120):
    """Return the conversation of a seed in which several users speak in one partition.

    Nothing is lost from the log, so that folding its events anew gives the same again.
    """
    draw = random.Random(seed)
    conversation = Conversation()
    tellers = [_Teller(draw, conversation, f"u{number}") for number in range(users)]
    for _ in range(events):
        draw.choice(tellers).tell_one()
    return conversation


class _Teller:
    """Draws events, some of which refer to what the conversation has put out so far."""

    def __init__(self, draw, conversation=None, user="u"):
        self.draw = draw
        self.user = user
        self.lonely = conversation is None
        self.conversation = conversation or Conversation()
        if not self.conversation.events:
            self.conversation.tell(genesis(catalogue()), by=OPERATOR)
        self.turns = ["none"]

    def tell_one(self):
        """Tell one drawn event."""
        draws = (
            (4, self.form), (3, self.evidence), (2, self.utterance), (2, self.hint),
            (3, self.proposed), (4, self.confirmed), (1, self.declined), (1, self.revoked),
            (1, self.withdrawn), (1, self.corrected), (1, self.obligation), (1, self.outcome),
            (1, self.observed), (1, self.verdict), (2, self.answered), (8, self.turn),
            (9, self.candidates), (1, self.ended), (1, self.surface), (2, self.operated),
        )  # fmt: skip
        weights = [weight for weight, _ in draws]
        (chosen,) = self.draw.choices([draw for _, draw in draws], weights)
        chosen()

    def form(self):
        self._tell(
            FormSubmitted(None, draw_statements(self.draw), ()), self.draw.choice((USER, TOOL))
        )

    def evidence(self):
        units = tuple(draw_unit(self.draw) for _ in range(self.draw.randint(1, 3)))
        self._tell(EvidenceRecorded(units), TOOL)

    def utterance(self):
        text = self.draw.choice(("soup for four", "no stew, please", "yes"))
        self._tell(UtteranceObserved(text, UtteranceOrigin.SAID, "en", ()), USER)

    def hint(self):
        kind = self.draw.choice((HintKind.SLOT, HintKind.PREFERENCE, HintKind.CONSTRAINT))
        rule = draw_predicate(self.draw) if kind is HintKind.CONSTRAINT else None
        name, value = ("", None) if rule else (self.draw.choice(SLOTS), self.draw.choice(VALUES))
        hint = HintExtracted(kind, "", name, value, rule, 600_000, (self._event_id(),))
        self._tell(hint, GENERATOR)

    def proposed(self):
        kind = self.draw.choice((HintKind.CONSTRAINT, HintKind.PREFERENCE))
        self._tell(
            PredicateProposed(draw_predicate(self.draw), (), kind), self.draw.choice((USER, TOOL))
        )

    def confirmed(self):
        rule = draw_predicate(self.draw)
        if self.draw.random() < 0.4:
            self._tell(PredicateConfirmed(predicate_digest(rule), None, ()), USER)
        else:
            replaces = ("p1",) if self.draw.random() < 0.2 else ()
            self._tell(PredicateConfirmed(None, rule, replaces), USER)

    def declined(self):
        self._tell(ProposalDeclined(predicate_digest(draw_predicate(self.draw))), USER)

    def revoked(self):
        self._tell(PredicateRevoked(self.draw.choice(("p0", "p1", "p2"))), USER)

    def withdrawn(self):
        if self.draw.random() < 0.1:
            self._tell(ErasureRequested((self._event_id(),)), USER)
        else:
            self._tell(ObservationWithdrawn((self._event_id(),)), USER)

    def corrected(self):
        self._tell(ObservationCorrected((self._event_id(),), draw_statements(self.draw)), USER)

    def obligation(self):
        name = self.draw.choice(("o1", "o2"))
        if self.draw.random() < 0.5:
            dimension = self.draw.choice(DIMENSIONS)
            self._tell(ObligationOpened(name, dimension, None, (self.draw.choice(SCENES),)), TOOL)
        else:
            self._tell(ObligationDischarged(name), TOOL)

    def outcome(self):
        offered = (Alternative((SlotValue("dish", "salad"),)),)
        succeeded = self.draw.random() < 0.5
        scene_name = self.draw.choice(SCENES)
        self._tell(OutcomeObserved(scene_name, None, succeeded, (), offered, ()), TOOL)

    def observed(self):
        slots = (SlotValue("dish", "soup"),)
        self._tell(CommitmentObserved("c1", "dinner", "meal", slots), TOOL)

    def verdict(self):
        found = self.draw.choice((CheckVerdict.PASS, CheckVerdict.FAIL))
        self._tell(VerdictRecorded("stock", digest(self._candidate()), found, ""), TOOL)

    def answered(self):
        asked = [one.question for one in self._put_out(RepairAct) if one.question is not None]
        named = self.draw.choice(asked).question_id if asked and self.draw.random() < 0.7 else None
        answer = self.draw.choice((Answer.CONFIRM, Answer.REJECT, Answer.VALUE))
        values = (SlotValue("dish", "soup"),) if answer is Answer.VALUE else ()
        self._tell(ClarificationAnswered(named, answer, (), values), USER)

    def turn(self):
        named = tuple(one for one in DIMENSIONS if self.draw.random() < 0.08)
        asked = request(
            scene=self.draw.choice(SCENES),
            text=self.draw.choice((None, "soup please")),
            asks=tuple(SlotValue("dish", "soup") for _ in range(self.draw.randint(0, 1))),
            wanted_dimensions=named,
            mode=self.draw.choice((TurnMode.TURN, TurnMode.RESULT)),
            budget_main=self.draw.choice((None, 0, 12, 40)),
            budget_tail=self.draw.choice((None, 0, 12)),
            scores=(UnitScore("2#0", 500_000, None),) if self.draw.random() < 0.1 else (),
        )
        step = self._tell(asked, USER)
        if step.fate.seq is not None:
            self.turns.append(f"e{len(self.conversation.steps)}")
        if step.outputs and isinstance(step.outputs[0], Packet) and self.draw.random() < 0.7:
            self.candidates()

    def candidates(self):
        packets = self._put_out(Packet)
        if packets and self.draw.random() < 0.8:
            packet = packets[-1]
            turn, named = packet.turn_id, digest(packet)
        else:
            turn, named = self.draw.choice(self.turns), None
        proposed = tuple(self._candidate() for _ in range(self.draw.randint(0, 5)))
        self._tell(CandidatesProposed(turn, named, proposed, None, None, ()), GENERATOR)

    def ended(self):
        turn = self.draw.choice(self.turns)
        failure = GenerationFailed(turn, None, FailureKind.TIMEOUT, None, None, ())
        payload, by = self.draw.choice(
            ((failure, GENERATOR), (TurnCancelled(turn), USER), (TurnExpired(turn), CLOCK))
        )
        self._tell(payload, by)

    def surface(self):
        self._tell(SurfaceProposed(self.draw.choice(self.turns), "Soup it is.", "en"), GENERATOR)

    def operated(self):
        chance = self.draw.random()
        if chance < 0.1:
            if self.lonely:
                self.conversation.lose()
        elif chance < 0.5:
            self.conversation.tell(HistoryAttested(None, None), by=OPERATOR)
        elif chance < 0.8:
            whole = catalogue()
            scenes = self.draw.choice((whole.scenes, whole.scenes[:1], ()))
            self.conversation.tell(CatalogueActivated(replace(whole, scenes=scenes)), by=OPERATOR)
        elif chance < 0.9:
            self.conversation.break_at(FormSubmitted(None, (), ()), user=self.user)
        else:
            self.conversation.tell(UserRefolded("t", self.user), by=OPERATOR)

    def _tell(self, payload, by):
        return self.conversation.tell(payload, by=by, user=self.user)

    def _put_out(self, record):
        return [
            one
            for one in self.conversation.outputs
            if isinstance(one, record) and one.user == self.user
        ]

    def _event_id(self):
        return f"e{self.draw.randint(1, len(self.conversation.steps) + 1)}"

    def _candidate(self):
        packets = self._put_out(Packet)
        last = packets[-1] if packets else None
        return draw_candidate(self.draw, last, self._put_out(Commitment))


def digest_history(seed):
    """Return one digest over every fate, output and row of a seed's history, in order."""
    conversation = tell_history(seed)
    parts = [encode(step.fate) for step in conversation.steps]
    parts += [encode(output) for output in conversation.outputs]
    rows = conversation.view()
    for table in (rows.own, rows.shared):
        named = ((KIND_OF[record], row_id, row) for (record, row_id), row in table.items())
        ordered = sorted(named, key=lambda item: item[:2])
        parts += [f"{kind} {row_id}".encode() + encode(row) for kind, row_id, row in ordered]
    return hashlib.sha256(prefix_lengths(*parts)).hexdigest()
