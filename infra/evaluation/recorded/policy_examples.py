"""The published examples of policy items as labelled cases: put as candidates, and judged.

A violating example should be blocked, a compliant one committed. What cannot be put says why,
and where the outcome is another than the label both are shown with the reason.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infra.evaluation.recorded.policy_situation import (
    UNKNOWN,
    Situation,
    name_example,
    read_situations,
)
from infra.evaluation.recorded.policy_world import build_sources
from infra.evaluation.recorded.source_log import Progress, name_act, read_outcomes, tell_and_fold
from infra.evaluation.recorded.tau_calls import list_broken
from infra.importers.sources import SourceError, pick, read_json
from infra.importers.tau import label_runs, tell_runs
from infra.importers.tau_policy import POLICY

FOLDER: Final = "policy_items"
VIOLATING: Final = "violating"
COMPLIANT: Final = "compliant"
FIELDS: Final = ((VIOLATING, "violating_examples"), (COMPLIANT, "compliance_examples"))

TableRow = dict[str, Any]

CONTRARY: Final = {
    "70db91ff8a8e": "labelled compliant, though every segment is flying: against its own sentence",
    "1732010abefa": "labelled compliant, though the trip goes elsewhere: against its own sentence",
}
"""Examples that were looked into and contradict the sentence that they illustrate."""


@dataclass(frozen=True, slots=True)
class Example:
    """One example: its tool, item, label and digest, never its words."""

    tool: str
    item: str
    label: str
    number: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleRow:
    """One example judged; ``right`` is None where it could not be put, ``not_put`` says why.

    ``by_own_rule`` is whether the predicate of its own item is among those that did not hold.
    """

    tool: str
    item: str
    label: str
    number: int
    name: str
    not_put: str
    act: str
    rules: tuple[str, ...]
    by_own_rule: bool | None
    right: bool | None
    turn_id: str
    outcome_id: str


def read_examples(folder: Path) -> tuple[Example, ...]:
    """Return the examples of the enforceable items of a folder of runs; none without such files.

    Raises:
        SourceError: a file is not of this shape.

    """
    items = folder / FOLDER
    if not items.is_dir():
        return ()
    return tuple(
        example
        for path in sorted(items.iterdir())
        if path.name.endswith((".json", ".json.gz"))
        for example in _read_file(path)
    )


def _read_file(path: Path) -> Iterator[Example]:
    tool = path.name.partition(".")[0]
    for number, item in enumerate(pick(read_json(path), "policies", list, path)):
        place = f"{path}, policy {number}"
        if item.get("skip"):
            continue
        name = pick(item, "policy_name", str, place)
        for label, field in FIELDS:
            for count, text in enumerate(pick(item, field, list, place)):
                if not isinstance(text, str):
                    raise SourceError(place, f"{field} {count} is no text", "write it as one")
                yield Example(tool, name, label, count, name_example(tool, name, text))


def judge_examples(examples: Sequence[Example], log: Path, progress: Progress) -> list[ExampleRow]:
    """Put every example that can be put through the pipeline and return all, judged."""
    known = read_situations()
    put = [
        (example.name, situation)
        for example in examples
        for situation in (known.get(example.name),)
        if isinstance(situation, Situation)
    ]
    sources = build_sources(put)
    tell_and_fold(log, tell_runs(sources), progress)
    outcomes = read_outcomes(log)
    turns = {label.user.partition(".")[0]: label.turn_id for label in label_runs(sources)}
    rows = []
    for example in examples:
        turn_id = turns.get(example.name)
        if turn_id is None:
            reason = known.get(example.name, UNKNOWN)
            rows.append(_build_row(example, not_put=str(reason)))
            continue
        outcome = outcomes[turn_id].outcome
        act, rules = name_act(outcome), list_broken(outcome)
        own = [
            one.predicate_id
            for one in POLICY
            if one.item == example.item and example.tool in one.scenes
        ]
        rows.append(
            _build_row(
                example,
                act=act,
                rules=rules,
                by_own_rule=any(rule.partition(" ")[0] in own for rule in rules),
                right=(act != "commit") is (example.label == VIOLATING),
                turn_id=turn_id,
                outcome_id=outcome.outcome_id.hex(),
            )
        )
    return rows


def _build_row(
    example: Example,
    *,
    not_put: str = "",
    act: str = "",
    rules: tuple[str, ...] = (),
    by_own_rule: bool | None = None,
    right: bool | None = None,
    turn_id: str = "",
    outcome_id: str = "",
) -> ExampleRow:
    return ExampleRow(
        tool=example.tool,
        item=example.item,
        label=example.label,
        number=example.number,
        name=example.name,
        not_put=not_put,
        act=act,
        rules=rules,
        by_own_rule=by_own_rule,
        right=right,
        turn_id=turn_id,
        outcome_id=outcome_id,
    )


def count_examples(rows: Sequence[ExampleRow]) -> list[TableRow]:
    """Return per item how many examples were put, and how many came out as labelled."""
    found = []
    for tool, item in dict.fromkeys((row.tool, row.item) for row in rows):
        own = [row for row in rows if (row.tool, row.item) == (tool, item)]
        line: TableRow = {"call": tool, "item": item}
        for label, right in ((VIOLATING, "blocked"), (COMPLIANT, "committed")):
            members = [row for row in own if row.label == label]
            line[label] = len(members)
            line[f"{label}_put"] = sum(row.right is not None for row in members)
            line[f"{label}_{right}"] = sum(row.right is True for row in members)
        line["blocked_by_own_rule"] = sum(
            row.by_own_rule is True for row in own if row.label == VIOLATING
        )
        found.append(line)
    return found


def sum_examples(rows: Sequence[ExampleRow]) -> TableRow:
    """Return the figures over all items."""
    violating = [row for row in rows if row.label == VIOLATING]
    compliant = [row for row in rows if row.label == COMPLIANT]
    return {
        "violating_examples": len(violating),
        "violating_put": sum(row.right is not None for row in violating),
        "violating_blocked": sum(row.right is True for row in violating),
        "compliant_examples": len(compliant),
        "compliant_put": sum(row.right is not None for row in compliant),
        "compliant_committed": sum(row.right is True for row in compliant),
    }


def list_exceptions(rows: Sequence[ExampleRow]) -> list[TableRow]:
    """Return the examples that came out otherwise than labelled, and those that were not put."""
    return [
        {
            "call": row.tool,
            "item": row.item,
            "example": f"{row.label} {row.number + 1}",
            "because": row.not_put
            or CONTRARY.get(row.name)
            or f"{row.act}: {', '.join(row.rules)}",
        }
        for row in rows
        if row.right is not True
    ]
