"""What a backfill is asked for, and the names by which its rows tell what they rest on.

A plan says nothing of where the history lives or where the tables go.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from infra.event_json import EventFormError, parse_object, parse_record
from processors.whatif import Override
from schemas.candidate import Candidate
from schemas.codec import digest
from streams.core_reducer import CoreReducer

LANES_MAX: Final = 32
EVENTS_PER_LANE: Final = 20_000
"""Each lane reads the whole history, so a small one is all reading."""


class Feedback(StrEnum):
    """Whose consequences the history goes on with: the recorded outcomes', or one's own."""

    RECORDED = "recorded"
    OWN = "own"


class BackfillError(ValueError):
    """A backfill cannot be run as asked; the message names the place and the remedy."""


TurnKey = tuple[str, str, str]
"""Tenant, user and turn id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One evaluation: other settings, whose feedback, and candidates for named turns."""

    override: Override = field(default_factory=Override)
    feedback: Feedback = Feedback.RECORDED
    candidates: dict[TurnKey, tuple[Candidate, ...]] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """Return the plan as plain JSON; candidates by their digests."""
        stated = {
            name: value
            for name, value in asdict(self.override).items()
            if value is not None and value != ()
        }
        if self.candidates:
            stated["candidates"] = self._digest_candidates()
        return {"feedback": self.feedback.value, **stated}

    def _digest_candidates(self) -> str:
        lines = [
            "\0".join((*key, *(digest(candidate).hex() for candidate in offered)))
            for key, offered in sorted(self.candidates.items(), key=lambda item: item[0])
        ]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A plan over one history as it stood: ``events`` counts each partition's, pinned."""

    plan: dict[str, Any]
    history: str
    events: dict[str, int]
    lanes: int
    core_version: str

    @property
    def run_id(self) -> str:
        """Return the name of the run: equal runs have equal names and equal tables."""
        content = json.dumps(asdict(self), sort_keys=True, default=list)
        return hashlib.sha256(content.encode()).hexdigest()[:32]


def open_run(
    plan: Plan, *, history: str, events: dict[str, int], events_per_lane: int = EVENTS_PER_LANE
) -> Run:
    """Return a new run; small histories have one lane, large ones up to 32."""
    lanes = min(LANES_MAX, max(1, sum(events.values()) // events_per_lane))
    return Run(
        plan=json.loads(json.dumps(plan.describe())),
        history=history,
        events=events,
        lanes=lanes,
        core_version=CoreReducer.version,
    )


def read_candidates(path: Path) -> dict[TurnKey, tuple[Candidate, ...]]:
    """Return other candidates by turn, from JSON lines.

    ``{"user": "ada", "turn": "t1", "candidates": [...]}``; the tenant is "default" unless named.

    Raises:
        BackfillError: naming file, line and fault.
    """
    offered: dict[TurnKey, tuple[Candidate, ...]] = {}
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BackfillError(f"{path}: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            data = parse_object(line)
            key = (str(data.get("tenant", "default")), str(data["user"]), str(data["turn"]))
            listed = data["candidates"]
            if not isinstance(listed, list):
                raise BackfillError(f"{place}: candidates: not a list")
            found = tuple(parse_record(Candidate, item) for item in listed)
        except KeyError as missing:
            raise BackfillError(f"{place}: {missing} is missing") from None
        except EventFormError as error:
            raise BackfillError(f"{place}: {error}") from None
        if key in offered:
            raise BackfillError(f"{place}: turn {key[2]!r} of {key[1]!r} stands above already")
        offered[key] = found
    return offered
