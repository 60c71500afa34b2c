"""Drawing the cases of an audit and writing their sheets: who decided is not on them.

The same fixtures are drawn for every variant, evenly over the buckets, and shuffled together.
Sheets hold text, so they stay in the private folder.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from infra.evaluation.fixture import Check, Fixture, Label, Relation
from infra.evaluation.transcript import read_history
from infra.records import read_output
from schemas.codec import unframe
from schemas.event import Event
from schemas.outcome import Commitment, RepairAct
from schemas.turn import CandidatesProposed, TurnRequested
from schemas.value_json import to_json
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded

CASES: Final = 90
PREFERRED: Final = ("raw", "long_context", "cbea_lcv")
"""What is compared where it was run; else the first variants of the folder."""
UNUSABLE: Final = "failure"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One decision as the judge sees it, under a number; ``row`` is its scored row."""

    number: int
    content: Mapping[str, Any]
    row: Row


def draw_rows(table: pl.DataFrame, *, seed: int, cases: int = CASES) -> list[Row]:
    """Return rows in shuffled order: so many, evenly over variants and over buckets."""
    found = [row for row in table.iter_rows(named=True) if row["topic"] != "labels"]
    known = list(dict.fromkeys(row["variant"] for row in found))
    variants = [name for name in PREFERRED if name in known] or known[: len(PREFERRED)]
    if not variants:
        return []
    chance = random.Random(seed)  # noqa: S311 - a draw that can be repeated, no secret
    by_bucket: dict[str, list[str]] = {}
    for row in found:
        if row["variant"] == variants[0]:
            by_bucket.setdefault(row["bucket"], []).append(row["fixture_id"])
    for names in by_bucket.values():
        chance.shuffle(names)
    turn = [
        name
        for group in zip_longest_lists([by_bucket[bucket] for bucket in sorted(by_bucket)])
        for name in group
    ]
    chosen = frozenset(turn[: -(-cases // len(variants))])
    drawn = [row for row in found if row["variant"] in variants and row["fixture_id"] in chosen]
    chance.shuffle(drawn)
    return drawn[:cases]


def zip_longest_lists(lists: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """Yield the first of each list, then the second of each, as far as each goes."""
    for place in range(max(map(len, lists), default=0)):
        yield [names[place] for names in lists if place < len(names)]


def write_sheets(
    rows: Sequence[Row], fixtures: Sequence[Fixture], labels: Mapping[str, Label], logs: Path
) -> list[Sheet]:
    """Return the sheets of rows, numbered in their order."""
    decided = _read_decisions(rows, logs)
    histories = {fixture.fixture_id: fixture for fixture in fixtures}
    return [
        Sheet(
            number,
            _build_content(histories[row["fixture_id"]], labels[row["fixture_id"]], decision),
            row,
        )
        for number, (row, decision) in enumerate(zip(rows, decided, strict=True), 1)
    ]


def _build_content(fixture: Fixture, label: Label, decision: Row) -> Row:
    request = fixture.events[-1].payload
    assert isinstance(request, TurnRequested), "a fixture ends with its request"
    texts = {line.unit_id: line.text for line in read_history(fixture.events) if line.unit_id}
    cited = decision.pop("cites", None)
    if cited is not None:
        decision["cites"] = [texts.get(one, one) for one in cited]
    return {
        "request": request.text or "",
        "rules_the_user_confirmed": [_say_check(check) for check in label.checks],
        "evidence_that_must_be_cited": [
            {"about": need.name, "any_of": [texts.get(one, one) for one in need.unit_ids]}
            for need in label.needs
        ],
        "rare_evidence_that_must_be_cited": [texts.get(one, one) for one in label.witnesses],
        "open_obligations": [
            {"about": debt.name, "any_of": [texts.get(one, one) for one in debt.unit_ids]}
            for debt in label.obligations
        ],
        "offers_that_would_do": [one.name for one in label.feasible],
        "decision": decision,
    }


def _say_check(check: Check) -> str:
    words = {
        Relation.AT_MOST: f"at most {check.number}",
        Relation.AT_LEAST: f"at least {check.number}",
        Relation.ONE_OF: f"one of {', '.join(check.words)}",
        Relation.NONE_OF: f"none of {', '.join(check.words)}",
    }
    lifted = f", unless the purpose is {check.unless_purpose}" if check.unless_purpose else ""
    return f"{check.path}: {words[check.relation]}{lifted}"


def _read_decisions(rows: Sequence[Row], logs: Path) -> list[Row]:
    """Return what each row decided, read where it stands on its log."""
    found: dict[tuple[str, str, int], Row] = {}
    for log in dict.fromkeys(row["log"] for row in rows):
        places = [(row["topic"], row["offset"]) for row in rows if row["log"] == log]
        with Embedded(logs / log, CoreReducer()) as embedded:
            for topic in dict.fromkeys(topic for topic, _ in places):
                offsets = {offset for name, offset in places if name == topic}
                if topic == "events":
                    for offset in sorted(offsets):
                        record = embedded.log.read(offset, limit=1)[0]
                        event = unframe(Event, record.value or b"")[0]
                        found[log, topic, offset] = _read_answer(event)
                else:
                    for output in embedded.outputs(topic):
                        if output.offset in offsets:
                            outcome = read_output(topic, output.record.value or b"")
                            found[log, topic, output.offset] = _read_outcome(outcome)
    return [dict(found[row["log"], row["topic"], row["offset"]]) for row in rows]


def _read_answer(event: Event) -> Row:
    payload = event.payload
    if not isinstance(payload, CandidatesProposed) or not payload.candidates:
        return {"kind": "nothing"}
    candidate = payload.candidates[0]
    if candidate.repair_status:
        return {"kind": candidate.repair_status, "says": candidate.surface_text}
    return {
        "kind": "commitment",
        "slots": {slot.name: to_json(slot.value) for slot in candidate.slots},
        "cites": list(candidate.evidence_ids),
        "says": candidate.surface_text,
    }


def _read_outcome(outcome: Any) -> Row:
    match outcome:
        case Commitment():
            return {
                "kind": "commitment",
                "slots": {slot.name: to_json(slot.value) for slot in outcome.slots},
                "cites": list(outcome.evidence_ids),
                "says": outcome.text,
            }
        case RepairAct():
            return {"kind": outcome.act.value, "says": outcome.text}
        case _:
            return {"kind": "nothing"}
