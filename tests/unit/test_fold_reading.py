"""Reading a turn's situation back: E_t, u_t and what a question may be about (spec 3)."""

from processors.compilation.units import units_of
from schemas.agreement import PredicateConfirmed, PredicateRevoked
from schemas.observation import CommitmentObserved
from schemas.row import EventRow
from tests.given import (
    DAY_MS,
    START_MS,
    event,
    evidence,
    form,
    given,
    predicate,
    said,
    statement,
    turn,
    unit,
)


def contents(history, **changes):
    """Return the contents of E_t in order."""
    return [one.content for one in history.situation(**changes).units]


def test_units_are_numbered_by_event_and_place():
    """A unit's id is its event's seq and its place; order is that of both (spec 3.2)."""
    history = given(
        [
            event(said("hello")),
            event(evidence(unit("a"), unit("b"))),
            event(form(x=None, y=1, z="text")),
            event(PredicateConfirmed(None, predicate(), ())),
        ]
    )
    units = history.situation().units

    expected = ["1#0", "2#0", "2#1", "3#1", "3#2", "4#p:diet"]
    assert expected == [one.unit_id for one in units]
    assert ["hello", "a", "b", "y: 1", "z: text", 'slots.diet == "vegan"'] == [
        one.content for one in units
    ]


def test_a_rows_units_are_those_of_the_pool():
    """``units_of`` gives the units of one row as E_t has them."""
    history = given([event(form(y=1)), event(evidence(unit("a"), unit("b"))), event(said("x"))])
    single = [
        one for row_id, row in history.scan(EventRow) for _, one in units_of(row, int(row_id))
    ]

    assert history.situation().units == tuple(single)


def test_cost_is_given_or_counted_in_bytes():
    """Without a cost a unit costs its UTF-8 bytes; 0 is legal (spec 3.2)."""
    history = given([event(evidence(unit("é"), unit("é", cost=0), unit("é", cost=7)))])

    assert [2, 0, 7] == [one.cost for one in history.situation().units]


def test_a_replaced_statement_is_no_evidence():
    """A superseded unit cannot cover a requirement, whatever its relevance (report R04)."""
    history = given([event(form(city="Leeds")), event(form(city="Ghent"), at_ms=START_MS + DAY_MS)])

    assert ["city: Ghent"] == contents(history)
    assert ["city: Leeds"] == contents(history, as_of_ms=START_MS + 1)


def test_a_weaker_statement_is_evidence_beside_the_stronger():
    """Contradiction deletes neither side (spec 1.10)."""
    history = given([event(form(city="Leeds")), event(form(city="Ghent"), by="tool:t")])

    assert ["city: Leeds", "city: Ghent"] == contents(history)


def test_a_confirmed_value_leaves_the_evidence_for_it_alone():
    """Confirming what a form said does not take the form out of E_t; another value does."""
    history = given([event(form(diet="vegan")), event(PredicateConfirmed(None, predicate(), ()))])
    assert ["diet: vegan", 'slots.diet == "vegan"'] == contents(history)

    other = predicate('slots.diet == "meat"')
    history.send(event(PredicateConfirmed(None, other, ())))
    assert ['slots.diet == "meat"'] == contents(history)


def test_scopes_keep_units_apart():
    """A unit with scopes is seen only in turns that share one (report R13)."""
    history = given(
        [
            event(said("everywhere")),
            event(said("at work", scopes=("work",))),
            event(evidence(unit("medical", scopes=("health", "work")))),
            event(form(note="private", scopes=("home",))),
        ]
    )

    assert ["everywhere"] == contents(history)
    assert ["everywhere", "at work", "medical"] == contents(history, scopes=("work",))
    assert ["everywhere", "note: private"] == contents(history, scopes=("home",))


def test_intervals_bound_evidence():
    """A unit is in E_t for moments of [from, to) only; without from, from its effective time."""
    history = given(
        [
            event(evidence(unit("past", valid_to_ms=START_MS), unit("now"))),
            event(evidence(unit("next", valid_from_ms=START_MS + DAY_MS))),
        ]
    )

    assert ["now"] == contents(history)
    assert ["now", "next"] == contents(history, as_of_ms=START_MS + DAY_MS)
    assert [] == contents(history, as_of_ms=START_MS - 1)


def test_users_do_not_see_each_other():
    """Another user's events, however alike the ids, are in no pool (report R13)."""
    history = given([event(said("mine")), event(said("other"), user="ada2")])

    assert ["mine"] == contents(history)


def test_everything_the_user_ever_stated_is_known():
    """Replaced, expired and revoked values stay known as stated, newest first (spec 5.7)."""
    rule = predicate('slots.city == "Rome"', "city")
    history = given(
        [
            event(form(city="Leeds")),
            event(form(city="Oslo"), by="tool:t"),
            event(form(statement("city", "Paris", end_ms=START_MS + 1))),
            event(PredicateConfirmed(None, rule, ())),
            event(PredicateRevoked("city"), at_ms=START_MS + DAY_MS),
        ]
    )
    situation = history.situation()

    assert ["Rome", "Paris", "Leeds"] == [s.value for s in situation.stated["", "city"]]
    assert "Leeds" == situation.slots["", "city"].value


def test_touches_tell_what_changed_last():
    """Slots, dimensions, proposals and predicates name the seq that touched them (spec 5.9)."""
    history = given(
        [
            event(form(city="Leeds")),
            event(evidence(unit(dimensions=("mood",)))),
            event(PredicateConfirmed(None, predicate(), ())),
            event(form(city="Ghent"), by="tool:t"),
        ]
    )
    touches = history.situation().touches

    named = ["slot:\0city", "dimension:mood", "predicate:diet", "slot:\0diet", "dimension:city"]
    assert [4, 2, 3, 3, 4] == [touches[name].seq for name in named]


def test_the_situation_is_that_of_the_request():
    """as_of defaults to the turn's effective time; another is marked historical (spec 3.5)."""
    history = given(
        [
            event(said("x"), at_ms=START_MS + DAY_MS),
            event(CommitmentObserved("c1", "dinner", "meal", ()), by="tool:t"),
        ]
    )
    plain, earlier = history.situation(), history.situation(as_of_ms=START_MS)

    assert (START_MS + DAY_MS, False) == (plain.as_of_ms, plain.historical)
    assert (START_MS, True) == (earlier.as_of_ms, earlier.historical)
    assert ("dinner", "c1") == (plain.scene.name, plain.episode.last_commitment_id)
    assert ["c1"] == list(plain.commitments)
    assert "+00:00" == plain.zone


def test_a_scene_that_left_the_catalogue_allows_nothing():
    """A turn whose scene a newer catalogue lacks has no commitment type left."""
    history = given([event(said("x"))])

    assert () == history.situation(turn("gone")).scene.commitment_types
