"""Mistakes on a command line: each is one line that says what is wrong, and changes nothing."""

import errno
import json
import os
import subprocess
import sys
from io import BytesIO, TextIOWrapper

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from infra.cli import layout, main
from infra.cli.commands import app
from infra.cli.console import print_json, print_table, reported
from tests.unit.test_lines_in import CATALOGUE, say


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Return the folder of a log in which one user spoke."""
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "catalogue.json").write_text(json.dumps(CATALOGUE), "utf-8")
    (folder / "lines").write_text(say("b"), "utf-8")
    path = ("--log", str(folder / "log"))
    CliRunner().invoke(app, ["init", *path, "--catalogue", str(folder / "catalogue.json")])
    CliRunner().invoke(app, ["observe", *path, str(folder / "lines")])
    return folder / "log"


@pytest.mark.parametrize("name", ["--budget-main", "--budget-tail"])
def test_a_number_without_end_is_named(log, name):
    """A budget that no record can hold is an error that names it, and nothing is appended."""
    asked = ("turn", "--log", str(log), "--user", "ada", "--scene", "book", name, str(2**70))

    result = CliRunner().invoke(app, [*asked, "--json"])

    assert 2 == result.exit_code, result.output
    assert name.removeprefix("--").replace("-", "_") in json.loads(result.stderr)["error"]


@pytest.mark.parametrize("backend", ["recorded:{binary}", "openai:http://[::bad"])
def test_a_backend_that_cannot_be_is_named(log, backend):
    """A binary file for a recording and a broken address are errors that repeat them."""
    binary = log.parent / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    named = backend.format(binary=binary)
    asked = ("turn", "--log", str(log), "--user", "ada", "--scene", "book", "--backend", named)

    result = CliRunner().invoke(app, [*asked, "--json"])

    assert 2 == result.exit_code, result.output
    assert named.partition(":")[2] in json.loads(result.stderr)["error"]


@pytest.mark.parametrize("command", ["run", "outputs"])
def test_a_folder_that_is_no_log_is_left_as_it_is(tmp_path, command):
    """Given a mistyped --log that names another folder, nothing is written into it."""
    (tmp_path / "letter.txt").write_text("dear", "utf-8")

    result = CliRunner().invoke(app, [command, "--log", str(tmp_path), "--json"])

    assert 2 == result.exit_code, result.output
    assert "there is no log" in json.loads(result.stderr)["error"]
    assert ["letter.txt"] == [path.name for path in tmp_path.iterdir()]


def test_an_archive_that_is_none_begins_no_log(tmp_path):
    """Given a wrong archive, the log that it was to be restored into is not made."""
    wrong, new = str(tmp_path / "nothing"), tmp_path / "new"

    result = CliRunner().invoke(app, ["import", "archive", wrong, "--log", str(new), "--json"])

    assert 2 == result.exit_code, result.output
    assert not new.exists()


def test_an_argument_that_is_no_text_is_refused_by_its_place(monkeypatch, capsys):
    """Bytes that are no UTF-8 end the command with the argument's number."""
    monkeypatch.setattr(sys, "argv", ["commitments", "history", "ad\udcff"])

    with pytest.raises(SystemExit) as ended:
        main.run()

    assert 2 == ended.value.code
    assert "argument 2" in capsys.readouterr().err


def test_a_setting_of_the_environment_that_does_not_read_is_named(monkeypatch, capsys):
    """A wrong variable ends the command with its name and no traceback."""
    monkeypatch.setattr(sys, "argv", ["commitments", "rotate-keys"])
    monkeypatch.setenv("COMMITMENTS_CACHE_BYTES", "plenty")

    with pytest.raises(SystemExit) as ended:
        main.run()

    assert 2 == ended.value.code
    assert "COMMITMENTS_CACHE_BYTES" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "named", "helped"),
    [
        (["observe", "--lg", "x"], "--lg", "observe"),
        (["observe"], "source", "observe"),
        (["obsrve"], "obsrve", ""),
        (["evaluate", "fixtures", "--limit", "a\nb"], "--limit", "evaluate fixtures"),
    ],
)
def test_a_wrong_line_is_answered_in_one_line(line, named, helped):
    """What is wrong and where its help is: a sentence for people, an object with --json."""
    said = CliRunner().invoke(app, line)
    told = CliRunner().invoke(app, [*line, "--json"])

    remedy = " ".join(("see commitments", *helped.split(), "--help"))
    assert [2, 2] == [said.exit_code, told.exit_code]
    assert 1 == len(said.stderr.splitlines())
    assert named in said.stderr
    assert said.stderr.endswith(f"; {remedy}\n")
    assert remedy == json.loads(told.stderr)["remedy"]


def test_every_command_is_listed_once_in_a_line_of_its_own():
    """The list of commands leaves none out and cuts none short."""
    told = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["--help"]).stdout
    listed = [name for texts in layout.GROUPS.values() for name in texts]

    assert sorted(get_command(app).commands) == sorted(listed)
    assert len(listed) == sum(line.endswith(".") for line in told.partition("Begin")[2].split("\n"))
    for group in ("evaluate", "keys"):
        told = CliRunner(env={"COLUMNS": "80"}).invoke(app, [group, "--help"]).stdout
        assert "..." not in told.partition("Commands:")[2]


@pytest.mark.parametrize("line", [["--help"], ["run"], ["run", "--json"]])
def test_a_reader_that_leaves_ends_a_command_without_a_word(log, line):
    """Given a closed pipe for standard output, the exit code is SIGPIPE's and nothing is said."""
    reading, writing = os.pipe()
    os.close(reading)
    asked = line if line == ["--help"] else [*line, "--log", str(log)]
    command = [sys.executable, "-m", "infra.cli.main", *asked]

    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)

    assert main.CLOSED == ended.returncode
    assert not any(word in ended.stderr for word in (b"error", b"Error", b"pipe"))


def test_an_interruption_while_python_imports_ends_without_a_word(monkeypatch, capsys):
    """Given Ctrl-C before the first command is there, the exit code is SIGINT's."""

    class Interrupted:
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["commitments", "run"])
    monkeypatch.setitem(sys.modules, "infra.cli.commands", Interrupted())

    with pytest.raises(SystemExit) as ended:
        main.run()

    assert (main.INTERRUPTED, "") == (ended.value.code, capsys.readouterr().err)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_whole_on_a_stream_of_any_encoding(monkeypatch, encoding):
    """What a terminal's encoding lacks is written as escapes of JSON."""
    stream = TextIOWrapper(BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)

    print_json({"text": "für \u0430da 😀"})

    stream.flush()
    written = stream.buffer.getvalue()
    assert {"text": "für \u0430da 😀"} == json.loads(written.decode(encoding))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EISDIR])
def test_a_failure_of_the_disk_comes_with_its_remedy(capsys, number):
    """Whatever the operating system refuses, a person reads what to do about it."""
    with pytest.raises(typer.Exit), reported(as_json=True):
        raise OSError(number, "refused")

    assert json.loads(capsys.readouterr().err)["remedy"]


def test_a_backend_that_cannot_be_leaves_no_turn_pending(log):
    """Given a backend that names none, the turn is not asked: the log is as it was."""
    asked = ("turn", "--log", str(log), "--user", "ada", "--scene", "book", "--backend", "none")
    packets = ("outputs", "--log", str(log), "--topic", "packets", "--json")
    CliRunner().invoke(app, ["run", "--log", str(log)])
    before = CliRunner().invoke(app, packets).stdout

    result = CliRunner().invoke(app, asked)
    CliRunner().invoke(app, ["run", "--log", str(log)])

    assert 2 == result.exit_code, result.output
    assert before == CliRunner().invoke(app, packets).stdout


def test_a_table_that_is_piped_keeps_its_words_whole(monkeypatch, capsys):
    """Given no terminal, an id and a number stand on one line each, to be copied and searched."""
    monkeypatch.delenv("COLUMNS", raising=False)
    turn, total = "f" * 32, 123456789

    print_table("t", ["turn", *"abcdefgh"], [(turn, *[total] * 8)])

    assert f"{turn} │ " + " │ ".join([str(total)] * 8) in capsys.readouterr().out


def test_an_answer_that_failed_names_why(log):
    """Given a server that is not there, generate says the reason beside the turn."""
    CliRunner().invoke(app, ["turn", "--log", str(log), "--user", "ada", "--scene", "book"])
    server = ("--backend", "openai:http://127.0.0.1:9", "--model", "m", "--retries", "0")

    result = CliRunner(env={"COLUMNS": None}).invoke(app, ["generate", "--log", str(log), *server])

    assert 0 == result.exit_code, result.output
    assert "All connection attempts failed" in result.stdout


def test_an_unknown_user_is_named_with_both_reasons(log):
    """A user who is not there may be another tenant's, or may have been erased."""
    result = CliRunner().invoke(app, ["history", "eve", "--log", str(log), "--json"])

    assert 2 == result.exit_code, result.output
    remedy = json.loads(result.stderr)["remedy"]
    assert "name --tenant; of a user who was erased nothing is left to show" == remedy
