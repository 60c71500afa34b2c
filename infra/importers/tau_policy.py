"""The airline's policy as predicates, and what became of each of its sentences.

Each item names the sentence it stands for in its own words. What no record tells apart (whether
a reason is covered by insurance, whether a user was asked first) is said to be so, not guessed.
"""

from dataclasses import dataclass
from typing import Final

from infra.importers.tau_catalogue import (
    BAGGAGES,
    BOOK,
    CANCEL,
    CERTIFICATE,
    FLIGHTS,
    PASSENGERS,
)
from processors.predicates.rendering import render
from processors.predicates.text import parse
from schemas.predicate import Predicate, PredicateScope


@dataclass(frozen=True, slots=True)
class PolicyItem:
    """One enforceable sentence: predicate id, scenes, expression, and the published item."""

    predicate_id: str
    scenes: tuple[str, ...]
    expression: str
    item: str


_FREE_BAGS: Final = (
    "any a in state.allowances: a.cabin == slots.cabin and a.passengers == count(slots.passengers)"
    " and ((slots.total_baggages <= a.bags and slots.nonfree_baggages == 0)"
    " or slots.nonfree_baggages == slots.total_baggages - a.bags)"
)
_COMPLETE: Final = (
    "all p in slots.passengers: exists(p.first_name) and exists(p.last_name) and exists(p.dob)"
)

POLICY: Final = (
    PolicyItem(
        "book.user",
        (BOOK,),
        "slots.user_id == state.user_id and exists(slots.flight_type) and exists(slots.origin)"
        " and exists(slots.destination)",
        "User ID and User Profile Verification",
    ),
    PolicyItem(
        "book.available",
        (BOOK,),
        'all f in slots.flights: any o in state.offers: o.leg == f.leg and o.status == "available"',
        "Flight Status Restrictions",
    ),
    PolicyItem(
        "book.seats",
        (BOOK,),
        "all f in slots.flights: any o in state.offers:"
        " o.leg == f.leg and o.cabin == slots.cabin and o.seats >= count(slots.passengers)",
        "Seats Are Available",
    ),
    PolicyItem(
        "book.passengers",
        (BOOK,),
        f"({_COMPLETE}) and count(slots.passengers) <= 5",
        "Passenger Information Completeness",
    ),
    PolicyItem(
        "book.payment",
        (BOOK,),
        "(all p in slots.payment_methods: p.payment_id in state.payment_ids)"
        " and count(slots.certificates) <= 1 and count(slots.credit_cards) <= 1"
        " and count(slots.gift_cards) <= 3",
        "Payment Method Restriction",
    ),
    PolicyItem("book.bags", (BOOK,), _FREE_BAGS, "Checked Bag Allowance by Membership Tier"),
    # Whether the reason is one that the insurance covers stands in no record, only in what the
    # user says: the utterance is evidence, the clause asks for the insurance.
    PolicyItem(
        "cancel.allowed",
        (CANCEL,),
        'as_of - amended.created_at <= elapsed("PT24H") or amended.cabin == "business"'
        ' or (any f in amended.flights: f.status == "cancelled") or amended.insurance == "yes"',
        "Cancellation Policy for All Flights",
    ),
    PolicyItem(
        "cancel.unflown",
        (CANCEL,),
        'none f in amended.flights: f.status in ["landed", "flying"]',
        "Cancellation of Entire Trips Only",
    ),
    PolicyItem(
        "bags.added",
        (BAGGAGES,),
        "slots.total_baggages >= amended.total_baggages",
        "Only Adding Checked Bags is Allowed",
    ),
    PolicyItem(
        "bags.payment",
        (BAGGAGES,),
        "slots.payment_id in state.payment_ids",
        "Payment Methods Are Pre-Authorized",
    ),
    PolicyItem("bags.charged", (BAGGAGES,), _FREE_BAGS, "Charge for Extra Baggage Items"),
    PolicyItem(
        "flights.available",
        (FLIGHTS,),
        "all f in slots.flights: (f.leg in amended.legs and slots.cabin == amended.cabin)"
        ' or (any o in state.offers: o.leg == f.leg and o.status == "available")',
        "Flight Status Restrictions",
    ),
    PolicyItem(
        "flights.seats",
        (FLIGHTS,),
        "all f in slots.flights: (f.leg in amended.legs and slots.cabin == amended.cabin)"
        " or (any o in state.offers: o.leg == f.leg and o.cabin == slots.cabin"
        " and o.seats >= count(slots.passengers))",
        "Seats Are Available",
    ),
    PolicyItem(
        "flights.payment",
        (FLIGHTS,),
        "slots.payment_id in state.gift_card_ids or slots.payment_id in state.credit_card_ids",
        "Obtain Payment Method for Flight Changes",
    ),
    # One call that leaves basic economy and changes flights is two allowed steps at once.
    PolicyItem(
        "flights.basic_economy",
        (FLIGHTS,),
        'amended.cabin != "basic_economy" or slots.itinerary == amended.itinerary'
        ' or slots.cabin != "basic_economy"',
        "Basic economy flights cannot be modified",
    ),
    PolicyItem(
        "flights.same_trip",
        (FLIGHTS,),
        "slots.itinerary == amended.itinerary or ((any o in state.offers:"
        " o.leg == slots.first_leg and o.origin == amended.origin)"
        " and (any o in state.offers:"
        " o.leg == slots.last_leg and o.destination == amended.ends_at)"
        " and (any f in slots.flights: any o in state.offers:"
        " o.leg == f.leg and o.destination == amended.destination))",
        "Same origin, destination and trip type",
    ),
    PolicyItem("passengers.complete", (PASSENGERS,), _COMPLETE, "Updating Passengers Information"),
    PolicyItem(
        "passengers.number",
        (PASSENGERS,),
        "count(slots.passengers) == count(amended.passengers)",
        "Changing the Number of Passengers is not Allowed",
    ),
    PolicyItem(
        "certificate.earned",
        (CERTIFICATE,),
        'any r in state.trips: (state.membership in ["silver", "gold"]'
        ' or r.insurance == "yes" or r.cabin == "business")'
        " and ((r.cancelled == true and slots.amount == r.full)"
        " or (r.delayed == true and r.changed == true and slots.amount == r.half))",
        "",
    ),
)
"""Every predicate of the policy; ``item`` "" is a sentence outside the published items."""

EVIDENCE_ONLY: Final = (
    "Explicit User Confirmation for Actions Updating Database",
    "Explicit User Confirmation for Baggage Update",
    "Explicit User Confirmation for Passenger Update",
    "User Confirmation Requirement Before Modifying Flights",
    "Obtain Cancellation Information",
    "Obtain user and reservation ids",
)
"""Items that only the recorded words bear witness to: utterances are units, nothing is enforced."""

UNCOMPILED: Final = (
    "Travel Insurance Offer",
    "Policy Adherence Required",
    "Cabin Class Consistency",
)
"""Items that say how to talk, repeat others, or follow from the shape of a call."""


def build_policy() -> tuple[Predicate, ...]:
    """Return the policy's predicates, sorted by id, in canonical text."""
    return tuple(
        Predicate(
            predicate_id=item.predicate_id,
            expression=render(parse(item.expression)),
            unless=None,
            scenes=item.scenes,
            subject="",
            scope=PredicateScope.STANDING,
            valid_from_ms=None,
            valid_to_ms=None,
            dimensions=(),
            zone=None,
        )
        for item in sorted(POLICY, key=lambda item: item.predicate_id)
    )
