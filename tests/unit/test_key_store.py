"""The key store of encrypted logs: sealing, rotation, and what it answers when keys are gone."""

import shutil

import pytest
from hypothesis import given as holds_for
from hypothesis import settings
from hypothesis import strategies as st

from infra.audit.replay import replay
from infra.key_store import DATABASE_NAME, MASTER_NAME, FileKeyStore
from infra.opening import open_embedded
from schemas.codec import decode, encode
from streams.failures import KeyStoreFailedError
from streams.sealing import SealedOpener
from tests.canary import (
    make_folder,
    raw_outputs,
)
from tests.fold_events import write_history
from tests.plain_fold import number_events
from tests.random_history import tell_crowd


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folded encrypted log of two users."""
    return make_folder(tmp_path, monkeypatch)


def test_without_its_key_store_nothing_is_taken_for_erased(folder, tmp_path, monkeypatch):
    """A missing or foreign key store stops; only a receipt means erased."""
    monkeypatch.setenv("COMMITMENTS_KEY_STORE", str(tmp_path / "elsewhere"))
    shutil.rmtree(folder / "rows")
    with (
        open_embedded(folder) as embedded,
        pytest.raises(KeyStoreFailedError, match="nor a receipt"),
    ):
        embedded.fold_pending()
    monkeypatch.delenv("COMMITMENTS_KEY_STORE")
    with pytest.raises(KeyStoreFailedError, match="COMMITMENTS_KEY_STORE"):
        open_embedded(folder)


def test_rotation_changes_keys_and_no_record(folder, tmp_path):
    """After rotate-keys the database is another and every record still opens."""
    before = raw_outputs(folder, "ada"), (tmp_path / "keys" / DATABASE_NAME).read_bytes()
    store = FileKeyStore(tmp_path / "keys")
    users, keys = store.rotate()
    store.close()
    with open_embedded(folder) as embedded:
        report = replay(embedded, lambda done, left: None)

    assert (2, before[0]) == (users, raw_outputs(folder, "ada"))
    assert keys > 30
    assert before[1] != (tmp_path / "keys" / DATABASE_NAME).read_bytes()
    assert report.clean


@settings(max_examples=10, deadline=None)
@holds_for(st.integers(0, 10**6))
def test_sealing_gives_equal_bytes_and_opens_to_the_same(tmp_path_factory, seed):
    """Events of any kind come back as they were, and sealing again gives the same record."""
    store = FileKeyStore(tmp_path_factory.mktemp("keys"))
    opener = SealedOpener(store)
    events = [*tell_crowd(seed, users=2, events=12).events, *write_history(seed, size=6)]
    records = opener.seal_events(events)

    assert records == opener.seal_events(events)
    for one, record, numbered in zip(events, records, number_events(events), strict=True):
        opened = opener.open(numbered._replace(key=record.key, value=record.value))
        assert one == opened.event
        assert decode(type(one), opened.body) == one
        assert encode(one) == opened.body
    store.close()


def test_the_key_store_is_its_owners_alone(tmp_path):
    """Folder, master key and database are private, and a lost master key is named."""
    folder = tmp_path / "keys"
    FileKeyStore(folder).close()

    assert [0o700, 0o600, 0o600] == [
        path.stat().st_mode & 0o777
        for path in (folder, folder / MASTER_NAME, folder / DATABASE_NAME)
    ]
    (folder / MASTER_NAME).unlink()
    with pytest.raises(KeyStoreFailedError, match="is missing beside its database"):
        FileKeyStore(folder)
