"""Calls of the gateway for tests: a log with one scene, its application, and a client."""

import asyncio
from contextlib import asynccontextmanager, contextmanager

from aiohttp.test_utils import TestClient, TestServer

from infra.appending import append_events
from infra.cli.console import open_log
from infra.gateway.embedded_control import EmbeddedControl
from infra.gateway.point import ControlPoint
from infra.gateway.server import Gateway
from infra.genesis import build_genesis
from schemas.catalogue import Catalogue, SlotType
from tests.lcv import typed
from tests.situations import scene, slot

NOW_MS = 1_772_190_000_000
BOOKING = typed(
    "booking",
    slot("day"),
    slot("seats", slot_type=SlotType.INT),
    required_slots=("day",),
)
CATALOGUE = Catalogue("k", (scene(commitment_types=("booking",)),), (BOOKING,), (), ())
OFFER = {
    "commitment_type": "booking",
    "slots": [{"name": "day", "value": "Monday"}, {"name": "seats", "value": 2}],
}


@contextmanager
def opened_point(folder, **settings):
    """Yield a control point over a new log whose clock stands still."""
    with open_log(folder, must_exist=False) as embedded:
        append_events(embedded, [build_genesis(CATALOGUE)])
        yield ControlPoint(EmbeddedControl(embedded), now_ms=lambda: NOW_MS, **settings)


@asynccontextmanager
async def opened_client(point, **settings):
    """Yield a client of the endpoint over a control point."""
    async with TestClient(TestServer(Gateway(point, **settings).build())) as client:
        yield client


def call(point, *calls, **settings):
    """Carry out (method, path, arguments) one after another; return (status, JSON) of each."""

    async def carry_out():
        answers = []
        async with opened_client(point, **settings) as client:
            for method, path, arguments in calls:
                async with client.request(method, path, **arguments) as response:
                    answers.append((response.status, await response.json()))
        return answers

    return asyncio.run(carry_out())


def post(path, data, **arguments):
    """Return a call that sends JSON."""
    return "POST", path, {"json": data, **arguments}


def turn(turn_id, *candidates, **changes):
    """Return the body of a request for a turn of ada's."""
    body = {"user": "ada", "turn_id": turn_id, "turn": {"scene": "dinner", "text": "A table"}}
    return body | ({"candidates": list(candidates)} if candidates else {}) | changes


def form(**slots):
    """Return the event of a form that ada filled in."""
    statements = [{"subject": "", "slot": name, "value": value} for name, value in slots.items()]
    return {
        "user": "ada",
        "at": "2026-02-27T11:00:00+00:00",
        "payload": {"type": "FormSubmitted", "statements": statements},
    }
