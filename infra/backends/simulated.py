"""A simulated model: seeded, without weights, always labelled ``simulated``.

It reads the prompt as a model would and answers in the grammar, or now and then in one of the
ways in which models break. What it says is no measure of any model.
"""

import hashlib
import json
import random
from typing import Any, Final

from infra.backends.port import BackendError, BackendTimeoutError, Call, Reply

BROKEN_PERCENT: Final = 10
_FENCE: Final = "```json\n{}\n```"


class SimulatedBackend:
    """Answers from the units of the prompt; equal seeds and calls give equal replies."""

    kind = "simulated"
    server_version = ""

    def __init__(self, seed: int = 0, *, broken_percent: int = BROKEN_PERCENT) -> None:
        """Break ``broken_percent`` of the answers, each in one of the known ways."""
        self._seed = seed
        self._broken_percent = broken_percent
        self.model = f"simulated-{seed}"

    def answer(self, call: Call) -> Reply:
        """Answer one call; takes no time."""
        parts = f"{self._seed}\0{call.subject.hex()}\0{call.attempt}"
        rng = random.Random(hashlib.sha256(parts.encode()).digest())  # noqa: S311 - no secret
        document = json.loads(call.messages[1].content)
        if call.schema is None:
            return _reply(str(document.get("template", "")))
        text = json.dumps(_propose(document, rng), ensure_ascii=False)
        if rng.randrange(100) < self._broken_percent:
            return _break(text, rng)
        return _reply(_FENCE.format(text) if rng.random() < 0.2 else text)

    def close(self) -> None:
        """Hold nothing."""


def _reply(text: str, reason: str = "stop") -> Reply:
    return Reply(text=text, finish_reason=reason, latency_ms=0)


def _propose(document: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    kind = rng.choice(document["types"])
    names = [slot.partition(" (")[0] for slot in kind["slots"]]
    known = dict(document.get("asked", {}))
    cited = []
    for unit in document.get("units", ()):
        if unit.get("slot") in names:
            known[unit["slot"]] = unit["value"]
            cited.append(unit["id"])
    known |= document.get("confirmed", {})
    slots = {name: known[name] for name in names if name in known}
    if slots and rng.random() < 0.1:
        slots.pop(rng.choice(sorted(slots)))
    return {
        "commitment_type": kind["commitment_type"],
        "slots": slots,
        "evidence_ids": cited,
        "claimed_predicates": [rule["id"] for rule in document.get("contract", ())],
    }


def _break(text: str, rng: random.Random) -> Reply:
    """Return an answer broken in one of the ways of spec 5.12, or raise as a server would."""
    match rng.randrange(8):
        case 0:
            return _reply(text[: len(text) // 2], "length")
        case 1:
            return _reply(text + text)
        case 2:
            return _reply(" \n")
        case 3:
            return _reply("", "content_filter")
        case 4:
            return _reply(text.replace("}", ",}", 1))
        case 5:
            return _reply(f"<think>{text}")
        case 6:
            raise BackendError("simulated HTTP 503", again=True, latency_ms=0)
        case _:
            raise BackendTimeoutError("simulated stall", again=False, latency_ms=0)
