"""Histories for tests: builders of events with plain defaults, folded over rows in memory.

``given(events)`` folds a history and returns the log of it. Every row that a fold changes is
encoded and decoded by the codec, so that a row which could not be stored fails the test.
"""

import hashlib
from dataclasses import replace
from itertools import count

from processors.compilation.admission import admit
from processors.compilation.folding import fold
from processors.compilation.reading import read_situation
from processors.view import Arrival, Stamp
from schemas.catalogue import Catalogue
from schemas.codec import decode, digest, encode
from schemas.control import Genesis, PrincipalRights, Weights
from schemas.event import Event, Principal, PrincipalKind
from schemas.fate import Fate, FateStatus
from schemas.observation import (
    EvidenceRecorded,
    FormSubmitted,
    HintExtracted,
    HintKind,
    ObservationCorrected,
    ObservationWithdrawn,
    Sensitivity,
    SlotStatement,
    UnitDraft,
    UtteranceObserved,
    UtteranceOrigin,
)
from schemas.predicate import Predicate, PredicateScope
from schemas.row import PendingRow, SlotRow, UserHead
from schemas.turn import TurnRequested
from tests.memory_rows import Rows
from tests.situations import commitment_type, scene

TENANT = "acme"
USER = "ada"
START_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z
MINUTE_MS = 60_000
DAY_MS = 86_400_000

KINDS = {kind.value: kind for kind in PrincipalKind}


class History:
    """A folded history: the events sent, their fates, the rows, and how to read them."""

    def __init__(self):
        self.rows = Rows()
        self.fates = []
        self.sent = []

    def send(self, *events, **stamp):
        """Admit and fold events in order; return the fate of the last."""
        for event in events:
            fate = self._send(event, stamp)
        return fate

    def _send(self, event, stamp):
        user = event.payload.user if type(event.payload).__name__ == "UserRefolded" else event.user
        tenant = event.tenant if user == event.user else event.payload.tenant
        view = self.rows.view(tenant, user)
        arrival = admit(view, event, stamp_of(event, **stamp))
        self.sent.append(event)
        if isinstance(arrival, Fate):
            self.fates.append(arrival)
            return arrival
        folding = fold(view, arrival)
        self.rows.apply(tenant, user, check_rows(folding.changes))
        fate = Fate(FateStatus.ACCEPTED, arrival.seq, None, folding.detail, folding.ignored)
        self.fates.append(fate)
        return fate

    def get(self, record, row_id="", user=USER, tenant=TENANT):
        return self.rows.view(tenant, user).get(record, row_id)

    def scan(self, record, prefix="", user=USER, tenant=TENANT):
        return self.rows.view(tenant, user).scan(record, prefix)

    def head(self, user=USER):
        return self.get(UserHead, user=user)

    def slot(self, name, subject=""):
        """Return (value, authority) of a slot's row, or None."""
        row = self.get(SlotRow, f"{subject}\0{name}")
        return None if row is None else (row.value, row.authority.value)

    def situation(self, request=None, user=USER, **changes):
        """Return the situation of a turn asked for now, without folding the request."""
        head = self.head(user)
        seq = 1 if head is None else head.seq + 1
        at_ms = START_MS if head is None else head.effective_ms
        asked = event(request or turn(**changes), event_id="t-now", at_ms=at_ms, user=user)
        pending = PendingRow(asked, digest(asked), seq, at_ms, at_ms, 0, None, (), ())
        arrival = Arrival(asked, seq, at_ms, digest(asked))
        return read_situation(self.rows.view(TENANT, user), pending, arrival)

    def open_turn(self, asked, **changes):
        """Keep a turn pending, as the decision does after its request was folded."""
        row = PendingRow(asked, digest(asked), self.head().seq, 0, 0, 1, None, (), ())
        row = replace(row, **changes)
        self.rows.apply(TENANT, USER, {(PendingRow, asked.event_id): row})


def given(events=(), catalogue=None, **changes):
    """Return the history of a log that begins with genesis and goes on with these events."""
    history = History()
    authentic = "verified" if changes.get("authenticated") else "open"
    history.send(genesis(catalogue, **changes), authentic=authentic)
    if events:
        history.send(*events)
    return history


def reason_of(fate):
    """Return the reason of a rejection as text, "" for an event that was not rejected."""
    return "" if fate.reason is None else fate.reason.value


def check_rows(changes):
    """Return the changes as they come back from their bytes."""
    return {
        (record, row_id): None if row is None else decode(record, encode(row))
        for (record, row_id), row in changes.items()
    }


def stamp_of(event, **changes):
    """Return the stamp of an event that was appended when it occurred."""
    body = encode(event)
    plain = Stamp(
        digest=hashlib.sha256(body).digest(),
        append_ms=event.occurred_at_ms,
        partition=0,
        offset=0,
        size=len(body),
        authentic="open",
    )
    return replace(plain, **changes)


def default_catalogue(**changes):
    """Return a catalogue of the scene ``dinner`` and the type ``meal``."""
    plain = Catalogue(
        name="table",
        scenes=(scene(),),
        types=(commitment_type(),),
        set_slots=("avoid",),
        templates=(),
    )
    return replace(plain, **changes)


def genesis(catalogue=None, **changes):
    """Return the first record of a log: one partition, an operator ``ops`` with all rights."""
    payload = Genesis(
        ruleset=1,
        catalogue=catalogue or default_catalogue(),
        weights=Weights(1, 2, 2, 1, 1),
        budget_main=8_000,
        budget_tail=2_000,
        selector="two_level",
        partitions=1,
        rights=(PrincipalRights("ops", confirm=True, operate=True),),
        authenticated=False,
        deadline_ms=900_000,
    )
    return control(replace(payload, **changes))


def control(payload, by="operator:ops"):
    """Return a control record."""
    return replace(event(payload, by=by), tenant="", user="")


_numbers = count(1)


def event(payload, *, by="user:ada", at_ms=None, minute=None, event_id=None, **changes):
    """Return an event; without an id it gets one of its own, without time the start of 2026."""
    kind, _, principal_id = by.partition(":")
    moment = START_MS if at_ms is None else at_ms
    plain = Event(
        event_id=event_id or f"e-{next(_numbers)}",
        tenant=TENANT,
        user=USER,
        occurred_at_ms=moment + (minute or 0) * MINUTE_MS,
        utc_offset_min=0,
        zone=None,
        principal=Principal(KINDS[kind], principal_id or kind),
        mac=None,
        causation_id=None,
        correlation_id=None,
        derived_from=(),
        source=None,
        source_seq=None,
        payload=payload,
    )
    return replace(plain, **changes)


def statement(slot, value, subject="", start_ms=None, end_ms=None):
    """Return one slot statement."""
    return SlotStatement(subject, slot, value, start_ms, end_ms)


def form(*statements, scopes=(), **slots):
    """Return a form of statements and of slots about the user."""
    named = tuple(statement(name, value) for name, value in slots.items())
    return FormSubmitted(None, (*statements, *named), scopes)


def said(text, origin=UtteranceOrigin.SAID, scopes=()):
    """Return an utterance."""
    return UtteranceObserved(text, origin, None, scopes)


def unit(content="a fact", *, dimensions=(), **changes):
    """Return a unit draft without slot."""
    plain = UnitDraft(
        content, None, None, None, dimensions, False, Sensitivity.NONE, (), None, None, None
    )
    return replace(plain, **changes)


def evidence(*units):
    """Return recorded evidence."""
    return EvidenceRecorded(units)


def withdrawn(*event_ids):
    """Return the withdrawal of these events."""
    return ObservationWithdrawn(event_ids)


def corrected(*event_ids, **slots):
    """Return the correction of these events by these slots."""
    return ObservationCorrected(
        event_ids, tuple(statement(name, value) for name, value in slots.items())
    )


def predicate(expression='slots.diet == "vegan"', predicate_id="diet", **changes):
    """Return a standing predicate of all scenes."""
    plain = Predicate(
        predicate_id, expression, None, (), "", PredicateScope.STANDING, None, None, (), None
    )
    return replace(plain, **changes)


def hint(slot="", value=None, *, kind=HintKind.SLOT, sources=(), rule=None, **changes):
    """Return a hint; a constraint when a rule is given."""
    kind = HintKind.CONSTRAINT if rule is not None else kind
    plain = HintExtracted(kind, "", slot, value, rule, 700_000, sources)
    return replace(plain, **changes)


def turn(scene_name="dinner", **changes):
    """Return a turn request."""
    return TurnRequested(**{"scene": scene_name} | changes)
