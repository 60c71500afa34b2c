"""The tables of an evaluation on Schema-Guided Dialogue, counted from its rows.

Every figure has its denominator, every kind of disagreement its explanation, and every count
leads to rows by point and act.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from infra.evaluation.recorded.sgd_agreement import AGREEING, COMPARED, SgdRow
from infra.importers.sgd_label import MADE_WRONG, Point

TableRow = dict[str, Any]

ACTS: Final = (
    "commit", "clarify_slot", "clarify_confirm", "clarify_held", "recontract", "abstain",
    "fallback", "failure",
)  # fmt: skip
EXAMPLES_MAX: Final = 5

EXPLAINED: Final = {
    "commit": "every value that the candidate carries was affirmed already, so nothing is left "
    "to ask (spec 5.6)",
    "clarify_slot": "a required slot has no value yet; absent slots are asked for before "
    "unconfirmed ones (spec 5.9)",
    "clarify_confirm": "no required slot is absent, and a carried value has not been affirmed "
    "(spec 3.3, confirmed s)",
    "clarify_held": "what the candidate leaves out is held already, so it is named and not asked "
    "for (spec 4.4)",
    "recontract": "the scene's last commitment failed and nothing was confirmed since, or what "
    "was affirmed conflicts with what the user states (spec 5.7)",
    "abstain": "the questions that would help were asked and not answered, or no candidate is "
    "supported (spec 5.7, 5.9)",
    "fallback": "no candidate is supported, and the scene declares a fallback (spec 5.7)",
    "failure": "the turn ended without a decision (spec 5.10)",
}
"""Why the pipeline does each act: what a disagreement of that act comes from."""

ASKED: Final = {
    (Point.REQUEST, "same"): "the annotated slots",
    (Point.REQUEST, "fewer"): "one absent slot is asked for at a time",
    (Point.REQUEST, "more"): "never: one absent slot is asked for at a time",
    (Point.REQUEST, "other"): "several are absent, and the annotation begins with another one",
    (Point.CONFIRM, "same"): "the annotated slots",
    (Point.CONFIRM, "fewer"): "values that the user stated; the annotation also shows chosen ones",
    (Point.CONFIRM, "more"): "every value not affirmed yet; the annotation repeats only some",
    (Point.CONFIRM, "other"): "both: chosen values are not in the candidate, others not affirmed",
}
"""How the slots of a question may differ from the annotated ones, and why."""

NOTES: Final = (
    (
        "A point is a system turn of a transactional intent annotated REQUEST, CONFIRM or with "
        "the service call. Agreement leaves out calls with a value that the user was never "
        "shown: each of those must be a Clarify that names the slot."
    ),
    (
        "Every act follows from the pipeline's general rules; annotation enters as what the user "
        "said and affirmed and as the one candidate of a turn, never as the act."
    ),
    (
        "Made-wrong candidates are offered alone, in turns of their own before the right call, "
        "on the same log: stale (an overwritten value), unconfirmed (a value never affirmed), "
        "missing (a required slot left out), premature (before the user affirmed)."
    ),
)


def summarise(rows: Sequence[SgdRow]) -> TableRow:
    """Return the figures of the whole evaluation, as one row."""
    points = [row for row in rows if row.point in {point.value for point in COMPARED}]
    compared = [row for row in points if not row.never_shown]
    left_out = [row for row in points if row.never_shown]
    failures = [row for row in rows if row.point == Point.FAILURE.value]
    offered = [row for row in failures if row.offered]
    wrong = [row for row in rows if row.blocked is not None]
    agreed = sum(bool(row.agrees) for row in compared)
    return {
        "points": len(points),
        "left_out_never_shown": len(left_out),
        "compared": len(compared),
        "agreed": agreed,
        "agreement": _divide(agreed, len(compared)),
        "never_shown_named_by_clarify": sum(bool(row.named) for row in left_out),
        "failed_calls": len(failures),
        "recontracted": sum(row.act == "recontract" for row in failures),
        "alternatives_offered": len(offered),
        "alternatives_carried": sum(bool(row.carried) for row in offered),
        "commitments": sum(row.act == "commit" for row in rows),
        "contradictions": sum(row.contradicts for row in rows),
        "made_wrong": len(wrong),
        "made_wrong_blocked": sum(bool(row.blocked) for row in wrong),
    }


def build_tables(rows: Sequence[SgdRow]) -> dict[str, list[TableRow]]:
    """Return all tables by name."""
    return {
        "summary": [{"figure": name, "value": value} for name, value in summarise(rows).items()],
        "confusion": count_confusion(rows),
        "disagreements": list_disagreements(rows),
        "made_wrong": count_made_wrong(rows),
        "contradictions": list_contradictions(rows),
        "question_slots": count_asked(rows),
    }


def count_confusion(rows: Sequence[SgdRow]) -> list[TableRow]:
    """Return per annotated point the number of each act; calls with unseen values stand apart."""
    classes: dict[str, list[SgdRow]] = {}
    for point in AGREEING:
        classes[point.value] = []
        if point is Point.CALL:
            classes["call, a value never shown"] = []
    for row in rows:
        if row.blocked is None:
            classes["call, a value never shown" if row.never_shown else row.point].append(row)
    found = []
    for name, members in classes.items():
        counts = Counter(row.act for row in members)
        expected = next((AGREEING[point] for point in AGREEING if point.value == name), "clarify")
        found.append(
            {
                "annotated": name,
                "agrees_as": expected,
                "turns": len(members),
                **{act: counts[act] for act in ACTS},
            }
        )
    return found


def list_disagreements(rows: Sequence[SgdRow]) -> list[TableRow]:
    """Return each kind of disagreement: how often, why, and the first turns to look at."""
    kinds: dict[tuple[str, str, str], list[SgdRow]] = {}
    for row in rows:
        if row.agrees is False:
            kinds.setdefault((row.point, row.act, row.reason), []).append(row)
    return [
        {
            "annotated": point,
            "act": act,
            "reason": reason,
            "turns": len(members),
            "because": EXPLAINED[act],
            "examples": ", ".join(row.turn_id for row in members[:EXAMPLES_MAX]),
        }
        for (point, act, reason), members in sorted(kinds.items())
    ]


def count_made_wrong(rows: Sequence[SgdRow]) -> list[TableRow]:
    """Return per kind of made-wrong candidate how many were offered, blocked, and by which act."""
    calls = sum(row.point == Point.CALL.value for row in rows)
    found = []
    for point in MADE_WRONG:
        members = [row for row in rows if row.point == point.value]
        blocked = sum(bool(row.blocked) for row in members)
        counts = Counter(row.act for row in members)
        found.append(
            {
                "kind": point.value,
                "calls": calls,
                "offered": len(members),
                "blocked": blocked,
                "share": _divide(blocked, len(members)),
                **{act: counts[act] for act in ACTS},
            }
        )
    return found


def list_contradictions(rows: Sequence[SgdRow]) -> list[TableRow]:
    """Return the turns that commit to, or refuse, something against what was affirmed."""
    return [
        {"turn_id": row.turn_id, "annotated": row.point, "act": row.act, "reason": row.reason}
        for row in rows
        if row.contradicts
    ]


def count_asked(rows: Sequence[SgdRow]) -> list[TableRow]:
    """Return how the slots of agreeing questions compare with those of the annotated act."""
    counts = Counter((row.point, row.asked) for row in rows if row.asked and row.agrees)
    return [
        {"annotated": point.value, "asked": asked, "turns": counts[point.value, asked], "why": why}
        for (point, asked), why in ASKED.items()
    ]


def _divide(part: int, whole: int) -> float | None:
    return part / whole if whole else None
