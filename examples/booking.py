"""A booking desk behind the control point: what any agent framework needs, and nothing of one.

``Desk.propose`` is the tool that an agent calls; ``Desk.hear`` and ``Desk.answer`` are the edge
that holds the user's own channel. An agent can propose whatever it likes: only what the user
said and confirmed is committed.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from infra.appending import append_events
from infra.cli.console import open_log
from infra.event_json import parse_record
from infra.gateway.embedded_control import EmbeddedControl
from infra.gateway.point import ControlPoint
from infra.genesis import build_genesis
from schemas.catalogue import Catalogue

CATALOGUE: dict[str, Any] = {
    "name": "desk",
    "scenes": [
        {
            "name": "booking",
            "commitment_types": ["table"],
            "required_slots": [],
            "required_dimensions": [],
            "weights": [],
            "templates": [],
        }
    ],
    "types": [
        {
            "name": "table",
            "slots": [
                {"name": "day", "slot_type": "string", "role": "plain"},
                {"name": "seats", "slot_type": "int", "role": "plain"},
            ],
            "required_slots": ["day", "seats"],
            "confirm_carried": True,
        }
    ],
}


@dataclass
class Desk:
    """One user's desk over a control point."""

    point: ControlPoint
    user: str
    question: str | None = None
    said: list[str] = field(default_factory=list)

    def hear(self, **slots: Any) -> None:
        """Take what the user filled in, on the user's own channel."""
        statements = [{"subject": "", "slot": name, "value": slots[name]} for name in slots]
        self._post({"type": "FormSubmitted", "statements": statements})

    def answer(self, yes: bool) -> None:  # noqa: FBT001 - a yes or a no
        """Take the user's answer to the question that was put, on the user's own channel."""
        kind = "confirm" if yes else "reject"
        self._post({"type": "ClarificationAnswered", "question_id": self.question, "answer": kind})

    def propose(self, day: str, seats: int) -> str:
        """Book a table; return what became of it, to be told to the user as it stands."""
        slots = [{"name": "day", "value": day}, {"name": "seats", "value": seats}]
        body = {
            "user": self.user,
            "turn": {"scene": "booking", "text": f"table for {seats} on {day}"},
            "candidates": [{"commitment_type": "table", "slots": slots}],
        }
        answer = self.point.post_turn(json.dumps(body))
        record = answer.body.get("record", {})
        self.question = (record.get("question") or {}).get("question_id")
        text = str(record.get("text") or answer.body)
        self.said.append(f"{answer.body.get('outcome', answer.status)}: {text}")
        return text

    def _post(self, payload: dict[str, Any]) -> None:
        at = datetime.now(UTC).isoformat()
        self.point.post_events(json.dumps({"user": self.user, "at": at, "payload": payload}))


@contextmanager
def open_desk(folder: Path, user: str) -> Iterator[Desk]:
    """Yield a desk over a new log in a folder."""
    with open_log(folder, must_exist=False) as embedded:
        append_events(embedded, [build_genesis(parse_record(Catalogue, CATALOGUE))])
        point = ControlPoint(EmbeddedControl(embedded), now_ms=lambda: time.time_ns() // 1_000_000)
        yield Desk(point, user)
