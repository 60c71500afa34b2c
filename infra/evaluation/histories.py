"""The history file: one fixture a line, its events as bodies; all that a run may read."""

import base64
import json
from collections.abc import Iterable
from pathlib import Path

from infra.evaluation.fixture import Fixture
from schemas.codec import decode, encode
from schemas.event import Event


def write_histories(path: Path, fixtures: Iterable[Fixture]) -> None:
    """Write one fixture a line."""
    with path.open("w", encoding="utf-8") as file:
        for fixture in fixtures:
            bodies = [base64.b64encode(encode(event)).decode() for event in fixture.events]
            file.write(json.dumps({"fixture_id": fixture.fixture_id, "events": bodies}) + "\n")


def read_histories(path: Path) -> tuple[Fixture, ...]:
    """Return the fixtures of a file, in its order."""
    with path.open(encoding="utf-8") as file:
        return tuple(_read(json.loads(line)) for line in file)


def _read(line: dict[str, object]) -> Fixture:
    bodies = line["events"]
    assert isinstance(bodies, list), "a line has a list of bodies"
    events = tuple(decode(Event, base64.b64decode(body)) for body in bodies)
    return Fixture(str(line["fixture_id"]), events)
