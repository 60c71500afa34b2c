"""Erasure on encrypted logs: nothing of an erased user is left, and nothing else has changed."""

import shutil
from dataclasses import replace

import pytest

from infra.appending import append_events
from infra.audit.contract_history import read_contract_history
from infra.audit.history import EmbeddedHistory
from infra.audit.replay import replay
from infra.erasing import EmbeddedErasable, ErasureError, erase
from infra.key_store import FileKeyStore
from infra.opening import open_embedded
from infra.records import TOPICS, read_output
from schemas.codec import decode, frame
from schemas.control import UserRefolded
from schemas.fate import Fate, FateStatus
from schemas.identity import record_key
from streams.ports import NewRecord
from streams.sealing import Erased, ErasedIdReusedError, SealedOpener
from tests.canary import (
    CANARY,
    erase_user,
    find_canary,
    make_folder,
    raw_outputs,
    read_head,
    told_by,
)
from tests.given import control, event, form, genesis, said


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folded encrypted log of two users."""
    return make_folder(tmp_path, monkeypatch)


def test_the_log_of_an_encrypted_folder_holds_no_word_in_the_clear(folder):
    """Events are ciphertext on the log; rows are a cache that says the words until erasure."""
    assert [] == find_canary(folder / "log", folder / "ledgers")
    assert find_canary(folder / "rows")


def test_the_canary_reaches_every_kind_of_row(folder):
    """Before erasure nearly all that was told is accepted, so that the search below means much."""
    with open_embedded(folder) as embedded:
        refused = [
            read_output("rejections", o.record.value) for o in embedded.outputs("rejections")
        ]
        committed = [
            read_output("commitments", o.record.value) for o in embedded.outputs("commitments")
        ]

    assert ["schema_violation"] * 2 == [one.reason for one in refused]
    assert all(CANARY in one.detail for one in refused)
    assert 2 == len(committed)
    assert all(CANARY in repr(one.slots) for one in committed)


def test_readers_see_what_was_sealed(folder):
    """Outputs, tables and audit open for whoever holds the key store."""
    with open_embedded(folder) as embedded:
        shown = [
            read_output(topic, output.record.value)
            for topic in TOPICS
            for output in embedded.outputs(topic)
        ]
        history = read_contract_history(EmbeddedHistory(embedded), "acme", "ada", as_of_ms=None)

    assert any(CANARY in repr(record) for record in shown)
    assert [f"rule-{CANARY}"] == [change.predicate_id for change in history.changes]


def test_an_encrypted_log_replays_byte_for_byte(folder):
    """Sealing is deterministic: fates, outputs, tables and rows come again as they were."""
    with open_embedded(folder) as embedded:
        report = replay(embedded, lambda done, left: None)

    assert report.clean
    assert "identical" == report.rows


def test_no_file_tells_of_an_erased_user(folder, tmp_path):
    """After both are erased no file of the folder or of the key store contains the canary."""
    erase_user(folder, "ada")
    erase_user(folder, "bob")

    assert [] == find_canary(folder, tmp_path / "keys")


def test_no_key_of_an_erased_user_is_left(folder, tmp_path):
    """The key store holds neither a data key nor a user key of ada, and all of bob's."""
    store = FileKeyStore(tmp_path / "keys")
    ada, bob = (store.name_user("acme", user) for user in ("ada", "bob"))
    before = store.list_references(bob)
    erase_user(folder, "ada")

    assert [] == store.list_references(ada)
    assert before == store.list_references(bob)
    assert 1 == store.rotate()[0]


def test_other_users_are_unchanged_byte_for_byte(folder):
    """What was put out for bob is the same before and after ada is erased."""
    before = raw_outputs(folder, "bob")
    report = erase_user(folder, "ada")

    assert before == raw_outputs(folder, "bob")
    assert 64 == len(report.receipt)
    with open_embedded(folder) as embedded:
        for topic in TOPICS:
            for output in embedded.outputs(topic):
                assert "ada" != getattr(read_output(topic, output.record.value), "user", "")


def test_replay_of_what_was_erased_is_hash_check_only(folder):
    """Bob's history replays; ada's is passed over, and the row set is not compared."""
    erase_user(folder, "ada")
    with open_embedded(folder) as embedded:
        report = replay(embedded, lambda done, left: None)

    assert report.clean
    assert "not compared" == report.rows
    assert report.identical > 0


def test_a_store_rebuilt_after_erasure_goes_on_as_before(folder):
    """Wiped rows fold again over the erased events: same heads, same chain, same outputs of bob."""
    erase_user(folder, "ada")
    with open_embedded(folder) as embedded:
        chain = embedded.head().chain
    heads, bob = [read_head(folder, user) for user in ("ada", "bob")], raw_outputs(folder, "bob")
    shutil.rmtree(folder / "rows")
    with open_embedded(folder) as embedded:
        embedded.fold_pending()
        assert chain == embedded.head().chain

    assert heads == [read_head(folder, user) for user in ("ada", "bob")]
    assert bob == raw_outputs(folder, "bob")


def test_an_erased_user_may_say_it_again(folder):
    """New events of the user are folded; an erased event id is refused with the remedy."""
    erase_user(folder, "ada")
    seq = read_head(folder, "ada").seq
    with open_embedded(folder) as embedded:
        append_events(embedded, [event(form(diet="vegan"), event_id="again", minute=90)])
        embedded.fold_pending()
        with pytest.raises(ErasedIdReusedError, match="use a new id"):
            append_events(embedded, [told_by("ada")[0]])

    assert seq + 1 == read_head(folder, "ada").seq


def test_erased_events_take_what_is_derived_and_what_rested_on_them(folder):
    """The words and the hint drawn from them go; packets that showed them cannot be opened."""
    noted = told_by("ada")[4]
    report = erase_user(folder, "ada", noted.event_id)

    assert report.events == 1
    assert report.turns > 0
    with open_embedded(folder) as embedded:
        for output in embedded.outputs("packets"):
            packet = read_output("packets", output.record.value)
            if packet.user == "ada":
                assert noted.event_id not in {shown.event_id for shown in packet.units}


def test_erasing_an_event_twice_leaves_the_rest(folder):
    """A repeated erasure of one event means that event again, and never all of the user."""
    noted = told_by("ada")[4].event_id
    erase_user(folder, "ada", noted)
    before = read_head(folder, "ada")
    erase_user(folder, "ada", noted)
    after = read_head(folder, "ada")

    assert (before.units, before.predicates) == (after.units, after.predicates)
    assert after.units > 0
    assert [one for one in raw_outputs(folder, "ada") if one[0] == "states"]


def test_erasing_twice_keeps_the_first_receipt(folder, tmp_path):
    """A repeated erasure destroys what came since and nothing that was gone changes."""
    first = erase_user(folder, "ada")
    second = erase_user(folder, "ada")
    store = FileKeyStore(tmp_path / "keys")
    opener = SealedOpener(store)
    name = store.name_key(opener.pseudonym_of("acme", "ada"), ("event", "e1"))

    assert first.receipt != second.receipt
    assert Erased(first.receipt, 1) == store.find(name)


def test_erasure_needs_an_operator_with_the_right(folder):
    """Without an operator, or with one of no rights, no key is destroyed."""
    with open_embedded(folder) as embedded:
        for operator, words in ((None, "needs an operator"), ("mallory", "not_permitted")):
            with pytest.raises(ErasureError, match=words):
                erase(
                    EmbeddedErasable(embedded),
                    tenant="acme",
                    user="ada",
                    event_ids=(),
                    operator=operator,
                )
    assert any(CANARY in repr(value) for value in opened_packets(folder))


def opened_packets(folder):
    """Return the packets that can be read."""
    with open_embedded(folder) as embedded:
        return [read_output("packets", o.record.value) for o in embedded.outputs("packets")]


def test_a_plain_log_is_withdrawn_and_keeps_its_bytes(tmp_path):
    """On a plain log erasing withdraws; the words stay on the log, as the mode says."""
    path = tmp_path / "log"
    with open_embedded(path) as embedded:
        append_events(embedded, [genesis(), *told_by("ada")])
        embedded.fold_pending()
        report = erase(
            EmbeddedErasable(embedded), tenant="acme", user="ada", event_ids=(), operator=None
        )

    assert "" == report.receipt
    assert find_canary(path / "log")


def test_an_event_in_the_clear_is_rejected_on_an_encrypted_log(folder):
    """A producer that does not seal puts nothing in: the record is rejected, its bytes dropped."""
    with open_embedded(folder) as embedded:
        sent = event(said(CANARY), minute=80)
        embedded.append([NewRecord(record_key("acme", "ada"), frame(sent))])
        embedded.fold_pending()
        *_, last = embedded.outputs("rejections")

    rejection = read_output("rejections", last.record.value)
    assert ("unknown_schema_id", None) == (rejection.reason, rejection.data)


def test_control_records_name_no_user(folder):
    """The completion of an erasure stands in the clear and names a pseudonym."""
    name = "wilhelmina, whom no digest spells"
    with open_embedded(folder) as embedded:
        append_events(embedded, [replace(event(said("hello"), minute=90), user=name)])
        embedded.fold_pending()
    erase_user(folder, name)

    assert name.encode() not in b"".join(
        path.read_bytes() for path in (folder / "log").rglob("*") if path.is_file()
    )


def test_a_user_named_like_a_pseudonym_is_a_user_like_any(folder):
    """A name that only begins like a pseudonym stops no log, neither a user's nor an operator's."""
    name = "pseudonym:no digits"
    told = replace(event(said("hello"), minute=90), user=name)
    released = control(UserRefolded("acme", name))
    with open_embedded(folder) as embedded:
        append_events(embedded, [told, released])
        assert 2 == embedded.fold_pending().events
        with embedded.reading() as store:
            fates = [decode(Fate, fate) for fate in store.last_record().fates]

    assert [FateStatus.ACCEPTED] * 2 == [fate.status for fate in fates]
    assert "not_halted" == fates[1].ignored
