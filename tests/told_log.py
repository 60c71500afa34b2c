"""Logs told record by record to reducer and ledger, for tests of what a stream may bring."""

from dataclasses import replace

from schemas.codec import decode, unframe
from schemas.fate import Fate
from schemas.identity import record_key
from streams.clock import SimulatedClock
from streams.core_reducer import CoreReducer
from streams.ledger import Ledger
from streams.ports import LogBounds, LogRecord
from tests.conversation import GENERATOR, OPERATOR, START_MS, Conversation, genesis
from tests.hostile_records import said
from tests.kitchen import kitchen, meal
from tests.plain_fold import HeldLog, name_row, number_events
from tests.simulation.memory_store import MemoryStore
from tests.situations import request
from tests.talk import answer, form

KEY = record_key("t", "m")


class KeptLog(HeldLog):
    """A log that has lost all before an offset."""

    def __init__(self, records, start):
        super().__init__(records)
        self.start = start

    def bounds(self):
        return LogBounds(self.start, len(self.records))


def begin(**changes):
    """Return the genesis record of a partition with the scene ``dinner``."""
    talk = Conversation()
    talk.tell(genesis(kitchen(**changes)), by=OPERATOR)
    return talk.events[0]


def event(payload, event_id, **changes):
    """Return an event of the user ``m``."""
    return replace(said(payload), event_id=event_id, **changes)


def log_of(*items):
    """Return log records of events, and of (key, value) pairs as they are."""
    records = []
    for at, item in enumerate(items):
        if isinstance(item, tuple):
            records.append(LogRecord(at, *item, START_MS, ()))
        else:
            (record,) = number_events([item])
            records.append(record._replace(offset=at))
    return records


def fold(records, store=None, log=None, reducer=None, start_ms=START_MS):
    """Return the store after folding to the end."""
    store = MemoryStore() if store is None else store
    ledger = Ledger(
        log=log or HeldLog(records),
        store=store,
        reducer=reducer or CoreReducer(),
        clock=SimulatedClock(start_ms=start_ms),
    )
    ledger.start()
    while ledger.fold_batch():
        pass
    return store


def fates(store):
    """Return the fate of every event."""
    return [decode(Fate, one) for batch in store.batches for one in batch.fates]


def reasons(store):
    """Return the reason of every event's rejection, None for the others."""
    return [fate.reason and fate.reason.value for fate in fates(store)]


def rows(store, record, user="m"):
    """Return a user's rows of one kind, decoded."""
    prefix = name_row(("t", user), record, "")
    return [decode(record, value[1:]) for _, value in store.scan(prefix)]


def read(store, topic, record):
    """Return the records of an output topic."""
    return [unframe(record, one.record.value)[0] for one in store.outputs(topic)]


TURN = (
    event(form(dish="soup"), "e1"),
    event(request(), "t1"),
    event(answer("t1", meal("soup")), "c1", principal=GENERATOR),
    event(form(diet="vegan"), "e3"),
)
