"""A tiny airline in the shape of tau-bench: one user, one reservation, one recorded run.

Rows, calls and answers are built by name, for tests of the importer.
"""

import json

from infra.importers.tau import import_tau
from processors.predicates.evaluation import judge
from processors.predicates.scope import Scope
from processors.predicates.verdict import Verdict
from processors.validation.merging import merge
from schemas.event import (
    CandidatesProposed,
    CommitmentObserved,
    FormSubmitted,
    PredicateConfirmed,
    TurnRequested,
)
from schemas.row import CommitmentRow

USER = "ada_jones_1234"


def leg(number, day):
    """One flight on one day, as rows and calls name it."""
    return {"flight_number": number, "date": day}


RESERVATION = {
    "reservation_id": "ABC123",
    "user_id": USER,
    "origin": "JFK",
    "destination": "SEA",
    "flight_type": "one_way",
    "cabin": "economy",
    "flights": [
        {**leg("HAT001", "2024-05-20"), "origin": "JFK", "destination": "SEA", "price": 90}
    ],
    "passengers": [{"first_name": "Ada", "last_name": "Jones", "dob": "1990-01-01"}],
    "payment_history": [],
    "created_at": "2024-05-01T10:00:00",
    "total_baggages": 1,
    "nonfree_baggages": 0,
    "insurance": "no",
}
USERS = {
    USER: {
        "membership": "regular",
        "payment_methods": {
            "credit_card_1": {"id": "credit_card_1", "source": "credit_card"},
            "certificate_1": {"id": "certificate_1", "source": "certificate", "amount": 100},
        },
        "reservations": ["ABC123"],
    }
}
FLIGHTS = {
    number: {
        "origin": "JFK",
        "destination": "SEA",
        "scheduled_departure_time_est": departs,
        "dates": {
            "2024-05-20": {
                "status": "available",
                "available_seats": {"basic_economy": 3, "economy": 1, "business": 0},
                "prices": {"basic_economy": 50, "economy": 120, "business": 400},
            },
            "2024-05-10": {"status": "landed"},
        },
    }
    for number, departs in (("HAT001", "09:00:00"), ("HAT002", "13:00:00"))
}


def call(name, **arguments):
    """A message in which the agent calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call-{name}", "function": function}],
    }


def answer(name, content):
    """A tool's answer to the call of that name."""
    return {"role": "tool", "name": name, "tool_call_id": f"call-{name}", "content": content}


def say(role, content):
    """A message of the user or the agent."""
    return {"role": role, "content": content}


def write_run(folder, *messages, reservation=RESERVATION, actions=(), verified=None):
    """Write one run and its database, and return the folder."""
    run = {
        "task_id": 0,
        "trial": 0,
        "info": {"task": {"user_id": USER, "instruction": "Cancel it.", "actions": list(actions)}},
        "traj": list(messages),
    }
    files = {
        "gpt4o_runs": [run],
        "users": USERS,
        "reservations": {"ABC123": reservation},
        "flights": FLIGHTS,
    }
    if verified is not None:
        files["verified_tasks"] = verified
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def read(source, kind):
    """Return the payloads of one kind in log order."""
    return [event.payload for event in import_tau(source) if isinstance(event.payload, kind)]


def judge_calls(source):
    """Return per candidate the ids of the policy's predicates that do not hold for it."""
    state, commitments, contract, found = {}, {}, {}, []
    scene = as_of = None
    for event in import_tau(source):
        match event.payload:
            case FormSubmitted(statements=statements):
                state |= {statement.slot: statement.value for statement in statements}
            case CommitmentObserved() as seen:
                commitments[seen.commitment_id] = CommitmentRow(
                    seen.scene, seen.commitment_type, seen.slots, 1, 1, "e", "pending", ()
                )
            case PredicateConfirmed(predicate=predicate) if predicate is not None:
                contract[predicate.predicate_id] = predicate
            case TurnRequested():
                scene, as_of = event.payload.scene, event.occurred_at_ms
            case CandidatesProposed(candidates=(candidate,)):
                merged = merge(candidate, commitments)
                assert merged.refusals == ()
                amended = merged.amended and {s.name: s.value for s in merged.amended.slots}
                scope = Scope(
                    slots=merged.slots, state=state, amended=amended, as_of_ms=as_of, zone="-05:00"
                )
                found.append(
                    tuple(
                        name
                        for name, predicate in sorted(contract.items())
                        if scene in predicate.scenes
                        and judge(predicate, scope).verdict is not Verdict.HOLDS
                    )
                )
    return found


def cancelled(**changes):
    """The reservation with some fields changed."""
    return {**RESERVATION, **changes}


def flown(day):
    """The flights of the reservation on another day."""
    return [{**RESERVATION["flights"][0], "date": day}]


CANCEL = call("cancel_reservation", reservation_id="ABC123")


def change(**arguments):
    """A call that changes the reservation's flights."""
    base = {
        "reservation_id": "ABC123",
        "cabin": "economy",
        "flights": [leg("HAT002", "2024-05-20")],
        "payment_id": "credit_card_1",
    }
    return call("update_reservation_flights", **{**base, **arguments})


def book(**arguments):
    """A call that books a new reservation."""
    base = {
        "user_id": USER,
        "origin": "JFK",
        "destination": "SEA",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [leg("HAT001", "2024-05-20")],
        "passengers": RESERVATION["passengers"],
        "payment_methods": [{"payment_id": "credit_card_1", "amount": 120}],
        "total_baggages": 1,
        "nonfree_baggages": 0,
        "insurance": "no",
    }
    return call("book_reservation", **{**base, **arguments})


def verify(*actions):
    """A corrected task of this user with these actions."""
    instructions = {
        "known_info": f"You are {USER}.",
        "reason_for_call": "Cancel it.",
        "task_instructions": "",
    }
    return {
        "id": "1",
        "user_scenario": {"instructions": instructions},
        "evaluation_criteria": {
            "actions": [{"name": name, "arguments": arguments} for name, arguments in actions]
        },
    }
