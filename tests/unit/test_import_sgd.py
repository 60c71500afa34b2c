"""The SGD importer: what each annotated act becomes, stated on small dialogues."""

import pytest

from infra.importers.sgd import import_sgd, label_sgd
from schemas.event import (
    CandidatesProposed,
    EvidenceRecorded,
    FormSubmitted,
    Genesis,
    OutcomeObserved,
    PredicateConfirmed,
    PredicateProposed,
    ProposalDeclined,
    TurnCancelled,
    TurnRequested,
)
from schemas.identity import predicate_digest
from tests.dialogues import (
    ASKED,
    BOOKED,
    CALL,
    OVERWRITTEN,
    REFUSED,
    SHOWN,
    act,
    carried,
    read,
    system,
    user,
    write_dialogue,
)


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes one dialogue and returns its folder."""
    return lambda turns: write_dialogue(tmp_path, turns)


def test_genesis_first(folder):
    """A log begins with a genesis record whose catalogue is the schema's transactional intents."""
    first = next(import_sgd([folder(ASKED)]))
    assert isinstance(first.payload, Genesis)
    (scene,) = first.payload.catalogue.scenes
    (declared,) = first.payload.catalogue.types
    assert scene.name == declared.name == "Tables_1.Reserve"
    assert declared.required_slots == ("place", "time")
    assert declared.confirm_carried
    seats = {slot.name: slot for slot in declared.slots}["seats"]
    assert (seats.optional, seats.choices) == (True, ("1", "2", "3"))


def test_state_is_canonical(folder):
    """A new value of the user's state is stated once, in its canonical form, by the user."""
    events = [e for e in import_sgd([folder(SHOWN)]) if isinstance(e.payload, FormSubmitted)]
    stated = [(s.slot, s.value) for event in events for s in event.payload.statements]
    assert stated == [("time", "19:00"), ("place", "Sino")]
    assert {event.principal.kind.value for event in events} == {"user"}


def test_request_before_proposals(folder):
    """A decision point asks for its turn before anything of that system turn is proposed."""
    events = list(import_sgd([folder(SHOWN)]))
    kinds = [type(event.payload) for event in events if event.event_id.startswith("d1/3/")]
    asked, proposed = kinds.index(TurnRequested), kinds.index(PredicateProposed)
    assert asked < proposed
    assert kinds.count(PredicateProposed) == 2


def test_proposal(folder):
    """A confirm opens one episode proposal per slot in the intent's scene, by the assistant."""
    proposed = read(folder(SHOWN), PredicateProposed)
    texts = [payload.predicate.expression for payload in proposed]
    assert texts == ['slots.place == "Sino"', 'slots.time == "19:00"']
    assert {payload.predicate.scenes for payload in proposed} == {("Tables_1.Reserve",)}
    assert {payload.predicate.scope.value for payload in proposed} == {"episode"}


def test_affirm_confirms_by_digest(folder):
    """An affirmation confirms every open proposal of the service by its digest."""
    source = folder(BOOKED)
    proposed = [predicate_digest(p.predicate) for p in read(source, PredicateProposed)]
    confirmed = [payload.digest for payload in read(source, PredicateConfirmed)]
    assert sorted(proposed) == sorted(confirmed)


def test_inform_closes_its_own(folder):
    """A value stated by the user closes that slot's proposal only, as the user's refusal."""
    declined = read(folder(OVERWRITTEN), ProposalDeclined)
    proposed = read(folder(OVERWRITTEN), PredicateProposed)
    time = next(p.predicate for p in proposed if "19:00" in p.predicate.expression)
    assert [payload.digest for payload in declined] == [predicate_digest(time)]


def test_repeated_after_refusal(folder):
    """What is proposed after a refusal is another proposal, for the refused one stays refused."""
    turns = [
        *OVERWRITTEN[:5],
        system(act("CONFIRM", "time", "19:00")),
    ]
    proposed = read(folder(turns), PredicateProposed)
    names = [p.predicate.predicate_id for p in proposed if "time" in p.predicate.expression]
    assert names == ["Tables_1.Reserve.time", "Tables_1.Reserve.time.2"]


def test_negate_leaves_open(folder):
    """A refusal without a value leaves every proposal open."""
    turns = [*SHOWN, user(act("NEGATE"), state={"time": "7 pm", "place": "Sino"})]
    assert [] == read(folder(turns), ProposalDeclined)


def test_call_is_candidate(folder):
    """A call is a candidate with its canonical values, for no packet in particular."""
    last = read(folder(BOOKED), CandidatesProposed)[-1]
    assert carried(last) == CALL
    assert last.packet_digest is None


def test_outcome_follows_candidate(folder):
    """What became of a call stands after its candidate, its rows before that outcome."""
    events = list(import_sgd([folder(BOOKED)]))
    kinds = [type(event.payload) for event in events if event.event_id.startswith("d1/5/")]
    assert kinds[:4] == [TurnRequested, CandidatesProposed, EvidenceRecorded, OutcomeObserved]


def test_failure(folder):
    """A failed call carries the offered way out, asks for a turn, then proposes the offer."""
    source = folder(REFUSED)
    (outcome,) = read(source, OutcomeObserved)
    assert not outcome.succeeded
    (alternative,) = outcome.alternatives
    assert [(s.name, s.value) for s in alternative.slots] == [("time", "20:00")]
    events = [e for e in import_sgd([source]) if e.event_id.startswith("d1/5/")]
    kinds = [type(event.payload) for event in events]
    after = kinds[kinds.index(OutcomeObserved) :]
    assert after.index(TurnRequested) < after.index(PredicateProposed)


def test_offer_is_evidence(folder):
    """An offer that follows no failure is evidence of the tool and proposes nothing."""
    turns = [
        user(act("INFORM", "place", "Sino"), state={"place": "Sino"}, intent="Find"),
        system(act("OFFER", "time", "20:00")),
    ]
    source = folder(turns)
    (evidence,) = read(source, EvidenceRecorded)
    assert [(unit.slot, unit.value) for unit in evidence.units] == [("time", "20:00")]
    assert [] == read(source, PredicateProposed)


def test_span_is_evidence(folder):
    """A span of the user's words is a unit that quotes them and knows the canonical value."""
    span = {"slot": "time", "start": 3, "exclusive_end": 7}
    turns = [
        user(
            act("INFORM", "time", "19:00", "7 pm"),
            state={"time": "7 pm"},
            text="at 7 pm please",
            slots=[span],
        )
    ]
    (evidence,) = read(folder(turns), EvidenceRecorded)
    (unit,) = evidence.units
    assert (unit.content, unit.value, unit.dimensions) == ("7 pm", "19:00", ("time",))


def test_new_attempt(folder):
    """Naming the same intent after a failure cancels the chain of the failed attempt."""
    turns = [
        *REFUSED,
        user(
            act("INFORM_INTENT", "intent", "Reserve"),
            act("INFORM", "time", "22:00"),
            state={"time": "22:00", "place": "Sino"},
        ),
    ]
    source = folder(turns)
    (cancelled,) = read(source, TurnCancelled)
    failure = [label for label in label_sgd([source]) if label.point == "failure"]
    assert [cancelled.turn_id] == [label.turn_id for label in failure]


def test_replaces_older(folder):
    """Affirming an offer replaces the older predicate on the same slot."""
    turns = [*REFUSED, user(act("AFFIRM"), state={"time": "20:00", "place": "Sino"})]
    confirmed = read(folder(turns), PredicateConfirmed)
    assert confirmed[-1].replaces == ("Tables_1.Reserve.time",)


def test_not_caring_is_no_value_for_what_a_call_must_carry(folder):
    """That any time will do empties the required slot; for an optional one it is a value."""
    any_will_do = {"time": "dontcare", "seats": "dontcare"}
    turns = [
        user(act("INFORM", "time", "19:00"), state={"time": "19:00"}),
        user(act("INFORM", "time", "dontcare"), state=any_will_do),
        system(act("REQUEST", "time")),
    ]
    source = folder(turns)

    stated = [(s.slot, s.value) for form in read(source, FormSubmitted) for s in form.statements]
    assert [("time", "19:00"), ("time", None), ("seats", "dontcare")] == stated
    assert {"seats": "dontcare"} == carried(read(source, CandidatesProposed)[-1])
