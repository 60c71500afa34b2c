"""Extraction over a log: each utterance proposes once, and what was taken back proposes nothing."""

from dataclasses import replace

import pytest

from infra.appending import append_events
from infra.cli.console import open_log
from infra.extraction.runs import Extracted, extract_log, read_events
from infra.gateway.embedded_control import EmbeddedControl
from infra.genesis import build_genesis
from infra.opening import mark_encrypted
from schemas.observation import ErasureRequested, ObservationWithdrawn
from tests.given import event
from tests.said_words import DINNER_CATALOGUE, utterance

SAID = replace(utterance("Never call me. A table for two tomorrow at 7 pm."), event_id="a")


@pytest.fixture(params=["plain", "encrypted"])
def log(request, tmp_path, monkeypatch):
    """A log, plain or encrypted, with a catalogue and one utterance."""
    monkeypatch.setenv("COMMITMENTS_KEY_STORE", str(tmp_path / "keys"))
    with open_log(tmp_path / "log", must_exist=False) as embedded:
        append_events(embedded, [build_genesis(DINNER_CATALOGUE)])
    if request.param == "encrypted":
        mark_encrypted(tmp_path / "log")
    with open_log(tmp_path / "log") as embedded:
        append_events(embedded, [SAID])
        yield embedded


def test_a_second_run_appends_nothing(log):
    """What is on the log already is known by its id; all of it folds, none is in force."""
    first = extract_log(log)
    second = extract_log(log)
    log.fold_pending()
    standing = EmbeddedControl(log).look(SAID.tenant, SAID.user)

    assert (Extracted(1, 4, 0), Extracted(1, 0, 4)) == (first, second)
    assert ((), 1, 3) == (standing.contract, len(standing.proposals), len(standing.slots))
    assert [] == list(log.outputs("rejections"))


@pytest.mark.parametrize(
    "taken_back", [ObservationWithdrawn(("a",)), ErasureRequested(("a",)), ErasureRequested(())]
)
def test_what_was_taken_back_is_not_mined_again(log, taken_back):
    """Withdrawn or erased, an utterance proposes nothing however often it is read (report R16)."""
    append_events(log, [event(taken_back, event_id="b", at_ms=SAID.occurred_at_ms + 1)])

    assert Extracted(0, 0, 0) == extract_log(log)
    assert 3 == len(list(read_events(log)))
