"""Whole histories through ``decision.step``: rows in memory, one event after another.

Every event goes through its body, as it would through a log; a step's changes are applied as
a driver applies them. Times are milliseconds since the epoch; each event is a second later.
"""

import hashlib
from dataclasses import dataclass, field

from processors import decision
from processors.compilation.draft import owner_of
from processors.view import Stamp
from schemas.codec import decode, encode
from schemas.control import Genesis, PrincipalRights, Weights
from schemas.event import Event, Principal, PrincipalKind
from schemas.outcome import Commitment, RepairAct, TurnFailure
from schemas.row import KIND_OF, PARTITION_KINDS, UserHead

OPERATOR = Principal(PrincipalKind.OPERATOR, "root")
USER = Principal(PrincipalKind.USER, "u")
TOOL = Principal(PrincipalKind.TOOL, "crm")
GENERATOR = Principal(PrincipalKind.GENERATOR, "model")
CLOCK = Principal(PrincipalKind.CLOCK, "clock")
START_MS = 1_700_000_000_000
OUTCOMES = (Commitment, RepairAct, TurnFailure)


@dataclass
class Rows:
    """The rows of one user, and those of the partition, as a view."""

    tenant: str
    user: str
    own: dict = field(default_factory=dict)
    shared: dict = field(default_factory=dict)

    def get(self, record, row_id):
        """Return the row or None."""
        return self._of(record).get((record, row_id))

    def scan(self, record, prefix=""):
        """Return the rows whose id starts with prefix, sorted by id."""
        found = [
            (row_id, row)
            for (kind, row_id), row in self._of(record).items()
            if kind is record and row_id.startswith(prefix)
        ]
        return sorted(found, key=lambda item: item[0])

    def apply(self, changes):
        """Apply the changes of a step, each row through its body."""
        for (record, row_id), row in changes.items():
            if row is None:
                self._of(record).pop((record, row_id), None)
            else:
                self._of(record)[record, row_id] = decode(record, encode(row))

    def _of(self, record):
        return self.shared if KIND_OF[record] in PARTITION_KINDS else self.own


class Conversation:
    """One partition without log: tells events to the core and keeps what came of each."""

    def __init__(self):
        """Start before genesis."""
        self.shared = {}
        self.users = {}
        self.events = []
        self.broken = []
        self.told = []
        self.steps = []
        self.outputs = []

    def tell(self, payload, *, by=USER, user="u", tenant="t", event_id=None, **envelope):
        """Fold one event and return its step."""
        number = len(self.steps) + 1
        append_ms = envelope.pop("append_ms", START_MS + 1_000 * number)
        control = type(payload).__name__ in CONTROL
        event = Event(
            event_id=event_id or f"e{number}",
            tenant="" if control else tenant,
            user="" if control else user,
            occurred_at_ms=envelope.pop("occurred_at_ms", START_MS + 1_000 * number),
            utc_offset_min=60,
            zone=None,
            principal=by,
            mac=None,
            causation_id=None,
            correlation_id=None,
            derived_from=envelope.pop("derived_from", ()),
            source=envelope.pop("source", None),
            source_seq=envelope.pop("source_seq", None),
            payload=payload,
        )
        body = encode(event)
        event = decode(Event, body)
        self.events.append(event)
        stamp = Stamp(hashlib.sha256(body).digest(), append_ms, 0, number, len(body), "open")
        step = decision.step(self.view(*owner_of(event)), event, stamp)
        self.told.append((event, step))
        return self._keep(step, owner_of(event))

    def break_at(self, payload, *, user="u", tenant="t"):
        """Fold an event whose fold raised, as a driver does; return the step of the fault."""
        number = len(self.steps) + 1
        event = Event(
            f"e{number}", tenant, user, START_MS, 0, None, USER, None, None, None, (), None, None,
            payload,
        )  # fmt: skip
        self.broken.append(event)
        stamp = Stamp(bytes(32), START_MS, 0, number, 10, "open")
        step = decision.fault(self.view(tenant, user), event, stamp, "ZeroDivisionError")
        self.told.append((event, step))
        return self._keep(step, (tenant, user))

    def lose(self):
        """Record a gap in the log."""
        view = self.view("", "")
        view.apply(decision.record_gap(view))

    def view(self, tenant="t", user="u"):
        """Return the rows of a user."""
        key = (tenant, user)
        if key not in self.users:
            self.users[key] = Rows(tenant, user, {}, self.shared)
        return self.users[key]

    def outcomes(self, turn_id=None):
        """Return the outcomes so far, of one turn or of all."""
        return [
            output
            for output in self.outputs
            if isinstance(output, OUTCOMES) and turn_id in (None, output.turn_id)
        ]

    def head(self):
        """Return the head of the user."""
        return self.view().get(UserHead, "")

    def _keep(self, step, owner):
        self.view(*owner).apply(step.changes)
        self.steps.append(step)
        for output in step.outputs:
            assert output == decode(type(output), encode(output))
        self.outputs.extend(step.outputs)
        return step


CONTROL = frozenset(
    {
        "Genesis",
        "RulesetActivated",
        "CatalogueActivated",
        "HistoryAttested",
        "UserRefolded",
        "ErasureCompleted",
    }
)


def genesis(catalogue, **changes):
    """Return the first record of a partition, with the priors of the specification."""
    plain = {
        "ruleset": 1,
        "catalogue": catalogue,
        "weights": Weights(1, 2, 2, 1, 1),
        "budget_main": 8_000,
        "budget_tail": 2_000,
        "selector": "two_level",
        "partitions": 1,
        "rights": (PrincipalRights("root", confirm=True, operate=True),),
        "authenticated": False,
        "deadline_ms": 900_000,
    }
    return Genesis(**{**plain, **changes})
