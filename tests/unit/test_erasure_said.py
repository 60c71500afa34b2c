"""After erasure no command, report, table, log line, traceback or metric says a word of the user.

Before it nearly every command does, so that the search means something.
"""

import json
import logging

import polars as pl
import pytest
import structlog
from typer.testing import CliRunner

from infra.appending import append_events
from infra.archive.embedded_source import export_embedded
from infra.cli.commands import app
from infra.logs import configure_logs
from infra.opening import open_embedded
from infra.records import TOPICS, read_output
from processors import decision
from tests.canary import CANARY, candidates_of, erase_user, find_canary, make_folder
from tests.canary_fields import told_in_every_field
from tests.given import event, evidence, said, turn, unit

runner = CliRunner()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folded encrypted log of two users, the canary in every field of every payload."""
    return make_folder(tmp_path, monkeypatch, told=told_in_every_field)


def ask_everything(folder, out):
    """Run every command that tells of a log; return what each said, tables included."""
    log, archive = ("--log", str(folder)), str(out / "archive")
    user = (*log, "--tenant", "acme")
    commands = [
        ("export", *log, "--out", archive),
        ("verify", archive),
        ("replay", *log),
        ("replay", "--archive", archive),
        ("run", *log),
        ("explain", "e3", *log),
        ("explain", "e13", *log),
        ("history", "ada", *user),
        ("blast-radius", "e1", *user, "--user", "ada"),
        ("enforcement", "ada", *user),
        ("lint", *log),
        ("answer", *user, "--user", "ada"),
        ("backfill", *log, "--out", str(out / "tables")),
        ("check", str(out / "certificates.jsonl"), "--archive", archive),
        *(("outputs", *log, "--topic", topic) for topic in TOPICS),
        ("rotate-keys",),
    ]
    told = {}
    for command in commands:
        for form_of in ((), ("--json",)):
            if form_of and command[0] in {"export", "backfill"}:
                continue
            result = runner.invoke(app, [*command, *form_of])
            told[*command, *form_of] = result.output + repr(result.exception)
    for path in sorted((out / "tables").rglob("*.parquet")):
        told["table", str(path)] = str(pl.read_parquet(path).rows())
    return told


def name_speakers(told):
    """Return the commands that say the canary."""
    return sorted({command[0] for command, text in told.items() if CANARY in text})


def test_no_command_says_a_word_of_who_was_erased(folder, tmp_path):
    """Reports, tables, errors and new archives are silent; before, most of them speak."""
    stated = []
    with open_embedded(folder) as embedded:
        for output in embedded.outputs("commitments"):
            record = read_output("commitments", output.record.value)
            names = {"outcome_id": record.outcome_id.hex(), "turn_id": record.turn_id}
            stated.append(names | {"seq": record.seq, "tenant": "acme", "user": record.user})
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
        lines = "".join(json.dumps(one) + "\n" for one in stated)
        (tmp_path / name / "certificates.jsonl").write_text(lines, "utf-8")
    before = name_speakers(ask_everything(folder, tmp_path / "before"))
    erase_user(folder, "ada")
    erase_user(folder, "bob")
    after = ask_everything(folder, tmp_path / "after")

    assert {"explain", "history", "outputs", "table", "check"} <= set(before)
    assert [] == name_speakers(after)
    assert [] == find_canary(folder, tmp_path / "keys", tmp_path / "after")


def test_an_archive_of_before_says_nothing_after(folder, tmp_path):
    """What was exported before holds ciphertext; without its keys no command opens it."""
    with open_embedded(folder) as embedded:
        export_embedded(embedded, tmp_path / "archive")
    erase_user(folder, "ada")
    erase_user(folder, "bob")
    archive = ("--archive", str(tmp_path / "archive"))
    told = {
        command: runner.invoke(app, [*command, *archive]).output
        for command in (("replay",), ("history", "ada", "--tenant", "acme"))
    }

    assert [] == name_speakers(told)
    assert [] == find_canary(tmp_path / "archive")


def test_a_fault_of_the_core_repeats_no_words(folder, monkeypatch, capsys):
    """An exception that carries a user's words leaves its type: in fates, outputs and log lines."""
    real = decision.step

    def fail(view, sent, stamp):
        if sent.event_id == "broken":
            raise ValueError(f"cannot stand {CANARY}")
        return real(view, sent, stamp)

    monkeypatch.setattr(decision, "step", fail)
    with open_embedded(folder) as embedded:
        append_events(embedded, [event(said(CANARY), event_id="broken", minute=70)])
        embedded.fold_pending()
        offset = embedded.log.bounds().end - 1
        *_, last = embedded.outputs("rejections")
        rejection = read_output("rejections", last.record.value)
    configure_logs(log_format="json", level="info")
    try:
        int(CANARY)
    except ValueError:
        structlog.get_logger().error("core_fault", exc_info=True, user=CANARY, reason="core_fault")
    finally:
        structlog.reset_defaults()
        logging.shutdown()
    line = capsys.readouterr().err

    assert ("core_fault", f"ValueError at partition 0, offset {offset}") == (
        rejection.reason, rejection.detail,
    )  # fmt: skip
    assert CANARY not in repr(rejection)
    assert CANARY not in line
    assert "ValueError" in line
    assert [] == find_canary(folder / "log", folder / "ledgers")


def test_what_a_model_made_of_an_erased_event_goes_when_it_is_named(tmp_path, monkeypatch):
    """The erasure of an event names the answers to what showed it; named too, no word is left.

    The packet that showed the event, and how its turn ended, are gone at once.
    """
    folder = make_folder(tmp_path, monkeypatch, told=lambda user: list(tell_dinner(user)))
    first = erase_user(folder, "ada", "e1")
    with open_embedded(folder) as embedded:
        shown = [
            read_output(topic, output.record.value)
            for topic in ("commitments", "repairs", "packets")
            for output in embedded.outputs(topic)
        ]
    second = erase_user(folder, "ada", *first.kept)

    assert ((1, 1), ("e3",)) == ((first.events, first.turns), first.kept)
    assert {"bob"} == {record.user for record in shown}
    assert (1, ()) == (second.events, second.kept)
    erase_user(folder, "bob")
    assert [] == find_canary(folder, tmp_path / "keys")


def tell_dinner(user):
    """Yield a note, a turn that asks for it, and the candidate that repeats it."""
    note = evidence(unit(CANARY, dimensions=("mood",), reference=CANARY, slot="dish", value=CANARY))
    told = ((note, "tool"), (turn(wanted_dimensions=("mood",)), "user"))
    for number, (payload, kind) in enumerate((*told, (candidates_of("e2", ()), "generator")), 1):
        by = f"{kind}:{user}"
        yield event(payload, by=by, user=user, event_id=f"e{number}", minute=number)
