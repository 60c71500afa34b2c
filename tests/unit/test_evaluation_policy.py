"""Published examples of policy items as cases: put by digest, judged by the pipeline."""

import json
from dataclasses import replace

import pytest

from infra.evaluation.recorded import policy_examples
from infra.evaluation.recorded.policy_examples import (
    count_examples,
    judge_examples,
    list_exceptions,
    read_examples,
    sum_examples,
)
from infra.evaluation.recorded.policy_situation import (
    REASONS,
    Situation,
    name_example,
    read_situations,
)

TOOL, ITEM = "cancel_reservation", "Cancellation of Entire Trips Only"
CASES = {
    "one leg is in the air": Situation(
        call=TOOL, cabin="business", before="JFK-LAX LAX-SEA", statuses="available,flying"
    ),
    "nobody asked": REASONS["agent"],
    "all legs are to come": Situation(call=TOOL, cabin="business"),
}


@pytest.fixture
def examples(tmp_path, monkeypatch):
    """Two violating examples and two compliant ones, of which one is unknown."""
    known = {name_example(TOOL, ITEM, text): case for text, case in CASES.items()}
    monkeypatch.setattr(policy_examples, "read_situations", lambda: known)
    items = tmp_path / "policy_items"
    items.mkdir()
    item = {
        "policy_name": ITEM,
        "violating_examples": list(CASES)[:2],
        "compliance_examples": [*list(CASES)[2:], "something new"],
    }
    skipped = {**item, "skip": True}
    (items / f"{TOOL}.json").write_text(json.dumps({"policies": [item, skipped]}))
    return read_examples(tmp_path)


def test_examples_are_put_and_judged(examples, tmp_path):
    """What is put comes out as labelled, the rest says why it was not; skipped items are left."""
    rows = judge_examples(examples, tmp_path / "log", lambda *_: None)

    assert [True, None, True, None] == [row.right for row in rows]
    assert [True, None, False, None] == [row.by_own_rule for row in rows]
    found = sum_examples(rows)
    assert (2, 1, 1) == (
        found["violating_examples"], found["violating_put"], found["violating_blocked"]
    )  # fmt: skip
    assert 2 == len(list_exceptions(rows))


def test_a_pipeline_that_commits_to_everything_shows(examples, tmp_path):
    """A violating example that is committed counts against, and is listed with its act."""
    rows = judge_examples(examples, tmp_path / "log", lambda *_: None)
    rows[0] = replace(rows[0], act="commit", rules=(), right=False)

    assert 0 == count_examples(rows)[0]["violating_blocked"]
    assert "commit" in list_exceptions(rows)[0]["because"]


def test_every_case_put_by_hand_is_a_situation_or_says_why_not():
    """The shipped file reads whole: 153 situations, 15 reasons, and no words of an example."""
    found = list(read_situations().values())

    assert (153, 15) == (
        sum(isinstance(one, Situation) for one in found),
        sum(isinstance(one, str) for one in found),
    )
