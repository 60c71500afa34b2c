"""The auditor's own account of one user's history: what is owed, known and taken back.

Told event by event, with the fate that the ledger gave each and the outcomes that came of it.
Everything is kept in plain dictionaries and worked out anew whenever it is asked for.
"""

import re
from dataclasses import dataclass, field

from schemas.agreement import (
    ClarificationAnswered,
    ObligationDischarged,
    ObligationOpened,
    VerdictRecorded,
)
from schemas.observation import (
    CommitmentObserved,
    ErasureRequested,
    ObservationCorrected,
    ObservationWithdrawn,
)
from schemas.outcome import Commitment, RepairAct
from tests.auditor_agreement import Agreement
from tests.auditor_units import list_units

VOID = {"withdrawn", "source_withdrawn"}


@dataclass
class Story(Agreement):
    """One user's history so far."""

    obligations: dict = field(default_factory=dict)
    checks: dict = field(default_factory=dict)
    events: dict = field(default_factory=dict)
    derived: dict = field(default_factory=dict)
    withdrawn: set = field(default_factory=set)
    units: dict = field(default_factory=dict)
    consequences: list = field(default_factory=list)

    def tell(self, event, fate):
        """Take one accepted event."""
        self.seq = fate.seq
        self.at_ms = max(self.at_ms, event.occurred_at_ms)
        self.events[event.event_id] = fate.seq
        payload = event.payload
        sources = set(event.derived_from) | set(getattr(payload, "source_event_ids", ()))
        for source in sources:
            self.derived.setdefault(source, set()).add(event.event_id)
        if fate.ignored in VOID:
            self.withdrawn.add(event.event_id)
            return
        if not (fate.ignored and isinstance(payload, ClarificationAnswered)):
            self.units |= list_units(event, seq=self.seq, at_ms=self.at_ms)
        word = re.sub(r"(?<!^)(?=[A-Z])", "_", type(payload).__name__).lower()
        take = getattr(self, f"fold_{word}", None)
        if take is not None:
            take(event, payload, fate.ignored)

    def take_outcome(self, outcome, event):
        """Take the consequences of an outcome: a commitment's, or a question asked."""
        self.ended[outcome.turn_id] = outcome
        if isinstance(outcome, Commitment):
            slots = {slot.name: slot.value for slot in outcome.slots}
            self._commit(outcome, slots)
            self.consequences.append((self.seq, self.at_ms, slots, event.event_id))
            for debt in outcome.opened:
                name = f"{outcome.commitment_id}:{outcome.version}:{debt.name}"
                self.obligations[name] = (debt.dimension, debt.blocks, event.event_id)
            for name in outcome.discharged:
                self.obligations.pop(name, None)
        elif isinstance(outcome, RepairAct) and outcome.question is not None:
            self.ask(outcome)

    def _commit(self, outcome, slots):
        version = outcome.version
        made = (outcome.commitment_type, slots, version, outcome.scene)
        self.commitments[outcome.commitment_id] = made
        self.last[outcome.scene] = outcome.commitment_id
        self.begun[outcome.scene] = self.seq
        for name, (scene, *_) in list(self.questions.items()):
            if scene == outcome.scene:
                del self.questions[name]

    def fold_obligation_opened(self, event, payload: ObligationOpened, _ignored):
        found = (payload.dimension, payload.blocks, event.event_id)
        self.obligations.setdefault(payload.obligation_id, found)

    def fold_obligation_discharged(self, _event, payload: ObligationDischarged, _ignored):
        self.obligations.pop(payload.obligation_id, None)

    def fold_commitment_observed(self, event, payload: CommitmentObserved, _ignored):
        before = self.commitments.get(payload.commitment_id)
        slots = {slot.name: slot.value for slot in payload.slots}
        version = before[2] + 1 if before else 1
        made = (payload.commitment_type, slots, version, payload.scene)
        self.commitments[payload.commitment_id] = made
        self.last[payload.scene] = payload.commitment_id
        self.begun.setdefault(payload.scene, self.seq)

    def fold_verdict_recorded(self, _event, payload: VerdictRecorded, _ignored):
        self.checks[payload.candidate_digest, payload.check] = payload.verdict.value

    def fold_observation_withdrawn(self, event, payload: ObservationWithdrawn, _ignored):
        self._withdraw(event, payload.event_ids)

    def fold_observation_corrected(self, event, payload: ObservationCorrected, _ignored):
        self._withdraw(event, payload.event_ids)

    def _withdraw(self, event, event_ids):
        closure, queue = set(), list(event_ids)
        while queue:
            one = queue.pop()
            if one not in closure and one != event.event_id:
                closure.add(one)
                queue.extend(self.derived.get(one, ()))
        self.withdrawn |= closure
        self.open = {key: one for key, one in self.open.items() if one[2] not in closure}
        return closure

    def fold_erasure_requested(self, event, payload: ErasureRequested, _ignored):
        if not payload.event_ids:
            for table in (
                self.contract,
                self.open,
                self.obligations,
                self.commitments,
                self.last,
                self.checks,
                self.questions,
                self.units,
                self.derived,
                self.begun,
            ):
                table.clear()  # fmt: skip
            self.consequences.clear()
            return
        closure = self._withdraw(event, payload.event_ids)
        self.contract = {k: one for k, one in self.contract.items() if one.event_id not in closure}
        self.obligations = {k: one for k, one in self.obligations.items() if one[2] not in closure}
