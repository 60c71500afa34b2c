"""Key files, signing at the edge, and logs that need keys to be folded but not to be replayed."""

import json
from dataclasses import replace

import pytest

from infra.appending import append_events
from infra.audit.replay import replay
from infra.authority import AUTHENTICATED_MODE, OPEN_MODE, describe_authority
from infra.genesis import Authority, build_genesis
from infra.keys import (
    KINDS,
    KeysError,
    StaticKeys,
    build_authenticator,
    create_keys,
    parse_keys,
    read_keys,
    sign_event,
)
from infra.records import read_output
from schemas.codec import encode
from schemas.signing import compute_mac
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from streams.failures import KeysMissingError
from tests.given import default_catalogue, event, form, said, turn


@pytest.fixture
def key_file(tmp_path, monkeypatch):
    """Return a key file of tenant acme and of control records, named in the environment."""
    path = tmp_path / "keys.json"
    create_keys(path, tenant="", kinds=("operator",))
    create_keys(path, tenant="acme", kinds=KINDS)
    monkeypatch.setenv("COMMITMENTS_KEYS_FILE", str(path))
    return path


def open_with(folder, keys):
    """Open a log with these keys, or with none."""
    return Embedded(folder, CoreReducer(authenticator=build_authenticator(keys)))


def begin(folder, keys):
    """Write a small authenticated log and return it open."""
    embedded = open_with(folder, keys)
    genesis = build_genesis(default_catalogue(), authority=Authority.AUTHENTICATED)
    append_events(embedded, [genesis, event(form(diet="vegan")), event(turn())])
    return embedded


def test_a_signed_log_folds_and_says_that_it_is_authenticated(tmp_path, key_file):
    """Events signed with the configured keys count, and certificates say so."""
    with begin(tmp_path / "log", StaticKeys(read_keys(key_file))) as embedded:
        assert AUTHENTICATED_MODE == describe_authority(embedded)
        embedded.fold_pending()

        assert [] == list(embedded.outputs("rejections"))
        for topic in ("commitments", "repairs"):
            for output in embedded.outputs(topic):
                assert read_output(topic, output.record.value).certificate.authenticated


def test_a_process_without_keys_stops_and_rejects_nothing(tmp_path, key_file):
    """Without keys an authenticated log is not folded: a rejection would stand for ever."""
    with begin(tmp_path / "log", StaticKeys(read_keys(key_file))):
        pass
    with open_with(tmp_path / "log", None) as embedded:
        with pytest.raises(KeysMissingError, match="COMMITMENTS_KEYS_FILE"):
            embedded.fold_pending()
        assert [] == list(embedded.outputs("rejections"))


def test_replay_takes_from_the_ledger_what_keys_once_said(tmp_path, key_file, monkeypatch):
    """A replay that holds no keys gives the same bytes, those of forged events included."""
    with begin(tmp_path / "log", StaticKeys(read_keys(key_file))) as embedded:
        monkeypatch.delenv("COMMITMENTS_KEYS_FILE")
        append_events(embedded, [event(said("x")), replace(event(said("y")), mac=bytes(32))])
        embedded.fold_pending()
        assert 2 == len(list(embedded.outputs("rejections")))
    with open_with(tmp_path / "log", None) as embedded:
        report = replay(embedded, lambda done, left: None)

    assert report.clean
    assert 5 == report.events


def test_an_open_log_says_so(tmp_path):
    """Without keys the mode of the log is named before anything is folded."""
    with Embedded(tmp_path / "log", CoreReducer()) as embedded:
        append_events(embedded, [build_genesis(default_catalogue())])

        assert OPEN_MODE == describe_authority(embedded)


def test_an_older_key_still_verifies_and_the_newest_signs(tmp_path):
    """A second key of the same kind signs from then on; what the first signed still counts."""
    path = tmp_path / "keys.json"
    create_keys(path, tenant="acme", kinds=("user",))
    old = sign_event(event(said("x")), StaticKeys(read_keys(path)))
    create_keys(path, tenant="acme", kinds=("user",))
    keys = StaticKeys(read_keys(path))
    new = sign_event(replace(old, mac=None), keys)

    check = build_authenticator(keys)
    assert ["verified", "verified"] == [check.judge(one, encode(one), 0) for one in (old, new)]
    assert compute_mac(keys.find_keys("acme", "user")[1], encode(new)) == new.mac


def test_signing_for_a_tenant_without_key_names_the_remedy(key_file):
    """With keys configured nothing goes out unsigned: the missing key is named."""
    keys = StaticKeys(read_keys(key_file))

    with pytest.raises(KeysError, match="keys create --file FILE --tenant rival --kind user"):
        sign_event(event(said("x"), tenant="rival"), keys)


def test_a_key_file_is_for_its_owner_alone(key_file):
    """Created files are private, and one that others may read is refused."""
    assert 0o600 == key_file.stat().st_mode & 0o777
    key_file.chmod(0o640)

    with pytest.raises(KeysError, match="chmod 600"):
        read_keys(key_file)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("secret!", "not JSON"),
        ("[]", "format 1"),
        ('{"format": 1}', "keys: not a list"),
        ('{"format": 1, "keys": [{"tenant": "a", "kind": "user", "key": "zz"}]}', r"keys\[0\]"),
        ('{"format": 1, "keys": [{"tenant": "a", "kind": "god", "key": "aa"}]}', "none of user"),
        ('{"format": 1, "keys": [{"tenant": "a", "kind": "user", "key": "aa"}]}', "1 bytes"),
    ],
)
def test_a_wrong_key_file_is_named_without_repeating_it(text, named):
    """Errors say entry and field, and never what the file holds."""
    with pytest.raises(KeysError, match=named) as caught:
        parse_keys(text, "keys.json")

    assert "secret" not in str(caught.value)


def test_fingerprints_give_no_key_away(key_file):
    """A fingerprint names a key and is no part of it."""
    for key in read_keys(key_file):
        assert key.fingerprint not in key.key.hex()
    assert len(json.loads(key_file.read_text())["keys"]) == len(read_keys(key_file))
