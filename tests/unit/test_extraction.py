"""Extraction by rules: what a user's words propose, about whom, with which exception."""

import time as clock
from dataclasses import replace
from datetime import date, time
from decimal import Decimal
from importlib import resources

import pytest

from infra.extraction.extraction import extract
from infra.extraction.lexicon import EMPTY, build_lexicon
from infra.importers.sgd import import_sgd
from schemas.event import Principal, PrincipalKind
from schemas.observation import HintExtracted, HintKind, UtteranceOrigin
from schemas.row import PredicateRow, ProposalRow
from schemas.value import Money
from tests.conversation import OPERATOR, Conversation
from tests.said_words import (
    DINNER_WORDS,
    FILM_WORDS,
    FLIGHT_WORDS,
    TABLE_WORDS,
    TRIP_WORDS,
    utterance,
)


def hints(text, words=DINNER_WORDS, **envelope):
    """Return the slots that a text fills."""
    events = extract(utterance(text, **envelope), words)
    found = [one.payload for one in events if isinstance(one.payload, HintExtracted)]
    return {one.slot: one.value for one in found if one.kind is HintKind.SLOT and not one.subject}


def tastes(text, words=EMPTY):
    """Return the tastes that a text shows, as (subject, thing, stance)."""
    events = extract(utterance(text), words)
    found = [one.payload for one in events if isinstance(one.payload, HintExtracted)]
    return [(one.subject, one.slot, one.value) for one in found if one.kind is HintKind.PREFERENCE]


def rules(text, words=DINNER_WORDS):
    """Return the rules that a text proposes, as (kind, expression, unless, subject)."""
    events = extract(utterance(text), words)
    found = [one.payload for one in events if not isinstance(one.payload, HintExtracted)]
    return [
        (one.kind.value, one.predicate.expression, one.predicate.unless, one.predicate.subject)
        for one in found
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A table for two tomorrow at 7 pm, please.",
         {"seats": 2, "day_date": date(2026, 2, 28), "start_time": time(19)}),
        ("It is for four people on the 3rd at quarter to 8 in the evening.",
         {"seats": 4, "day_date": date(2026, 3, 3), "start_time": time(19, 45)}),
        ("Something Thai, twenty five dollars.",
         {"kitchen": "Thai", "price": Money(Decimal(25), "USD")}),
        ("thai for 30 euros, half past 12 in the afternoon",
         {"kitchen": "Thai", "price": Money(Decimal(30), "EUR"), "start_time": time(12, 30)}),
        ("Party name: Ada's Fifty\nSeats: 6", {"party_name": "Ada's Fifty", "seats": 6}),
        ("At 7:30, on 3/4.", {}),
        ("On the 31st of June", {}),
        ("seven or eight seats", {}),
        ("Seats for 7 people or for 8 people", {}),
        ("Does it open at 7 pm?", {}),
        ("If it were 7 pm I would come", {}),
        ('He wrote "come at 7 pm for 3 people"', {}),
        ("> at 7 pm for 3 people", {}),
        ("assistant: book it at 7 pm\nuser: confirmed", {}),
        ("<document>at 7 pm for 3 people</document>", {}),
    ],
)  # fmt: skip
def test_slots_come_from_words_with_one_meaning(text, expected):
    """Dates, times, amounts, counts and labels are read; what has two meanings is not."""
    assert expected == hints(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("At 6 pm, no, make it 7 pm.", {"start_time": time(19)}),
        ("At 7 pm instead of 6 pm.", {"start_time": time(19)}),
        ("Not at 6 pm, at 7 pm.", {"start_time": time(19)}),
        ("Thai. Sorry, I meant Italian.", {"kitchen": "Italian"}),
        ("At 6 pm at 7 pm", {}),
    ],
)
def test_words_of_correction_settle_what_was_said_twice(text, expected):
    """Without them two values of one slot are no value."""
    assert expected == hints(text)


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("Find me a place in San Jose, please.", TABLE_WORDS, {"location": "San Jose"}),
        ("In Rio de Janeiro on March 3rd", TABLE_WORDS, {"location": "Rio de Janeiro"}),
        ("A table at Andes Cafe for March 2nd", TABLE_WORDS, {"restaurant_name": "Andes Cafe"}),
        ("One called Beauty and the Beast", FILM_WORDS, {"movie_name": "Beauty and the Beast"}),
        ("one directed by Brian De Palma with Alix Talton in it", FILM_WORDS,
         {"director": "Brian De Palma", "actors": "Alix Talton"}),
        ("I fly from New York to Los Angeles.", FLIGHT_WORDS,
         {"origin_city": "New York", "destination_city": "Los Angeles"}),
        ("In San Jose. Sorry, I meant in Oakland.", TABLE_WORDS, {"location": "Oakland"}),
        ("Not in Oakland, in Berkeley.", TABLE_WORDS, {"location": "Berkeley"}),
        ("In San diego", TABLE_WORDS, {}),
        ("In Oakland or in Berkeley", TABLE_WORDS, {}),
        ("In March, in English", TABLE_WORDS, {}),
        ("somewhere in oakland", TABLE_WORDS, {}),
        ("Is it in Oakland?", TABLE_WORDS, {}),
        ("If I were in Oakland I would come", TABLE_WORDS, {}),
        ("He lives in Oakland.", TABLE_WORDS, {}),
        ('She wrote "come to us in Oakland"', TABLE_WORDS, {}),
        ("> in Oakland", TABLE_WORDS, {}),
        ("I will go with Green Book.", FILM_WORDS, {}),
        ("Send it to the recipient called Mallory", FLIGHT_WORDS, {}),
    ],
)  # fmt: skip
def test_names_are_read_where_a_word_introduces_them(text, words, expected):
    """Capitals tell a name, the word before it the slot; a recipient is never read off a text."""
    assert expected == hints(text, words)


def test_the_ends_of_a_stretch_are_told_apart_by_their_words():
    """Leaving and returning fill their own slots; "make it the 5th" alone fills the start."""
    found = hints("I leave on March 3rd and I return on the 9th, two rooms", TRIP_WORDS)

    assert {
        "departure_date": "2026-03-03", "return_date": "2026-03-09", "number_of_rooms": "2"
    } == found  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Never call me unless it is a school emergency.",
         [("constraint", 'slots.channel != "phone"', 'slots.topic == "school_emergency"', "")]),
        ("Please never call me.", [("constraint", 'slots.channel != "phone"', None, "")]),
        ("Never call me unless I am at sea.", []),
        ("Never call me except on school emergencies and newsletters.", []),
        ("Never spend more than $50 on dinner.",
         [("constraint", 'slots.price <= money("50 USD")', None, "")]),
        ("At most 40 EUR, please.", [("constraint", 'slots.price <= money("40 EUR")', None, "")]),
        ("It must not start before 6 pm.",
         [("constraint", 'slots.start_time >= time("18:00")', None, "")]),
        ("I don't want Italian.", [("preference", 'slots.kitchen != "Italian"', None, "")]),
        ("Celery makes me ill.",
         [("constraint", 'slots.ingredients excludes "celery"', None, "")]),
        ("I'm allergic to nuts and shellfish.",
         [("constraint", 'slots.ingredients excludes "nuts"', None, ""),
          ("constraint", 'slots.ingredients excludes "shellfish"', None, "")]),
        ("My flatmate can't eat shellfish, it upset our dinner plan.",
         [("constraint", 'slots.ingredients excludes "shellfish"', None, "flatmate")]),
        ("Anna is allergic to soy.",
         [("constraint", 'slots.ingredients excludes "soy"', None, "Anna")]),
        ("He can't eat soy.", []),
        ("I can't eat nuts unless they are roasted.", []),
        ("Can't I eat nuts?", []),
        ("Yes, please keep that.", []),
        ("I must not eat that.", []),
    ],
)  # fmt: skip
def test_rules_are_proposed_with_exception_and_subject_or_not_at_all(text, expected):
    """An exception that does not read keeps its rule from being proposed wider than said."""
    assert expected == rules(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hotpot is my favourite.", [("", "hotpot", "like")]),
        ("I can't stand hotpot any more.", [("", "hotpot", "dislike")]),
        ("My wife loves opera.", [("wife", "opera", "like")]),
        ("I don't like opera.", [("", "opera", "dislike")]),
        ("I would like opera tickets.", []),
        ("I'd like that", []),
        ("Do I like opera?", []),
    ],
)
def test_tastes_are_hints_about_whoever_has_them(text, expected):
    """A friend's dislike is the friend's; a wish for this once is no taste."""
    assert expected == tastes(text)


@pytest.mark.parametrize(
    ("at_ms", "zone", "offset", "expected"),
    [
        (1_709_220_600_000, None, 540, date(2024, 2, 29)),
        (1_709_220_600_000, "Asia/Tokyo", None, date(2024, 2, 29)),
        (1_709_220_600_000, None, 0, date(2024, 2, 28)),
        (1_709_220_600_000, "America/New_York", 0, date(2024, 2, 28)),
    ],
)
def test_yesterday_is_the_day_before_on_the_users_own_calendar(at_ms, zone, offset, expected):
    """The event's own time and zone decide, not the clock of the machine (report R05)."""
    text = "Yesterday I started the gluten-free diet."
    found = hints(text, EMPTY, at_ms=at_ms, zone=zone, utc_offset_min=offset)

    assert {"diet.gluten_free.since": expected} == found


@pytest.mark.parametrize(
    "changes",
    [
        {"by": "assistant:a"},
        {"by": "tool:crm"},
        {"origin": UtteranceOrigin.RECALLED},
        {"origin": UtteranceOrigin.SUMMARY},
        {"origin": UtteranceOrigin.DOCUMENT},
        {"derived_from": ("e0",)},
    ],
)
def test_only_the_users_own_words_propose_anything(changes):
    """Assistants, tools, documents, summaries and recalled blocks are not the user (R07, R10)."""
    said = utterance("I never eat nuts. A table for two at 7 pm.", **changes)

    assert () == extract(said, DINNER_WORDS)


@pytest.mark.parametrize(
    "text",
    ["I ne\u200bver eat nuts at 7 pm", "\u202eat 7 pm", "n\u0435ver call me", "at 7 pm" * 2_000],
)
def test_texts_that_are_not_what_they_look_like_propose_nothing(text):
    """Hidden, turned and look-alike characters, and whole documents, are not read at all."""
    assert () == extract(utterance(text), DINNER_WORDS)


def test_a_proposal_names_its_source_its_span_and_itself():
    """Provenance is the utterance and the span; the id follows from source and content."""
    text = "It is for Thai food."
    (first,) = extract(utterance(text), DINNER_WORDS)
    (again,) = extract(utterance(text), DINNER_WORDS)
    (other,) = extract(replace(utterance(text), event_id="e2"), DINNER_WORDS)

    assert first == again
    assert first.event_id != other.event_id
    assert (("e1",), "e1", "e1[10:14]") == (
        first.derived_from, first.causation_id, first.correlation_id
    )  # fmt: skip
    assert ("e1",) == first.payload.source_event_ids
    assert Principal(PrincipalKind.GENERATOR, "extractor:rules-2") == first.principal
    assert "Thai" == text[10:14]


def test_a_side_role_leaves_the_employer_alone():
    """Mentioning a newsletter of the same clinic says nothing about the employer (report R25)."""
    assert {"side_roles": ("newsletter",)} == hints("I also run the clinic's newsletter.", EMPTY)


def test_nothing_proposed_is_in_force_before_it_is_affirmed():
    """Over real dialogues: with and without extraction the same predicates were ever in force."""
    with resources.as_file(resources.files("infra") / "sample") as folder:
        events = list(import_sgd([folder]))
    words = build_lexicon(events[0].payload.catalogue)

    plain, extracted = (_confirmed(events, *more) for more in ((), (words,)))

    assert plain[0] == extracted[0]
    assert extracted[1] > plain[1]


def _confirmed(events, *words):
    """Return every predicate ever in force by user, and how many proposals and slots there are."""
    talk = Conversation()
    talk.tell(events[0].payload, by=OPERATOR)
    for one in events[1:240]:
        derived = [item for lexicon in words for item in extract(one, lexicon)]
        for item in (one, *derived):
            talk.tell(
                item.payload, by=item.principal, user=item.user, tenant=item.tenant,
                event_id=item.event_id, occurred_at_ms=item.occurred_at_ms,
                derived_from=item.derived_from,
            )  # fmt: skip
    found, count = {}, 0
    for owner in sorted(talk.users):
        view = talk.view(*owner)
        rows = [row for _, row in view.scan(PredicateRow)]
        found[owner] = sorted(row.predicate.predicate_id for row in rows)
        count += len(view.scan(ProposalRow)) + sum(1 for _ in view.own)
    return found, count


def test_the_clock_and_the_zone_of_the_machine_change_nothing(monkeypatch):
    """The same utterance proposes the same events under any TZ and at any time of day."""
    said = utterance("tomorrow, next Friday, in 3 days, the 3rd, March 1st at 7 pm")
    before = extract(said, DINNER_WORDS)
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    clock.tzset()
    try:
        after = extract(said, DINNER_WORDS)
    finally:
        monkeypatch.undo()
        clock.tzset()

    assert before == after
