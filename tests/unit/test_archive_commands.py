"""The audit commands as people use them: export, verify, checkpoint, check, replay, import."""

import json

import pytest
from typer.testing import CliRunner

from infra.appending import append_events
from infra.cli.commands import app
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from tests.random_history import tell_crowd

TOPICS = ("commitments", "repairs", "failures", "packets", "rejections")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a folded log, its archive, a key and a checkpoint."""
    folder = tmp_path_factory.mktemp("commands")
    with Embedded(folder / "log", CoreReducer()) as embedded:
        append_events(embedded, tell_crowd(3, users=3, events=90).events)
        embedded.fold_pending()
    run("export", "--log", folder / "log", "--out", folder / "archive")
    run("checkpoint-key", "audit.example", "--out", folder / "key")
    run("checkpoint", folder / "archive", "--key", folder / "key", "--out", folder / "note")
    return folder


def run(*arguments, code=0):
    """Run a command and return what it printed."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert code == result.exit_code, result.output
    return result.output


def test_a_checkpoint_is_verified_with_its_key(folder):
    """The archive is that of the checkpoint, which the public key has signed."""
    note = ("--checkpoint", folder / "note", "--key", folder / "key.pub")
    found = json.loads(run("verify", folder / "archive", *note, "--json"))

    assert (True, "same", "valid", None) == (
        found["ok"], found["checkpoint"], found["signature"], found["fault"],
    )  # fmt: skip


def test_a_checkpoint_of_another_key_is_not_trusted(folder):
    """A note that the key has not signed is an error, not a finding about the archive."""
    run("checkpoint-key", "other.example", "--out", folder / "other")
    note = ("--checkpoint", folder / "note", "--key", folder / "other.pub")

    assert "not signed" in run("verify", folder / "archive", *note, code=2)


def test_a_fault_ends_with_exit_code_1(folder, tmp_path):
    """Damage is an answer: the segment, the frame and the kind, and exit code 1."""
    run("export", "--log", folder / "log", "--out", tmp_path / "archive")
    segment = next(tmp_path.glob("archive/*.frames"))
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 4
    segment.write_bytes(bytes(content))

    assert segment.name in run("verify", tmp_path / "archive", code=1)
    found = json.loads(run("verify", tmp_path / "archive", "--json", code=1))
    assert (False, segment.name) == (found["ok"], found["fault"]["segment"])
    assert "damaged" in run("checkpoint", tmp_path / "archive", "--key", folder / "key", code=2)


def test_printed_outcomes_are_certificates(folder, tmp_path):
    """What outputs --json prints, line by line, is what check takes."""
    lines = "".join(
        run("outputs", "--log", folder / "log", "--topic", topic, "--json") for topic in TOPICS[:3]
    )
    (tmp_path / "certificates.jsonl").write_text(lines)
    arguments = ("check", tmp_path / "certificates.jsonl", "--archive", folder / "archive")
    found = json.loads(run(*arguments, "--json"))

    assert (len(lines.splitlines()), 0) == (found["checked"], found["wrong"])
    (tmp_path / "certificates.jsonl").write_text(
        lines.replace('"authenticated": false', '"authenticated": true')
    )
    assert "certificate.authenticated" in run(*arguments, code=1)


def test_replay_reads_log_and_archive(folder):
    """Both replay identically; naming neither or both is refused with the remedy."""
    for source in (("--log", folder / "log"), ("--archive", folder / "archive")):
        report = json.loads(run("replay", *source, "--verify", "--json"))
        assert (True, "identical", None) == (report["clean"], report["rows"], report["first"])
    assert "--log" in run("replay", code=2)
    assert "no time" in run("replay", "--archive", folder / "archive", "--from-time", "x", code=2)
    assert "no partition" in run(
        "replay", "--archive", folder / "archive", "--partition", 3, code=2
    )
    assert "no event of nobody" in run(
        "replay", "--archive", folder / "archive", "--user", "nobody", "--verify", code=2
    )


def test_an_archive_goes_back_onto_a_log(folder, tmp_path):
    """Imported into a new log and folded, it gives the same outcomes; a used log is refused."""
    run("import", "archive", folder / "archive", "--log", tmp_path / "log")
    run("run", "--log", tmp_path / "log")
    for topic in TOPICS:
        arguments = ("outputs", "--topic", topic, "--json", "--log")
        assert run(*arguments, folder / "log") == run(*arguments, tmp_path / "log")
    again = ("import", "archive", folder / "archive", "--log", tmp_path / "log")
    assert "holds events" in run(*again, code=2)


def test_what_is_no_archive_is_refused(folder, tmp_path):
    """A wrong folder, an existing target and a wrong key are sentences, not tracebacks."""
    assert "no archive" in run("verify", tmp_path / "none", code=2)
    assert "exists already" in run("export", "--log", folder / "log", "--out", tmp_path, code=2)
    (tmp_path / "key").write_text("no key")
    assert "key" in run("checkpoint", folder / "archive", "--key", tmp_path / "key", code=2)
