"""Backfill: flips against an independent recomputation, resumption, and tables others can read."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib import resources
from pathlib import Path

import duckdb
import polars as pl
import pytest

from infra.appending import append_events
from infra.audit.history import EmbeddedSource
from infra.backfill.plan import BackfillError, Feedback, Plan, read_candidates
from infra.backfill.run import backfill
from infra.backfill.tables import TABLES, read_table
from infra.importers.sgd import import_sgd
from processors.whatif import Override
from schemas.codec import frame, unframe
from schemas.event import Event, Genesis
from schemas.identity import record_key
from schemas.turn import CandidatesProposed, GenerationFailed, TurnRequested
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from streams.ports import NewRecord
from tests.otherwise import list_flips, recompute, with_budgets, with_selector, within, without
from tests.plain_fold import decode_fate, fold_plainly
from tests.random_history import tell_crowd

ROOT = Path(__file__).parent.parent.parent
CANDIDATES = frozenset({"gold", "stale", "unconfirmed", "missing", "premature"})
PREDICATE = "Restaurants_2.ReserveRestaurant.date"


def fold_log(folder, records):
    """Append records to a new log and fold them."""
    with Embedded(folder, CoreReducer()) as embedded:
        embedded.append(records)
        embedded.fold_pending()
    return folder


def read_log(folder):
    """Return the records of a log."""
    with Embedded(folder, CoreReducer()) as embedded:
        return embedded.log.read(0, limit=100_000)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Return the folder of the sample dialogues, folded."""
    folder = tmp_path_factory.mktemp("backfill") / "sample"
    with (
        resources.as_file(resources.files("infra") / "sample") as path,
        Embedded(folder, CoreReducer()) as embedded,
    ):
        append_events(embedded, import_sgd([path], CANDIDATES))
        embedded.fold_pending()
    return folder


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Return the folder of a random crowd's history, folded."""
    events = tell_crowd(3, users=6, events=600).events
    records = [NewRecord(record_key(one.tenant, one.user), frame(one)) for one in events]
    return fold_log(tmp_path_factory.mktemp("backfill") / "crowd", records)


def run(source, out, **changes):
    """Run a backfill and return its summary."""
    feedback = changes.pop("feedback", Feedback.RECORDED)
    plan = Plan(override=Override(**changes), feedback=feedback)
    return backfill(EmbeddedSource(source), plan, out, lambda done, left: None)


def read_endings(out):
    """Return {(user, turn): (recorded ending, ending)} of a backfill's decisions."""
    shown = {}
    for row in read_table(out, "decisions").iter_rows(named=True):
        pair = [
            f"{row[p + 'outcome']} {row[p + 'reason']}{row[p + 'chosen']}".strip()
            for p in ("recorded_", "")
        ]
        shown[row["user"], row["turn_id"]] = tuple(pair)
    return shown


@pytest.mark.parametrize("feedback", list(Feedback))
@pytest.mark.parametrize("history", ["sample", "crowd"])
def test_nothing_else_gives_nothing_else(history, feedback, tmp_path, request):
    """Without other settings no decision flips, whosoever's feedback the history goes on with."""
    summary = run(request.getfixturevalue(history), tmp_path / "out", feedback=feedback)

    assert 0 == summary["flipped"]
    assert summary["recorded"] == summary["recomputed"]


@pytest.mark.parametrize(
    ("history", "changes", "change"),
    [
        ("sample", {"budget_main": 8_000, "budget_tail": 0}, with_budgets(8_000, 0)),
        ("sample", {"without": (PREDICATE,)}, without(PREDICATE)),
        ("crowd", {"budget_main": 8_000, "budget_tail": 0}, with_budgets(8_000, 0)),
        ("crowd", {"budget_main": 12, "budget_tail": 0}, with_budgets(12, 0)),
        ("crowd", {"selector": "no_tail_reserve"}, with_selector("no_tail_reserve")),
        ("crowd", {"without": ("diet",)}, without("diet")),
    ],
)
def test_flips_are_those_of_an_independent_recomputation(
    history, changes, change, tmp_path, request
):
    """Every ending, flipped or not, is that of the turn decided on copied, changed rows."""
    folder = request.getfixturevalue(history)
    summary = run(folder, tmp_path / "out", **changes)
    expected = recompute(read_log(folder), change)

    assert expected == read_endings(tmp_path / "out")
    flips = list_flips(expected)
    assert len(flips) == summary["flipped"] == read_table(tmp_path / "out", "flips").height


def test_removing_a_predicate_of_the_sample_flips_decisions(sample, tmp_path):
    """What rested on a confirmed date is asked for again once nobody confirmed it."""
    summary = run(sample, tmp_path / "out", without=(PREDICATE,))

    assert summary["flips"]["commitment -> clarify:missing_evidence"] > 0


def test_own_feedback_is_a_log_begun_under_the_other_settings(crowd, tmp_path):
    """Endings with own feedback are those of the same events behind another genesis."""
    recorded = read_log(crowd)
    fates = [decode_fate(fate) for fate in fold_plainly(recorded).fates]
    records = [
        NewRecord(record.key, frame(rewrite(record, fate)))
        for record, fate in zip(recorded, fates, strict=True)
    ]
    begun_so = fold_log(tmp_path / "log", records)
    run(crowd, tmp_path / "own", budget_main=12, budget_tail=3, feedback=Feedback.OWN)
    run(begun_so, tmp_path / "so")

    own = {turn: pair[1] for turn, pair in read_endings(tmp_path / "own").items()}
    assert {turn: pair[0] for turn, pair in read_endings(tmp_path / "so").items()} == own


def rewrite(record, fate):
    """Return an event as it would stand in a log begun with budgets of 12 and 3."""
    event, _ = unframe(Event, record.value)
    payload = event.payload
    if isinstance(payload, Genesis):
        return replace(event, payload=replace(payload, budget_main=12, budget_tail=3))
    if isinstance(payload, TurnRequested):
        return within(event, Genesis(1, None, None, 12, 3, "", 1, (), False, 0))
    answers = isinstance(payload, CandidatesProposed | GenerationFailed)
    if answers and fate.ignored != "stale_packet":
        return replace(event, payload=replace(payload, packet_digest=None))
    return event


def test_killed_five_times_and_resumed_gives_the_same_tables(crowd, tmp_path):
    """Ended by kill -9 five times and begun again, a run has the content of one whole run."""
    program = (
        "import sys; from pathlib import Path; from infra.audit.history import EmbeddedSource;"
        "from infra.backfill.plan import Plan; from infra.backfill.run import backfill;"
        "from processors.whatif import Override;"
        "backfill(EmbeddedSource(Path(sys.argv[1])), Plan(override=Override(budget_main=12)),"
        "Path(sys.argv[2]), lambda done, left: None, events_per_lane=75)"
    )
    out = tmp_path / "out"

    def start():
        return subprocess.Popen([sys.executable, "-c", program, str(crowd), str(out)], cwd=ROOT)

    for kills in range(1, 6):
        process = start()
        deadline = time.monotonic() + 30
        while len(list((out / "lanes").glob("*.json"))) < kills and time.monotonic() < deadline:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        assert -signal.SIGKILL == process.wait()
    assert 0 == start().wait(60)
    whole = tmp_path / "whole"
    plan = Plan(override=Override(budget_main=12))
    backfill(EmbeddedSource(crowd), plan, whole, lambda done, left: None, events_per_lane=75)

    for name in TABLES:
        assert read_table(whole, name).equals(read_table(out, name))
    assert (whole / "summary.json").read_text() == (out / "summary.json").read_text()


def test_two_jobs_give_the_tables_of_one(crowd, tmp_path):
    """How many processes work changes nothing."""
    plan, source = Plan(override=Override(budget_tail=0)), EmbeddedSource(crowd)
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        backfill(source, plan, out, lambda done, left: None, jobs=jobs, events_per_lane=300)

    for name in TABLES:
        assert read_table(tmp_path / "1", name).equals(read_table(tmp_path / "2", name))


def test_duckdb_and_polars_read_every_table(sample, tmp_path):
    """Each table opens in both, as README shows, and every row says what it rests on."""
    out = tmp_path / "out"
    summary = run(sample, out, without=(PREDICATE,))
    for name in TABLES:
        frame_of = pl.read_parquet(f"{out}/{name}/*.parquet")
        rows = duckdb.sql(f"select * from '{out}/{name}/*.parquet'").fetchall()
        assert frame_of.height == len(rows)
        assert [(summary["run_id"], CoreReducer.version, 1)] == frame_of.select(
            "run_id", "core_version", "ruleset"
        ).unique().rows()
    flipped = duckdb.sql(f"select count(*) from '{out}/decisions/*.parquet' where flipped")
    assert [(summary["flipped"],)] == flipped.fetchall()


def test_other_candidates_decide_their_turns_alone(sample, tmp_path):
    """An empty list in place of a commitment's candidates flips that turn and no other."""
    run(sample, tmp_path / "plain")
    decisions = read_table(tmp_path / "plain", "decisions")
    one = decisions.filter(pl.col("outcome") == "commitment").row(0, named=True)
    line = {"tenant": one["tenant"], "user": one["user"], "turn": one["turn_id"]}
    path = tmp_path / "candidates.jsonl"
    path.write_text(json.dumps(line | {"candidates": []}) + "\n")
    plan = Plan(candidates=read_candidates(path))
    backfill(EmbeddedSource(sample), plan, tmp_path / "out", lambda done, left: None)

    flips = read_table(tmp_path / "out", "flips")
    assert [(one["user"], one["turn_id"])] == flips.select("user", "turn_id").rows()


def test_a_folder_of_another_run_is_refused(sample, tmp_path):
    """Tables of two plans never mix: the second is told to name a new folder."""
    run(sample, tmp_path / "out", budget_tail=0)

    with pytest.raises(BackfillError, match="name a new folder"):
        run(sample, tmp_path / "out", budget_tail=1)


def test_a_wrong_candidates_file_is_named(tmp_path):
    """The line and the field are told."""
    path = tmp_path / "c.jsonl"
    path.write_text('{"user": "a", "turn": "t", "candidates": []}\n{"user": "a"}\n')

    with pytest.raises(BackfillError, match="line 2: 'turn' is missing"):
        read_candidates(path)
