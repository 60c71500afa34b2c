"""The surface check: no number, date, name or promise beyond the slots (spec 5.11)."""

from datetime import date, datetime, time
from decimal import Decimal

import pytest

from processors.validation.surface import find_mismatches
from schemas.catalogue import SlotType, TextTemplate
from schemas.value import Elapsed, Money, build_record
from tests.lcv import candidate, decided, over, typed
from tests.situations import scene, slot

SLOTS = {
    "restaurant": "Café Luna",
    "time": time(19, 30),
    "date": date(2026, 3, 1),
    "people": 4,
    "price": Money(Decimal("1095.00"), "EUR"),
    "stay": Elapsed(5_400_000),
    "contact": build_record(mail="desk@luna.example"),
}


def found(text, slots=SLOTS):
    """Return the mismatches of a text over the booking above."""
    return find_mismatches(text, slots, ("dinner", "book table"))


@pytest.mark.parametrize(
    "text",
    [
        "Your table at Café Luna is booked for 4 people.",
        "Booked for four at 19:30 on 1 March 2026, a Sunday.",
        "March 1, 2026 at 7:30 pm; 2026-03-01 it is.",
        "1/3/2026, half past seven?".replace("half past seven", "see you"),
        "That is 1,095.00 EUR, or \u20ac1095.",
        "You have 90 minutes.",
        "Write to desk@luna.example.",
        "I've booked it, and I'm glad.",
        "CAFÉ LUNA, Book Table, Dinner",
    ],
)
def test_what_the_slots_carry_may_be_said(text):
    """Numbers, dates, times, amounts and names pass in the forms that people use."""
    assert () == found(text)


@pytest.mark.parametrize(
    ("text", "mismatch"),
    [
        ("Booked for 5.", "number:5"),
        ("Booked for five.", "number:five"),
        ("30 people", "number:30"),
        ("1 person", "number:1"),
        ("at 7:30 am", "number:7:30"),
        ("at 20:30", "number:20:30"),
        ("on 2 March", "number:2"),
        ("on 2026-03-02", "number:2026-03-02"),
        ("in April", "date:April"),
        ("on Monday", "date:Monday"),
        ("see you tomorrow", "date:tomorrow"),
        ("for $1095", "currency:$"),
        ("10% off", "number:10%"),
        ("with Alice", "name:Alice"),
        ("Alice will come.", "name:Alice"),
        ("I guarantee a view.", "promise:guarantee"),
        ("a free dessert", "promise:free"),
        ("you can always cancel", "promise:always"),
        ("pay at www.evil.example", "address:www.evil.example"),
        ("write to x@evil.example", "address:x@evil.example"),
        ("\uff15 people", "number:\uff15"),
        ("予約しました", "script:予約しました"),
        ("fine\u200bprint", "script:\u200b"),
    ],
)
def test_what_the_slots_do_not_carry_is_named(text, mismatch):
    """Each thing beyond the slots is a mismatch of its kind."""
    assert mismatch in found(text)


def test_an_empty_text_phrases_nothing():
    """A blank text does not pass; the template stands in."""
    assert (("empty",), ("empty",)) == (found(""), found(" \n"))


def test_a_local_date_time_carries_date_and_time():
    """Both its parts may be said."""
    assert () == found("on March 2, 2026 at 8:15 am", {"at": datetime(2026, 3, 2, 8, 15)})  # noqa: DTZ001


def booked(text, **changes):
    """Return the commitment of one candidate with this text."""
    meal = typed("meal", slot("dish"), slot("guests", slot_type=SlotType.INT))
    return decided(over(types=(meal,), **changes), candidate(text=text, dish="soup", guests=2))


def test_a_text_that_passes_is_the_candidates():
    """The commitment carries the candidate's own words, unchanged."""
    outcome = booked("Enjoy your soup for two!")

    assert ("Enjoy your soup for two!", "candidate", ()) == (
        outcome.text, outcome.text_from, outcome.surface_mismatches
    )  # fmt: skip


def test_a_text_that_fails_is_replaced_and_the_mismatch_recorded():
    """The template stands in; the commitment itself stays what it is."""
    outcome = booked("Enjoy your soup for three!")

    assert ("Done: meal. dish: soup, guests: 2", "template", ("number:three",)) == (
        outcome.text, outcome.text_from, outcome.surface_mismatches
    )  # fmt: skip


def test_the_catalogues_template_of_the_type_goes_first():
    """A template names slots, scene and type in braces."""
    own = scene(templates=(TextTemplate("meal", "en", "{dish} for {guests} ({scene})"),))

    assert "soup for 2 (dinner)" == booked("", in_scene=own).text


def test_words_of_the_catalogue_may_be_used():
    """What a template of the type says has been approved by the catalogue."""
    own = scene(templates=(TextTemplate("meal", "en", "Free water included: {dish}"),))

    assert "candidate" == booked("free soup", in_scene=own).text_from
    assert "template" == booked("free soup").text_from
