"""Situations as recorded runs: a database in which each example's user has what it describes.

Every example is a run of its own with one call, read by the same importer as recorded ones, so
that policy, state and candidate are made exactly as there.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

from infra.evaluation.recorded.policy_situation import Situation
from infra.importers.tau_catalogue import BAGGAGES, BOOK, CANCEL, FLIGHTS, PASSENGERS
from infra.importers.tau_files import TauSources

DAY: Final = "2024-05-20"
CREATED: Final = {10: "2024-05-15T05:00:00", 18: "2024-05-14T21:00:00",
                  36: "2024-05-14T03:00:00", 40: "2024-05-13T23:00:00",
                  48: "2024-05-13T15:00:00", 72: "2024-05-12T15:00:00"}  # fmt: skip
"""When a reservation was made, by how many hours ago: now is 2024-05-15 15:00."""
CARDS: Final = ("credit_card_1", "credit_card_2", "certificate_1", "certificate_2",
                *(f"gift_card_{n}" for n in range(1, 5)))  # fmt: skip
PRICE: Final = 100

Row = dict[str, Any]


def build_sources(situations: Iterable[tuple[str, Situation]]) -> TauSources:
    """Return runs and tables of these situations, by the name of each."""
    runs: list[Row] = []
    users: dict[str, Row] = {}
    reservations: dict[str, Row] = {}
    flights: dict[str, Row] = {}
    for name, situation in situations:
        runs.append(_build_run(name, situation))
        booking = situation.call == BOOK
        users[name] = _build_user(name, situation, reserved=not booking)
        if not booking:
            reservations[name] = _build_reservation(name, situation)
        about = situation.before if situation.call == CANCEL else situation.after
        _add_flights(flights, f"{name}b", situation.before, "available", "9")
        place = f"{name}b" if situation.call == CANCEL else f"{name}a"
        _add_flights(flights, place, about, situation.statuses, situation.seats)
    return TauSources(tuple(runs), users, reservations, flights, ())


def _build_run(name: str, situation: Situation) -> Row:
    arguments = json.dumps(_build_arguments(name, situation))
    function = {"name": situation.call, "arguments": arguments}
    call = {"role": "assistant", "content": None,
            "tool_calls": [{"id": name, "function": function}]}  # fmt: skip
    task = {"user_id": name, "instruction": "", "actions": []}
    return {"task_id": 0, "trial": 0, "info": {"task": task}, "traj": [call]}


def _build_user(name: str, situation: Situation, *, reserved: bool) -> Row:
    payments = {one: {"id": one, "source": one.rpartition("_")[0]} for one in CARDS}
    return {
        "membership": situation.membership,
        "payment_methods": payments,
        "reservations": [name] if reserved else [],
    }


def _build_reservation(name: str, situation: Situation) -> Row:
    legs = _split(situation.before)
    round_trip = legs[0][0] == legs[-1][1]
    return {
        "reservation_id": name,
        "user_id": name,
        "origin": legs[0][0],
        "destination": legs[len(legs) // 2 - 1][1] if round_trip else legs[-1][1],
        "flight_type": "round_trip" if round_trip else "one_way",
        "cabin": situation.cabin,
        "flights": [
            {**leg, "origin": origin, "destination": destination, "price": PRICE}
            for leg, (origin, destination) in zip(
                _name_legs(f"{name}b", situation.before), legs, strict=True
            )
        ],
        "passengers": _build_people(situation.people),
        "payment_history": [],
        "created_at": CREATED[situation.hours],
        "total_baggages": situation.had,
        "nonfree_baggages": 0,
        "insurance": situation.insurance,
    }


def _build_arguments(name: str, situation: Situation) -> Row:
    people = situation.people if situation.now is None else situation.now
    passengers = _build_people(people, missing=situation.missing)
    payments = situation.pay.split()
    bags = {"total_baggages": situation.total, "nonfree_baggages": situation.nonfree}
    paid = {"payment_id": payments[0]} if payments else {}
    legs = _split(situation.after)
    match situation.call:
        case str(call) if call == BOOK:
            round_trip = legs[0][0] == legs[-1][1]
            typed = {"flight_type": "round_trip" if round_trip else "one_way"}
            return {
                "user_id": situation.user or name,
                "origin": legs[0][0],
                "destination": legs[len(legs) // 2 - 1][1] if round_trip else legs[-1][1],
                **({} if situation.untyped else typed),
                "cabin": situation.cabin,
                "flights": _name_legs(f"{name}a", situation.after),
                "passengers": passengers,
                "payment_methods": [{"payment_id": one, "amount": PRICE} for one in payments],
                **bags,
                "insurance": "no",
            }
        case str(call) if call == FLIGHTS:
            named = _name_legs(f"{name}a", situation.after)
            return {"reservation_id": name, "cabin": situation.cabin, "flights": named, **paid}
        case str(call) if call == BAGGAGES:
            return {"reservation_id": name, **bags, **paid}
        case str(call) if call == PASSENGERS:
            return {"reservation_id": name, "passengers": passengers}
        case _:
            return {"reservation_id": name}


def _build_people(number: int, *, missing: str = "") -> list[Row]:
    return [
        {
            field: value
            for field, value in (
                ("first_name", f"Name{n}"),
                ("last_name", "Example"),
                ("dob", "1990-01-01"),
            )
            if field != missing
        }
        for n in range(number)
    ]


def _split(route: str) -> list[tuple[str, str]]:
    return [(leg[:3], leg[4:]) for leg in route.split()]


def _name_legs(place: str, route: str) -> list[Row]:
    return [{"flight_number": f"{place}{n}", "date": DAY} for n in range(len(_split(route)))]


def _add_flights(
    flights: dict[str, Row], place: str, route: str, statuses: str, seats: str
) -> None:
    words, numbers = statuses.split(","), seats.split(",")
    for n, (origin, destination) in enumerate(_split(route)):
        free = int(numbers[min(n, len(numbers) - 1)])
        cabins = ("basic_economy", "economy", "business")
        flights[f"{place}{n}"] = {
            "origin": origin,
            "destination": destination,
            "scheduled_departure_time_est": "09:00:00",
            "dates": {
                DAY: {
                    "status": words[min(n, len(words) - 1)],
                    "available_seats": dict.fromkeys(cabins, free),
                    "prices": dict.fromkeys(cabins, PRICE),
                }
            },
        }
