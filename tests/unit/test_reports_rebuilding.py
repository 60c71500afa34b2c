"""Public fault reports of time, gaps and rebuilding in streams, told to reducer and ledger.

Each test names its report; what needs a broker is stated again beside the tests of the broker.
"""

import shutil
from dataclasses import replace

import pytest

from infra.appending import append_events
from infra.audit.history import EmbeddedSource
from infra.audit.replay import replay
from infra.backfill.plan import Plan
from infra.backfill.run import backfill
from infra.backfill.tables import read_table
from infra.erasing import EmbeddedErasable, erase
from infra.opening import mark_encrypted, open_embedded
from infra.provision import Step, TopicSet, _compare, _Standing
from infra.records import read_output
from schemas.candidate import SlotValue
from schemas.codec import decode, frame, unframe
from schemas.control import HistoryAttested
from schemas.event import Event
from schemas.identity import record_key
from schemas.observation import ErasureRequested
from schemas.outcome import Act, Commitment, Reason, RepairAct
from schemas.row import EventRow, PendingRow, SlotRow
from schemas.topics import EVENTS, ROWS, list_settings
from streams import row_store
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from tests.canary import build_uncompressed
from tests.conversation import GENERATOR, OPERATOR
from tests.kitchen import meal
from tests.plain_fold import name_row
from tests.situations import request
from tests.talk import answer, confirmed, form, read_ms
from tests.talk import said as text
from tests.told_log import KEY, TURN, KeptLog, begin, event, fold, log_of, read, reasons, rows

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


def keep(folder, events):
    """Append events to a log in a folder and fold them."""
    with Embedded(folder, CoreReducer()) as embedded:
        append_events(embedded, events)
        embedded.fold_pending()
    return folder


def count(folder):
    """Return how many records stand on each topic of outcomes."""
    with Embedded(folder, CoreReducer()) as embedded:
        topics = ("commitments", "repairs", "failures")
        return [len(list(embedded.outputs(topic))) for topic in topics]


def dine(number, *proposed):
    """Return the events of one turn."""
    asked = event(request(asks=(SlotValue("dish", "soup"),)), f"t{number}")
    given = event(answer(f"t{number}", *proposed), f"c{number}", principal=GENERATOR)
    return (asked, given)


def five_turns():
    """Return a history of three commitments, one question and one abstention."""
    return [
        begin(),
        event(request(), "t3"),
        *(one for number in range(3) for one in dine(number, meal("soup"))),
        *dine(4),
    ]


def test_r58_rebuilding_and_replaying_send_nothing(tmp_path):
    """R58: live 3 and 2; a replay says 5 of 5 identical; nothing is put out a second time."""
    folder = keep(tmp_path / "log", five_turns())
    live = count(folder)
    with Embedded(folder, CoreReducer()) as embedded:
        report = replay(embedded, lambda _done, _left: None)
        embedded.fold_pending()
    shutil.rmtree(folder / "rows")
    keep(folder, [])

    assert [3, 2, 0] == live == count(folder)
    assert (report.clean, 0, 0, 0) == (
        True, report.missing, report.duplicate, report.divergent
    )  # fmt: skip
    assert report.outputs == report.identical


def test_r58_a_backfill_writes_tables_and_publishes_nothing(tmp_path):
    """R58: five rows, each with its run and the core's version; live topics stay as they were."""
    folder = keep(tmp_path / "log", five_turns())
    live = count(folder)
    summary = run_backfill(folder, tmp_path / "out")
    table = read_table(tmp_path / "out", "decisions")

    assert live == count(folder)
    assert 5 == table.height
    assert {summary["run_id"]} == set(table["run_id"])
    assert {CoreReducer.version} == set(table["core_version"])


def run_backfill(folder, out):
    """Recompute a log under its own settings."""
    return backfill(EmbeddedSource(folder), Plan(), out, lambda _done, _left: None)


def test_r53_a_backfill_later_decides_as_then(tmp_path):
    """R53: recomputed at any later time, what was valid at the turn is valid in the table."""
    events = [decode(Event, unframe(Event, one.value)[1]) for one in _lease(BEFORE)]
    folder = keep(tmp_path / "log", events)
    run_backfill(folder, tmp_path / "out")

    (row,) = read_table(tmp_path / "out", "vectors").iter_rows(named=True)
    assert (1, ["P1:fails"]) == (row["nu_h"], row["violated"])


SECRET = "I see a counsellor on Mondays."


def _erased():
    return [
        begin(),
        event(text(SECRET), "e1"),
        event(form(therapy="counsellor"), "f1", derived_from=("e1",)),
        event(ErasureRequested(("e1",)), "e2"),
        *dine(1, meal("soup")),
    ]


def test_r16_replay_and_backfill_bring_nothing_back(tmp_path):
    """R16: after either, pool and state are empty and no later topic holds the words."""
    folder = keep(tmp_path / "log", _erased())
    for _ in range(2):
        with Embedded(folder, CoreReducer()) as embedded:
            assert replay(embedded, lambda _done, _left: None).clean
            with embedded.reading() as store:
                assert [] == list(store.scan(name_row(("t", "m"), EventRow, "")))
                left = [value for key, value in store.scan(name_row(("t", "m"), SlotRow, ""))]
            found = [one.record.value for one in embedded.outputs("packets")]
        run_backfill(folder, tmp_path / "out")
        assert not any(b"counsellor" in value for value in (*left, *found))
    assert [[]] == read_table(tmp_path / "out", "decisions")["evidence_ids"].to_list()


def test_r16_what_was_erased_cannot_be_read_anywhere(tmp_path, monkeypatch):
    """R16: no file of an encrypted log holds a word of it, and nothing that is derived stands."""
    monkeypatch.setenv("COMMITMENTS_KEY_STORE", str(tmp_path / "keys"))
    monkeypatch.setattr(row_store, "build_options", build_uncompressed)
    folder = tmp_path / "log"
    open_embedded(folder).close()
    mark_encrypted(folder)
    drawn = event(form(therapy="counsellor", dish="soup"), "f1", derived_from=("e1",))
    with open_embedded(folder) as embedded:
        append_events(embedded, [*_erased()[:2], drawn, *dine(1, meal("soup"))])
        embedded.fold_pending()
        log = EmbeddedErasable(embedded)
        report = erase(log, tenant="t", user="m", event_ids=("e1",), operator=OPERATOR.id)
        append_events(embedded, dine(2, meal("soup")))
        embedded.fold_pending()
        packets = [
            read_output("packets", value)
            for one in embedded.outputs("packets")
            if (value := embedded.opener.unseal(one.record.value)) is not None
        ]
        compared = replay(embedded, lambda _done, _left: None)

    assert ((2, 1), True) == ((report.events, report.turns), compared.clean)
    assert [("t2", ())] == [(packet.turn_id, packet.units) for packet in packets]
    assert not any(
        b"counsellor" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )
