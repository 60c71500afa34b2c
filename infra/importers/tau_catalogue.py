"""The catalogue of the airline domain: a scene per mutating tool, two commitment types.

A reservation is one type in every scene, so that cancelling or changing it amends the
reservation that was observed. A certificate is the other.
"""

from typing import Final

from schemas.catalogue import (
    Catalogue,
    CommitmentType,
    Scene,
    SlotDeclaration,
    SlotType,
    TextTemplate,
)

BOOK: Final = "book_reservation"
CANCEL: Final = "cancel_reservation"
FLIGHTS: Final = "update_reservation_flights"
BAGGAGES: Final = "update_reservation_baggages"
PASSENGERS: Final = "update_reservation_passengers"
CERTIFICATE: Final = "send_certificate"

RESERVATION_TYPE: Final = "reservation"
CERTIFICATE_TYPE: Final = "certificate"
ELSEWHERE: Final = "reservations"
"""Where observed reservations were made: no scene of the catalogue, so that the outcome of a
recorded call is never taken for that of a reservation that it did not make."""

MUTATING: Final = (BOOK, CANCEL, FLIGHTS, BAGGAGES, PASSENGERS, CERTIFICATE)

_CABINS: Final = ("basic_economy", "economy", "business")
_RESERVATION_SLOTS: Final[tuple[tuple[str, SlotType, tuple[str, ...]], ...]] = (
    ("reservation_id", SlotType.STRING, ()),
    ("user_id", SlotType.STRING, ()),
    ("origin", SlotType.STRING, ()),
    ("destination", SlotType.STRING, ()),
    ("ends_at", SlotType.STRING, ()),
    ("flight_type", SlotType.STRING, ("one_way", "round_trip")),
    ("cabin", SlotType.STRING, _CABINS),
    ("flights", SlotType.LIST, ()),
    ("legs", SlotType.LIST, ()),
    ("itinerary", SlotType.STRING, ()),
    ("first_leg", SlotType.STRING, ()),
    ("last_leg", SlotType.STRING, ()),
    ("passengers", SlotType.LIST, ()),
    ("payment_id", SlotType.STRING, ()),
    ("payment_methods", SlotType.LIST, ()),
    ("certificates", SlotType.LIST, ()),
    ("credit_cards", SlotType.LIST, ()),
    ("gift_cards", SlotType.LIST, ()),
    ("charge", SlotType.MONEY, ()),
    ("created_at", SlotType.TIMESTAMP, ()),
    ("total_baggages", SlotType.INT, ()),
    ("nonfree_baggages", SlotType.INT, ()),
    ("insurance", SlotType.STRING, ("yes", "no")),
    ("status", SlotType.STRING, ("active", "cancelled")),
)
_CERTIFICATE_SLOTS: Final[tuple[tuple[str, SlotType, tuple[str, ...]], ...]] = (
    ("user_id", SlotType.STRING, ()),
    ("amount", SlotType.MONEY, ()),
)


def name_type(scene: str) -> str:
    """Return the commitment type of a scene."""
    return CERTIFICATE_TYPE if scene == CERTIFICATE else RESERVATION_TYPE


def build_catalogue() -> Catalogue:
    """Return the airline's catalogue; it is the same for every folder."""
    return Catalogue(
        name="tau-airline",
        scenes=tuple(_build_scene(name) for name in MUTATING),
        types=(
            _build_type(RESERVATION_TYPE, _RESERVATION_SLOTS),
            _build_type(CERTIFICATE_TYPE, _CERTIFICATE_SLOTS),
        ),
        set_slots=(),
        templates=(),
    )


def _build_scene(name: str) -> Scene:
    words = name.replace("_", " ")
    fields = "{user_id}: {amount}" if name == CERTIFICATE else "{itinerary}"
    return Scene(
        name=name,
        commitment_types=(name_type(name),),
        # No slot is required before candidates exist: nobody extracts what the recorded users
        # asked for, and asking for what they had said would be wrong. Policies ask for slots.
        required_slots=(),
        required_dimensions=(),
        weights=(),
        templates=(TextTemplate(key=name_type(name), language="en", text=f"{words}: {fields}"),),
        fallback="",
    )


def _build_type(
    name: str, slots: tuple[tuple[str, SlotType, tuple[str, ...]], ...]
) -> CommitmentType:
    return CommitmentType(
        name=name,
        slots=tuple(_build_slot(*slot) for slot in slots),
        required_slots=(),
        confirm_carried=False,
        opens=(),
        discharges=(),
        not_affected_by=(),
    )


def _build_slot(name: str, slot_type: SlotType, choices: tuple[str, ...]) -> SlotDeclaration:
    return SlotDeclaration(name=name, slot_type=slot_type, choices=choices)
