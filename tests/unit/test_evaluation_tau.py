"""evaluate tau: blocked calls by kind and reason, gold and corrected, and four clauses beside."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from infra.cli.commands import app
from infra.evaluation.recorded.source_log import read_outcomes, tell_and_fold
from infra.evaluation.recorded.tau_calls import compare_call, judge_cancellations
from infra.evaluation.recorded.tau_tables import (
    compare_clauses,
    count_calls,
    list_blocked_gold,
    list_items,
    summarise,
)
from infra.importers.tau import import_tau, label_tau
from infra.importers.tau_policy import EVIDENCE_ONLY, POLICY, UNCOMPILED
from tests.airline import CANCEL, answer, book, cancelled, flown, say, verify, write_run

GOLD = [{"name": "cancel_reservation", "kwargs": {"reservation_id": "ABC123"}}]
runner = CliRunner()


@pytest.fixture
def judged(tmp_path):
    """Return a function that runs one recorded run through the pipeline and compares it."""

    def run(*messages, **given):
        source = write_run(tmp_path, *messages, **given)
        tell_and_fold(tmp_path / "log", import_tau(source), lambda *_: None)
        outcomes, labels = read_outcomes(tmp_path / "log"), list(label_tau(source))
        clauses = judge_cancellations(import_tau(source), labels)
        return [compare_call(label, outcomes[label.turn_id], clauses) for label in labels]

    return run


def test_a_forbidden_cancellation_is_blocked_by_name_of_its_rule(judged):
    """A cancellation without any reason is no commitment, and the row says which rule failed."""
    (row,) = judged(CANCEL)

    assert (True, ("cancel.allowed fails",), "blocked") == (row.blocked, row.rules, row.clauses)


def test_an_insured_reason_must_be_covered_for_the_four_clauses(judged):
    """The strict test needs a covered reason in the user's words; the other takes any."""
    (row,) = judged(
        say("user", "My plans changed."), CANCEL, reservation=cancelled(insurance="yes")
    )

    assert ("blocked", "allowed") == (row.clauses, row.clauses_insured)


def test_a_covered_reason_allows_and_a_flown_leg_never_does(judged):
    """Illness is covered; a landed flight blocks whatever the cabin."""
    (row,) = judged(say("user", "I fell ill."), CANCEL, reservation=cancelled(insurance="yes"))

    assert ("allowed", False) == (row.clauses, row.blocked)


def test_a_flown_segment_blocks_business_too(judged):
    """Pipeline and four clauses agree that what is flown is not cancelled."""
    (row,) = judged(CANCEL, reservation=cancelled(cabin="business", flights=flown("2024-05-10")))

    assert (True, "blocked") == (row.blocked, row.clauses)


def test_corrections_tell_a_wrong_block_from_a_wrong_label(judged):
    """A blocked gold call is wrongly blocked only where the corrected task still has it."""
    cancel = ("cancel_reservation", {"reservation_id": "ABC123"})
    (valid,) = judged(CANCEL, actions=GOLD, verified=[verify(cancel)])

    assert [True] == [one["wrongly_blocked"] for one in list_blocked_gold([valid])]
    assert 1 == summarise([valid])["valid_blocked"]
    removed = replace(valid, standing="other")
    assert [False] == [one["wrongly_blocked"] for one in list_blocked_gold([removed])]
    assert 0 == summarise([removed])["valid_blocked"]


def test_turns_after_a_refusal_are_counted_apart(judged):
    """The turn asked for again after the tool's refusal is no recorded call of its own."""
    rows = judged(book(), answer("book_reservation", "Error: not enough seats"))

    found = summarise(rows)
    assert (1, 1, 1) == (
        found["calls"],
        found["turns_after_a_refusal"],
        found["turns_after_a_refusal_blocked"],
    )


def test_a_pipeline_that_lets_everything_pass_shows(judged):
    """With nothing blocked, the tables say so, and what the four clauses would have blocked."""
    rows = [replace(row, blocked=False, act="commit") for row in judged(CANCEL)]

    (call,) = [row for row in count_calls(rows) if row["call"] == "cancel_reservation"]
    assert (1, 0) == (call["non_gold"], call["non_gold_blocked"])
    assert 1 == compare_clauses(rows)[0]["only_four_clauses"]


def test_every_policy_item_has_a_standing():
    """Each sentence is enforced, evidence only, or uncompiled; the enforced name their rule."""
    items = list_items()

    assert len(POLICY) + len(EVIDENCE_ONLY) + len(UNCOMPILED) == len(items)
    assert all(bool(one["predicate"]) is (one["standing"] == "enforced") for one in items)


def test_the_command_runs_any_folder(tmp_path):
    """It prints counts as JSON and leaves tables and a page; a folder without runs is refused."""
    source = write_run(tmp_path, CANCEL)
    command = ["evaluate", "tau", str(source), "--out", str(tmp_path / "out"), "--json"]
    printed = json.loads(runner.invoke(app, command, catch_exceptions=False).stdout)

    assert 1 == printed["summary"]["non_gold_cancellations_blocked"]
    assert (tmp_path / "out" / "report.html").is_file()
    elsewhere = ("--out", str(tmp_path / "other"), "--json")
    refused = runner.invoke(app, ["evaluate", "tau", str(tmp_path / "out"), *elsewhere])
    assert "gpt4o_runs.json" in json.loads(refused.stderr)["error"]
    assert not (tmp_path / "other").exists()
