"""Bad input: rejected with position and reason, and everything after it is folded as without it.

Records go through the reducer and the ledger, as they do in a worker; a record that no client of
this project would write is as good as any other.
"""

import hashlib
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.codec import decode, frame, unframe
from schemas.event import CONTROL_PAYLOADS
from schemas.fate import Fate, FateStatus
from schemas.identity import record_key
from schemas.outcome import Rejection
from schemas.row import RegimeRow
from streams.clock import SimulatedClock
from streams.core_reducer import CoreReducer
from streams.ledger import Ledger
from streams.ports import LogRecord
from tests.conversation import START_MS
from tests.hostile_events import draw_events
from tests.hostile_records import FORM, HOSTILE, KEY, LIMIT, said, stated
from tests.plain_fold import HeldLog, fold_plainly, name_row, number_events
from tests.random_history import tell_crowd, tell_history
from tests.simulation.memory_store import MemoryStore

GOOD = number_events(tell_crowd(7, users=2, events=40).events)
PLAIN = fold_plainly(GOOD)
MALLORY = b"u" + KEY


def mix(hostile, *, seed=0):
    """Return a log in which hostile (key, value) pairs stand among good records, and where."""
    draw = random.Random(seed)
    records = [(record.key, record.value, record.timestamp_ms) for record in GOOD]
    for key, value in reversed(hostile):
        place = draw.randrange(1, len(GOOD))
        records.insert(place, (key, value, START_MS))
    log = [LogRecord(at, k, v, ms, ()) for at, (k, v, ms) in enumerate(records)]
    good = {(record.key, record.value) for record in GOOD}
    return log, [at for at, (k, v, _) in enumerate(records) if (k, v) not in good]


def fold(records):
    """Return the store after folding records to the end, and the fate of each."""
    store = MemoryStore()
    ledger = Ledger(
        log=HeldLog(records), store=store, reducer=CoreReducer(), clock=SimulatedClock()
    )
    ledger.start()
    while ledger.fold_batch():
        pass
    return store, [decode(Fate, one) for batch in store.batches for one in batch.fates]


def check_good_is_untouched(store, fates, places):
    """Assert that every good record fared as in a log without the hostile ones."""
    good = [fate for at, fate in enumerate(fates) if at not in places]
    kept = {key: row for key, row in store.rows.items() if not key.startswith(MALLORY)}
    sent = [
        (one.record.key, one.record.value)
        for topic in ("commitments", "repairs", "failures", "packets", "surfaces")
        for one in store.outputs(topic)
        if one.record.key != KEY
    ]

    assert [decode(Fate, one) for one in PLAIN.fates] == good
    assert PLAIN.rows == {key: row for key, row in kept.items() if b"\0t\0m\0" not in key}
    assert sorted((key, value) for _, _, key, value in PLAIN.outputs) == sorted(sent)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_record_is_rejected_with_place_and_reason(name):
    """One reason of the closed list, the record's position and hash, its bytes where small."""
    (key, value), reason = HOSTILE[name]
    store, fates = fold([*GOOD[:9], LogRecord(9, key, value, START_MS, ())])
    fate = fates[9]
    if reason is None:
        assert FateStatus.ACCEPTED is fate.status
        return
    (output,) = [one for one in store.outputs("rejections") if one.offset == 9]
    rejection, _ = unframe(Rejection, output.record.value)
    small = value is not None and len(value) <= LIMIT

    assert (FateStatus.REJECTED, reason, None) == (fate.status, fate.reason.value, fate.seq)
    assert (0, 9, reason) == (rejection.partition, rejection.offset, rejection.reason)
    assert hashlib.sha256(value or b"").digest() == rejection.digest
    assert (value if small else None) == (rejection.data or None) or value in {None, b""}
    assert fate.detail == rejection.detail
    assert len(rejection.detail) < 1_000


@pytest.mark.parametrize("seed", range(3))
def test_everything_after_hostile_records_is_folded(seed):
    """With all of them strewn into a log, every good record fares as without them."""
    hostile = [case for case, reason in HOSTILE.values() if reason]
    records, places = mix(hostile, seed=seed)
    store, fates = fold(records)

    assert len(hostile) == len(places)
    assert {FateStatus.REJECTED} == {fates[at].status for at in places}
    check_good_is_untouched(store, fates, places)


def test_the_largest_event_is_accepted_and_one_byte_more_is_not():
    """The limit of spec 6.2 is exact, on the bytes of the record."""
    (_, largest), _ = HOSTILE["the largest"]
    (_, larger), _ = HOSTILE["one byte too many"]

    assert (LIMIT, LIMIT + 1) == (len(largest), len(larger))


def test_an_id_with_another_body_is_rejected_for_ever_and_a_repeat_is_counted():
    """The first body of an id stands; another is a conflict each time, the same a duplicate."""
    other = replace(said(stated("meat")), event_id=FORM.event_id)
    bodies = [FORM, other, FORM, other, FORM]
    records = [
        *GOOD,
        *(
            LogRecord(len(GOOD) + at, KEY, frame(one), START_MS, ())
            for at, one in enumerate(bodies)
        ),
    ]
    _, fates = fold(records)
    found = [(fate.status.value, fate.reason and fate.reason.value) for fate in fates[len(GOOD) :]]

    conflict = ("rejected", "event_id_conflict")
    assert [
        ("accepted", None),
        conflict,
        ("duplicate", None),
        conflict,
        ("duplicate", None),
    ] == found


def test_a_user_of_another_partition_is_rejected():
    """With four partitions, what belongs elsewhere is rejected here, and nothing else is."""
    genesis, _ = unframe(type(FORM), GOOD[0].value)
    wide = replace(genesis, payload=replace(genesis.payload, partitions=4))
    users = [f"m{number}" for number in range(40)]
    events = [wide, *(replace(FORM, user=user) for user in users)]
    _, fates = fold(number_events(events))
    reasons = [fate.reason and fate.reason.value for fate in fates[1:]]

    assert {None, "wrong_partition"} == set(reasons)
    assert 3 <= reasons.count(None) <= 20


SOURCES = [
    (record_key("t", "m"), frame(replace(event, user="m", tenant="t")))
    for seed in range(2)
    for event in tell_history(seed, 40).events
    if not isinstance(event.payload, CONTROL_PAYLOADS)
]


@st.composite
def mutants(draw):
    """Return a record of the user ``m``, cut, doubled, spliced or with other bytes in it."""
    key, value = draw(st.sampled_from(SOURCES))
    data = bytearray(value)
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0 if draw(st.booleans()) else 10, max(10, len(data) - 1)))
        kind = draw(st.sampled_from(["flip", "set", "cut", "insert", "splice"]))
        if kind == "flip" and place < len(data):
            data[place] ^= 1 << draw(st.integers(0, 7))
        elif kind == "set" and place < len(data):
            data[place] = draw(st.sampled_from([0, 1, 2, 127, 128, 255]))
        elif kind == "cut":
            del data[place : place + draw(st.integers(1, 40))]
        elif kind == "insert":
            data[place:place] = draw(st.binary(min_size=1, max_size=12))
        else:
            _, other = draw(st.sampled_from(SOURCES))
            data[place:] = other[draw(st.integers(10, len(other))) :]
    return key if draw(st.integers(0, 9)) else draw(st.binary(max_size=12)), bytes(data)


@settings(max_examples=60, deadline=None)
@given(st.lists(mutants(), min_size=10, max_size=40), st.integers(0, 100))
def test_mutated_bytes_have_a_fate_and_harm_nobody(hostile, seed):
    """Whatever bytes come, each has a fate, none is a fault of the core, and others go on."""
    records, places = mix(hostile, seed=seed)
    store, fates = fold(records)
    found = [fates[at] for at in places]
    rejected = [at for at in places if fates[at].status is FateStatus.REJECTED]

    assert len(records) == len(fates)
    assert not [fate for fate in found if fate.reason and fate.reason.value == "core_fault"]
    assert [] == [fate for fate in found if fate.status is FateStatus.UNKNOWN]
    assert rejected == [one.offset for one in store.outputs("rejections") if one.offset in places]
    check_good_is_untouched(store, fates, places)


def test_the_regime_is_out_of_reach():
    """After every hostile record the partition is under the rules that genesis gave it."""
    records, _ = mix([case for case, _ in HOSTILE.values()])
    store, _ = fold(records)
    regime = name_row(("", ""), RegimeRow, "")

    assert PLAIN.rows[regime] == store.rows[regime]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_no_event_that_the_schema_allows_is_a_fault_of_the_core(seed):
    """Fields that hold anything of their type are accepted or rejected, and fold to rows."""
    draw = random.Random(seed)
    sent = [(KEY, frame(event)) for event in draw_events(draw, 60)]
    records, places = mix(sent, seed=seed)
    store, fates = fold(records)

    assert [] == [fate for fate in fates if fate.reason and fate.reason.value == "core_fault"]
    check_good_is_untouched(store, fates, places)
