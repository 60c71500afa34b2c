"""An evaluation end to end over few fixtures: through the pipeline, resumable, without labels."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import infra.evaluation
from infra.evaluation.answering import TOKENS_MAX
from infra.evaluation.evaluation import (
    EvaluationError,
    Plan,
    choose_variants,
    prepare,
    run_all,
    score_all,
)
from infra.evaluation.generation import generate_fixtures
from infra.evaluation.histories import read_histories
from infra.evaluation.observing import observe_variant
from infra.evaluation.publication import find_all, publish
from infra.evaluation.running import open_log, run_variant
from infra.evaluation.simulated import Simulated
from infra.evaluation.tables import RunName
from infra.evaluation.transcript import read_history
from infra.evaluation.variants import cbea_lcv
from infra.records import read_output
from schemas.codec import digest

NAMES = ("raw", "raw_gated", "cbea_lcv", "no_validation", "no_repair")
PLAN = Plan(seed=7, backend="simulated", model="", limit=6, variants=NAMES)


def ignore(*_):
    """Take no notice of progress."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished evaluation: its folder and its runs."""
    out = tmp_path_factory.mktemp("evaluation")
    prepare(PLAN, out, resume=False)
    runs = run_all(PLAN, out, workers=1, progress=ignore)
    grouped = score_all(out, runs)
    name = RunName(PLAN.run_id, "simulated", simulated=True, seed=7)
    publish(out, name, grouped, find_all(grouped, {}, {}))
    return out, runs


def test_every_variant_has_a_run_for_every_fixture(finished):
    """Attempted means all: each fixture has exactly one run in each variant."""
    out, runs = finished
    fixtures = [one.fixture_id for one in read_histories(out / "private" / "fixtures.jsonl")]

    assert dict.fromkeys(NAMES, fixtures) == {
        name: [run.fixture_id for run in found] for name, found in runs.items()
    }


def test_runs_do_not_depend_on_labels(finished, tmp_path):
    """With the labels shuffled among the fixtures, or gone, every run is the same."""
    _, runs = finished
    prepare(PLAN, tmp_path, resume=False)
    for path in sorted((tmp_path / "private").glob("*.labels.jsonl")):
        labels = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        names = [label["fixture_id"] for label in labels]
        turned = [{**label, "fixture_id": name} for label, name in
                  zip(labels, names[1:] + names[:1], strict=True)]  # fmt: skip
        path.write_text("".join(json.dumps(label) + "\n" for label in turned), "utf-8")

    shuffled = run_all(PLAN, tmp_path, workers=1, progress=ignore)
    assert runs == shuffled
    assert score_all(tmp_path, shuffled)["oracle"] != score_all(finished[0], runs)["oracle"]

    for path in sorted((tmp_path / "private").glob("*.labels.jsonl")):
        path.unlink()
    assert runs == run_all(PLAN, tmp_path, workers=1, progress=ignore)


def test_no_module_of_a_run_knows_the_labels():
    """What runs imports neither the label file nor the record of a label."""
    folder = Path(infra.evaluation.__file__).parent
    running = ("running", "observing", "simulated", "shown", "transcript", "embedding", "answering")
    paths = [folder / f"{name}.py" for name in running]
    paths += sorted((folder / "variants").glob("*.py"))
    for path in paths:
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

        assert not names & {"Label", "read_labels", "write_labels", "generate_fixtures"}


class _Breaking:
    """A generator that stops the process after some answers."""

    name, simulated = "simulated", True

    def __init__(self, answers):
        self.left = answers

    def answer(self, shown, *, tokens_max):
        """Answer, or stop."""
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return Simulated().answer(shown, tokens_max=tokens_max)


def test_an_interrupted_run_goes_on_and_ends_the_same(finished, tmp_path, monkeypatch):
    """What was answered stays answered; the end is that of a run without interruption."""
    monkeypatch.setattr("infra.evaluation.running.ANSWERS_PER_APPEND", 1)
    out, runs = finished
    fixtures = read_histories(out / "private" / "fixtures.jsonl")
    full = cbea_lcv.VARIANT
    with pytest.raises(KeyboardInterrupt):
        run_variant(full, fixtures, _Breaking(3), tmp_path, tokens_max=TOKENS_MAX)
    with open_log(tmp_path, full) as embedded:
        told = 1 + sum(len(fixture.events) for fixture in fixtures)
        assert told + 3 == embedded.log.bounds().end

    run_variant(full, fixtures, Simulated(), tmp_path, tokens_max=TOKENS_MAX)

    assert runs["cbea_lcv"] == observe_variant(full, fixtures, tmp_path)


def test_a_folder_is_resumed_only_when_asked_and_only_with_its_plan(finished):
    """A second run into the same folder is refused with the remedy."""
    out, _ = finished
    with pytest.raises(EvaluationError, match="--resume"):
        prepare(PLAN, out, resume=False)
    with pytest.raises(EvaluationError, match="another --out"):
        prepare(replace(PLAN, seed=8), out, resume=True)

    prepare(PLAN, out, resume=True)


def test_a_variant_that_is_none_is_named():
    """A name that is no variant is refused with the list of those there are."""
    with pytest.raises(EvaluationError, match="cbea_lcv"):
        choose_variants(replace(PLAN, variants=("cbea",)))


def test_gated_and_ungated_share_their_candidates(finished):
    """Both read one log: the same answers, judged or as they stand."""
    _, runs = finished

    assert {run.log for run in runs["raw"]} == {run.log for run in runs["raw_gated"]}
    assert [run.cost for run in runs["raw"]] == [run.cost for run in runs["raw_gated"]]


def test_figures_lead_to_rows_and_rows_to_certificates(finished):
    """A row names log, topic and offset, where the outcome with its certificate stands."""
    out, _ = finished
    frame = pl.read_parquet(out / "rows.parquet").filter(pl.col("variant") == "cbea_lcv")
    metrics = pl.read_parquet(out / "metrics.parquet")
    (avail,) = metrics.filter(
        (pl.col("variant") == "cbea_lcv") & (pl.col("metric") == "avail")
    ).to_dicts()

    assert avail["numerator"] == frame["emitted"].sum()
    for row in frame.to_dicts():
        variant = replace(cbea_lcv.VARIANT, log=row["log"])
        with open_log(out / "private" / "logs", variant) as embedded:
            (record,) = [
                read_output(row["topic"], output.record.value)
                for output in embedded.outputs(row["topic"])
                if output.offset == row["offset"]
            ]
        assert row["outcome_id"] == record.outcome_id.hex()
        assert row["certificate"] == digest(record.certificate).hex()


def test_no_raw_text_leaves_the_private_folder(finished):
    """Tables and report hold ids and counts: no utterance, record or offer of any history."""
    out, _ = finished
    fixtures = read_histories(out / "private" / "fixtures.jsonl")
    texts = {
        line.text.partition("] ")[2] or line.text
        for fixture in fixtures
        for line in read_history(fixture.events)
    }
    public = [path for path in sorted(out.iterdir()) if path.is_file()]

    assert {"report.html", "rows.parquet", "metrics.parquet"} <= {path.name for path in public}
    for path in public:
        if path.suffix == ".parquet":
            frame = pl.read_parquet(path)
            content = "\n".join(
                str(value) for column in frame.get_columns() for value in column.unique()
            )
        else:
            content = path.read_text("utf-8")
        assert not [text for text in texts if len(text) > 12 and text in content]


def test_a_simulated_run_says_so_wherever_it_shows_a_figure(finished):
    """Every heading with figures and every row of every table says simulated."""
    out, _ = finished
    page = (out / "report.html").read_text("utf-8")
    headings = page.split("<h2>")[1:]

    assert all("simulated" in heading.partition("</h2>")[0] for heading in headings)
    for path in sorted(out.glob("*.parquet")):
        assert pl.read_parquet(path)["simulated"].all()


def test_the_generator_reads_nothing_but_what_is_shown():
    """Equal prompts give equal answers, whatever else the fixture holds."""
    fixture, _ = next(generate_fixtures())
    shown = cbea_lcv.Shown(fixture.fixture_id, "book_lodging", "Please", (), ())

    assert Simulated().answer(shown, tokens_max=2_200) == Simulated().answer(
        shown, tokens_max=2_200
    )
