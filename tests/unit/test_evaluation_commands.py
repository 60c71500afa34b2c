"""The evaluate commands: JSON for machines, remedies for mistakes, counts for aggregates."""

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from infra.cli.commands import app

runner = CliRunner()
FEW = ("--limit", "6", "--workers", "1", "--variant", "cbea_lcv")


def invoke(*arguments, code=0):
    """Run one command with --json and return its result."""
    result = runner.invoke(app, ["evaluate", *arguments, "--json"], catch_exceptions=False)
    assert code == result.exit_code, result.output
    return result


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """A folder with a small evaluation, and what the command printed."""
    out = tmp_path_factory.mktemp("evaluation") / "out"
    result = invoke("fixtures", "--out", str(out), *FEW, "--with-text")
    return out, json.loads(result.stdout)


def test_a_run_prints_its_metrics_and_that_it_is_simulated(evaluated):
    """Oracle and variant stand side by side; the word simulated is there."""
    out, printed = evaluated

    assert printed["simulated"] is True
    assert ["oracle", "cbea_lcv"] == list(printed["metrics"])
    assert [0, 0] == [printed["metrics"]["cbea_lcv"][name] or 0 for name in ("ohcvr", "ecf")]
    assert (out / "report.html").is_file()


def test_texts_go_out_only_when_asked_for(evaluated):
    """With --with-text, and only then, a table says what was committed to."""
    out, _ = evaluated

    assert 6 == pl.read_parquet(out / "texts.parquet").height


def test_a_second_run_resumes_or_is_refused(evaluated):
    """Without --resume the folder is left alone; with it, the same figures come out."""
    out, printed = evaluated
    refused = invoke("fixtures", "--out", str(out), *FEW, code=2)
    assert "--resume" in json.loads(refused.stderr)["error"]

    again = json.loads(invoke("fixtures", "--out", str(out), *FEW, "--resume").stdout)

    assert printed["metrics"] == again["metrics"]


def test_a_recording_says_the_same_again_and_stays_simulated(tmp_path):
    """Replies are kept with --record; replayed they give the same figures, called simulated."""
    kept = tmp_path / "replies.jsonl"
    drawn = ("--backend", "simulated:3", "--record", str(kept))
    first = json.loads(invoke("fixtures", "--out", str(tmp_path / "a"), *FEW, *drawn).stdout)

    again = ("--backend", f"recorded:{kept}")
    second = json.loads(invoke("fixtures", "--out", str(tmp_path / "b"), *FEW, *again).stdout)

    assert first["metrics"] == second["metrics"]
    assert second["simulated"] is True


def test_answers_are_no_longer_than_they_may_be(tmp_path):
    """With room for one token no answer is whole: every turn that was asked fails."""
    printed = json.loads(
        invoke("fixtures", "--out", str(tmp_path / "out"), *FEW, "--tokens", "1").stdout
    )

    assert 0 == printed["metrics"]["cbea_lcv"]["avail"]


def test_mistakes_are_answered_with_what_there_is(tmp_path):
    """Unknown variants and backends are refused with the known ones."""
    wrong = invoke("fixtures", "--out", str(tmp_path / "a"), "--variant", "best", code=2)
    assert "cbea_lcv" in json.loads(wrong.stderr)["error"]

    options = ("--out", str(tmp_path / "b"), "--backend", "oracle", *FEW)
    assert "openai:URL" in json.loads(invoke("fixtures", *options, code=2).stderr)["error"]


def test_aggregates_of_a_run_and_of_its_log_are_counts(evaluated, tmp_path):
    """Both forms give groups, names and counts; six turns are too few to be shown."""
    out, _ = evaluated
    of_run = json.loads(invoke("aggregates", str(out)).stdout)
    of_log = json.loads(invoke("aggregates", str(out / "private" / "logs" / "cbea_lcv")).stdout)

    for cells in (of_run, of_log):
        assert cells
        assert {"group", "name", "count"} == set(cells[0])
        assert {None} == {cell["count"] for cell in cells}
    assert "no folder" in json.loads(
        invoke("aggregates", str(tmp_path / "none"), code=2).stderr
    )["error"]  # fmt: skip
