"""evaluate sgd: acts against annotation, made-wrong calls, resumption, and a wrong pipeline."""

import json
from dataclasses import replace
from importlib import resources
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from infra.cli.commands import app
from infra.evaluation.recorded.sgd_agreement import compare_all
from infra.evaluation.recorded.sgd_tables import (
    count_confusion,
    count_made_wrong,
    list_disagreements,
    summarise,
)
from infra.evaluation.recorded.source_log import list_outcomes, tell_and_fold
from infra.importers.sgd import CANDIDATES, import_sgd, label_sgd
from schemas.event import UtteranceObserved
from tests.dialogues import CALL, OVERWRITTEN, REFUSED, act, system, write_dialogue

ALL = frozenset(CANDIDATES)
SAMPLE = Path(str(resources.files("infra") / "sample"))
runner = CliRunner()


def ignore(*_):
    """Take no notice of progress."""


@pytest.fixture
def judged(tmp_path):
    """Return a function that runs one dialogue through the pipeline and compares it."""

    def run(turns):
        source = write_dialogue(tmp_path, turns)
        tell_and_fold(tmp_path / "log", import_sgd([source], ALL), ignore)
        return compare_all(label_sgd([source], ALL), list_outcomes(tmp_path / "log"))

    return run


def test_annotated_acts_are_the_pipelines(judged):
    """A dialogue that asks, shows, corrects and calls is agreed with at every point."""
    found = summarise(judged(OVERWRITTEN))

    assert (4, 0, 4, 1.0) == tuple(
        found[name] for name in ("points", "left_out_never_shown", "agreed", "agreement")
    )
    assert 0 == found["contradictions"]


def test_a_failed_call_is_recontracted_with_what_was_offered(judged):
    """The act after a failed call carries the alternative of the annotation."""
    found = summarise(judged(REFUSED))

    assert {1} == {
        found[name]
        for name in ("failed_calls", "recontracted", "alternatives_offered", "alternatives_carried")
    }


def test_a_failed_call_that_was_refused_here_is_recontracted_too(judged):
    """The corpus made a call with a value that nobody was shown; its failure counts too."""
    failed = system(act("NOTIFY_FAILURE"), call={**CALL, "seats": "3"})

    found = summarise(judged([*REFUSED[:-1], failed]))

    assert (1, 1, 1) == tuple(
        found[name] for name in ("left_out_never_shown", "failed_calls", "recontracted")
    )


def test_made_wrong_calls_are_blocked_with_denominators(judged):
    """Each kind says how many calls there were, how many could be made wrong, how many passed."""
    table = {row["kind"]: row for row in count_made_wrong(judged(OVERWRITTEN))}

    assert ["stale", "unconfirmed", "missing", "premature"] == list(table)
    assert {(1, 1, 1)} == {(r["calls"], r["offered"], r["blocked"]) for r in table.values()}


def test_a_kind_that_nothing_could_be_made_of_has_no_share(judged):
    """An empty denominator is not applicable, never nought."""
    table = {row["kind"]: row for row in count_made_wrong(judged(REFUSED)[:2])}

    assert {None} == {row["share"] for row in table.values()}


def test_a_pipeline_that_asks_at_a_call_disagrees_and_is_explained(judged):
    """What is not the annotated act stands in the confusion and once per kind, with a reason."""
    rows = [
        replace(row, act="clarify_slot", agrees=False) if row.point == "call" else row
        for row in judged(OVERWRITTEN)
    ]

    (kind,) = list_disagreements(rows)
    (call,) = [row for row in count_confusion(rows) if row["annotated"] == "call"]
    assert ("call", "clarify_slot", 1) == (kind["annotated"], kind["act"], kind["turns"])
    assert kind["because"]
    assert (0, 1) == (call["commit"], call["clarify_slot"])
    assert 3 == summarise(rows)["agreed"]


def test_the_command_runs_any_folder_and_resumes(tmp_path):
    """It prints figures and tables, writes rows and page without text, and can be run again."""
    command = ["evaluate", "sgd", str(SAMPLE), "--out", str(tmp_path / "out"), "--json"]
    first = runner.invoke(app, command, catch_exceptions=False)
    printed = json.loads(first.stdout)

    assert (46, 46, 1, 1) == tuple(
        printed["summary"][name]
        for name in ("compared", "agreed", "left_out_never_shown", "never_shown_named_by_clarify")
    )
    assert [] == printed["disagreements"]
    rows = pl.read_parquet(tmp_path / "out" / "rows.parquet")
    agreed = rows.filter(pl.col("agrees") & pl.col("point").is_in(["request", "confirm", "call"]))
    assert 46 == agreed.height
    assert (tmp_path / "out" / "report.html").is_file()
    again = json.loads(runner.invoke(app, command, catch_exceptions=False).stdout)
    assert printed["summary"] == again["summary"]


def test_no_utterance_leaves_the_private_folder_and_counts_are_aggregated(tmp_path):
    """Tables and page hold ids, acts and slot names; aggregates suppress small cells."""
    out = tmp_path / "out"
    runner.invoke(app, ["evaluate", "sgd", str(SAMPLE), "--out", str(out), "--json"])
    said = {
        event.payload.text
        for event in import_sgd([SAMPLE], ALL)
        if isinstance(event.payload, UtteranceObserved)
    }

    page = (out / "report.html").read_text("utf-8")
    tables = [pl.read_parquet(path).write_csv() for path in sorted(out.glob("*.parquet"))]
    assert len(said) > 50
    assert not [text for text in said for content in (page, *tables) if text in content]
    shown = runner.invoke(
        app, ["evaluate", "aggregates", str(out), "--json"], catch_exceptions=False
    )
    cells = {(one["group"], one["name"]): one["count"] for one in json.loads(shown.stdout)}
    assert 20 == cells["confirm", "clarify_confirm"]
    assert cells["failure", "recontract"] is None


def test_another_source_needs_another_folder(tmp_path):
    """A folder with an evaluation of other data is refused, and so is what is no dialogue."""
    out = str(tmp_path / "out")
    source = write_dialogue(tmp_path, REFUSED)
    runner.invoke(app, ["evaluate", "sgd", str(source), "--out", out, "--json"])
    refused = runner.invoke(app, ["evaluate", "sgd", str(SAMPLE), "--out", out, "--json"])
    absent = runner.invoke(app, ["evaluate", "sgd", str(tmp_path / "no"), "--out", out, "--json"])

    assert (2, 2) == (refused.exit_code, absent.exit_code)
    assert "another --out" in json.loads(refused.stderr)["error"]
    assert "does not exist" in json.loads(absent.stderr)["error"]
