"""An erasure that was asked for and not completed is named by ``run`` until it is."""

import json

import pytest
from typer.testing import CliRunner

from infra.appending import append_events
from infra.cli.commands import app
from infra.opening import open_embedded
from schemas.event import ObservationWithdrawn
from schemas.observation import ErasureRequested
from tests.canary import erase_user, make_folder, told_by
from tests.given import event, form, genesis

runner = CliRunner()
NOTED = told_by("ada")[4].event_id


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folded encrypted log of two users."""
    return make_folder(tmp_path, monkeypatch)


def ask(folder, *event_ids, by="user:ada", payload=None):
    """Append a request to erase as anybody may, and nothing more."""
    wished = ErasureRequested(event_ids) if payload is None else payload
    with open_embedded(folder) as embedded:
        append_events(embedded, [event(wished, by=by, event_id=f"ask-{by}", minute=90)])


def run(folder, *arguments):
    """Run the command; return its result."""
    result = runner.invoke(app, ["run", "--log", str(folder), *arguments])
    assert 0 == result.exit_code, result.output
    return result


def unfinished(folder):
    """Return what ``run --json`` names."""
    return json.loads(run(folder, "--json").stdout)["unfinished_erasures"]


@pytest.mark.parametrize("named", [(), (NOTED,)])
def test_a_request_alone_is_named_with_its_remedy_until_it_is_carried_out(folder, named):
    """The keys are still there; the command that is named makes an end of it."""
    assert [] == unfinished(folder)
    ask(folder, *named)
    command = " ".join(
        ("commitments erase --log", str(folder), "--tenant acme --user ada", *named, "--operator")
    )
    said = [run(folder).stderr, run(folder).stderr]
    (told,) = unfinished(folder)
    erase_user(folder, "ada", *named)

    assert all("warning:" in one and f"{command} NAME" in one for one in said)
    assert ("acme", "ada", list(named)) == (told["tenant"], told["user"], told["event_ids"])
    assert f"requested at offset {told['offset']} and is not complete" in told["message"]
    assert [] == unfinished(folder)
    assert "warning" not in run(folder).stderr


def test_erasing_something_else_completes_nothing(folder):
    """A request for all of a user stays open when single events of hers are erased."""
    ask(folder)
    erase_user(folder, "ada", NOTED)

    assert [[]] == [one["event_ids"] for one in unfinished(folder)]


def test_keys_destroyed_without_a_receipt_on_the_log_are_named(folder):
    """A run that died behind the keys left rows: the erasure is to be repeated."""
    ask(folder)
    run(folder)
    with open_embedded(folder) as embedded:
        keys = embedded.opener.keys
        pseudonym = embedded.opener.pseudonym_of("acme", "ada")
        keys.erase(pseudonym, dict.fromkeys(keys.list_references(pseudonym)))
    (told,) = unfinished(folder)
    erase_user(folder, "ada")

    assert (None, f"pseudonym:{pseudonym.hex()}") == (told["offset"], told["user"])
    assert "the log has no receipt" in told["message"]
    assert "--user USER --operator NAME" in told["message"]
    assert [] == unfinished(folder)


def test_what_asks_for_no_erasure_is_not_named(folder):
    """Neither a withdrawal, nor a rejected request, nor one for what never was on the log."""
    ask(folder, payload=ObservationWithdrawn((NOTED,)))
    ask(folder, by="operator:mallory")
    ask(folder, "no-such-event", by="operator:ops")

    assert [] == unfinished(folder)


def test_a_plain_log_has_nothing_to_complete(tmp_path):
    """Without keys a request is all there is; the mode says what it leaves."""
    with open_embedded(tmp_path / "log") as embedded:
        append_events(embedded, [genesis(), event(form(dish="soup"), event_id="e1", minute=1)])
    ask(tmp_path / "log")

    assert [] == unfinished(tmp_path / "log")
