"""What rests on one event, and what would be otherwise without it (spec 7.3).

Resting is read from certificates, derivations and consequences; "otherwise" is a recomputation
in which the event and all derived from it are as if erased.
"""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from infra.audit.history import History, Recorded
from infra.audit.moments import CONTROL_KEY, HeldRows, walk_user
from infra.backfill.plan import Plan
from infra.backfill.recomputation import Recomputation
from infra.backfill.turns import Turn
from infra.records import OUTCOME_TOPICS, read_output
from processors.whatif import Override
from schemas.codec import DecodeError
from schemas.outcome import Commitment, RepairAct, TurnFailure
from schemas.row import DerivedRow, ObligationRow
from streams.opening import ErasedEventError, Opener
from streams.scratch_rows import ScratchRows

Outcome = Commitment | RepairAct | TurnFailure


@dataclass(frozen=True, slots=True)
class VerdictFlip:
    """A predicate's verdict on a candidate, with the event and without; "" stands for none."""

    turn_id: str
    candidate: str
    predicate_id: str
    recorded: str
    without: str


@dataclass(frozen=True, slots=True)
class EndingFlip:
    """How a turn ended, and how it would have."""

    turn_id: str
    recorded: str
    without: str


@dataclass(frozen=True, slots=True)
class BlastRadius:
    """Ids of what rests on an event: derived events, commitments, questions, obligations."""

    derived: tuple[str, ...]
    commitments: tuple[str, ...]
    acts: tuple[str, ...]
    questions: tuple[str, ...]
    obligations: tuple[str, ...]
    verdicts: tuple[VerdictFlip, ...]
    endings: tuple[EndingFlip, ...]


def find_users(history: History, event_id: str) -> list[tuple[str, str]]:
    """Return (tenant, user) of every user who sent an event of this id, sorted."""
    opener = history.opener
    found: dict[tuple[str, str], None] = {}
    for partition in history.partitions:
        for recorded in history.recorded(partition):
            if recorded.record.key == CONTROL_KEY:
                continue
            try:
                event = opener.open(recorded.record).event
            except (DecodeError, ErasedEventError):
                continue
            if event.event_id == event_id:
                found[event.tenant, event.user] = None
    return sorted(found)


def measure_blast_radius(
    history: History, tenant: str, user: str, event_id: str
) -> BlastRadius | None:
    """Return what rests on an accepted event of a user; None if there is no such event."""
    rows: HeldRows | None = None
    outcomes: list[Outcome] = []
    known = False
    for moment in walk_user(history, tenant, user):
        rows = moment.rows
        known = known or moment.event.event_id == event_id
        outcomes.extend(_list_outcomes(moment.recorded, history.opener))
    if rows is None or not known:
        return None
    reached = dict.fromkeys(_list_derived(rows, event_id))
    derived = tuple(name for name in reached if name != event_id)
    resting: list[Outcome] = []
    for outcome in outcomes:
        references = outcome.certificate.rests_on
        if any(reference.event_id in reached for reference in references):
            resting.append(outcome)
            if isinstance(outcome, Commitment):
                # What it made true stands in u_t under the event that decided it.
                reached[max(references, key=lambda reference: reference.seq).event_id] = None
    turns = _recompute(history, tenant, user, event_id)
    commitments = [outcome for outcome in resting if isinstance(outcome, Commitment)]
    acts = [outcome for outcome in resting if isinstance(outcome, RepairAct)]
    return BlastRadius(
        derived=derived,
        commitments=tuple(dict.fromkeys(one.commitment_id for one in commitments)),
        acts=tuple(one.turn_id for one in acts),
        questions=tuple(one.question.question_id for one in acts if one.question is not None),
        obligations=tuple(
            name for name, row in rows.scan(ObligationRow) if row.event_id in reached
        ),
        verdicts=tuple(_list_verdict_flips(outcomes, turns)),
        endings=tuple(
            EndingFlip(turn.turn_id, turn.recorded.label, turn.ending.label)
            for turn in turns
            if turn.flipped
        ),
    )


def _list_outcomes(recorded: Recorded, opener: Opener) -> list[Outcome]:
    opened = [
        (output.topic, opener.unseal(output.value))
        for output in recorded.outputs
        if output.topic in OUTCOME_TOPICS
    ]
    return [read_output(topic, value) for topic, value in opened if value is not None]


def _list_derived(rows: HeldRows, event_id: str) -> list[str]:
    found = [event_id]
    for source in found:
        for _, row in rows.scan(DerivedRow, f"{source}\0"):
            if row.event_id not in found:
                found.append(row.event_id)
    return found


def _recompute(history: History, tenant: str, user: str, event_id: str) -> list[Turn]:
    opener = history.opener
    plan = Plan(override=Override(forgotten=(event_id,)))
    keys = {CONTROL_KEY, opener.key_of(tenant, user)}
    turns: list[Turn] = []
    for partition in history.partitions:
        with tempfile.TemporaryDirectory(prefix="commitments-blast-") as folder:
            rows = ScratchRows(Path(folder) / "rows")
            try:
                recomputation = Recomputation(plan, rows, partition=partition, opener=opener)
                for recorded in history.recorded(partition):
                    if recorded.record.key in keys:
                        recomputation.fold(recorded)
            finally:
                rows.close()
        turns.extend(recomputation.turns())
    return turns


def _list_verdict_flips(outcomes: Iterable[Outcome], turns: Iterable[Turn]) -> list[VerdictFlip]:
    recorded = {outcome.turn_id: _read_verdicts(outcome) for outcome in outcomes}
    flips = []
    for turn in turns:
        before = recorded.get(turn.turn_id, {})
        after = {} if turn.outcome is None else _read_verdicts(turn.outcome)
        for key in sorted(before.keys() | after.keys()):
            pair = before.get(key, ""), after.get(key, "")
            if pair[0] != pair[1]:
                flips.append(VerdictFlip(turn.turn_id, *key, *pair))
    return flips


def _read_verdicts(outcome: Outcome) -> dict[tuple[str, str], str]:
    return {
        (report.digest.hex(), verdict.predicate_id): verdict.verdict.value
        for report in outcome.certificate.candidates
        for verdict in report.verdicts
    }
