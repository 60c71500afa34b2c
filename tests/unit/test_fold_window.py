"""The window of event ids, and what one event costs (spec 1.4, 6.2)."""

import pytest

from processors.compilation import evidence as evidence_module
from processors.compilation.admission import admit
from processors.compilation.folding import fold
from processors.limits import ORDER_BLOCK, SEEN_EVENTS_MIN
from schemas.fate import FateStatus
from schemas.row import EventRow, OrderRow, SeenRow
from tests.given import DAY_MS, START_MS, event, evidence, form, given, said, stamp_of, turn, unit


@pytest.fixture(scope="module")
def long_history():
    """Return a history of more events than the window holds, ten days in a minute each."""
    history = given()
    step_ms = 10 * DAY_MS // SEEN_EVENTS_MIN
    for number in range(SEEN_EVENTS_MIN + 3 * ORDER_BLOCK):
        at_ms = START_MS + number * step_ms
        history.send(event(turn(), event_id=f"e{number}", at_ms=at_ms))
    return history


def test_ids_leave_when_they_are_old_in_number_and_time(long_history):
    """Rows of ids older than 4,096 events and seven days are dropped, whole blocks at a time."""
    seen = len(long_history.scan(SeenRow))
    blocks = len(long_history.scan(OrderRow))

    assert SEEN_EVENTS_MIN <= seen <= SEEN_EVENTS_MIN + 2 * ORDER_BLOCK
    assert blocks <= SEEN_EVENTS_MIN // ORDER_BLOCK + 2


def test_an_old_id_can_be_used_again(long_history):
    """Outside the window an id is free, and then belongs to the new event."""
    new = event(turn(), event_id="e0", at_ms=START_MS + 11 * DAY_MS)

    assert FateStatus.ACCEPTED == long_history.send(new).status
    assert FateStatus.DUPLICATE == long_history.send(new).status


def test_inside_seven_days_ids_are_kept_however_many_came():
    """The window is the longer of 4,096 events and seven days."""
    history = given([event(turn(), event_id="first")])
    for number in range(SEEN_EVENTS_MIN + ORDER_BLOCK):
        history.send(event(turn(), event_id=f"e{number}"))

    assert FateStatus.DUPLICATE == history.send(history.sent[1]).status


def test_a_reused_id_survives_the_block_of_its_first_use():
    """Dropping an old block must not forget an id that a newer event has taken."""
    history = given()
    far = START_MS + 8 * DAY_MS
    for number in range(SEEN_EVENTS_MIN + 1):
        history.send(event(turn(), event_id=f"e{number}", at_ms=START_MS))
    again = event(turn(), event_id="e0", at_ms=far)
    history.send(again)
    for number in range(2 * ORDER_BLOCK):
        history.send(event(turn(), event_id=f"f{number}", at_ms=far))

    assert history.get(SeenRow, "e1") is None
    assert FateStatus.DUPLICATE == history.send(again).status


def count_reads(history, sent):
    """Return the rows that admitting and folding one event reads, without applying it."""
    view = history.rows.view()
    arrival = admit(view, sent, stamp_of(sent))
    fold(view, arrival)
    return {(record.__name__, row_id) for record, row_id in view.reads}


@pytest.mark.parametrize("size", [3, 400])
def test_an_observation_reads_only_what_it_touches(size):
    """Head, seen row, its own slots and the regime: cost does not grow with the history."""
    history = given(
        [event(form(diet=f"v{number}", city="x"), event_id=f"e{number}") for number in range(size)]
    )
    reads = count_reads(history, event(form(diet="new")))
    records = {"UserHead", "SeenRow", "SlotRow", "RegimeRow", "CatalogueRow"}

    assert records == {name for name, _ in reads}
    assert {"\0diet"} == {row_id for name, row_id in reads if name == "SlotRow"}


def test_an_utterance_reads_no_slot():
    """Text and evidence need the head, the seen row and the regime alone."""
    history = given([event(said("x"))])
    text = {name for name, _ in count_reads(history, event(said("y")))}
    units = {name for name, _ in count_reads(history, event(evidence(unit())))}

    assert {"UserHead", "SeenRow", "RegimeRow"} == text == units


def test_the_oldest_plain_texts_leave_first(monkeypatch):
    """At the limit of units the oldest utterances make room; other evidence stays (spec 6.2)."""
    monkeypatch.setattr(evidence_module, "UNITS_MAX", 4)
    history = given(
        [
            event(said("one")),
            event(evidence(unit("kept"))),
            event(said("two")),
            event(said("three")),
            event(evidence(unit("a"), unit("b"))),
        ]
    )
    contents = [one.content for one in history.situation().units]

    assert ["kept", "three", "a", "b"] == contents
    assert "utterances before seq 4 have left" in history.fates[-1].detail
    assert (4, 1, 4) == (history.head().units, history.head().texts, history.head().oldest_text_seq)
    assert 3 == len(history.scan(EventRow))
