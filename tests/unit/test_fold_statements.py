"""Slot statements: authority, intervals, sets and proposals (spec 1.10, 3.1)."""

import pytest

from processors.authority import ORDER, lowest, rank, speak
from schemas.catalogue import Authority
from schemas.event import PrincipalKind
from schemas.row import ProposalRow, SlotRow
from schemas.value import RecordValue, StringSet
from tests.given import DAY_MS, START_MS, event, form, given, hint, said, statement

HOUR_MS = 3_600_000


def open_proposals(history):
    """Return (predicate id, expression, authority) of the open proposals."""
    return [
        (row.predicate.predicate_id, row.predicate.expression, row.authority.value)
        for _, row in history.scan(ProposalRow)
        if row.status == "open"
    ]


def test_authority_has_one_order():
    """Hint below inferred below observed below asserted below confirmed (spec 1.10)."""
    names = ["unknown", "hint", "inferred", "observed", "asserted", "confirmed"]

    assert names == [authority.value for authority in sorted(ORDER, key=rank)]
    assert Authority.HINT == lowest([])
    assert Authority.OBSERVED == lowest([Authority.ASSERTED, Authority.OBSERVED])


def test_a_principal_speaks_with_its_own_authority():
    """Users assert, tools and operators observe, models hint."""
    spoken = {kind.value: speak(kind).value for kind in PrincipalKind}

    assert "asserted" == spoken["user"]
    assert {"observed"} == {spoken["tool"], spoken["operator"]}
    assert {"hint"} == {spoken["assistant"], spoken["generator"], spoken["clock"]}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("user:ada", "user:ada", ("meat", "asserted")),
        ("tool:t", "user:ada", ("meat", "asserted")),
        ("tool:t", "tool:t", ("meat", "observed")),
        ("user:ada", "tool:t", ("vegan", "asserted")),
    ],
)
def test_equal_or_higher_authority_replaces(first, second, expected):
    """Within a slot the last statement of the highest authority is in force."""
    history = given([event(form(diet="vegan"), by=first), event(form(diet="meat"), by=second)])

    assert expected == history.slot("diet")


def test_a_weaker_statement_opens_a_proposal():
    """What a tool saw does not overwrite what the user asserted; the user may confirm it."""
    history = given([event(form(diet="vegan")), event(form(diet="meat"), by="tool:t")])

    assert [("slot:.diet", 'slots.diet == "meat"', "observed")] == open_proposals(history)


def test_a_weaker_statement_of_the_same_value_proposes_nothing():
    """Agreement needs no confirmation."""
    history = given([event(form(diet="vegan")), event(form(diet="vegan"), by="tool:t")])

    assert [] == open_proposals(history)


def test_a_value_without_literal_proposes_nothing():
    """A record has no literal in the predicate language, so nothing could be confirmed."""
    value = RecordValue((("a", 1),))
    history = given([event(form(diet="vegan")), event(form(diet=value), by="tool:t")])

    assert [] == open_proposals(history)
    assert ("vegan", "asserted") == history.slot("diet")


def test_subjects_have_slots_of_their_own():
    """What is said about another person replaces nothing of the user (report R25)."""
    about = statement("diet", "meat", subject="flatmate")
    history = given([event(form(diet="vegan")), event(form(about))])

    assert ("vegan", "asserted") == history.slot("diet")
    assert ("meat", "asserted") == history.slot("diet", "flatmate")


def test_the_user_named_by_id_is_the_user():
    """A statement about the user's own id is one about the user."""
    history = given([event(form(statement("diet", "vegan", subject="ada")))])

    assert ("vegan", "asserted") == history.slot("diet")


def test_names_of_any_script_stay_apart():
    """Slot names are compared as they are, never reduced to ASCII (report R14)."""
    history = given([event(form(饮食="a", 住所="b"))])

    assert [("a", "asserted"), ("b", "asserted")] == [history.slot("饮食"), history.slot("住所")]


def test_a_statement_ends_and_the_one_before_holds_again():
    """An interval [from, to) ends; what it covered for a while was never overwritten."""
    end_ms = START_MS + HOUR_MS
    history = given(
        [
            event(form(city="Ghent")),
            event(form(statement("city", "Paris", end_ms=end_ms))),
        ]
    )
    during = history.situation().slots["", "city"].value
    history.send(event(said("back"), at_ms=end_ms))
    after = history.situation().slots["", "city"].value

    assert ["Paris", "Ghent"] == [during, after]


def test_a_weaker_statement_does_not_profit_from_an_expired_one():
    """When a bounded statement has ended, a weaker one still meets the asserted one before it."""
    end_ms = START_MS + HOUR_MS
    history = given(
        [
            event(form(city="Ghent")),
            event(form(statement("city", "Paris", end_ms=end_ms))),
            event(form(city="Rome"), by="tool:t", at_ms=end_ms),
        ]
    )

    assert ("Ghent", "asserted") == history.slot("city")
    assert [("slot:.city", 'slots.city == "Rome"', "observed")] == open_proposals(history)


def test_as_of_decides_which_statement_holds():
    """At an earlier moment the earlier statement holds (report R04)."""
    history = given([event(form(city="Leeds")), event(form(city="Ghent"), at_ms=START_MS + DAY_MS)])
    values = [
        history.situation(as_of_ms=START_MS + offset).slots["", "city"].value
        for offset in (0, DAY_MS - 1, DAY_MS)
    ]

    assert ["Leeds", "Leeds", "Ghent"] == values


def test_a_set_slot_adds():
    """Statements of a declared set unite; a list counts as its strings (report R52)."""
    history = given([event(form(avoid="sesame")), event(form(avoid=("nuts", "sesame")))])

    assert (StringSet(("nuts", "sesame")), "asserted") == history.slot("avoid")


def test_a_weaker_statement_does_not_add_to_a_set():
    """Adding to a set needs the authority of the set; the union is proposed instead."""
    history = given([event(form(avoid="sesame")), event(form(avoid="nuts"), by="tool:t")])

    assert (StringSet(("sesame",)), "asserted") == history.slot("avoid")
    expected = [("slot:.avoid", 'slots.avoid == set("nuts", "sesame")', "observed")]
    assert expected == open_proposals(history)


def test_a_derived_statement_is_worth_its_lowest_source():
    """A tool's form made from an assistant's text is a hint, whoever sends it (spec 1.10)."""
    history = given(
        [
            event(said("you like meat"), by="assistant:a", event_id="text"),
            event(form(diet="meat"), by="tool:t", derived_from=("text",)),
            event(form(dish="soup"), by="tool:t", derived_from=("nothing known",)),
            event(said("I like soup"), event_id="own"),
            event(form(drink="tea"), by="tool:t", derived_from=("own",)),
        ]
    )

    found = [history.slot(name)[1] for name in ("diet", "dish", "drink")]
    assert ["hint", "hint", "observed"] == found


def test_text_of_assistants_and_summaries_makes_nothing():
    """Only what the user said becomes a unit; other text stays in the log (report R07)."""
    from schemas.observation import UtteranceOrigin

    history = given(
        [
            event(said("You are a developer."), by="assistant:a"),
            event(said("User is 31.", origin=UtteranceOrigin.RECALLED)),
            event(said("Thanks.")),
        ]
    )

    assert ["Thanks."] == [unit.content for unit in history.situation().units]
    assert [] == history.scan(SlotRow)


def test_repetition_raises_nothing():
    """The same hint again leaves the proposal as it was (report R07)."""
    source = event(said("no nuts for me"), event_id="s")
    history = given([event(form(avoid="sesame")), source])
    for _ in range(3):
        history.send(event(hint("avoid", "nuts", sources=("s",)), by="generator:g"))

    assert [("slot:.avoid", 'slots.avoid == set("nuts", "sesame")', "inferred")] == open_proposals(
        history
    )
