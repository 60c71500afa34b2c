"""The benchmark's users as aggregates of the ``eventsourcing`` library, in its in-memory store.

Each does what the pipeline does with an observation, by the same rules: admission, duplicates,
limits, slots, statements, texts, digest chain. So it ends in the same rows, which are compared by
their digest. Nothing durable; the library stays outside the pipeline.
"""

import hashlib
import time
from base64 import b64decode, b64encode
from typing import ClassVar
from uuid import NAMESPACE_URL, UUID, uuid5

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event
from eventsourcing.persistence import Transcoder, Transcoding

from processors import decision
from processors.view import Changes, Stamp
from schemas.codec import HEADER_BYTES, decode, encode
from schemas.event import Event
from schemas.identity import record_key
from schemas.row import KIND_OF, PARTITION_KINDS, Row
from streams.collection import collecting_rarely
from streams.row_digest import DIGEST_BYTES, RowSet, sum_rows
from streams.row_layout import ROW_FORMAT, row_key


class BytesAsText(Transcoding):
    """Lets the library keep bytes in its JSON."""

    type = bytes
    name = "bytes"

    def encode(self, obj: bytes) -> str:
        """Return the bytes as text."""
        return b64encode(obj).decode("ascii")

    def decode(self, data: str) -> bytes:
        """Return the bytes of the text."""
        return b64decode(data)


class Person(Aggregate):
    """One user and the rows that the events made, as the core's view of them."""

    shared: ClassVar[dict[tuple[type, str], Row]] = {}
    """What control records have put in force, for all."""

    @event("Opened")
    def __init__(self, tenant: str, user: str) -> None:
        """Begin without knowing anything."""
        self.tenant = tenant
        self.user = user
        self.key = record_key(tenant, user)
        self.rows: dict[tuple[type, str], Row] = {}

    @staticmethod
    def create_id(tenant: str, user: str) -> UUID:
        """Return the aggregate's id."""
        return uuid5(NAMESPACE_URL, f"{tenant}/{user}")

    @event("Observed")
    def observe(self, body: bytes, append_ms: int, offset: int) -> None:
        """Fold an event, given as the bytes that its digest is over."""
        digest = hashlib.sha256(body).digest()
        stamp = Stamp(digest, append_ms, 0, offset, len(body), "open", self.key)
        for place, row in decision.step(self, decode(Event, body), stamp).changes.items():
            if row is None:
                self.rows.pop(place, None)
            else:
                self.rows[place] = row

    def get(self, record: type, row_id: str) -> Row | None:
        """Return a row of the user, or one that holds for all."""
        place = record, row_id
        return self.rows.get(place) or self.shared.get(place)

    def scan(self, record: type, prefix: str = "") -> list[tuple[str, Row]]:
        """Return the user's rows of a kind, sorted by id."""
        found = [(i, r) for (k, i), r in self.rows.items() if k is record and i.startswith(prefix)]
        return sorted(found, key=lambda item: item[0])


class People(Application):
    """The application of the benchmark."""

    def register_transcodings(self, transcoder: Transcoder) -> None:
        """Let events hold bytes too."""
        super().register_transcodings(transcoder)
        transcoder.register(BytesAsText())


def tell_people(records) -> tuple[People, list[UUID], int]:
    """Return an application that holds the events of log records, its users, and how many."""
    people: dict[tuple[str, str], Person] = {}
    Person.shared.clear()
    count = 0
    for record in records:
        body = record.value[HEADER_BYTES:]
        told = decode(Event, body)
        if not told.user:
            Person.shared.update(_fold_control(told, body, record))
            continue
        owner = told.tenant, told.user
        person = people.get(owner) or people.setdefault(owner, Person(*owner))
        person.observe(body, record.timestamp_ms, record.offset)
        count += 1
    application = People()
    for person in people.values():
        application.save(person)
    return application, [person.id for person in people.values()], count


def time_people(application: People, ids: list[UUID]) -> tuple[float, RowSet]:
    """Return CPU seconds of getting every user from the events again, and the digest of all rows.

    The digest is taken once, of the rows at the end; it is within the time. Python collects as
    rarely as in the pipeline, which helps both alike.
    """
    with collecting_rarely():
        started = time.thread_time()
        people = [application.repository.get(one) for one in ids]
        rows = sum_rows(pair for person in people for pair in _list_rows(person.key, person.rows))
        seconds = time.thread_time() - started
    shared = sum_rows(_list_rows(b"", Person.shared))
    total = (rows.total + shared.total) % (1 << 8 * DIGEST_BYTES)
    return seconds, RowSet(rows.count + shared.count, total)


def _fold_control(told: Event, body: bytes, record) -> Changes:
    stamp = Stamp(
        hashlib.sha256(body).digest(), record.timestamp_ms, 0, record.offset, len(body), "open"
    )
    changes = decision.step(Person("", ""), told, stamp).changes
    assert all(KIND_OF[kind] in PARTITION_KINDS for kind, _ in changes)
    return changes


def _list_rows(key: bytes, rows: dict[tuple[type, str], Row]):
    for (record, row_id), row in rows.items():
        yield row_key(b"u" + key, record, row_id), ROW_FORMAT + encode(row)
