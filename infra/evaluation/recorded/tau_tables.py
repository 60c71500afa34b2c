"""The tables of an evaluation on recorded airline calls, counted from its rows.

Turns that are asked for again after the tool refused a call stand in a figure of their own;
everything else counts each recorded call once.
"""

from collections.abc import Sequence
from typing import Any, Final

from infra.evaluation.recorded.tau_calls import TauRow
from infra.importers.tau_catalogue import CANCEL, MUTATING
from infra.importers.tau_label import Standing
from infra.importers.tau_policy import EVIDENCE_ONLY, POLICY, UNCOMPILED

TableRow = dict[str, Any]

STANDINGS: Final = {
    Standing.VALID.value: "a corrected action, in the state that the corrected task meets",
    Standing.OUT_OF_STATE.value: "a corrected action, but the run did not make the change that "
    "the corrected task makes first, so the call met another reservation",
    Standing.OTHER.value: "none of the corrected actions: the original label is an error that "
    "the corrections remove",
    Standing.UNKNOWN.value: "no corrected task of this user is known",
}

NOTES: Final = (
    (
        "Gold is an action of the original task, non-gold every other recorded call. Corrections "
        "are the verified tasks, joined by user and the words of the instruction."
    ),
    (
        "Blocked means that the call is no Commitment: the policy's predicates and the limits "
        "that the user confirmed are in force, database rows are evidence, and the recorded call "
        "is the one candidate."
    ),
    (
        "The four-clause test: within 24 hours, or business, or cancelled by the airline, or "
        "insured with a covered reason; never after a flown segment. It is computed from rows "
        "and the user's words, apart from the predicates."
    ),
    (
        "Policy examples were put by hand as the situation that each describes, with one call; "
        "what they do not mention is in order. What describes no call is not put, with the "
        "reason. Their turns stand in private/examples."
    ),
)


def summarise(rows: Sequence[TauRow]) -> TableRow:
    """Return the figures of the whole evaluation, as one row."""
    first = [row for row in rows if not row.repeat]
    repeats = [row for row in rows if row.repeat]
    gold = [row for row in first if row.gold]
    other = [row for row in first if not row.gold]
    cancelled = [row for row in other if row.call == CANCEL]
    valid = [row for row in first if row.standing == Standing.VALID.value]
    return {
        "calls": len(first),
        "non_gold": len(other),
        "non_gold_blocked": sum(row.blocked for row in other),
        "gold": len(gold),
        "gold_blocked": sum(row.blocked for row in gold),
        "valid_after_corrections": len(valid),
        "valid_blocked": sum(row.blocked for row in valid),
        "non_gold_cancellations": len(cancelled),
        "non_gold_cancellations_blocked": sum(row.blocked for row in cancelled),
        "four_clauses_block": sum(row.clauses == "blocked" for row in cancelled),
        "turns_after_a_refusal": len(repeats),
        "turns_after_a_refusal_blocked": sum(row.blocked for row in repeats),
    }


def build_tables(rows: Sequence[TauRow]) -> dict[str, list[TableRow]]:
    """Return all tables by name."""
    first = [row for row in rows if not row.repeat]
    return {
        "summary": [{"figure": name, "value": value} for name, value in summarise(rows).items()],
        "calls": count_calls(first),
        "reasons": count_reasons(first),
        "cancellations": compare_clauses(first),
        "blocked_gold": list_blocked_gold(first),
        "policy_items": list_items(),
    }


def count_calls(rows: Sequence[TauRow]) -> list[TableRow]:
    """Return per kind of call what was blocked of gold, non-gold and valid calls."""
    found = []
    for call in MUTATING:
        members = [row for row in rows if row.call == call]
        gold = [row for row in members if row.gold]
        other = [row for row in members if not row.gold]
        valid = [row for row in members if row.standing == Standing.VALID.value]
        found.append(
            {
                "call": call,
                "recorded": len(members),
                "non_gold": len(other),
                "non_gold_blocked": sum(row.blocked for row in other),
                "non_gold_refused_by_tool": sum(row.refused_by_tool for row in other),
                "gold": len(gold),
                "gold_blocked": sum(row.blocked for row in gold),
                "valid": len(valid),
                "valid_blocked": sum(row.blocked for row in valid),
            }
        )
    return found


def count_reasons(rows: Sequence[TauRow]) -> list[TableRow]:
    """Return per kind of call and reason how many gold and non-gold calls it blocked."""
    kinds: dict[tuple[str, str], list[TauRow]] = {}
    for row in rows:
        if row.blocked:
            kinds.setdefault((row.call, ", ".join(row.rules) or row.reason), []).append(row)
    return [
        {
            "call": call,
            "reason": reason,
            "act": ", ".join(sorted({row.act for row in members})),
            "non_gold": sum(not row.gold for row in members),
            "gold": sum(row.gold for row in members),
            "valid": sum(row.standing == Standing.VALID.value for row in members),
        }
        for (call, reason), members in sorted(kinds.items())
    ]


def compare_clauses(rows: Sequence[TauRow]) -> list[TableRow]:
    """Return for cancellations what the pipeline and the four-clause test block."""
    found = []
    for name, members in (
        ("non-gold", [row for row in rows if not row.gold]),
        ("gold", [row for row in rows if row.gold]),
        ("valid", [row for row in rows if row.standing == Standing.VALID.value]),
    ):
        own = [row for row in members if row.call == CANCEL]
        found.append(
            {
                "cancellations": name,
                "recorded": len(own),
                "blocked": sum(row.blocked for row in own),
                "four_clauses": sum(row.clauses == "blocked" for row in own),
                "any_insured_reason": sum(row.clauses_insured == "blocked" for row in own),
                "only_pipeline": sum(row.blocked and row.clauses == "allowed" for row in own),
                "only_four_clauses": sum(
                    not row.blocked and row.clauses == "blocked" for row in own
                ),
            }
        )
    return found


def list_blocked_gold(rows: Sequence[TauRow]) -> list[TableRow]:
    """Return the blocked gold calls with what the corrections say of each."""
    return [
        {
            "turn_id": row.turn_id,
            "call": row.call,
            "rules": ", ".join(row.rules) or row.reason,
            "standing": row.standing,
            "wrongly_blocked": row.standing == Standing.VALID.value,
            "corrections": STANDINGS[row.standing],
        }
        for row in rows
        if row.gold and row.blocked
    ]


def list_items() -> list[TableRow]:
    """Return each policy item: enforced by which predicate, evidence only, or uncompiled."""
    enforced = [
        {
            "item": one.item or "Refund: certificates as a gesture (no published item)",
            "standing": "enforced",
            "calls": ", ".join(one.scenes),
            "predicate": one.predicate_id,
        }
        for one in POLICY
    ]
    rest = [
        {"item": item, "standing": standing, "calls": "", "predicate": ""}
        for standing, items in (("evidence only", EVIDENCE_ONLY), ("uncompiled", UNCOMPILED))
        for item in items
    ]
    return [*enforced, *rest]
