"""Public fault reports of stream processors, told as records of a log to reducer and ledger.

Each test names its report; what needs a broker is stated again beside the tests of the broker.
"""

from dataclasses import replace
from itertools import permutations

import pytest

from infra.provision import Step, TopicSet, _compare, _Standing
from schemas.agreement import PredicateRevoked
from schemas.candidate import SlotValue
from schemas.codec import decode, encode, frame, unframe
from schemas.control import HistoryAttested
from schemas.fate import Fate
from schemas.identity import record_key
from schemas.observation import ObservationWithdrawn
from schemas.outcome import Act, Commitment, Reason, Rejection, RepairAct
from schemas.row import EventRow, PendingRow, PredicateRow, SlotRow
from schemas.topics import EVENTS, ROWS, list_settings
from streams.clock import SimulatedClock
from streams.core_reducer import CoreReducer
from streams.failures import CommitUnknown, StoreDamaged
from streams.ledger import Ledger
from streams.ports import LogBounds, LogRecord
from tests.conversation import GENERATOR, OPERATOR, START_MS, Conversation, genesis
from tests.hostile_records import said
from tests.kitchen import kitchen, meal
from tests.plain_fold import HeldLog, name_row, number_events
from tests.simulation.memory_store import MemoryStore
from tests.situations import request
from tests.talk import answer, confirmed, form, read_ms
from tests.talk import said as text

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


@pytest.mark.xfail(strict=True, reason="needs an external registry", raises=TypeError)
def test_r47_a_registry_that_cannot_be_reached_pauses_and_rejects_nothing():
    """R47: the Confluent frame names a schema id; unknown is a reason, unreachable is a wait."""

    def unreachable(_schema_id):
        raise ConnectionError

    record = (KEY, bytes.fromhex("0000001092") + encode(event(form(diet="vegan"), "e1")))
    store = MemoryStore()
    reducer = CoreReducer(registry=unreachable)
    with pytest.raises(Exception, match="registry"):
        fold(log_of(begin(), record), store, reducer=reducer)
    assert [] == store.batches


TURN = (
    event(form(dish="soup"), "e1"),
    event(request(), "t1"),
    event(answer("t1", meal("soup")), "c1", principal=GENERATOR),
    event(form(diet="vegan"), "e3"),
)


@pytest.mark.parametrize("lost_at", range(6))
def test_r49_a_second_worker_repeats_nothing(lost_at):
    """R49: work done twice after a lost answer gives each unit and each outcome once."""
    records = log_of(begin(), *TURN)
    store = MemoryStore()
    seen = []

    def lose(_batch):
        seen.append(None)
        if len(seen) == lost_at + 1:
            raise CommitUnknown

    store.after_commit = lose
    for _ in range(2):
        try:
            fold(records, store, log=HeldLog(records, at_once=lambda: 1))
        except CommitUnknown:
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
    with pytest.raises(StoreDamaged, match="core-0"):
        fold(records, older)
    again = fold(records)

    assert ['slots.must_avoid contains "sesame"'] == [
        row.predicate.expression for row in rows(again, PredicateRow)
    ]
    assert CoreReducer.version == again.stored_head.core_version


UNTIL = confirmed("P1", 'slots.dish == "family"', valid_to_ms=read_ms("2026-05-01T00:00:00+00:00"))
BEFORE = read_ms("2026-04-30T23:59:58+00:00")
AFTER = read_ms("2026-09-01T00:00:00+00:00")


def _lease(at_ms, **changes):
    return log_of(
        begin(),
        event(form(dish="public"), "f1", occurred_at_ms=BEFORE - 2_000),
        event(UNTIL, "e1", occurred_at_ms=BEFORE - 1_000),
        event(request(**changes), "t1", occurred_at_ms=at_ms, principal=OPERATOR),
        event(answer("t1", meal("public")), "c1", principal=GENERATOR, occurred_at_ms=at_ms),
    )


@pytest.mark.parametrize("clock_ms", [BEFORE, AFTER])
def test_r53_a_lease_ends_by_the_events_time_never_by_the_clock(clock_ms):
    """R53: live and replayed months later the same bytes: the rule was still valid."""
    live = fold(_lease(BEFORE), start_ms=BEFORE)
    again = fold(_lease(BEFORE), start_ms=clock_ms)
    (act,) = read(again, "repairs", RepairAct)

    assert [batch.chain for batch in live.batches] == [batch.chain for batch in again.batches]
    assert [1] == [one.violations for one in act.certificate.candidates]
    assert not act.certificate.historical


def test_r53_what_would_be_later_is_labelled():
    """R53: asked as of September the rule has ended; the outcome says that it is historical."""
    (done,) = read(fold(_lease(BEFORE, as_of_ms=AFTER)), "commitments", Commitment)

    assert [0] == [one.violations for one in done.certificate.candidates]
    assert (True, AFTER) == (done.certificate.historical, done.certificate.as_of_ms)


def test_r55_records_without_key_or_stamp():
    """R55: without key rejected, another user's key rejected; the stamp is not the event's time."""
    first = event(form(a="1"), "e1", occurred_at_ms=read_ms("2026-02-01T08:00:00+00:00"))
    fourth = event(form(d="4"), "e4", occurred_at_ms=read_ms("2026-02-01T08:06:00+00:00"))
    records = log_of(
        begin(), (None, frame(first)), (b"", frame(first)), (record_key("t", "u2"), frame(first)),
        (KEY, frame(fourth)),
    )  # fmt: skip
    store = fold([record._replace(timestamp_ms=-1) for record in records])

    assert [None, "missing_key", "missing_key", "key_user_mismatch", None] == reasons(store)
    (row,) = rows(store, SlotRow)
    assert ("d", read_ms("2026-02-01T08:06:00+00:00")) == (row.slot, row.valid_from_ms)
    assert {record_key("t", "m")} <= {key[1 : len(KEY) + 1] for key in store.rows}
    assert not [key for key in store.rows if key.startswith(b"u" + record_key("", ""))]


def test_r55_a_turn_without_stamp_has_a_deadline_behind_it():
    """R55: the deadline of an unstamped request is not in 1970."""
    at_ms = read_ms("2026-02-01T08:00:00+00:00")
    asked = request(asks=(SlotValue("dish", "soup"),))
    records = log_of(begin(), event(asked, "t1", occurred_at_ms=at_ms))
    store = fold([record._replace(timestamp_ms=-1) for record in records])

    assert [at_ms + 900_000] == [row.deadline_at_ms for row in rows(store, PendingRow)]


def _gapped(*after):
    """Return the store of a log that lost [2, 5) before it was folded, and went on with these."""
    lost = [event(confirmed("P1", 'slots.dish != "nuts"'), f"x{n}") for n in range(3)]
    records = log_of(begin(), event(form(dish="soup"), "e1"), *lost, *after)
    store = fold(records[:2])
    return fold(records, store, log=KeptLog(records, 5))


def test_r56_folding_goes_on_at_the_first_offset_left():
    """R56: the gap stands in the ledger; every turn of the partition abstains until attested."""
    store = _gapped(*TURN[1:3])
    (act,) = read(store, "repairs", RepairAct)
    gap = next(batch for batch in store.batches if not batch.fates or "gap" in str(batch.fates))

    assert (2, 5) == (gap.gap_from, gap.next_offset)
    assert 7 == store.stored_head.next_offset
    assert (Act.ABSTAIN, Reason.HISTORY_INCOMPLETE) == (act.act, act.reason)
    assert act.certificate.history_incomplete
    assert [] == store.outputs("commitments")


def test_r56_an_attested_history_may_commit_again():
    """R56: an operator's word, and nothing else, ends the incompleteness."""
    attested = replace(
        event(HistoryAttested(None, None), "a1"), tenant="", user="", principal=OPERATOR
    )
    store = _gapped(attested, *TURN[1:3])

    assert 1 == len(store.outputs("commitments"))


def standing(topic, **changes):
    """Return a topic as provisioning made it, with some settings changed."""
    settings = {**dict(list_settings(topic)), "min.insync.replicas": "2"}
    return _Standing(partitions=16, replication=3, settings={**settings, **changes})


@pytest.mark.parametrize(
    ("topic", "policy", "refused"),
    [(EVENTS, "compact", True), (EVENTS, "compact,delete", True), (EVENTS, "delete", False),
     (ROWS, "delete", True), (ROWS, "compact", False)],
)  # fmt: skip
def test_r59_a_compacted_event_topic_is_refused_at_the_start(topic, policy, refused):
    """R59: with the user as key only the last event of each user would be left."""
    found = standing(topic, **{"cleanup.policy": policy})
    changes = list(_compare(topic, "events", found, TopicSet()))

    assert refused is bool([one for one in changes if one.step is Step.REFUSE])


def test_r59_what_compaction_took_is_a_gap_and_no_empty_contract():
    """R59: a log that begins behind the confirmation knows that it is incomplete."""
    records = log_of(
        begin(), event(confirmed("P1", 'slots.dish != "latex"'), "e1"), event(text("jazz"), "e2"),
        *TURN[1:3],
    )  # fmt: skip
    store = fold(records[:1])
    store = fold(records, store, log=KeptLog(records, 2))
    (act,) = read(store, "repairs", RepairAct)

    assert Reason.HISTORY_INCOMPLETE is act.reason
    assert act.certificate.without_predicates
