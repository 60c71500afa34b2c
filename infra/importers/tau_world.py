"""The airline's database as one run sees it: rows as typed values, calls as candidates.

Each recorded run starts from the same database; what its calls changed is kept here. Facts come
from rows, never from a call; a call only names flights, people and payments.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from infra.importers.tau_catalogue import (
    BOOK,
    CANCEL,
    CERTIFICATE,
    CERTIFICATE_TYPE,
    RESERVATION_TYPE,
)
from infra.importers.tau_files import TauSources
from schemas.candidate import Amendment, Candidate, PatchOperation, SlotValue
from schemas.value import Money, RecordValue, Timestamp, Value, build_record

OFFSET_MIN: Final = -300  # The airline writes EST everywhere.
CABINS: Final = ("basic_economy", "economy", "business")
PASSENGERS_MAX: Final = 5
_FREE_BAGS: Final = {"regular": (0, 1, 2), "silver": (1, 2, 3), "gold": (2, 3, 3)}
_GESTURE: Final = {"full": 100, "half": 50}  # US dollars per passenger.
_SOURCES: Final = ("certificate", "credit_card", "gift_card")


@dataclass(slots=True)
class World:
    """The rows of one run; ``reservations`` as changed so far, ``versions`` times observed."""

    sources: TauSources
    user_id: str
    reservations: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)

    def observe(self, row: Mapping[str, Any]) -> tuple[str, tuple[SlotValue, ...]]:
        """Take a reservation's row; return its commitment id and its slots.

        A changed row is another commitment: its version depends on this history alone, not on
        what the pipeline made of the calls before.
        """
        name = row["reservation_id"]
        self.reservations[name] = row
        self.versions[name] = self.versions.get(name, 0) + 1
        return self.name_commitment(name), _sort(self._read_reservation(row))

    def name_commitment(self, reservation_id: str) -> str:
        """Return the commitment id under which the reservation was observed last."""
        version = self.versions.get(reservation_id, 1)
        return reservation_id if version == 1 else f"{reservation_id}/{version}"

    def describe_user(self) -> tuple[SlotValue, ...]:
        """Return the state slots of the user's profile."""
        row = self.sources.users.get(self.user_id, {})
        payments = row.get("payment_methods", {})
        membership = row.get("membership", "regular")
        slots: dict[str, Value] = {
            "user_id": self.user_id,
            "membership": membership,
            "payment_ids": tuple(sorted(payments)),
            "allowances": tuple(_list_allowances(membership)),
        }
        for source in _SOURCES:
            ids = sorted(name for name, one in payments.items() if one["source"] == source)
            slots[f"{source}_ids"] = tuple(ids)
        return _sort(slots)

    def describe_trips(self) -> Value:
        """Return what a gesture for cancelled or delayed flights depends on, per reservation."""
        return tuple(
            build_record(
                reservation_id=name,
                cabin=row["cabin"],
                insurance=row["insurance"],
                cancelled="cancelled" in statuses,
                delayed="delayed" in statuses,
                changed=name in self.changed,
                **{
                    word: Money(Decimal(dollars * len(row["passengers"])), "USD")
                    for word, dollars in _GESTURE.items()
                },
            )
            for name, row in sorted(self.reservations.items())
            for statuses in ([self._find_status(leg) for leg in row["flights"]],)
        )

    def describe_offers(self, legs: Sequence[Mapping[str, Any]]) -> Value:
        """Return the database's rows of these legs, one record per cabin."""
        return tuple(record for leg in legs for record in self._list_offers(leg))

    def build_candidate(self, call: str, arguments: Mapping[str, Any]) -> Candidate:
        """Return a recorded call as a candidate: a booking, an amendment or a certificate."""
        if call == CERTIFICATE:
            amount = Money(Decimal(str(arguments.get("amount", 0))), "USD")
            carried = _sort({"user_id": arguments.get("user_id"), "amount": amount})
            return _build(CERTIFICATE_TYPE, carried)
        if call == BOOK:
            return _build(RESERVATION_TYPE, _sort(self._read_booking(arguments)))
        reservation_id = str(arguments.get("reservation_id"))
        patch = {"status": "cancelled"} if call == CANCEL else self._read_change(arguments)
        return _build(
            RESERVATION_TYPE,
            (),
            amends=Amendment(self.name_commitment(reservation_id), 1),
            patch=tuple(PatchOperation(name, value) for name, value in sorted(patch.items())),
        )

    def _read_reservation(self, row: Mapping[str, Any]) -> dict[str, Value]:
        created = datetime.fromisoformat(row["created_at"]).replace(tzinfo=UTC)
        created -= timedelta(minutes=OFFSET_MIN)
        return {
            "reservation_id": row["reservation_id"],
            "user_id": row["user_id"],
            "origin": row["origin"],
            "destination": row["destination"],
            "ends_at": row["origin"] if row["flight_type"] == "round_trip" else row["destination"],
            "flight_type": row["flight_type"],
            "cabin": row["cabin"],
            "created_at": Timestamp(int(created.timestamp()) * 1_000),
            "total_baggages": row["total_baggages"],
            "nonfree_baggages": row["nonfree_baggages"],
            "insurance": row["insurance"],
            "passengers": _read_records(row["passengers"]),
            "status": row.get("status") or "active",
            **self._read_legs(row["flights"], known=True),
        }

    def _read_booking(self, arguments: Mapping[str, Any]) -> dict[str, Value]:
        payments = arguments.get("payment_methods", [])
        names = ("user_id", "origin", "destination", "flight_type", "cabin", "insurance")
        slots: dict[str, Value] = {name: arguments.get(name) for name in names}
        for source in _SOURCES:
            slots[f"{source}s"] = tuple(
                str(one["payment_id"])
                for one in payments
                if str(one.get("payment_id", "")).startswith(source)
            )
        total = sum((Decimal(str(one.get("amount", 0))) for one in payments), Decimal(0))
        return {
            **slots,
            "total_baggages": arguments.get("total_baggages"),
            "nonfree_baggages": arguments.get("nonfree_baggages"),
            "passengers": _read_records(arguments.get("passengers", [])),
            "payment_methods": _read_records(payments),
            "charge": Money(total, "USD"),
            **self._read_legs(arguments.get("flights", []), known=False),
        }

    def _read_change(self, arguments: Mapping[str, Any]) -> dict[str, Value]:
        names = ("cabin", "total_baggages", "nonfree_baggages", "payment_id")
        slots: dict[str, Value] = {name: arguments[name] for name in names if name in arguments}
        if "passengers" in arguments:
            slots["passengers"] = _read_records(arguments["passengers"])
        if "flights" in arguments:
            slots |= self._read_legs(arguments["flights"], known=False)
            charge = self._find_charge(arguments)
            if charge is not None:
                slots["charge"] = charge
        return slots

    def _read_legs(self, flights: Sequence[Mapping[str, Any]], *, known: bool) -> dict[str, Value]:
        """Return the slots that name the legs; ``known`` rows carry the database's status."""
        names = tuple(name_leg(leg) for leg in flights)
        records = tuple(
            build_record(
                leg=name_leg(leg),
                flight_number=leg.get("flight_number"),
                date=leg.get("date"),
                **({"status": self._find_status(leg)} if known else {}),
            )
            for leg in flights
        )
        return {
            "flights": records,
            "legs": names,
            "itinerary": " ".join(names),
            "first_leg": names[0] if names else None,
            "last_leg": names[-1] if names else None,
        }

    def _find_day(self, leg: Mapping[str, Any]) -> Mapping[str, Any]:
        flight = self.sources.flights.get(str(leg.get("flight_number")), {})
        day = flight.get("dates", {}).get(str(leg.get("date")), {})
        assert isinstance(day, Mapping)
        return day

    def _find_status(self, leg: Mapping[str, Any]) -> str | None:
        return self._find_day(leg).get("status")

    def _list_offers(self, leg: Mapping[str, Any]) -> Iterator[RecordValue]:
        flight = self.sources.flights.get(str(leg.get("flight_number")))
        if flight is None:
            return
        day = self._find_day(leg)
        for cabin in CABINS:
            yield build_record(
                leg=name_leg(leg),
                origin=flight["origin"],
                destination=flight["destination"],
                departs=time.fromisoformat(flight["scheduled_departure_time_est"]),
                cabin=cabin,
                status=day.get("status"),
                seats=day.get("available_seats", {}).get(cabin, 0),
                price=day.get("prices", {}).get(cabin),
            )

    def _find_charge(self, arguments: Mapping[str, Any]) -> Money | None:
        """Return what a change of flights costs; a kept leg in the same cabin keeps its price."""
        row = self.reservations.get(str(arguments.get("reservation_id")))
        if row is None:
            return None
        kept = {name_leg(leg): leg["price"] for leg in row["flights"]}
        cabin, total = str(arguments.get("cabin")), 0
        for leg in arguments["flights"]:
            same = cabin == row["cabin"] and name_leg(leg) in kept
            price = (
                kept[name_leg(leg)] if same else self._find_day(leg).get("prices", {}).get(cabin)
            )
            if price is None:
                return None
            total += price
        total -= sum(kept.values())
        return Money(Decimal(total * len(row["passengers"])), "USD")


def name_leg(leg: Mapping[str, Any]) -> str:
    """Return the name of one flight on one day."""
    return f"{leg.get('flight_number')}@{leg.get('date')}"


def _list_allowances(membership: str) -> Iterator[RecordValue]:
    for cabin, bags in zip(CABINS, _FREE_BAGS.get(membership, _FREE_BAGS["regular"]), strict=True):
        for number in range(1, PASSENGERS_MAX + 1):
            yield build_record(cabin=cabin, passengers=number, bags=bags * number)


def _read_records(rows: Sequence[Mapping[str, Any]]) -> tuple[RecordValue, ...]:
    return tuple(
        build_record(**{name: _read_scalar(item) for name, item in sorted(row.items())})
        for row in rows
    )


def _read_scalar(item: Any) -> Value:
    return Decimal(str(item)) if isinstance(item, float) else item


def _sort(slots: Mapping[str, Value]) -> tuple[SlotValue, ...]:
    return tuple(SlotValue(name, slots[name]) for name in sorted(slots) if slots[name] is not None)


def _build(
    commitment_type: str,
    slots: tuple[SlotValue, ...],
    *,
    amends: Amendment | None = None,
    patch: tuple[PatchOperation, ...] = (),
) -> Candidate:
    return Candidate(
        commitment_type=commitment_type,
        slots=slots,
        amends=amends,
        patch=patch,
        evidence_ids=(),
        claimed_predicates=(),
        required_slots=(),
        repair_status="",
        surface_text="",
    )
