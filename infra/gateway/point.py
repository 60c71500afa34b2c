"""The control point as Python functions: what the HTTP endpoint does, without HTTP.

Texts in, plain JSON out, so that any agent framework can call it as a tool.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

from infra.event_json import render_record
from infra.gateway.forms import Asked, read_answer, read_events, read_turn
from infra.gateway.port import ControlPort, Outcome
from schemas.codec import digest
from schemas.outcome import Commitment, RepairAct
from schemas.packet import Packet

REJECTED: Final = "rejected"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a call: ``status`` is decided, pending, told or rejected; ``body`` is JSON."""

    status: str
    body: dict[str, Any]


class ControlPoint:
    """Events and candidates in, a commitment or a repair act out."""

    def __init__(
        self, port: ControlPort, *, now_ms: Callable[[], int], authenticated: bool = False
    ) -> None:
        """Stand before a log; ``authenticated`` says that only signed principals count there."""
        self._port = port
        self._now_ms = now_ms
        self.authenticated = authenticated

    def post_events(self, body: str) -> Answer:
        """Append events and say what became of each.

        Raises:
            FormError: the body is not as it should be; nothing was appended.
            ControlError: the log cannot answer now.

        """
        told = self._port.tell(read_events(body, authenticated=self.authenticated))
        wrong = any(one.status == REJECTED for one in told)
        return Answer(REJECTED if wrong else "told", {"events": [asdict(one) for one in told]})

    def post_turn(self, body: str) -> Answer:
        """Ask for one outcome; with candidates it is decided at once, else the packet comes back.

        Raises:
            FormError, ControlError: as ``post_events``.

        """
        asked = read_turn(body, now_ms=self._now_ms(), authenticated=self.authenticated)
        return self._decide(asked)

    def post_candidates(self, turn_id: str, body: str) -> Answer:
        """Answer the packet of a pending turn.

        Raises:
            FormError, ControlError: as ``post_events``.

        """
        return self._decide(read_answer(body, turn_id, now_ms=self._now_ms()))

    def get_turn(self, tenant: str, user: str, turn_id: str) -> Answer | None:
        """Return what is known of a turn, or None."""
        found = self._port.find_outcome(tenant, user, turn_id)
        return None if found is None else _render(turn_id, found)

    def get_standing(self, tenant: str, user: str) -> Answer:
        """Return the contract, open proposals and questions, and slots of a user."""
        standing = self._port.look(tenant, user)
        body = {
            "contract": [render_record(row) for row in standing.contract],
            "proposals": [render_record(row) for row in standing.proposals],
            "questions": [
                {"question_id": name, **render_record(row)} for name, row in standing.questions
            ],
            "slots": [render_record(row) for row in standing.slots],
        }
        return Answer("told", body)

    def _decide(self, asked: Asked) -> Answer:
        told = self._port.tell(asked.events)
        found = self._port.find_outcome(asked.tenant, asked.user, asked.turn_id)
        wrong = [asdict(one) for one in told if one.status == REJECTED]
        if wrong and (found is None or isinstance(found, Packet)):
            return Answer(REJECTED, {"turn_id": asked.turn_id, "rejected": wrong})
        if found is None:
            return Answer("pending", {"turn_id": asked.turn_id, "outcome": "pending"})
        return _render(asked.turn_id, found)


def _render(turn_id: str, found: Outcome | Packet) -> Answer:
    body: dict[str, Any] = {"turn_id": turn_id}
    if isinstance(found, Packet):
        body |= {"outcome": "pending", "packet_digest": digest(found).hex()}
        return Answer("pending", {**body, "packet": render_record(found)})
    if isinstance(found, Commitment):
        name = "commitment"
    else:
        name = "repair" if isinstance(found, RepairAct) else "failure"
    return Answer("decided", {**body, "outcome": name, "record": render_record(found)})
