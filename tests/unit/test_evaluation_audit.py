"""The blinded audit: sheets without variants, strict verdicts, a judge held against the scorer."""

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from infra.backends.port import BackendError, Reply
from infra.cli.commands import app
from infra.evaluation.audit.drawing import Sheet, draw_rows, write_sheets
from infra.evaluation.audit.judging import DIMENSIONS, judge_sheets, read_verdicts
from infra.evaluation.audit.tables import is_weak, measure_fidelity, measure_judge, score_row
from infra.evaluation.histories import read_histories
from infra.evaluation.labelling import read_labels
from tests.published import read_published

runner = CliRunner()
RIGHT = {
    "variant": "raw", "case_id": "a", "violated": True, "uncovered": False, "witness_lost": None,
    "debt_lost": False, "repair_correct": None, "surface_mismatches": 0, "emitted": True,
}  # fmt: skip
REPAIRED = {
    **RIGHT, "case_id": "b", "violated": None, "uncovered": None, "debt_lost": None,
    "repair_correct": True, "emitted": False,
}  # fmt: skip


class _Judge:
    """A backend that says what it is given, in order."""

    kind, model, server_version = "hand", "made", ""

    def __init__(self, said):
        self.said = list(said)

    def answer(self, call):
        """Say the next thing."""
        text = self.said.pop(0)
        if text is None:
            raise BackendError("gone", again=False)
        return Reply(text=text, finish_reason="stop")

    def close(self):
        """Hold nothing."""


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """A small finished evaluation of two variants."""
    out = tmp_path_factory.mktemp("audited") / "out"
    command = ["evaluate", "fixtures", "--out", str(out), "--limit", "6", "--workers", "1",
               "--variant", "raw", "--variant", "cbea_lcv", "--json"]  # fmt: skip
    assert 0 == runner.invoke(app, command, catch_exceptions=False).exit_code
    return out


def test_sheets_name_no_variant_and_are_drawn_alike(evaluated):
    """The same fixtures of each variant, shuffled by the seed; nothing on a sheet says who."""
    table = pl.read_parquet(evaluated / "rows.parquet")
    rows = draw_rows(table, seed=7, cases=8)
    private = evaluated / "private"
    sheets = write_sheets(
        rows,
        read_histories(private / "fixtures.jsonl"),
        read_labels(private / "fixtures.labels.jsonl"),
        private / "logs",
    )

    assert rows == draw_rows(table, seed=7, cases=8)
    drawn = {name: sorted(r["fixture_id"] for r in rows if r["variant"] == name)
             for name in ("raw", "cbea_lcv")}  # fmt: skip
    assert 4 == len(drawn["raw"])
    assert drawn["raw"] == drawn["cbea_lcv"]
    for sheet in sheets:
        shown = json.dumps(sheet.content)
        assert "cbea_lcv" not in shown
        assert '"raw"' not in shown
        kind = "commitment" if sheet.row["emitted"] else sheet.row["act"]
        assert sheet.row["kind"] == "failure" or kind == sheet.content["decision"]["kind"]


@pytest.mark.parametrize("said", [None, "", "yes", "[]", '{"contract": "maybe"}'])
def test_what_is_not_asked_for_is_no_verdict(said):
    """Prose, other forms and other words are no verdict, on any dimension."""
    assert dict.fromkeys(DIMENSIONS) == read_verdicts(said)


def test_a_judge_that_says_what_the_scorer_says_is_not_weak():
    """Full agreement: kappa 1, and the fidelity that the scorer has."""
    rows = [RIGHT, REPAIRED]
    verdicts = [score_row(row) for row in rows]

    judged = measure_judge(rows, verdicts)
    assert (12, 0, 12, 1.0) == tuple(
        judged[-1][name] for name in ("asked", "no_verdict", "agreed_with_scorer", "kappa")
    )
    assert not is_weak(judged)
    contract, coverage = measure_fidelity(rows, verdicts)[:2]
    assert (0.0, 0.0, 1) == (contract["fidelity"], contract["by_scorer"], contract["judged"])
    assert (1.0, 1.0, 1.0) == tuple(coverage[n] for n in ("fidelity", "case_low", "case_high"))


def test_a_judge_that_always_says_yes_is_weak():
    """Saying yes to everything agrees no better than chance."""
    verdicts = [dict.fromkeys(DIMENSIONS, "yes")] * 2

    judged = measure_judge([RIGHT, REPAIRED], verdicts)
    assert 0 == judged[-1]["kappa"]
    assert is_weak(judged)


def test_an_interrupted_audit_asks_only_what_is_missing(tmp_path):
    """Answers are kept as they come; a judge that fails has given no verdict."""
    sheets = [Sheet(n, {"n": n}, RIGHT) for n in (1, 2)]
    yes = json.dumps(dict.fromkeys(DIMENSIONS, "yes"))
    kept = tmp_path / "kept.jsonl"
    first = judge_sheets(sheets[:1], _Judge([yes]), kept, lambda *_: None)

    both = judge_sheets(sheets, _Judge([None]), kept, lambda *_: None)

    assert first == both[:1]
    assert dict.fromkeys(DIMENSIONS) == both[1]
    again = judge_sheets(sheets, _Judge([yes]), kept, lambda *_: None)
    assert first * 2 == again


def test_the_command_says_weak_and_simulated(evaluated, tmp_path):
    """A judge that says nothing is weak; drawn answers are called simulated."""
    silent = tmp_path / "silent.jsonl"
    silent.write_text("")
    command = ["evaluate", "audit", str(evaluated), "--backend", f"recorded:{silent}", "--json"]
    printed = json.loads(runner.invoke(app, command, catch_exceptions=False).stdout)

    assert (True, True) == (printed["summary"]["weak"], printed["summary"]["simulated"])
    page = (evaluated / "audit" / "report.html").read_text("utf-8")
    assert all("weak" in part and "simulated" in part.partition("</h2>")[0]
               for part in page.split("<h2>")[1:])  # fmt: skip
    lines = (evaluated / "private" / "audit_sheets.jsonl").read_text("utf-8").splitlines()
    asked = [json.loads(line)["request"] for line in lines]
    assert asked
    assert not [text for text in asked if text in read_published(evaluated / "audit")]
    refused = runner.invoke(app, ["evaluate", "audit", str(tmp_path), "--json"])
    assert "no finished evaluation" in json.loads(refused.stderr)["error"]


def test_generators_stand_side_by_side(evaluated, tmp_path):
    """Each run and variant is a row with its own fixtures; drawn answers say simulated."""
    command = ["evaluate", "generators", str(evaluated), str(evaluated), "--json"]
    rows = json.loads(runner.invoke(app, command, catch_exceptions=False).stdout)

    assert ["raw", "cbea_lcv"] * 2 == [row["variant"] for row in rows]
    assert {("simulated", True, 6)} == {
        (row["generator"], row["simulated"], row["fixtures"]) for row in rows
    }
    refused = runner.invoke(app, ["evaluate", "generators", str(tmp_path), "--json"])
    assert "no finished evaluation" in json.loads(refused.stderr)["error"]
