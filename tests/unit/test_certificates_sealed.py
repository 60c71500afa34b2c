"""Certificates of encrypted logs: they check with the key store at hand, as far as it has keys."""

import copy
import json

import pytest
from typer.testing import CliRunner

from infra.archive.embedded_source import export_embedded
from infra.archive.reading import Archive
from infra.archive.verification import verify_archive
from infra.audit.certificates import ERASED, check_certificates
from infra.audit.stated import read_certificates
from infra.cli.commands import app
from infra.event_json import render_record
from infra.opening import open_embedded
from infra.records import OUTCOME_TOPICS, read_output
from streams.failures import KeyStoreFailedError
from tests.canary import CANARY, erase_user, find_canary, make_folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folded encrypted log of two users."""
    return make_folder(tmp_path, monkeypatch)


def export(folder, to):
    """Export a log and return the archive."""
    with open_embedded(folder) as embedded:
        export_embedded(embedded, to)
    return Archive(to)


def list_outcomes(folder):
    """Return every outcome of a log as outputs --json prints it."""
    with open_embedded(folder) as embedded:
        return [
            {"offset": output.offset, "record": render_record(read_output(topic, value))}
            for topic in OUTCOME_TOPICS
            for output in embedded.outputs(topic)
            if (value := embedded.opener.unseal(output.record.value)) is not None
        ]


def test_one_user_of_a_sealed_log_is_replayed(folder):
    """The user is found under the pseudonym, and all that is theirs is compared."""
    command = ("replay", "--log", str(folder), "--user", "ada", "--tenant", "acme", "--json")
    told = CliRunner().invoke(app, command)

    report = json.loads(told.stdout)
    assert report["clean"]
    assert 0 < report["identical"] == report["outputs"]


def check(archive, lines, folder):
    """Write certificates to a file, check them, and return what was found."""
    path = folder / "certificates.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return check_certificates(archive, read_certificates(path))


def test_certificates_of_a_sealed_log_check_and_prove_sealed_frames(folder, tmp_path):
    """Each outcome is right, its proofs lead to frames that say nothing, and a lie is named."""
    stated = list_outcomes(folder)
    archive = export(folder, tmp_path / "archive")
    bent = copy.deepcopy(stated[0])
    bent["record"]["slots"][0]["value"] = "another"
    *checked, wrong = check(archive, [*stated, bent], tmp_path)

    assert [()] * len(stated) == [one.differences for one in checked]
    assert {"ada", "bob"} == {one.user for one in checked}
    assert all(len(one.inclusions) >= 2 for one in checked)
    assert "slots[0].value" == wrong.differences[0].path
    assert [] == find_canary(tmp_path / "archive")
    assert CANARY in json.dumps(stated)


def test_after_erasure_the_others_still_check(folder, tmp_path):
    """What came after an erased event says so; another user's certificates are as right as before.

    The same holds of an archive exported before: its keys are gone too.
    """
    stated = list_outcomes(folder)
    before = export(folder, tmp_path / "before")
    erase_user(folder, "ada")
    after = export(folder, tmp_path / "after")

    for archive in (before, after):
        assert verify_archive(archive.folder).fault is None
        found = {}
        for one in check(archive, stated, tmp_path):
            found.setdefault(one.user, set()).add(one.differences)
        assert {()} == found["bob"]
        assert {(("archive", "this outcome", ERASED),)} == found["ada"]


def test_without_its_key_store_nothing_is_taken_for_wrong(folder, tmp_path, monkeypatch):
    """A store without the keys stops the check, instead of calling a right certificate wrong."""
    stated = list_outcomes(folder)
    archive = export(folder, tmp_path / "archive")
    monkeypatch.setenv("COMMITMENTS_KEY_STORE", str(tmp_path / "elsewhere"))
    with pytest.raises(KeyStoreFailedError, match="key"):
        check(archive, stated, tmp_path)
