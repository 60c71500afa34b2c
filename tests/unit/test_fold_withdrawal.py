"""Withdrawal, correction and erasure: what is taken away stays away (spec 1.8, 7.5)."""

import pytest

from schemas.agreement import PredicateConfirmed, PredicateProposed
from schemas.observation import (
    CommitmentObserved,
    ErasureRequested,
    HintKind,
    ObservationCorrected,
    OutcomeObserved,
)
from schemas.row import (
    CommitmentRow,
    EpisodeRow,
    EventRow,
    PredicateRow,
    ProposalRow,
    SeenRow,
    WithdrawnRow,
)
from tests.given import (
    DAY_MS,
    START_MS,
    corrected,
    event,
    evidence,
    form,
    given,
    hint,
    predicate,
    said,
    statement,
    unit,
    withdrawn,
)

NO_PORK = predicate('slots.dish != "pork"', "no-pork")


def contents(history, **changes):
    """Return the contents of E_t."""
    return [one.content for one in history.situation(**changes).units]


def test_a_withdrawn_event_bears_nothing():
    """Its units and statements go, and what it had replaced holds again."""
    history = given([event(form(diet="vegan")), event(form(diet="meat"), event_id="b")])
    history.send(event(withdrawn("b")))

    assert ("vegan", "asserted") == history.slot("diet")
    assert ["diet: vegan"] == contents(history)
    assert 1 == history.head().units


def test_withdrawal_reaches_everything_derived():
    """What is derived from it goes too, through any number of steps (spec 1.8)."""
    summary = said("the user avoids nuts")
    history = given(
        [
            event(said("I avoid nuts"), event_id="a"),
            event(summary, by="assistant:a", event_id="b", derived_from=("a",)),
            event(hint("avoid", "nuts", sources=("b",)), by="generator:g", event_id="c"),
            event(evidence(unit("nuts")), by="tool:t", event_id="d", derived_from=("c",)),
            event(said("hello"), event_id="e"),
        ]
    )
    history.send(event(withdrawn("a")))

    assert ["hello"] == contents(history)
    assert {} == dict(history.situation().slots)
    assert ["a", "b", "c", "d"] == [row_id for row_id, _ in history.scan(WithdrawnRow)]


def test_what_is_derived_later_is_void_at_once():
    """A lesson drawn from a withdrawn event bears nothing, however late it comes (report R16)."""
    history = given([event(said("secret"), event_id="a"), event(withdrawn("a"))])
    late = history.send(
        event(hint("job", "spy", sources=("a",)), by="generator:g", event_id="h"),
    )
    later = history.send(event(evidence(unit("spy")), by="tool:t", derived_from=("h",)))

    assert ("source_withdrawn", "source_withdrawn") == (late.ignored, later.ignored)
    assert [] == contents(history)


def test_an_event_withdrawn_before_it_arrives_is_void():
    """A withdrawal that overtakes its event holds when the event comes (fault 8)."""
    history = given([event(withdrawn("late"))])
    assert 1 == history.head().foreseen

    fate = history.send(event(form(diet="meat"), event_id="late"))
    assert "withdrawn" == fate.ignored
    assert (None, 0) == (history.slot("diet"), history.head().foreseen)


def test_withdrawing_twice_is_ignored():
    """What is withdrawn already changes nothing more."""
    history = given([event(said("x"), event_id="a"), event(withdrawn("a"))])

    assert "already_withdrawn" == history.send(event(withdrawn("a"))).ignored


def test_a_correction_withdraws_and_states():
    """The named events go, what is right comes in their place (spec 1.8)."""
    history = given([event(form(diet="vegan", city="Ghent"), event_id="a")])
    history.send(event(corrected("a", diet="meat")))

    assert (("meat", "asserted"), None) == (history.slot("diet"), history.slot("city"))
    assert ["diet: meat"] == contents(history)


def test_an_operators_correction_takes_effect():
    """An operator's word is weaker than the user's, but the corrected word is gone."""
    history = given([event(form(diet="vegan"), event_id="a")])
    history.send(event(corrected("a", diet="meat"), by="operator:ops"))

    assert ("meat", "observed") == history.slot("diet")


def test_a_late_correction_of_what_was_withdrawn_is_superseded():
    """A correction that waited in a queue brings nothing back (report R50)."""
    late = event(corrected("a", diet="meat"), at_ms=START_MS + 1)
    history = given(
        [event(form(diet="vegan"), event_id="a"), event(withdrawn("a"), at_ms=START_MS + 2)]
    )

    assert "superseded" == history.send(late).ignored
    assert history.slot("diet") is None


def test_withdrawal_closes_the_proposals_made_of_it():
    """An open proposal whose event is withdrawn is closed; the contract is the user's own."""
    rule = predicate('slots.dish != "beef"', "no-beef")
    history = given(
        [
            event(said("no pork"), event_id="a"),
            event(hint(rule=NO_PORK, sources=("a",)), by="generator:g"),
            event(PredicateProposed(rule, (), HintKind.CONSTRAINT), derived_from=("a",)),
            event(PredicateConfirmed(None, rule, ())),
        ]
    )
    history.send(event(withdrawn("a")))

    statuses = {row.predicate.predicate_id: row.status for _, row in history.scan(ProposalRow)}
    assert {"no-pork": "closed", "no-beef": "confirmed"} == statuses
    assert [None] == [row.ended_seq for _, row in history.scan(PredicateRow)]


def test_a_weaker_statement_holds_once_the_stronger_is_withdrawn():
    """Then nothing is left to confirm: its proposal is closed."""
    history = given(
        [event(form(diet="vegan"), event_id="a"), event(form(diet="meat"), by="tool:t")]
    )
    history.send(event(withdrawn("a")))

    assert ("meat", "observed") == history.slot("diet")
    assert ["closed"] == [row.status for _, row in history.scan(ProposalRow)]


def test_a_withdrawn_failure_no_longer_blocks_the_scene():
    """An outcome reported by mistake is taken back with its event."""
    history = given(
        [
            event(CommitmentObserved("c1", "dinner", "meal", ()), by="tool:t"),
            event(
                OutcomeObserved("dinner", None, False, (statement("paid", False),), (), ()),
                by="tool:t",
                event_id="o",
            ),
        ]
    )
    history.send(event(withdrawn("o")))

    assert history.get(EpisodeRow, "dinner").failed_seq is None
    assert "pending" == history.get(CommitmentRow, "c1").result


@pytest.mark.parametrize("window", ["inside", "outside"])
def test_an_event_is_found_inside_and_outside_the_window(window):
    """An old event can be withdrawn after its id has left the window of spec 1.4."""
    history = given([event(form(diet="vegan"), event_id="a")])
    if window == "outside":
        history.rows.apply("acme", "ada", {(SeenRow, "a"): None})
    history.send(event(withdrawn("a")))

    assert history.slot("diet") is None
    assert 0 == history.head().units


def test_erasing_events_purges_their_rows():
    """Events, proposals and predicates confirmed by them leave the rows (spec 7.5)."""
    history = given(
        [
            event(said("no pork"), event_id="a"),
            event(hint(rule=NO_PORK, sources=("a",)), by="generator:g"),
            event(PredicateConfirmed(None, predicate(), ()), event_id="c"),
            event(said("hello"), event_id="e"),
        ]
    )
    history.send(event(ErasureRequested(("a", "c"))))

    assert ["hello"] == contents(history)
    assert [] == history.scan(ProposalRow) == history.scan(PredicateRow)
    assert (0, 2) == (history.head().predicates, history.head().contract_version)


def test_erasing_a_user_leaves_only_ids_and_digests():
    """After it nothing that was said remains, and counting goes on where it was."""
    history = given(
        [
            event(form(diet="vegan"), event_id="a"),
            event(said("I like soup"), event_id="b"),
            event(PredicateConfirmed(None, predicate(), ())),
            event(hint("dish", "soup", sources=("b",)), by="generator:g"),
        ]
    )
    history.send(event(ErasureRequested(())))
    texts = repr([row for key, row in history.rows.snapshot().items() if key[0]])

    assert not [word for word in ("vegan", "soup") if word in texts]
    assert (5, 0, 0, 0) == (
        history.head().seq, history.head().units, history.head().texts, history.head().predicates,
    )  # fmt: skip


def test_suppression_is_by_event_id_never_by_content():
    """What is drawn from an erased event is void, but the user may say it again (spec 7.5)."""
    history = given([event(said("I like soup"), event_id="a"), event(ErasureRequested(()))])
    drawn = history.send(event(hint("dish", "soup", sources=("a",)), by="generator:g"))
    again = history.send(event(said("I like soup"), event_id="b"))
    fresh = history.send(event(hint("dish", "soup", sources=("b",)), by="generator:g"))

    assert ["source_withdrawn", "", ""] == [fate.ignored for fate in (drawn, again, fresh)]
    assert ("soup", "inferred") == history.slot("dish")


def test_a_correction_names_what_it_corrects():
    """A correction without event is no correction."""
    fate = given().send(event(ObservationCorrected((), ()), at_ms=START_MS + DAY_MS))

    assert "schema_violation" == fate.reason.value


def test_withdrawn_rows_are_gone():
    """No row that bore the event's content is left behind."""
    history = given([event(evidence(unit("x"), unit("y")), event_id="a"), event(withdrawn("a"))])

    assert [] == history.scan(EventRow)
