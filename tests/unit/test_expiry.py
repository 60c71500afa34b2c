"""Deadlines on Kafka: who is due is told once, and again only when nothing came back."""

from types import SimpleNamespace

from processors.pending import name_deadline
from schemas.codec import encode
from schemas.row import DeadlineRow
from streams.clock import SimulatedClock
from streams.connection import Connection
from streams.expiry import AGAIN_AFTER_NS, EXPIRE_EVERY_NS, Expirer
from streams.ports import NewRecord
from streams.row_layout import ROW_FORMAT, row_key

DUE_MS = 5_000
SECOND_MS = EXPIRE_EVERY_NS // 1_000_000


class Rows:
    """The deadline of one pending turn."""

    def scan(self, prefix):
        row = DeadlineRow("acme", "ada", "t1")
        key = row_key(b"p", DeadlineRow, name_deadline(row, at_ms=DUE_MS))
        return iter([(key, ROW_FORMAT + encode(row))] if key.startswith(prefix) else [])


class Recorder:
    """A producer that keeps the record keys it was given, and the clients that give it."""

    def __init__(self, clock):
        self.clock = clock
        self.keys = []

    def producer(self, _settings):
        return self

    def produce(self, _topic, _value, key, _partition):
        self.keys.append(key)

    def poll(self, _timeout_s):
        return 0


def open_expirer(start_ms):
    """Return an expirer, what it produces, and its clock."""
    clock = SimulatedClock(start_ms=start_ms)
    clients = Recorder(clock)
    connection = Connection(bootstrap_servers="broker:9092", clients=clients)

    def seal(event):
        return NewRecord(event.user.encode(), b"")

    expirer = Expirer(connection, topic="events", seal=seal)
    return SimpleNamespace(expirer=expirer, keys=clients.keys, clock=clock)


def test_nothing_is_appended_before_its_deadline():
    """A pending turn is left alone until its deadline has passed."""
    given = open_expirer(DUE_MS - 1)

    assert 0 == given.expirer.expire(0, Rows())
    given.clock.advance(SECOND_MS)
    assert 1 == given.expirer.expire(0, Rows())
    assert [b"ada"] == given.keys


def test_rows_are_looked_through_once_a_second():
    """Between two looks at a partition lies a second, however often the worker goes round."""
    given = open_expirer(DUE_MS - 1)

    given.expirer.expire(0, Rows())
    given.clock.advance(SECOND_MS - 1)
    assert 0 == given.expirer.expire(0, Rows())
    assert 1 == given.expirer.expire(1, Rows())


def test_what_does_not_come_back_is_appended_again():
    """What was sent and is still due after 30 s is sent again; until then it is not."""
    given = open_expirer(DUE_MS)
    counts = []
    for _ in range(AGAIN_AFTER_NS // EXPIRE_EVERY_NS + 1):
        counts.append(given.expirer.expire(0, Rows()))
        given.clock.advance(SECOND_MS)

    assert [1, *[0] * (len(counts) - 2), 1] == counts
