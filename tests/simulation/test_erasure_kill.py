"""Erasure and key rotation under kill -9: done or not begun at each step, whole when repeated."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.canary import told_by
from tests.simulation.host import KILLED, Host

ERASING = (
    "erasure_requested",
    "keys_erasing",
    "keys_erased",
    "keys_vacuumed",
    "append_written:2",
    "commit_written:2",
    "erasure_completed",
    "rows_compacted",
)
ROTATING = ("keys_wrapping", "keys_wrapping:2", "keys_wrapped", "keys_rotated")


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    """Return a host of forked processes."""
    host = Host()
    yield host
    host.close()


@pytest.fixture(scope="module")
def told(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an encrypted log of ada and bob and of its keys."""
    folder = tmp_path_factory.mktemp("told")
    host.run("tell_canary", path=str(folder / "log"), keys=str(folder / "keys"))
    return folder


def copy(told: Path, to: Path) -> dict[str, str]:
    """Copy log and keys, and return where they are."""
    shutil.copytree(told, to)
    return {"path": str(to / "log"), "keys": str(to / "keys")}


def look(host: Host, of: dict[str, str]) -> Any:
    """Return what there is to see."""
    return host.run("look", **of)


def test_a_user_erased_under_kills_is_gone_whole(host: Host, told: Path, tmp_path: Path) -> None:
    """After the kill her keys are all there or all gone; run again, no word of her is left.

    In between the erasure is named as unfinished while keys are left or a receipt is missing.
    Every receipt of the key store stands on the log then, that of the run that died too.
    """
    whole = copy(told, tmp_path / "whole")
    before = look(host, whole)
    assert before["canary"]
    for point in ERASING:
        of = copy(told, tmp_path / point.replace(":", "-"))
        assert KILLED == host.run("erase_ada", crash_at=point, events=[], **of), point
        between = look(host, of)
        assert between["clean"], point
        # Her request and what it put out have keys of their own.
        assert between["keys"] == 0 or between["keys"] >= before["keys"], point
        is_open = between["keys"] > 0 or between["unrecorded"] != []
        assert is_open == (between["unfinished"] == 1), point
        host.run("erase_ada", events=[], **of)
        after = look(host, of)

        assert (True, 0, []) == (after["clean"], after["keys"], after["canary"]), point
        assert ([], before["bob"]) == (after["ada"], after["bob"]), point
        assert ([], 0) == (after["unrecorded"], after["unfinished"]), point


def test_an_event_erased_under_kills_takes_no_more_with_it(
    host: Host, told: Path, tmp_path: Path
) -> None:
    """However often it is interrupted and repeated, what she said besides stays."""
    events = [told_by("ada")[4].event_id]
    calm = copy(told, tmp_path / "calm")
    host.run("erase_ada", events=events, **calm)
    expected = look(host, calm)
    assert expected["units"] > 0
    for point in ERASING:
        of = copy(told, tmp_path / point.replace(":", "-"))
        assert KILLED == host.run("erase_ada", crash_at=point, events=events, **of), point
        host.run("erase_ada", events=events, **of)
        after = look(host, of)

        assert after["clean"], point
        assert expected["units"] == after["units"], point
        assert strip_tables(expected["ada"]) == strip_tables(after["ada"]), point
        assert expected["bob"] == after["bob"], point
        assert [] == after["unrecorded"], point


def strip_tables(outputs: list[str]) -> list[str]:
    """Return outputs without the public rows, which count the requests."""
    return [one for one in outputs if not one.startswith(("states ", "contracts "))]


def test_keys_rotated_under_kills_open_everything(host: Host, told: Path, tmp_path: Path) -> None:
    """Killed at any step and repeated or not, every record opens as before."""
    of = copy(told, tmp_path / "log")
    before = look(host, of)
    for point in ROTATING:
        assert KILLED == host.run("rotate", crash_at=point, keys=of["keys"]), point
        assert before == look(host, of), point
    host.run("rotate", keys=of["keys"])

    assert before == look(host, of)
