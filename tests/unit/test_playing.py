"""The command play: recorded dialogues whose turns are answered where they stand."""

import json

import pytest
from typer.testing import CliRunner

from infra.cli.commands import app


def play(*options, code=0):
    """Run the command and return what it printed as JSON, or its error."""
    done = CliRunner().invoke(app, ["play", *options, "--json"])
    assert code == done.exit_code, done.output
    return json.loads(done.stdout if code == 0 else done.stderr)


def test_a_play_is_resumed_from_its_recording_and_comes_out_alike(tmp_path):
    """Cut after some answers, the second run asks for the others only; all replays."""
    replies = tmp_path / "replies.jsonl"
    options = ("--dialogues", "3", "--backend", "simulated:3", "--record", str(replies))
    first = play(*options, "--log", str(tmp_path / "first"))
    lines = replies.read_text().splitlines(keepends=True)
    replies.write_text("".join(lines[:2]))
    again = play(*options, "--log", str(tmp_path / "again"))

    assert first == again
    assert lines == replies.read_text().splitlines(keepends=True)
    assert first["turns"] == first["turns_with_one_outcome"] > first["packets"] == len(lines)
    assert first["replay"]["outputs"] == first["replay"]["identical"] > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "nobody answers"),
        (("--backend", "simulated", "--bootstrap", "h:1"), "nobody answers, or two do"),
        (("--bootstrap", "h:1", "--record", "r"), "belong to an embedded log"),
        (("--backend", "simulated", "--same-as", "x"), "--same-as"),
        (("--backend", "simulated", "--corpus", "mars"), "--corpus: mars"),
        (("--backend", "oracle"), "names no backend"),
        (("nowhere", "--backend", "simulated"), "nowhere"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(options, words, tmp_path, monkeypatch):
    """One line says what is wrong, before anything is asked or written."""
    monkeypatch.chdir(tmp_path)

    error = play(*options, code=2)

    assert words in error["error"]
    assert error["remedy"] or "write" in error["error"]
    assert [] == [path for path in tmp_path.iterdir() if path.suffix == ".jsonl"]


def test_a_log_is_not_played_upon_twice(tmp_path):
    """A second history on one log would be another log."""
    log = ("--log", str(tmp_path / "log"), "--dialogues", "1", "--backend", "simulated")
    play(*log)

    assert "holds a log already" in play(*log, code=2)["error"]
