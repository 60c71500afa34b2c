"""A log folded in the plainest way: every row in a dictionary, no cache, no batch, no store.

Stands beside ``streams`` for comparison: what the ledger commits must be exactly this. A record
whose event id is in ``broken`` stands for one whose fold raised.
"""

import hashlib
from dataclasses import dataclass, field

from processors import decision
from processors.compilation.draft import owner_of
from processors.view import Stamp
from schemas.codec import decode, encode, frame, unframe
from schemas.event import Event
from schemas.fate import Fate
from schemas.identity import prefix_lengths, record_key
from schemas.row import CONTRACT_KINDS, KIND_OF, PARTITION_KINDS, STATE_KINDS
from streams.ports import LogBounds, LogRecord
from tests.conversation import Rows

PUBLIC = dict.fromkeys(CONTRACT_KINDS, "contracts") | dict.fromkeys(STATE_KINDS, "states")


@dataclass
class Plain:
    """What came of a log: fates in order, outputs with their place, rows by key, as bytes."""

    fates: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    rows: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)


class HeldLog:
    """A log in memory that hands over at most ``at_once`` records in one reading."""

    def __init__(self, records, at_once=lambda: 10_000):
        self.records = records
        self.at_once = at_once
        self.identity = b"a log in memory!"

    def bounds(self):
        return LogBounds(0, len(self.records))

    def read(self, first, *, limit):
        return self.records[first : first + min(limit, self.at_once())]


def number_events(events):
    """Return the log records of events, each appended when it occurred."""
    return [
        LogRecord(at, record_key(event.tenant, event.user), frame(event), event.occurred_at_ms, ())
        for at, event in enumerate(events)
    ]


def fold_plainly(records, broken=frozenset()):
    """Return what must come of log records that all hold events."""
    plain, shared, users = Plain(), {}, {}
    for record in records:
        event, body = unframe(Event, record.value)
        owner = owner_of(event)
        view = users.setdefault(owner, Rows(*owner, {}, shared))
        stamp = Stamp(
            hashlib.sha256(body).digest(), record.timestamp_ms, 0, record.offset, len(body), "open"
        )
        if event.event_id in broken:
            step = decision.fault(view, event, stamp, "ZeroDivisionError")
        else:
            step = decision.step(view, event, stamp)
        view.apply(step.changes)
        plain.fates.append(encode(step.fate))
        plain.outputs += [
            (record.offset, place, record.key, frame(output))
            for place, output in enumerate(step.outputs)
        ]
    for owner, view in users.items():
        plain.rows |= {
            name_row(owner, *key): b"\x01" + encode(row) for key, row in view.own.items()
        }
        plain.tables |= {
            (PUBLIC[KIND_OF[record]], name_row(owner, record, row_id)[1:]): frame(row)
            for (record, row_id), row in view.own.items()
            if KIND_OF[record] in PUBLIC
        }
    plain.rows |= {name_row(("", ""), *key): seal_row(row) for key, row in shared.items()}
    return plain


def seal_row(row):
    """Return the stored bytes of a row: the format, then its body."""
    return b"\x01" + encode(row)


def name_row(owner, record, row_id):
    """Return the key of a row: whose it is, its kind, its id."""
    kind = KIND_OF[record]
    parts = (part.encode() for part in owner)
    head = b"p" if kind in PARTITION_KINDS else b"u" + prefix_lengths(*parts)
    return head + bytes((kind,)) + row_id.encode()


def check_same(store, plain):
    """Assert that a store in memory holds exactly what the plain fold made."""
    fates = [fate for batch in store.batches for fate in batch.fates]
    assert [decode_fate(one) for one in plain.fates] == [decode_fate(one) for one in fates]
    outputs, tables = [], {}
    for (topic, offset, place), placed in sorted(store.placed.items(), key=_by_place):
        record = placed.record
        if topic in {"contracts", "states"}:
            tables[topic, record.key] = record.value
        elif topic != "rejections":
            outputs.append((offset, place, record.key, record.value))
    assert plain.outputs == outputs
    assert plain.tables == {key: value for key, value in tables.items() if value is not None}
    assert sorted(plain.rows) == sorted(store.rows)
    assert plain.rows == store.rows


def decode_fate(body):
    """Return the fate of its body, for a difference that can be read."""
    return decode(Fate, body)


def _by_place(item):
    (_, offset, place), _ = item
    return offset, place
