"""Laws of the fold over random histories: determinism, prefixes, duplicates, authority."""

from dataclasses import replace

from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from processors.compilation.history import list_slot_standings
from processors.compilation.slots import list_standings, settle, settle_set
from processors.compilation.units import (
    count_answer_units,
    count_units,
    is_hint,
    is_own_text,
)
from processors.limits import UNITS_MAX
from schemas.event import PrincipalKind
from schemas.fate import FateStatus
from schemas.identity import predicate_digest
from schemas.row import EventRow, PredicateRow, QuestionRow, SlotRow, StatementRow
from tests.fold_events import HOUR_MS, KINDS, PREDICATES, write_history
from tests.given import TENANT, USER, event, given, withdrawn

seeds = st.integers(0, 2**32)
CONFIRMING = ("confirmed", "answered")
SILENT = tuple(kind for kind in KINDS if kind not in CONFIRMING)


def fold_seed(seed, kinds=None, size=24):
    """Return the history of a seed, in which a question is open from the start."""
    history = given()
    digests = (predicate_digest(PREDICATES[0]), predicate_digest(PREDICATES[3]))
    asked = QuestionRow("key", "dinner", "", ("diet",), digests, "t", 0, "open")
    history.rows.apply(TENANT, USER, {(QuestionRow, "q1"): asked})
    history.send(*write_history(seed, size, kinds))
    return history


@settings(max_examples=60, deadline=None)
@for_all(seeds)
def test_the_same_history_folds_to_the_same_rows(seed):
    """Folding twice gives equal rows and equal fates."""
    first, second = fold_seed(seed), fold_seed(seed)

    assert first.rows.snapshot() == second.rows.snapshot()
    assert first.fates == second.fates


@settings(max_examples=60, deadline=None)
@for_all(seeds, st.integers(0, 24))
def test_a_prefix_and_then_the_rest_fold_to_the_whole(seed, cut):
    """The rows after a prefix, as stored, are all that folding the rest needs."""
    events = write_history(seed)
    whole, resumed = given(events), given()
    for one in (*events[:cut], *events[cut:]):
        resumed.send(one)

    assert whole.rows.snapshot() == resumed.rows.snapshot()


@settings(max_examples=60, deadline=None)
@for_all(seeds)
def test_duplicates_change_nothing(seed):
    """An accepted event sent again is counted as a duplicate, whatever happened since."""
    history = fold_seed(seed)
    sent = zip(tuple(history.sent), tuple(history.fates), strict=True)
    accepted = [one for one, fate in sent if fate.status is FateStatus.ACCEPTED and one.user]
    before = history.rows.snapshot()
    statuses = {history.send(again).status for again in accepted}

    assert statuses <= {FateStatus.DUPLICATE}
    assert before == history.rows.snapshot()


@settings(max_examples=40, deadline=None)
@for_all(seeds, seeds)
def test_users_do_not_touch_each_other(seed, other):
    """Two users' events, interleaved, fold to what each gives alone (spec 1.2, fault 31)."""
    own = write_history(seed, 12)
    foreign = [replace(one, user="bob") for one in write_history(other, 12)]
    together = given([one for pair in zip(own, foreign, strict=True) for one in pair])

    assert rows_of(given(own), USER) == rows_of(together, USER)
    assert rows_of(given(foreign), "bob") == rows_of(together, "bob")


def rows_of(history, user):
    """Return the rows of one user."""
    return {key: row for key, row in history.rows.snapshot().items() if key[1] == user}


@settings(max_examples=60, deadline=None)
@for_all(seeds)
def test_without_a_confirmation_no_contract_grows(seed):
    """Whatever users say, models infer and tools report: only a confirmation makes a predicate."""
    history = fold_seed(seed, SILENT)

    assert [] == history.scan(PredicateRow)
    assert 0 == history.head().predicates


@settings(max_examples=60, deadline=None)
@for_all(seeds)
def test_no_model_or_tool_confirms(seed):
    """Every predicate ever in force was confirmed by the user or an operator with the right."""
    history = fold_seed(seed)

    kinds = {row.principal_kind for _, row in history.scan(PredicateRow)}
    assert kinds <= {PrincipalKind.USER, PrincipalKind.OPERATOR}


@settings(max_examples=100, deadline=None)
@for_all(seeds)
def test_the_head_counts_what_the_rows_hold(seed):
    """Units, texts, predicates in force and seq in the head are those of the rows."""
    history = fold_seed(seed)
    head = history.head()
    rows = [row for _, row in history.scan(EventRow)]
    units = sum(count_units(row.event) for row in rows)
    units += sum(count_answer_units(row) for _, row in history.scan(StatementRow))
    in_force = [row for _, row in history.scan(PredicateRow) if row.ended_seq is None]
    accepted = [fate for fate in history.fates if fate.seq]

    assert units == head.units <= UNITS_MAX
    hints = sum(is_hint(row) for _, row in history.scan(StatementRow))

    assert sum(is_own_text(row.event) for row in rows) == head.texts
    assert hints == head.hints
    assert len(in_force) == head.predicates
    assert len(accepted) == head.seq
    assert head.foreseen >= 0


@settings(max_examples=100, deadline=None)
@for_all(seeds)
def test_a_slot_row_is_what_its_history_gives(seed):
    """What a slot's row keeps, step by step, wins as all its statements would, now and later."""
    history = fold_seed(seed)
    rows = dict(history.scan(SlotRow))
    keys = dict.fromkeys((row.subject, row.slot) for row in rows.values())
    found = list_slot_standings(history.rows.view(), keys)
    for hours in (0, 5, 40):
        at_ms = history.head().effective_ms + hours * HOUR_MS
        for (subject, slot), standings in found.items():
            choose = settle_set if slot == "avoid" else settle
            expected = choose(standings, at_ms)
            actual = choose(list_standings(rows[f"{subject}\0{slot}"]), at_ms)

            assert show_value(expected) == show_value(actual)


def show_value(standing):
    """Return what a slot's value is worth, without its provenance."""
    return None if standing is None else (standing.value, standing.authority)


@settings(max_examples=100, deadline=None)
@for_all(seeds)
def test_a_withdrawn_event_is_as_if_never_observed(seed):
    """For E_t and u_t a history with an observation withdrawn equals the one without it."""
    kinds = ("form", "said", "evidence", "hint", "outcome")
    events = list({one.event_id: one for one in write_history(seed, 16, kinds)}.values())
    last_ms = max(one.occurred_at_ms for one in events)
    taken = events[seed % len(events)].event_id
    end = event(withdrawn(taken), at_ms=last_ms, event_id="w")
    gone = find_derived(events, taken)
    withdrawal = given([*events, end])
    silence = given([*(one for one in events if one.event_id not in gone), end])

    assert show(silence.situation()) == show(withdrawal.situation())


def find_derived(events, taken):
    """Return the id and those of all events derived from it, whatever the order they came in."""
    gone = {taken}
    while True:
        more = {
            one.event_id
            for one in events
            if gone & {*one.derived_from, *getattr(one.payload, "source_event_ids", ())}
        }
        if more <= gone:
            return gone
        gone |= more


def show(situation):
    """Return E_t and u_t without seqs and times, which count the withdrawn event too."""
    units = [
        (one.event_id, one.content, one.dimensions, one.authority, one.cost)
        for one in situation.units
    ]
    slots = {
        key: (state.value, state.authority, state.event_id)
        for key, state in situation.slots.items()
    }
    preferences = {
        key: (state.value, confidence) for key, (state, confidence) in situation.preferences.items()
    }
    return units, slots, preferences
