"""What is known of each recorded call beside the log: gold, corrected gold, the tool's answer.

Task numbers differ between the original and the corrected tasks; they are joined by user,
and among a user's tasks by the words of the instruction.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from infra.importers.tau_catalogue import CANCEL, MUTATING

_WORD: Final = re.compile(r"[a-z0-9]+")


class Standing(StrEnum):
    """What the corrected tasks say about a call."""

    VALID = "valid"  # One of the corrected actions, and those before it were made as they are.
    OUT_OF_STATE = "out_of_state"  # One of them, after an action that the correction changed.
    OTHER = "other"  # None of them.
    UNKNOWN = "unknown"  # No corrected task of this user is known.


@dataclass(frozen=True, slots=True)
class TauLabel:
    """One recorded mutating call; ``gold`` by the original task, ``standing`` by the corrected.

    ``error`` is the tool's refusal, "" when it did the call. ``repeat`` marks the turn that is
    asked for after a refusal.
    """

    turn_id: str
    user: str
    task_id: int
    trial: int
    call: str
    reservation_id: str | None
    gold: bool
    standing: Standing
    error: str
    repeat: bool


@dataclass(frozen=True, slots=True)
class Gold:
    """The actions of one run's task, original and corrected; None when no task is known."""

    original: tuple[tuple[str, Mapping[str, Any]], ...]
    corrected: tuple[tuple[str, Mapping[str, Any]], ...] | None

    def is_original(self, call: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the original task has this very call."""
        return (call, arguments) in self.original

    def judge(
        self,
        call: str,
        arguments: Mapping[str, Any],
        before: Sequence[tuple[str, Mapping[str, Any]]],
    ) -> Standing:
        """Return what the corrected task says about a call made after those before it.

        A call is judged in its own state: where the corrected task changes the reservation
        first, and the run did not do that very change, the call met another reservation.
        """
        if self.corrected is None:
            return Standing.UNKNOWN
        if (call, arguments) not in self.corrected:
            return Standing.OTHER
        at = self.corrected.index((call, arguments))
        needed = [action for action in self.corrected[:at] if _touches(action, arguments)]
        made = [action for action in before if _touches(action, arguments)]
        done = all(action in made for action in needed)
        return Standing.VALID if done else Standing.OUT_OF_STATE


def find_gold(run: Mapping[str, Any], verified: Sequence[Mapping[str, Any]]) -> Gold:
    """Return the original and the corrected actions of a run's task."""
    task = run["info"]["task"]
    original = tuple((one["name"], one["kwargs"]) for one in task["actions"])
    words = _split(task["instruction"])
    owned = [one for one in verified if task["user_id"] in _read_text(one)]
    if not owned:
        return Gold(original, None)
    best = max(owned, key=lambda one: (_overlap(words, _split(_read_text(one))), str(one["id"])))
    actions = best["evaluation_criteria"]["actions"]
    corrected = tuple((one["name"], one["arguments"]) for one in actions if one["name"] in MUTATING)
    return Gold(original, corrected)


def _touches(action: tuple[str, Mapping[str, Any]], arguments: Mapping[str, Any]) -> bool:
    name, own = action
    reservation = arguments.get("reservation_id")
    return name != CANCEL and reservation is not None and own.get("reservation_id") == reservation


def _read_text(task: Mapping[str, Any]) -> str:
    instructions = task["user_scenario"]["instructions"]
    names = ("known_info", "reason_for_call", "task_instructions", "unknown_info")
    return "\n".join(str(instructions.get(name) or "") for name in names)


def _split(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _overlap(left: frozenset[str], right: frozenset[str]) -> int:
    """Return the share of common words in millionths."""
    return len(left & right) * 1_000_000 // max(1, len(left | right))
