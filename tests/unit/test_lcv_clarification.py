"""Which question is asked, in what order, and when not again (spec 5.9)."""

from dataclasses import replace

from processors.limits import QUESTIONS_PER_EPISODE_MAX
from processors.validation.clarification import render_key
from schemas.candidate import SlotValue
from schemas.catalogue import RequirementWeight, SlotType
from schemas.identity import predicate_digest
from schemas.observation import HintKind
from schemas.outcome import Act, Reason
from schemas.predicate import PredicateScope
from schemas.row import EpisodeRow, QuestionRow, TouchRow
from tests.lcv import candidate, decided, early, over, state, typed
from tests.situations import predicate, proposal, request, scene, slot

TRIP = typed("trip", slot("city"), slot("day"), slot("guests", slot_type=SlotType.INT))
CONFIRMED = replace(TRIP, confirm_carried=True, required_slots=("city", "day"))


def trip(*predicates, types=(TRIP,), **changes):
    """Return a situation of the type ``trip``."""
    return over(*predicates, types=types, **changes)


def asked_again(told, act, seq=4, **changes):
    """Return the situation after this act's question was asked at ``seq``."""
    row = QuestionRow(
        render_key(told, act.question), "dinner", "", act.question.slots,
        tuple(one.digest for one in act.question.options), "t", seq, "open",
    )  # fmt: skip
    return replace(told, questions=(("q", row),), **changes)


def test_absent_slots_go_before_unconfirmed_ones():
    """What is not there at all is asked first; then all that is unconfirmed, at once."""
    half = trip(types=(CONFIRMED,), slots={("", "city"): state("Rome")})
    full = replace(half, slots={("", "city"): state("Rome"), ("", "day"): state("Monday")})

    absent, unconfirmed = early(half).question, early(full).question

    assert (("day",), ()) == (absent.slots, absent.options)
    assert ((), ["city", "day"]) == (
        unconfirmed.slots, [one.slot for one in unconfirmed.options]
    )  # fmt: skip


def test_what_is_offered_for_confirmation_comes_from_the_state():
    """A proposal that the act opens fixes the stated value, for this scene's episode only."""
    told = trip(
        types=(CONFIRMED,), slots={("", "city"): state("Rome"), ("", "day"): state("Monday")}
    )

    act = decided(told, candidate("trip", city="Oslo", day="Monday"))
    options = {one.slot: one.expression for one in act.question.options}

    assert {"city": 'slots.city == "Rome"', "day": 'slots.day == "Monday"'} == options
    assert "Oslo" not in act.text


def test_an_ask_goes_before_the_state():
    """The turn's own word is the newest statement."""
    told = trip(
        types=(replace(CONFIRMED, required_slots=("city",)),),
        slots={("", "city"): state("Rome")},
        asked=request(asks=(SlotValue("city", "Oslo"),)),
    )

    assert ['slots.city == "Oslo"'] == [one.expression for one in early(told).question.options]


def test_an_open_proposal_of_that_value_is_used():
    """When someone has proposed the stated value already, that digest is offered."""
    made = predicate("mine", 'slots.city == "Rome"', scope=PredicateScope.EPISODE)
    told = trip(
        types=(replace(CONFIRMED, required_slots=("city",)),),
        slots={("", "city"): state("Rome")},
        proposals=(proposal(made, HintKind.SLOT), proposal(predicate("other"), HintKind.SLOT)),
    )

    assert [predicate_digest(made)] == [one.digest for one in early(told).question.options]


def test_an_open_proposal_of_a_carried_value_is_used_where_nothing_is_stated():
    """A value that was proposed in the log may be confirmed though a candidate carries it."""
    made = predicate("mine", 'slots.city == "Rome"')
    told = trip(
        types=(replace(TRIP, confirm_carried=True),), proposals=(proposal(made, HintKind.SLOT),)
    )

    act = decided(told, candidate("trip", city="Rome"))
    unknown = decided(told, candidate("trip", city="Oslo"))

    assert [predicate_digest(made)] == [one.digest for one in act.question.options]
    assert (("city",), ()) == (unknown.question.slots, unknown.question.options)
    assert "Oslo" not in unknown.text


def test_what_was_declined_is_not_offered_again():
    """A declined value is as good as none: the slot is asked for until it is stated anew."""
    one_slot = replace(CONFIRMED, required_slots=("city",))
    told = trip(types=(one_slot,), slots={("", "city"): state("Rome", seq=2)})
    digest = early(told).question.options[0].digest
    declined = replace(told, touches={f"proposal:{digest.hex()}": TouchRow(5)})
    restated = replace(declined, slots={("", "city"): state("Rome", seq=6)})

    assert (("city",), ()) == (early(declined).question.slots, early(declined).question.options)
    assert [digest] == [one.digest for one in early(restated).question.options]


def test_the_question_that_unblocks_most_is_asked():
    """First what alone blocks most candidates, then what blocks most."""
    told = trip(predicate("P1", "slots.guests <= 4"), predicate("P2", 'slots.city != "Oslo"'))

    act = decided(
        told,
        candidate("trip", city="Rome"),
        candidate("trip", city="Bonn"),
        candidate("trip", guests=2),
    )

    assert (("guests",), (2, 2)) == (act.question.slots, act.question.unblocks)


def test_weight_goes_before_the_catalogues_order():
    """Between equals the heavier requirement is asked first, then the catalogue's first."""
    plain = scene(commitment_types=("trip",), required_slots=("day", "city"))
    weighed = replace(plain, weights=(RequirementWeight("slot:city", 3),))

    assert ("day",) == early(trip(in_scene=plain)).question.slots
    assert ("city",) == early(trip(in_scene=weighed)).question.slots


def test_what_a_promise_names_goes_before_what_the_scene_names():
    """Between equal weights the user's own contract has the first word."""
    told = trip(
        predicate("P1", "slots.guests <= 4"),
        in_scene=scene(commitment_types=("trip",), required_slots=()),
        types=(replace(TRIP, required_slots=("day",)),),
    )
    told = replace(told, slots={("", "other"): state("x")})

    act = decided(
        replace(told, request=request(asks=(SlotValue("day", "Monday"),))),
        candidate("trip", city="Rome", day="Monday"),
    )

    assert ("guests",) == act.question.slots


def test_a_question_is_not_asked_twice_for_nothing():
    """Until an accepted event touches it, the same question ends in Abstain instead."""
    told = trip(in_scene=scene(commitment_types=("trip",), required_slots=("day",)))
    act = early(told)

    again = early(asked_again(told, act))
    touched = early(asked_again(told, act, touches={"slot:\0day": TouchRow(5)}))
    before = early(asked_again(told, act, touches={"slot:\0day": TouchRow(3)}))

    assert (Act.ABSTAIN, Reason.QUESTIONS_EXHAUSTED) == (again.act, again.reason)
    assert (Act.CLARIFY, ("day",)) == (touched.act, touched.question.slots)
    assert Act.ABSTAIN is before.act


def test_another_question_is_asked_where_one_is_used_up():
    """What may not be asked again does not hide what may."""
    told = trip(in_scene=scene(commitment_types=("trip",), required_slots=("day", "city")))
    first = early(told)

    assert (("day",), ("city",)) == (
        first.question.slots, early(asked_again(told, first)).question.slots
    )  # fmt: skip


def test_a_new_episode_may_ask_anew():
    """What was asked for an earlier commitment says nothing about the next one."""
    told = trip(in_scene=scene(commitment_types=("trip",), required_slots=("day",)))
    act = early(told)
    later = EpisodeRow(0, 6, None, None, 0, None)

    assert Act.CLARIFY is early(asked_again(told, act, episode=later)).act


def test_questions_per_episode_are_bounded():
    """After eight questions an episode asks no more (spec 5.9)."""
    told = trip(in_scene=scene(commitment_types=("trip",), required_slots=("day",)))
    last = EpisodeRow(QUESTIONS_PER_EPISODE_MAX - 1, 0, None, None, 0, None)
    spent = replace(last, questions=QUESTIONS_PER_EPISODE_MAX)

    assert Act.CLARIFY is early(replace(told, episode=last)).act
    assert (Act.ABSTAIN, Reason.QUESTIONS_EXHAUSTED) == (
        early(replace(told, episode=spent)).act, early(replace(told, episode=spent)).reason
    )  # fmt: skip


def test_an_open_constraint_is_asked_about_by_its_own_digest():
    """A hint that a candidate breaks is put to the user, who it is about."""
    open_rule = proposal(predicate("q", 'slots.city != "Oslo"', subject="u"))
    told = trip(proposals=(open_rule,))

    act = decided(told, candidate("trip", city="Oslo"))

    assert ([open_rule.digest], "u") == (
        [one.digest for one in act.question.options], act.question.subject
    )  # fmt: skip


def test_a_question_id_is_its_position():
    """Ids say where a question was asked, never what."""
    told = trip(in_scene=scene(commitment_types=("trip",), required_slots=("day",)))
    other = trip(in_scene=scene(commitment_types=("trip",), required_slots=("city",)))
    moved = replace(told, seq=10)

    assert early(told).question.question_id == early(other).question.question_id
    assert early(told).question.question_id != early(moved).question.question_id
