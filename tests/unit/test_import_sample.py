"""The shipped dialogues through the real core: every kind of act, and the acts that are due."""

import hashlib
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest

from infra.importers.sgd import CANDIDATES, import_sgd, label_sgd
from infra.importers.sgd_label import MADE_WRONG, Point
from processors import decision
from processors.compilation.draft import owner_of
from processors.view import Stamp
from schemas.codec import encode
from schemas.outcome import Commitment, RepairAct
from tests.conversation import Conversation

SAMPLE = Path(str(resources.files("infra") / "sample"))
ALL = frozenset(CANDIDATES)


@pytest.fixture(scope="module")
def told():
    """Return the conversation that all events of the sample have been told to."""
    conversation = Conversation()
    for offset, event in enumerate(import_sgd([SAMPLE], ALL)):
        body = encode(event)
        stamp = Stamp(
            hashlib.sha256(body).digest(), event.occurred_at_ms, 0, offset, len(body), "open"
        )
        step = decision.step(conversation.view(*owner_of(event)), event, stamp)
        assert step.fate.reason is None, step.fate
        conversation._keep(step, owner_of(event))
    return conversation


@pytest.fixture(scope="module")
def pairs(told):
    """Return each label with the one outcome of its turn."""
    outcomes = {outcome.turn_id: outcome for outcome in told.outcomes()}
    labels = list(label_sgd([SAMPLE], ALL))
    assert len(outcomes) == len(told.outcomes()) == len(labels)
    return [(label, outcomes[label.turn_id]) for label in labels]


def name(outcome):
    """Return the kind of an outcome in one word."""
    return "commitment" if isinstance(outcome, Commitment) else outcome.act.value


def test_notice():
    """The sample's licence and origin stand beside it."""
    notice = (SAMPLE / "NOTICE.md").read_text("utf-8")
    assert "https://creativecommons.org/licenses/by-sa/4.0/" in notice
    assert "dstc8-schema-guided-dialogue" in notice


def test_every_kind(pairs):
    """The sample shows commitments, questions, new contracts and abstentions."""
    kinds = {name(outcome) for _, outcome in pairs}
    assert {"commitment", "clarify", "recontract", "abstain"} <= kinds


def test_calls_are_committed(pairs):
    """A call whose every value was affirmed is committed, with no value but affirmed ones."""
    due = [(label, o) for label, o in pairs if label.point is Point.CALL and not label.never_shown]
    assert {"commitment": len(due)} == Counter(name(outcome) for _, outcome in due)
    for label, outcome in due:
        assert {(s.name, s.value) for s in outcome.slots} <= {
            (s.name, s.value) for s in label.confirmed
        }


def test_never_shown_is_asked(pairs):
    """A call with a value that the user never saw ends in the question that names its slot."""
    due = [(label, o) for label, o in pairs if label.point is Point.CALL and label.never_shown]
    assert due
    for label, outcome in due:
        assert isinstance(outcome, RepairAct)
        named = {*outcome.question.slots, *(option.slot for option in outcome.question.options)}
        assert set(label.never_shown) == named


def test_questions_agree(pairs):
    """Where the annotated system asks for a slot or shows values, the act asks likewise."""
    for label, outcome in pairs:
        if label.point in {Point.REQUEST, Point.CONFIRM}:
            assert name(outcome) == "clarify", label
            assert bool(outcome.question.options) is (label.point is Point.CONFIRM), label


def test_failure_is_recontracted(pairs):
    """After a failed call the act is a new contract that carries what was offered."""
    due = [(label, outcome) for label, outcome in pairs if label.point is Point.FAILURE]
    assert due
    for label, outcome in due:
        assert name(outcome) == "recontract"
        offered = [alternative.slots for alternative in outcome.alternatives]
        assert offered == ([label.alternative] if label.alternative else [])


def test_made_wrong_is_blocked(pairs):
    """No call made wrong is committed, of whatever kind."""
    due = Counter((label.point, name(o)) for label, o in pairs if label.point in MADE_WRONG)
    assert {point for point, _ in due} == set(MADE_WRONG)
    assert [point for point, kind in due if kind == "commitment"] == []
