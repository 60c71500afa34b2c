"""The SGD importer beside its acts: labels, made-wrong calls, stable ids, damaged sources."""

import pytest

from infra.importers.sgd import CANDIDATES, import_sgd, label_sgd
from infra.importers.sources import SourceError
from schemas.event import CandidatesProposed, TurnRequested
from tests.dialogues import BOOKED, CALL, OVERWRITTEN, act, read, system, write_dialogue

ALL = frozenset(CANDIDATES)


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes one dialogue and returns its folder."""
    return lambda turns: write_dialogue(tmp_path, turns)


def test_same_bytes(folder):
    """Importing the same files twice gives the same events, each id once."""
    source = folder(BOOKED)
    first, second = (list(import_sgd([source], ALL)) for _ in range(2))
    assert first == second
    ids = [event.event_id for event in first]
    assert len(set(ids)) == len(ids)


def test_times_never_go_back(folder):
    """Events of a user come in the order of their times, at an offset that is given."""
    events = [event for event in import_sgd([folder(BOOKED)], ALL) if event.user]
    times = [event.occurred_at_ms for event in events]
    assert sorted(times) == times
    assert {event.utc_offset_min for event in events} == {0}


def test_every_turn_is_answered(folder):
    """Each turn is asked for once and has one candidate, so that none stays pending."""
    source = folder(BOOKED)
    asked = [e.event_id for e in import_sgd([source], ALL) if isinstance(e.payload, TurnRequested)]
    answered = [payload.turn_id for payload in read(source, CandidatesProposed, ALL)]
    assert asked == answered


def test_labels_join_turns(folder):
    """Labels name the turns of the events in their order; none stands in an event."""
    source = folder(BOOKED)
    asked = [e.event_id for e in import_sgd([source], ALL) if isinstance(e.payload, TurnRequested)]
    labels = list(label_sgd([source], ALL))
    assert asked == [label.turn_id for label in labels]
    points = [label.point.value for label in labels]
    assert points == ["request", "confirm", "premature", "unconfirmed", "missing", "call"]


def test_label_of_call(folder):
    """A call's label knows what was affirmed and which values were never shown."""
    turns = [*BOOKED[:-1], system(act("NOTIFY_SUCCESS"), call={**CALL, "seats": "3"})]
    label = list(label_sgd([folder(turns)]))[-1]
    assert label.never_shown == ("seats",)
    assert {slot.name: slot.value for slot in label.confirmed} == CALL


def test_made_wrong(folder):
    """Each made-wrong call differs from the right one in the one slot that its label names."""
    labels = {label.point.value: label for label in label_sgd([folder(OVERWRITTEN)], ALL)}
    right = {slot.name: slot.value for slot in labels["call"].carried}
    wrong = {name: {s.name: s.value for s in labels[name].carried} for name in labels}
    assert wrong["stale"] == {**right, "time": "19:00"}
    assert wrong["unconfirmed"] == {**right, "seats": "2"}
    assert wrong["missing"] == {"time": "21:00"}
    assert wrong["premature"] == right


def test_wrong_alone_changes_no_id(folder):
    """The events of a plain import keep their ids when wrong candidates are asked for."""
    source = folder(OVERWRITTEN)
    plain = [event.event_id for event in import_sgd([source])]
    both = [event.event_id for event in import_sgd([source], ALL)]
    assert plain == [event_id for event_id in both if event_id in set(plain)]


@pytest.mark.parametrize(
    ("break_it", "word"),
    [
        (lambda path: (path / "schema.json").unlink(), "schema.json"),
        (lambda path: (path / "dialogues_001.json.gz").write_bytes(b"\x1f\x8bxx"), "gzip"),
        (lambda path: (path / "dialogues_001.json.gz").unlink(), "dialogues_"),
        (lambda path: (path / "schema.json").write_text("{}"), "services"),
    ],
)
def test_damaged_source(folder, break_it, word):
    """A damaged source is refused with its place and a remedy."""
    path = folder(BOOKED)
    break_it(path)
    with pytest.raises(SourceError, match=word):
        list(import_sgd([path]))


def test_unknown_kind(folder):
    """A kind of candidate that does not exist is refused, naming those that do."""
    with pytest.raises(SourceError, match="premature"):
        list(import_sgd([folder(BOOKED)], frozenset({"wrong"})))


def test_same_dialogue_twice(folder, tmp_path):
    """Two folders with the same dialogue id are refused: a dialogue is a user."""
    first = folder(BOOKED)
    second = tmp_path / "other"
    second.mkdir()
    for name in ("schema.json", "dialogues_001.json.gz"):
        (second / name).write_bytes((first / name).read_bytes())
    with pytest.raises(SourceError, match="d1"):
        list(import_sgd([first, second]))
