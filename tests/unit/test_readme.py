"""The README as a test: its catalogue, events and candidate run as they stand there."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from infra.cli.commands import app

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(r"^    commitments (\S+)", README, re.MULTILINE)
runner = CliRunner()


def invoke(*arguments, code=0, text=None):
    """Run one command and return its JSON lines."""
    result = runner.invoke(app, [*arguments, "--json"], input=text, catch_exceptions=False)
    assert code == result.exit_code, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def files(tmp_path):
    """The files of the README's example in a folder."""
    catalogue, events, candidate = BLOCKS[:3]
    (tmp_path / "catalogue.json").write_text(catalogue, "utf-8")
    (tmp_path / "events.jsonl").write_text(events, "utf-8")
    (tmp_path / "call.json").write_text(candidate, "utf-8")
    return tmp_path


def test_the_example_ends_in_a_commitment_and_a_clean_replay(files):
    """init, observe, turn, explain and replay do what the README says."""
    log = str(files / "my-log")
    invoke("init", "--log", log, "--catalogue", str(files / "catalogue.json"), "--operator", "ops")
    (observed,) = invoke("observe", str(files / "events.jsonl"), "--log", log)
    (outcome,) = invoke(
        "turn", "--log", log, "--user", "ada", "--scene", "book_table",
        "--candidates", str(files / "call.json"),
    )  # fmt: skip
    (explained,) = invoke("explain", outcome["record"]["turn_id"], "--log", log)
    (replayed,) = invoke("replay", "--log", log, "--verify")

    assert {"appended": 2, "wrong": []} == observed
    assert ("commitments", "booking") == (outcome["topic"], outcome["record"]["commitment_type"])
    assert outcome["record"] == explained["outcome"]
    assert (0, 0, 0) == tuple(replayed[k] for k in ("missing", "duplicate", "divergent"))


def test_what_was_confirmed_stops_the_same_agent(files):
    """A candidate with what the user excluded gets no commitment, and the act does not name it."""
    log = str(files / "my-log")
    invoke("init", "--log", log, "--catalogue", str(files / "catalogue.json"))
    invoke("observe", str(files / "events.jsonl"), "--log", log)
    candidate = BLOCKS[2].replace("tofu", "peanut")
    (files / "call.json").write_text(candidate, "utf-8")
    (outcome,) = invoke(
        "turn", "--log", log, "--user", "ada", "--scene", "book_table",
        "--candidates", str(files / "call.json"),
    )  # fmt: skip

    assert "repairs" == outcome["topic"]
    assert "peanut" not in outcome["record"]["text"]


def test_every_command_of_the_readme_exists():
    """A command that the README names has help with an example."""
    assert COMMANDS
    for name in sorted(set(COMMANDS)):
        result = runner.invoke(app, [name, "--help"])

        assert 0 == result.exit_code, name


def test_every_command_shows_an_example():
    """Each command's help has an example, and each knows --json or says that it takes none."""
    for command in app.registered_commands:
        result = runner.invoke(app, [command.name, "--help"])

        assert "Example:" in result.output, command.name
        assert "--json" in result.output, command.name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--log", "nowhere"], "there is no log in nowhere"),
        (["import", "nope", "x", "--log", "l"], "'nope' is none of"),
        (["import", "sgd", "x", "--log", "l", "--candidates", "bad"], "bad is none of"),
        (["lint", "nowhere.txt"], "nowhere.txt: No such file or directory"),
    ],
)
def test_a_mistake_is_a_message(arguments, message, tmp_path, monkeypatch):
    """A user's mistake ends with exit code 2, what is wrong, and no traceback."""
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, arguments)

    assert 2 == result.exit_code
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_wrong_lines_are_named_and_the_rest_goes_in(files):
    """observe names line and fault of each wrong line, appends the others, and exits with 1."""
    log = str(files / "my-log")
    invoke("init", "--log", log, "--catalogue", str(files / "catalogue.json"))
    lines = BLOCKS[1].splitlines()
    text = "\n".join(["{not json", lines[0], '{"user":"ada"}', lines[1]])
    (observed,) = invoke("observe", "-", "--log", log, text=text, code=1)

    assert 2 == observed["appended"]
    assert [1, 3] == [fault["line"] for fault in observed["wrong"]]
