"""What a published example of a policy item describes, put by hand as a situation and a call.

``policy_cases.json`` has one entry per example, by the digest of tool, item and the example's
own words: no text stands there, and a changed example is noticed. What an example does not
mention is in order. One that describes no call says why it cannot be put.
"""

import hashlib
import json
from dataclasses import dataclass
from importlib import resources
from typing import Final

REASONS: Final = {
    "agent": "it is about what the agent looked up or asked, and a call does not carry that",
    "one_payment": "it pays in several ways, and the call has one payment id",
    "amount": "it is about the amount charged, and the call carries none",
    "unclear": "it says neither what is free nor what is charged",
}
"""Why an example cannot be put as a candidate."""

UNKNOWN: Final = "its words are none of those that were put by hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What an example describes: who, the reservation as it stands, and what the call names.

    Routes are legs such as ``JFK-LAX LAX-SEA``; ``statuses`` and ``seats`` are those of the legs
    that the call is about, one for all or one each. ``now`` None leaves the number of
    passengers; ``missing`` names a field that they lack; ``untyped`` leaves the trip type out.
    """

    call: str
    membership: str = "regular"
    cabin: str = "economy"
    hours: int = 72
    insurance: str = "no"
    before: str = "JFK-SEA"
    after: str = "JFK-SEA"
    statuses: str = "available"
    seats: str = "9"
    people: int = 1
    now: int | None = None
    missing: str = ""
    had: int = 0
    total: int = 0
    nonfree: int = 0
    pay: str = "credit_card_1"
    user: str = ""
    untyped: bool = False


def read_situations() -> dict[str, Situation | str]:
    """Return by digest each example's situation, or why it cannot be put."""
    path = resources.files("infra.evaluation.recorded") / "policy_cases.json"
    found: dict[str, Situation | str] = {}
    for name, entry in json.loads(path.read_text("utf-8")).items():
        reason = entry.get("not_put")
        found[name] = Situation(**entry) if reason is None else REASONS[reason]
    return found


def name_example(tool: str, item: str, text: str) -> str:
    """Return the digest by which an example is known."""
    return hashlib.sha256(f"{tool}|{item}|{text}".encode()).hexdigest()[:12]
