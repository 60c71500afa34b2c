"""Erasure reaches every field of every payload: whatever can hold a word held the canary."""

import typing

from infra.audit.replay import replay
from infra.opening import open_embedded
from infra.records import TOPICS, read_output
from schemas.event import UserPayload
from schemas.turn import TurnExpired
from tests.canary import CANARY, erase_user, find_canary, make_folder, raw_outputs
from tests.canary_fields import fill, list_texts, told_in_every_field


def test_every_text_of_every_payload_is_the_canary():
    """What is filled has the canary as each of its texts; only a decline has no text at all."""
    texts = {kind.__name__: list_texts(fill(kind)) for kind in typing.get_args(UserPayload)}

    assert ["ProposalDeclined"] == [name for name, found in texts.items() if not found]
    assert {CANARY} == {text for found in texts.values() for text in found}
    assert [CANARY] == list_texts(fill(TurnExpired))


def test_no_file_tells_of_any_field(tmp_path, monkeypatch):
    """Accepted or refused, told by whom it may be: erased, it is in no file, and others stay."""
    folder = make_folder(tmp_path, monkeypatch, told=told_in_every_field)
    with open_embedded(folder) as embedded:
        told = {
            topic
            for topic in TOPICS
            for output in embedded.outputs(topic)
            if CANARY in repr(read_output(topic, output.record.value))
        }
    before = raw_outputs(folder, "bob")
    erase_user(folder, "ada")
    after = raw_outputs(folder, "bob")
    erase_user(folder, "bob")
    with open_embedded(folder) as embedded:
        report = replay(embedded, lambda _done, _left: None)

    assert {"commitments", "packets", "rejections", "repairs", "surfaces"} <= told
    assert before == after
    assert [] == find_canary(folder, tmp_path / "keys")
    assert report.clean
