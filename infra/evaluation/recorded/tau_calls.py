"""Recorded mutating calls of the airline domain against what the pipeline made of them.

A row is one turn: gold by the original task, standing by the corrected one, the act, and which
rules did not hold. The four-clause test of cancellations is computed here from the observed
rows alone, without the predicate language, so that it can be held against the pipeline.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from infra.evaluation.recorded.source_log import Placed, name_act
from infra.importers.tau_catalogue import CANCEL
from infra.importers.tau_label import TauLabel
from schemas.event import CommitmentObserved, Event, TurnRequested, UtteranceObserved
from schemas.outcome import Commitment, RepairAct, TurnFailure, Verdict
from schemas.value import RecordValue, Timestamp, Value

DAY_MS: Final = 86_400_000
COVERED: Final = re.compile(
    r"\b(?:health|ill|illness|sick|unwell|medical|hospital|surgery|injur\w*|weather|storm)\b",
    re.IGNORECASE,
)
"""Words of a reason that the insurance covers: health or weather."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TauRow:
    """One recorded mutating call.

    ``rules`` are the predicates that did not hold for the candidate, with their verdicts.
    ``clauses`` says what the four-clause test makes of a cancellation: allowed, blocked, or ""
    for another call; ``clauses_insured`` the same with any insured reason taken as covered.
    """

    turn_id: str
    user: str
    task_id: int
    trial: int
    call: str
    gold: bool
    standing: str
    refused_by_tool: bool
    repeat: bool
    act: str
    reason: str
    blocked: bool
    rules: tuple[str, ...]
    clauses: str
    clauses_insured: str
    topic: str
    offset: int
    outcome_id: str
    certificate: str


@dataclass(frozen=True, slots=True)
class Clauses:
    """What the four clauses say of one cancellation, and with any insured reason taken."""

    strict: str
    insured: str


def judge_cancellations(events: Iterable[Event], labels: Sequence[TauLabel]) -> dict[str, Clauses]:
    """Return by turn what four clauses over the observed reservation say of a cancellation.

    Allowed: made within 24 hours, or business, or a flight cancelled by the airline, or insured
    with a covered reason; never after a flown segment. The reason is what the user said so far.
    """
    asked = {label.turn_id: label for label in labels if label.call == CANCEL}
    rows: dict[tuple[str, str], Mapping[str, Value]] = {}
    said: dict[str, list[str]] = {}
    found = {}
    for event in events:
        match event.payload:
            case CommitmentObserved(slots=slots):
                row = {slot.name: slot.value for slot in slots}
                rows[event.user, str(row["reservation_id"])] = row
            case UtteranceObserved(text=text) if event.principal.kind.value == "user":
                said.setdefault(event.user, []).append(text)
            case TurnRequested() if event.event_id in asked:
                named = asked[event.event_id].reservation_id or ""
                covered = COVERED.search("\n".join(said.get(event.user, ()))) is not None
                found[event.event_id] = _judge(
                    rows.get((event.user, named)), event.occurred_at_ms, covered=covered
                )
    return found


def compare_call(label: TauLabel, placed: Placed, clauses: Mapping[str, Clauses]) -> TauRow:
    """Return the row of a turn."""
    outcome = placed.outcome
    act = name_act(outcome)
    own = clauses.get(label.turn_id, Clauses("", ""))
    return TauRow(
        turn_id=label.turn_id,
        user=label.user,
        task_id=label.task_id,
        trial=label.trial,
        call=label.call,
        gold=label.gold,
        standing=label.standing.value,
        refused_by_tool=bool(label.error),
        repeat=label.repeat,
        act=act,
        reason=outcome.reason.value if isinstance(outcome, RepairAct) else "",
        blocked=act != "commit",
        rules=list_broken(outcome),
        clauses=own.strict,
        clauses_insured=own.insured,
        topic=placed.topic,
        offset=placed.offset,
        outcome_id=outcome.outcome_id.hex(),
        certificate=placed.certificate,
    )


def list_broken(outcome: Commitment | RepairAct | TurnFailure) -> tuple[str, ...]:
    """Return the predicates that do not hold for the turn's candidate, with their verdicts."""
    return tuple(
        f"{one.predicate_id} {one.verdict.value}"
        for report in outcome.certificate.candidates
        for one in report.verdicts
        if one.verdict is not Verdict.HOLDS
    )


def _judge(row: Mapping[str, Value] | None, now_ms: int, *, covered: bool) -> Clauses:
    if row is None:
        return Clauses("blocked", "blocked")
    flights = row.get("flights")
    legs = flights if isinstance(flights, tuple) else ()
    statuses = [leg.get("status") for leg in legs if isinstance(leg, RecordValue)]
    created = row.get("created_at")
    recent = isinstance(created, Timestamp) and now_ms - created.at_ms <= DAY_MS
    flown = "landed" in statuses or "flying" in statuses
    free = recent or row.get("cabin") == "business" or "cancelled" in statuses
    insured = row.get("insurance") == "yes"
    return Clauses(
        _name(not flown and (free or (insured and covered))), _name(not flown and (free or insured))
    )


def _name(allowed: bool) -> str:  # noqa: FBT001 - a verdict, not a switch
    return "allowed" if allowed else "blocked"
