"""Utterances for tests of extraction, and the words of two catalogues to read them with."""

from dataclasses import replace
from decimal import Decimal

from infra.extraction.lexicon import build_lexicon
from schemas.catalogue import Catalogue, SlotType
from schemas.observation import UtteranceObserved, UtteranceOrigin
from schemas.value import Money
from tests.given import event
from tests.lcv import typed
from tests.situations import scene, slot

DINNER = typed(
    "dinner",
    slot("ingredients", slot_type=SlotType.LIST),
    slot("channel", choices=("phone", "email", "letter")),
    slot("topic", choices=("school_emergency", "newsletter")),
    slot("kitchen", choices=("Italian", "Thai", "Mexican")),
    slot("price", slot_type=SlotType.MONEY, high=Money(Decimal(500), "USD")),
    slot("seats", slot_type=SlotType.INT),
    slot("day_date", slot_type=SlotType.DATE),
    slot("start_time", slot_type=SlotType.TIME),
    slot("party_name"),
)
TRIP = typed("trip", slot("departure_date"), slot("return_date"), slot("number_of_rooms"))
FILM = typed("film", slot("movie_name"), slot("director"), slot("actors"))
FLIGHT = typed("flight", slot("origin_city"), slot("destination_city"), slot("recipient_name"))
TABLE = typed("table", slot("restaurant_name"), slot("location"))


def lexicon(*types):
    """Return the lexicon of one scene with these types."""
    names = tuple(one.name for one in types)
    return build_lexicon(Catalogue("k", (scene(commitment_types=names),), types, (), ()))


DINNER_CATALOGUE = Catalogue("dinner", (scene(commitment_types=("dinner",)),), (DINNER,), (), ())
DINNER_WORDS = lexicon(DINNER)
TRIP_WORDS = lexicon(TRIP)
FILM_WORDS = lexicon(FILM)
FLIGHT_WORDS = lexicon(FLIGHT)
TABLE_WORDS = lexicon(TABLE)
FRIDAY = 1_772_190_000_000  # 2026-02-27T11:00Z


def utterance(text, *, by="user:ada", at_ms=FRIDAY, origin=UtteranceOrigin.SAID, **changes):
    """Return an utterance at half past eleven in Berlin on a Friday."""
    said = UtteranceObserved(text, origin, None, ())
    return replace(event(said, by=by, event_id="e1", at_ms=at_ms), **changes)
