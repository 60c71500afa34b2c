"""An independent auditor of decisions: slow, obvious, written from the specification alone.

It shares no code with ``processors``; it knows the records of ``schemas`` and nothing else. Told
a partition's events with their fates and outputs in log order, it works out for itself what was
in force and judges every commitment and every repair act anew. ``findings`` must stay empty.
"""

import re
from collections import Counter
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum

from schemas.codec import digest
from schemas.control import CatalogueActivated, Genesis, UserRefolded
from schemas.event import CONTROL_PAYLOADS
from schemas.fate import FateStatus, RejectionReason
from schemas.observation import UtteranceObserved
from schemas.outcome import Commitment, RepairAct, TurnFailure
from schemas.packet import Packet
from schemas.turn import (
    CandidatesProposed,
    GenerationFailed,
    SurfaceProposed,
    TurnCancelled,
    TurnExpired,
    TurnRequested,
)
from tests.auditor_candidates import audit_candidate, merge
from tests.auditor_history import Story

OUTCOMES = (Commitment, RepairAct, TurnFailure)
ENDINGS = (CandidatesProposed, GenerationFailed, TurnCancelled, TurnExpired)
SILENT = (CandidatesProposed, GenerationFailed, SurfaceProposed)


@dataclass
class Told:
    """What the auditor keeps of one user beside the story: requests, packets, shown texts."""

    story: Story
    pending: dict = field(default_factory=dict)
    packets: dict = field(default_factory=dict)
    ended: Counter = field(default_factory=Counter)
    texts: dict = field(default_factory=dict)


class Auditor:
    """Audits one partition."""

    def __init__(self):
        self.users = {}
        self.catalogues = {}
        self.active = None
        self.halted = set()
        self.findings = []
        self.counts = Counter()

    def hear(self, event, fate, outputs, published=()):
        """Take one event, its fate and what it put out; ``published`` are rows of proposals."""
        owner = (event.tenant, event.user)
        if fate.status is not FateStatus.ACCEPTED:
            if fate.reason is RejectionReason.CORE_FAULT:
                self.halted.add(owner)
            if outputs and not all(type(one).__name__ == "Rejection" for one in outputs):
                self.find(event, "an event that was not accepted put something out")
            return
        if isinstance(event.payload, CONTROL_PAYLOADS):
            if isinstance(event.payload, UserRefolded):
                self.halted.discard((event.payload.tenant, event.payload.user))
            if isinstance(event.payload, Genesis | CatalogueActivated):
                self.active = event.payload.catalogue
                self.catalogues[digest(self.active)] = self.active
            return
        told = self.users.setdefault(owner, Told(Story(event.user)))
        for row in published:
            told.story.learn(row.predicate, row.replaces)
        told.story.tell(event, fate)
        self.findings += [f"{owner}: {doubt}" for doubt in told.story.doubts]
        told.story.doubts.clear()
        if not isinstance(event.payload, SILENT) and not _is_foreign_text(event):
            told.texts[event.event_id] = _words_of(event.payload)
        if isinstance(event.payload, TurnRequested):
            told.pending[event.event_id] = (event, told.story.at_ms, fate.seq)
        self._check_turns(told, event, outputs)
        for output in outputs:
            self._take(told, event, output)

    def find(self, event, what):
        """Note a finding."""
        self.findings.append(f"{event.user} {event.event_id}: {what}")

    def _check_turns(self, told, event, outputs):
        payload = event.payload
        outcomes = [one for one in outputs if isinstance(one, OUTCOMES)]
        turn_id = event.event_id if isinstance(payload, TurnRequested) else None
        turn_id = payload.turn_id if isinstance(payload, ENDINGS) else turn_id
        if len(outcomes) > 1 or any(one.turn_id != turn_id for one in outcomes):
            self.find(event, f"{len(outcomes)} outcomes, of {[one.turn_id for one in outcomes]}")
        answers = getattr(payload, "packet_digest", None) in {None, told.packets.get(turn_id)}
        if turn_id in told.pending and answers and not outputs:
            self.find(event, "a pending turn was answered and nothing came of it")
        if outcomes and (turn_id not in told.pending or not answers):
            self.find(event, "an outcome of a turn that was not pending, or of another packet")

    def _take(self, told, event, output):
        story = told.story
        if isinstance(output, Packet):
            told.packets[output.turn_id] = digest(output)
        if not isinstance(output, OUTCOMES):
            return
        request, at_ms, _ = told.pending.pop(output.turn_id, (None, 0, 0))
        told.ended[output.turn_id] += 1
        if told.ended[output.turn_id] > 1 or request is None:
            self.find(event, f"turn {output.turn_id} has {told.ended[output.turn_id]} outcomes")
            return
        self.counts[type(output).__name__] += 1
        if (event.tenant, event.user) in self.halted or output.certificate.history_incomplete:
            if isinstance(output, Commitment):
                self.find(event, "a commitment on a history that is not whole")
            story.take_outcome(output, event)
            return
        self._check_certificate(story, event, output)
        named = request.payload.catalogue_digest
        frame = Frame(story, self.catalogues.get(named, self.active), request, at_ms)
        if isinstance(event.payload, CandidatesProposed) and not isinstance(output, TurnFailure):
            self._check_candidates(frame, event, output)
        elif isinstance(output, Commitment):
            self.find(event, "a commitment without candidates")
        if isinstance(output, RepairAct):
            self._check_leaks(told, event, output, frame.catalogue)
        story.take_outcome(output, event)
        if isinstance(output, Commitment):
            told.texts[f"outcome {output.turn_id}"] = _words_of(output.slots)

    def _check_certificate(self, story, event, outcome):
        certificate = outcome.certificate
        if certificate.contract_digest != story.contract_digest():
            held = sorted(story.contract)
            self.find(event, f"the contract in force is {held}, the certificate has another")
        if (certificate.seq_to, outcome.seq) != (story.seq, story.seq):
            self.find(event, f"seq {outcome.seq} and {certificate.seq_to}, not {story.seq}")
        if certificate.without_predicates != (not story.contract):
            self.find(event, "an empty contract is not marked, or another one is")

    def _check_candidates(self, frame, event, outcome):
        proposed = {digest(one): one for one in event.payload.candidates}
        reports = {one.digest: one for one in outcome.certificate.candidates}
        if set(reports) - set(proposed):
            self.find(event, "a report on a candidate that nobody proposed")
        for named, report in reports.items():
            judged = audit_candidate(frame, proposed[named], outcome.certificate)
            self.counts.update(judged.counts)
            for what in judged.compare(report):
                self.find(event, what)
            if isinstance(outcome, Commitment) and named == outcome.candidate_digest:
                for what in judged.objections():
                    self.find(event, f"committed in spite of: {what}")
                slots = {slot.name: slot.value for slot in outcome.slots}
                if slots != merge(frame.story, proposed[named]):
                    self.find(event, "what was committed is not what was proposed")
            elif isinstance(outcome, RepairAct) and judged.is_feasible(report):
                self.find(event, "withheld, though nothing speaks against it")
        if isinstance(outcome, Commitment) and outcome.candidate_digest not in reports:
            self.find(event, "the committed candidate has no report")

    def _check_leaks(self, told, event, act, catalogue):
        """Find values of candidates that the act shows and nothing else ever said."""
        shown = [_split(text) for text in _act_texts(act)]
        gone = told.story.withdrawn
        allowed = [words for key, words in told.texts.items() if key not in gone]
        allowed += [_words_of(catalogue), _words_of(list(told.story.contract.values()))]
        candidates = getattr(event.payload, "candidates", ())
        leaves = {
            text
            for candidate in candidates
            for text in _leaves([candidate.slots, candidate.patch])
            if _split(text)
        }
        names = {slot.name for one in candidates for slot in one.slots}
        for text in sorted(leaves - names - {"True", "False", "None"}):
            words = _split(text)
            if any(_stands_in(words, one) for one in shown) and not any(
                _stands_in(words, one) for group in allowed for one in group
            ):
                self.find(event, f"the act gives {text!r} away")


@dataclass
class Frame:
    """What one turn is judged in."""

    story: Story
    catalogue: object
    request: object
    as_of_default: int

    @property
    def as_of_ms(self):
        """Return as_of: the turn's effective time, unless the request names another."""
        named = self.request.payload.as_of_ms
        return self.as_of_default if named is None else named


def _is_foreign_text(event):
    payload = event.payload
    return isinstance(payload, UtteranceObserved) and event.principal.kind.value != "user"


def _act_texts(act):
    yield from (act.text, act.detail)
    if act.question is not None:
        yield from act.question.slots
        yield from (option.expression for option in act.question.options)
    yield from (member.expression for member in act.conflict)
    yield from (relaxation.expression for relaxation in act.relaxations)
    yield from _leaves(act.alternatives)


def _leaves(value):
    """Return every text, number and the like inside records and lists, as text."""
    if value is None or isinstance(value, bytes):
        return []
    if isinstance(value, Enum):
        return [value.value]
    if is_dataclass(value):
        return [text for one in fields(value) for text in _leaves(getattr(value, one.name))]
    if isinstance(value, list | tuple):
        return [text for one in value for text in _leaves(one)]
    return [str(value)]


def _words_of(value):
    return [_split(text) for text in _leaves(value)]


def _split(text):
    return re.findall(r"\w+", text.casefold())


def _stands_in(words, others):
    width = len(words)
    return any(others[at : at + width] == words for at in range(len(others) - width + 1))
