"""Golden histories: what a ruleset once decided, it decides for ever (spec 7.1, P11)."""

from pathlib import Path

import pytest

from infra.archive.reading import Archive
from infra.archive.verification import verify_archive
from infra.audit.history import ArchiveSource
from infra.audit.replay import replay_history
from schemas.codec import unframe
from schemas.outcome import Commitment, RepairAct
from schemas.packet import Uncovered
from streams.core_reducer import CoreReducer

FOLDER = Path(__file__).parent
RECORDED = sorted(path.name for path in FOLDER.iterdir() if (path / "manifest.json").is_file())


def test_every_ruleset_has_its_histories():
    """Each ruleset is represented: dialogues, drawn crowds, a restaurant, changes, amendments."""
    rulesets = [Archive(FOLDER / name).manifest.rulesets for name in RECORDED]

    assert (1, 2) in rulesets
    assert (1, 3) in rulesets
    assert 6 == rulesets.count((1,))


@pytest.mark.parametrize("name", RECORDED)
def test_a_golden_history_is_untouched(name):
    """Its bytes are those that were recorded."""
    assert verify_archive(FOLDER / name).fault is None


@pytest.mark.parametrize("name", RECORDED)
def test_a_golden_history_replays_identically(name):
    """Every fate and every output come out as recorded; the row set too, if its core recorded it.

    How rows are written is each core's own affair.
    """
    report = replay_history(ArchiveSource(FOLDER / name), lambda done, left: None)
    recorded = Archive(FOLDER / name).entry(0).head.core_version

    assert report.first is None
    assert report.clean
    assert ("identical" if recorded == CoreReducer.version else "not compared") == report.rows


def test_this_core_has_a_history():
    """The row set of at least one golden history is compared."""
    cores = {Archive(FOLDER / name).entry(0).head.core_version for name in RECORDED}

    assert CoreReducer.version in cores


def outputs_of(cls, turn_id):
    """Return the outputs of one turn in the history of the change of rules."""
    found = []
    topic = {Commitment: "commitments", RepairAct: "repairs"}[cls]
    for output in Archive(FOLDER / "ruleset-1-then-2").outputs(topic):
        record = unframe(cls, output.record.value)[0]
        found += [record] if record.turn_id == turn_id else []
    return found


def test_a_decision_keeps_its_ruleset():
    """The same turn before and after RulesetActivated: each under its number, and unlike.

    Ruleset 1 leaves requirement c open although another choice of evidence covers it, and asks;
    ruleset 2 finds that choice and commits.
    """
    (act,), (commitment,) = outputs_of(RepairAct, "before"), outputs_of(Commitment, "after")
    statuses = [
        {one.requirement.argument: one.status for one in outcome.certificate.coverage}["c"]
        for outcome in (act, commitment)
    ]

    assert (1, 2) == (act.certificate.ruleset, commitment.certificate.ruleset)
    assert [Uncovered.CROWDED_OUT, Uncovered.COVERED] == statuses
