"""The tables of PrecisionMemBench, counted from judged cases; which arm is which stands in each."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from infra.evaluation.memory.arms import STRUCTURED, TEXT_ONLY
from infra.evaluation.memory.beliefs import Recorded
from infra.evaluation.memory.gating import GATED
from infra.evaluation.memory.judging import MemoryRow

TableRow = dict[str, Any]

NOTES: Final = (
    (
        "Structured arm: a belief is one evidence unit of cost 1; pinned, it carries the "
        "dimension pinned:<id>, required when its scope matches; superseded, it is withdrawn; "
        "resolved, it is no longer valid; scope and user bound what a turn sees; B_main is the "
        "case's maxBeliefs. What is searched is name and aliases."
    ),
    (
        "Text-only arm: the provider contract, in which only a text and its user count. "
        "Supersession and scope cannot be known from text, so what comes back is reported as it "
        "is. A query goes without its words of English grammar. Pinned beliefs and questions "
        "are listed by the harness for every provider."
    ),
    (
        "Passed, precision and recall are computed by the public harness's rules, and agree with "
        "its recorded verdicts on every recorded system; only a run of that harness itself "
        "(commitments evaluate serve-precisionmembench) is a score. Precision is the mean over "
        "cases where it applies."
    ),
    (
        f"A system {GATED}: its recorded list as one candidate that cites a unit for each belief "
        "returned. The list is kept without what LCV finds unsupported; the act says what became "
        "of the whole list. Turns stand in private/log/structured and private/log/gated."
    ),
)


def build_tables(
    rows: Sequence[MemoryRow], peers: Mapping[str, Mapping[str, Recorded]]
) -> dict[str, list[TableRow]]:
    """Return all tables by name."""
    arms = dict.fromkeys(row.arm for row in rows)
    counted = {arm: [row for row in rows if row.arm == arm] for arm in arms}
    own = {arm: found for arm, found in counted.items() if arm in {STRUCTURED, TEXT_ONLY}}
    plain = {arm: found for arm, found in counted.items() if arm in peers}
    gated = {arm: found for arm, found in counted.items() if arm.endswith(GATED)}
    return {
        "arms": [count_arm(arm, found) for arm, found in own.items()],
        "recorded_systems": [
            {**count_arm(arm, found), "passed_as_recorded": _count_recorded(peers[arm], found)}
            for arm, found in plain.items()
        ],
        "behind_lcv": [
            {
                **count_arm(arm, found),
                "whole_list_committed": sum(row.act == "commit" for row in found),
            }
            for arm, found in gated.items()
        ],
        "not_passed": [
            {"arm": row.arm, "case_id": row.case_id, "failures": "; ".join(row.failures)}
            for found in own.values()
            for row in found
            if row.failures
        ],
    }


def count_arm(arm: str, rows: Sequence[MemoryRow]) -> TableRow:
    """Return the figures of one arm or system."""
    return {
        "arm": arm,
        "cases": len(rows),
        "passed": sum(row.passed for row in rows),
        "precision": _mean([row.precision for row in rows]),
        "recall": _mean([row.recall for row in rows]),
        "returned": sum(row.returned for row in rows),
        "superseded": sum(row.superseded for row in rows),
        "resolved": sum(row.resolved for row in rows),
        "out_of_scope": sum(row.out_of_scope for row in rows),
        "other_user": sum(row.other_user for row in rows),
        "must_include": sum(row.musts for row in rows),
        "present": sum(row.musts_present for row in rows),
    }


def _count_recorded(recorded: Mapping[str, Recorded], rows: Sequence[MemoryRow]) -> int:
    return sum(recorded[row.case_id].passed for row in rows)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
