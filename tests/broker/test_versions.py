"""Upgrades and rollbacks with events in flight: rules are those of their place in the log.

The third ruleset exists in these tests only; a build that lacks it stops and decides nothing.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from infra.broker import Broker
from processors.ruleset import RULESETS
from schemas.event import RulesetActivated
from streams.core_reducer import CoreReducer
from streams.lane import Phase
from tests.broker.histories import append_history, dinner, provision, read_outcomes
from tests.broker.threads import running
from tests.told_log import begin

NEWEST = 4


def test_an_upgrade_a_rollback_and_an_upgrade_decide_as_one_build(
    broker: Broker, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N folds to the new rules and stops; N+1 goes on; N stops again; the outcomes are N+1's."""
    provision(broker, prefix)
    provision(broker, f"{prefix}once.")
    activation = replace(begin(), event_id="rules", payload=RulesetActivated(NEWEST))
    told = [begin(), *dinner("m"), activation, *dinner("n")]
    append_history(broker, prefix, told[:4])
    rows = tmp_path / "rows"

    def stop_old() -> str:
        with running(broker, prefix, rows, CoreReducer) as old:
            return old.await_phase(Phase.STOPPED).reason

    with running(broker, prefix, rows, CoreReducer) as old:
        old.await_folded(4)
    append_history(broker, prefix, told[4:])
    first = stop_old()
    with monkeypatch.context() as upgraded:
        upgraded.setitem(RULESETS, NEWEST, replace(RULESETS[3], number=NEWEST))
        with running(broker, prefix, rows, CoreReducer) as new:
            new.await_folded(8)
    append_history(broker, prefix, dinner("o"))
    again = stop_old()
    monkeypatch.setitem(RULESETS, NEWEST, replace(RULESETS[3], number=NEWEST))
    with running(broker, prefix, rows, CoreReducer) as new:
        new.await_folded(11)
    append_history(broker, f"{prefix}once.", [*told, *dinner("o")])
    with running(broker, f"{prefix}once.", tmp_path / "once", CoreReducer) as only:
        only.await_folded(11)

    assert "ruleset 4" in first
    assert first == again
    assert read_outcomes(broker, f"{prefix}once.") == read_outcomes(broker, prefix)
