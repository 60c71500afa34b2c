"""The pipeline's acts against the annotated system's, turn by turn of Schema-Guided Dialogue.

A row is one turn: what the annotation did there, what the pipeline did, and what is checked at
that kind of point. Counting rows is ``sgd_tables``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from infra.evaluation.recorded.source_log import Placed, name_act
from infra.importers.sgd_label import MADE_WRONG, Point, SgdLabel
from schemas.candidate import SlotValue
from schemas.outcome import Commitment, RepairAct, TurnFailure

AGREEING: Final = {
    Point.REQUEST: "clarify_slot",
    Point.CONFIRM: "clarify_confirm",
    Point.CALL: "commit",
    Point.FAILURE: "recontract",
}
"""The act that does what the annotated system did; made-wrong candidates have none."""

COMPARED: Final = (Point.REQUEST, Point.CONFIRM, Point.CALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SgdRow:
    """One turn: the annotated point beside the outcome; a check is None where it does not apply.

    ``never_shown`` marks a call with a value that the user was never shown: it is left out of
    agreement, and ``named`` says whether the question names exactly those slots. ``offered`` is
    whether a failure came with an alternative, ``carried`` whether the Recontract carries it.
    ``contradicts`` is a commitment with a value other than the one affirmed last, or a call
    refused as contradicting the contract. ``asked`` compares the question's slots with those of
    the annotated act: same, fewer, more or other.
    """

    turn_id: str
    user: str
    scene: str
    point: str
    act: str
    reason: str
    never_shown: bool
    agrees: bool | None
    named: bool | None
    offered: bool | None
    carried: bool | None
    contradicts: bool
    blocked: bool | None
    asked: str
    topic: str
    offset: int
    outcome_id: str
    certificate: str


def compare(label: SgdLabel, placed: Placed) -> SgdRow:
    """Return the row of a turn."""
    outcome, point = placed.outcome, label.point
    act = name_act(outcome)
    never_shown = point is Point.CALL and bool(label.never_shown)
    failed = point is Point.FAILURE
    wrong = point in MADE_WRONG
    return SgdRow(
        turn_id=label.turn_id,
        user=label.user,
        scene=label.scene,
        point=point.value,
        act=act,
        reason=_name_reason(outcome),
        never_shown=never_shown,
        agrees=None if wrong or never_shown else act == AGREEING[point],
        named=_read_question(outcome) == frozenset(label.never_shown) if never_shown else None,
        offered=bool(label.alternative) if failed else None,
        carried=_carries(outcome, label.alternative) if failed and label.alternative else None,
        contradicts=not wrong and _contradicts(label, outcome),
        blocked=act != "commit" if wrong else None,
        asked=_compare_asked(label, outcome) if point in COMPARED[:2] else "",
        topic=placed.topic,
        offset=placed.offset,
        outcome_id=outcome.outcome_id.hex(),
        certificate=placed.certificate,
    )


def compare_all(labels: Iterable[SgdLabel], outcomes: Iterable[Placed]) -> list[SgdRow]:
    """Return the rows of all labelled turns in their order; every turn has one outcome.

    Outcomes are taken one by one, so that a split of any size fits into memory.
    """
    known = {label.turn_id: label for label in labels}
    rows = {
        placed.outcome.turn_id: compare(known[placed.outcome.turn_id], placed)
        for placed in outcomes
    }
    return [rows[turn_id] for turn_id in known]


def _name_reason(outcome: Commitment | RepairAct | TurnFailure) -> str:
    match outcome:
        case Commitment():
            return ""
        case RepairAct():
            return outcome.reason.value
        case TurnFailure():
            return outcome.kind.value


def _read_question(outcome: Commitment | RepairAct | TurnFailure) -> frozenset[str]:
    """Return the slots that a question names, to give or to confirm."""
    if not isinstance(outcome, RepairAct) or outcome.question is None:
        return frozenset()
    asked = outcome.question
    return frozenset({*asked.slots, *(option.slot for option in asked.options)})


def _carries(
    outcome: Commitment | RepairAct | TurnFailure, alternative: tuple[SlotValue, ...]
) -> bool:
    return isinstance(outcome, RepairAct) and alternative in [
        one.slots for one in outcome.alternatives
    ]


def _contradicts(label: SgdLabel, outcome: Commitment | RepairAct | TurnFailure) -> bool:
    if isinstance(outcome, Commitment):
        affirmed = {slot.name: slot.value for slot in label.confirmed}
        return any(affirmed.get(slot.name) != slot.value for slot in outcome.slots)
    return (
        label.point is Point.CALL
        and isinstance(outcome, RepairAct)
        and outcome.reason.value == "contract_conflict"
    )


def _compare_asked(label: SgdLabel, outcome: Commitment | RepairAct | TurnFailure) -> str:
    asked, annotated = _read_question(outcome), frozenset(label.slots)
    if asked == annotated:
        return "same"
    if asked < annotated:
        return "fewer"
    return "more" if asked > annotated else "other"
