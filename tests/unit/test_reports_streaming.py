"""Public fault reports of stream processors, told as records of a log to reducer and ledger.

Each test names its report; what needs a broker is stated again beside the tests of the broker.
"""

from itertools import permutations

import pytest

from schemas.agreement import PredicateRevoked
from schemas.codec import encode, schema_fingerprint
from schemas.event import Event
from schemas.observation import ObservationWithdrawn
from schemas.outcome import Rejection
from schemas.row import EventRow, PredicateRow, SlotRow
from streams.core_reducer import CoreReducer
from streams.failures import CommitUnknownError, StoreDamagedError, StoreUnavailableError
from streams.registered import unwrap, wrap
from tests.conversation import START_MS
from tests.plain_fold import HeldLog
from tests.simulation.memory_store import MemoryStore
from tests.talk import confirmed, form
from tests.told_log import KEY, TURN, begin, event, fates, fold, log_of, read, reasons, rows


def test_r46_a_null_is_no_event_and_erases_nobody():
    """R46: the delete marker is quarantined with its offset; what stands behind it is folded."""
    seat, food = event(form(seat="window"), "e1"), event(form(meal="vegan"), "e2")
    store = fold(log_of(begin(), seat, (KEY, None), food))

    assert [None, None, "null_value", None] == reasons(store)
    assert [2] == [one.offset for one in store.outputs("rejections")]
    assert 4 == store.stored_head.next_offset
    assert {"seat": "window", "meal": "vegan"} == {
        row.slot: row.value for row in rows(store, SlotRow)
    }


def test_r46_a_null_on_a_table_deletes_its_row():
    """R46: replaying a table's records, nulls included, gives the rows and no more."""
    records = log_of(
        begin(), event(form(seat="window"), "e1"), event(ObservationWithdrawn(("e1",)), "e2")
    )
    store = MemoryStore()
    for known in (2, 3):
        fold(records[:known], store)
    table = {}
    for output in store.outputs("states"):
        table[output.record.key] = output.record.value
        if output.record.value is None:
            del table[output.record.key]

    assert {} == table
    assert [] == rows(store, SlotRow)


def test_r47_foreign_frames_are_quarantined_with_their_bytes():
    """R47: each of them has its reason, its offset and its bytes; the good one is folded."""
    foreign = {
        "300a6d616e676f": "bad_magic",
        "0000000000000000070a6d616e676f": "bad_magic",
        "0a6d616e676f": "bad_magic",
        b'{"slot":"seat"}'.hex(): "bad_magic",
        "": "empty_value",
        "00000010920a6d616e676f": "bad_magic",
        "c301" + "00" * 8 + "0a6d616e676f": "unknown_schema_id",
    }
    records = [(KEY, bytes.fromhex(one)) for one in foreign]
    store = fold(log_of(begin(), *records, event(form(diet="vegan"), "e7")))
    found = read(store, "rejections", Rejection)

    assert [None, *foreign.values(), None] == reasons(store)
    assert list(range(1, 8)) == [one.offset for one in found]
    assert list(foreign) == [(one.data or b"").hex() for one in found]
    assert ["vegan"] == [row.value for row in rows(store, SlotRow)]


class _Ids:
    """A registry's answers: one schema, and perhaps nobody who answers."""

    def __init__(self, known, *, away=False):
        self.known, self.away = known, away

    def find_id(self, fingerprint):
        return {two: one for one, two in self.known.items()}.get(fingerprint)

    def find_fingerprint(self, schema_id):
        if self.away:
            raise StoreUnavailableError("registry: no answer")
        return self.known.get(schema_id)


def test_r47_a_registry_that_cannot_be_reached_pauses_and_rejects_nothing():
    """R47: the Confluent frame names a schema id; unknown is a reason, unreachable is a wait."""
    told = event(form(diet="vegan"), "e1")
    record = bytes.fromhex("0000001092") + encode(told)
    named = {0x1092: schema_fingerprint(Event)}
    with pytest.raises(StoreUnavailableError, match="registry"):
        unwrap(record, _Ids(named, away=True))

    unknown, known = unwrap(record, _Ids({})), unwrap(record, _Ids(named))
    store = fold(log_of(begin(), (KEY, unknown), (KEY, known)))

    assert [None, "unknown_schema_id", None] == reasons(store)
    assert ["vegan"] == [row.value for row in rows(store, SlotRow)]
    assert record == wrap(known, _Ids(named))


@pytest.mark.parametrize("lost_at", range(6))
def test_r49_a_second_worker_repeats_nothing(lost_at):
    """R49: work done twice after a lost answer gives each unit and each outcome once."""
    records = log_of(begin(), *TURN)
    store = MemoryStore()
    seen = []

    def lose(_batch):
        seen.append(None)
        if len(seen) == lost_at + 1:
            raise CommitUnknownError

    store.after_commit = lose
    for _ in range(2):
        try:
            fold(records, store, log=HeldLog(records, at_once=lambda: 1))
        except CommitUnknownError:
            continue
    assert 1 == len(store.outputs("commitments"))
    assert len(records) == len(fates(store))


def test_r49_a_producers_retry_is_counted_and_a_conflict_is_quarantined():
    """R49: the same id and body again is a duplicate, another body is a conflict."""
    first, *rest = TURN
    other = event(form(diet="halal"), "e3")
    store = fold(log_of(begin(), first, *rest, first, other, *rest[:2]))
    found = [(fate.status.value, fate.reason and fate.reason.value) for fate in fates(store)]
    assert [
        ("duplicate", None), ("rejected", "event_id_conflict"), ("duplicate", None),
        ("duplicate", None),
    ] == found[5:]  # fmt: skip
    assert 2 == len([row for row in rows(store, EventRow) if row.event.payload.statements])
    assert 1 == len(store.outputs("commitments"))


HOURS = (
    event(confirmed("P1", "slots.hours <= 4"), "e1", occurred_at_ms=START_MS + 1),
    event(confirmed("P1", "slots.hours <= 6", replaces=("P1",)), "e2", occurred_at_ms=START_MS + 2),
)


@pytest.mark.parametrize("replaces", [("P1",), ()])
@pytest.mark.parametrize("order", [*permutations(("e2", "e3"))])
def test_r50_a_correction_from_the_dead_letter_queue_revives_nothing(order, replaces):
    """R50: whichever comes first, after the revocation nothing is in force."""
    told = {
        "e2": event(
            confirmed("P1", "slots.hours <= 6", replaces=replaces), "e2",
            occurred_at_ms=START_MS + 2,
        ),
        "e3": event(PredicateRevoked("P1"), "e3", occurred_at_ms=START_MS + 3),
    }  # fmt: skip
    store = fold(log_of(begin(), HOURS[0], *(told[one] for one in order)))
    versions = rows(store, PredicateRow)

    assert [] == [row for row in versions if row.ended_seq is None]
    late = fates(store)[2 + order.index("e2")]
    assert ("superseded" if order[0] == "e3" else "") == late.ignored


class OlderCore(CoreReducer):
    """A core of another release, whose rows the present one does not know."""

    version = "core-0"


def test_r52_rows_of_another_release_are_folded_anew_and_lose_nothing():
    """R52: a store of another core is refused as damaged, and the log gives everything again."""
    records = log_of(
        begin(),
        *(event(form(note=f"n{n}"), f"n{n}") for n in range(11)),
        event(confirmed("P1", 'slots.must_avoid contains "sesame"'), "e12"),
        *(event(form(note=f"m{n}"), f"m{n}") for n in range(48)),
    )
    older = fold(records[:51], reducer=OlderCore())
    with pytest.raises(StoreDamagedError, match="core-0"):
        fold(records, older)
    again = fold(records)

    assert ['slots.must_avoid contains "sesame"'] == [
        row.predicate.expression for row in rows(again, PredicateRow)
    ]
    assert CoreReducer.version == again.stored_head.core_version
