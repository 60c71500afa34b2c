"""The airline's policy: which recorded calls its predicates stop, and who confirmed them."""

import pytest

from infra.importers.tau import import_tau
from infra.importers.tau_catalogue import BAGGAGES, CERTIFICATE, PASSENGERS
from infra.importers.tau_policy import POLICY, build_policy
from schemas.event import PredicateConfirmed
from tests.airline import (
    CANCEL,
    RESERVATION,
    USER,
    book,
    call,
    cancelled,
    change,
    flown,
    judge_calls,
    leg,
    write_run,
)


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes one run and returns its folder."""
    return lambda *messages, **given: write_run(tmp_path, *messages, **given)


def test_policy_is_canonical():
    """Every policy item is a predicate of its own, confirmed under a unique id."""
    names = [predicate.predicate_id for predicate in build_policy()]
    assert sorted({item.predicate_id for item in POLICY}) == names


def test_operator_confirms_policy(folder):
    """The policy is confirmed by the operator, never by the agent or a model."""
    events = [e for e in import_tau(folder()) if isinstance(e.payload, PredicateConfirmed)]
    assert len(events) == len(POLICY)
    assert {event.principal.kind.value for event in events} == {"operator"}


@pytest.mark.parametrize(
    ("reservation", "expected"),
    [
        (RESERVATION, ("cancel.allowed",)),
        (cancelled(cabin="business"), ()),
        (cancelled(insurance="yes"), ()),
        (cancelled(created_at="2024-05-14T15:00:01"), ()),
        (cancelled(created_at="2024-05-14T14:59:00"), ("cancel.allowed",)),
        (cancelled(cabin="business", flights=flown("2024-05-10")), ("cancel.unflown",)),
    ],
)
def test_cancellation(folder, reservation, expected):
    """A cancellation needs one of four reasons, and no flown segment."""
    assert judge_calls(folder(CANCEL, reservation=reservation)) == [expected]


@pytest.mark.parametrize(
    ("arguments", "reservation", "expected"),
    [
        ({}, RESERVATION, ()),
        ({"payment_id": "certificate_1"}, RESERVATION, ("flights.payment",)),
        ({"cabin": "business"}, RESERVATION, ("flights.seats",)),
        (
            {"flights": [leg("HAT002", "2024-05-10")]},
            RESERVATION,
            ("flights.available", "flights.seats"),
        ),
        (
            {"cabin": "basic_economy"},
            cancelled(cabin="basic_economy"),
            ("flights.basic_economy",),
        ),
        ({}, cancelled(destination="BOS"), ("flights.same_trip",)),
    ],
)
def test_change_of_flights(folder, arguments, reservation, expected):
    """A change of flights keeps the trip, the status, the seats, the payment, the cabin's rule."""
    assert judge_calls(folder(change(**arguments), reservation=reservation)) == [expected]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, ()),
        ({"user_id": "someone_else_1"}, ("book.user",)),
        ({"flights": [leg("HAT001", "2024-05-10")]}, ("book.available", "book.seats")),
        ({"passengers": RESERVATION["passengers"] * 2, "total_baggages": 2}, ("book.seats",)),
        ({"passengers": [{"first_name": "Ada", "last_name": "J"}]}, ("book.passengers",)),
        (
            {"payment_methods": [{"payment_id": "credit_card_9", "amount": 120}]},
            ("book.payment",),
        ),
        ({"total_baggages": 2}, ("book.bags",)),
        ({"total_baggages": 2, "nonfree_baggages": 1}, ()),
    ],
)
def test_booking(folder, arguments, expected):
    """A booking is for this user, on flights that can be booked, paid and packed as allowed."""
    assert judge_calls(folder(book(**arguments))) == [expected]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        (BAGGAGES, {"total_baggages": 0, "nonfree_baggages": 0}, "bags.added"),
        (BAGGAGES, {"total_baggages": 3, "nonfree_baggages": 0}, "bags.charged"),
        (PASSENGERS, {"passengers": []}, "passengers.number"),
        (CERTIFICATE, {"user_id": USER, "amount": 50}, "certificate.earned"),
    ],
)
def test_other_calls(folder, name, arguments, expected):
    """Bags are only added and paid for, passengers keep their number, gestures are earned."""
    if name.startswith("update"):
        arguments = {"reservation_id": "ABC123", "payment_id": "credit_card_1", **arguments}
    assert judge_calls(folder(call(name, **arguments))) == [(expected,)]
