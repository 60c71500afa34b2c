"""Repair acts: their own check, leaks, and texts from templates (spec 5.8)."""

from dataclasses import replace

import pytest

from processors.activation.coverage import derive_requirements
from processors.validation.assessment import assess
from processors.validation.diagnosis import Finding, diagnose
from processors.validation.leakage import find_leaks
from processors.validation.repair import check_act, repair
from schemas.candidate import SlotValue
from schemas.catalogue import SlotType, TextTemplate
from schemas.outcome import Act, Reason
from schemas.value import build_record
from tests.lcv import basis, candidate, decided, early, over, state, typed
from tests.situations import predicate, request, scene, slot, unit

MEAL = typed(
    "meal",
    slot("dish"),
    slot("guests", slot_type=SlotType.INT),
    slot("place", slot_type=SlotType.RECORD),
)
ASKED = candidate(dish="gado-gado", guests=7, place=build_record(city="Rome"))


def rejected(*predicates, **changes):
    """Return a situation, the candidates' assessment and the act that follows."""
    told = over(*predicates, types=(MEAL,), **changes)
    assessment = assess(told, derive_requirements(told), basis(), (ASKED,))
    return told, assessment, decided(told, ASKED)


NO = predicate("P1", 'slots.dish in ["soup"]')


def saying(act, text):
    """Return the act with another text."""
    return replace(act, text=text)


@pytest.mark.parametrize(
    "text", ["How about gado-gado?", "GADO GADO", "A table for 7", "Meet in rome."]
)
def test_a_value_of_a_rejected_candidate_leaks(text):
    """Whatever its form, a candidate's own value may not stand in an act."""
    told, assessment, act = rejected(NO)

    assert () == find_leaks(told, assessment.assessed, act)
    assert 1 == len(find_leaks(told, assessment.assessed, saying(act, text)))


@pytest.mark.parametrize("text", ["gadogado", "77 tables", "Romeo", "a table"])
def test_parts_of_words_do_not_leak(text):
    """Only whole words are the value."""
    told, assessment, act = rejected(NO)

    assert () == find_leaks(told, assessment.assessed, saying(act, text))


@pytest.mark.parametrize(
    "changes",
    [
        {"slots": {("", "x"): state("gado-gado")}},
        {"stated": {("", "x"): (state("gado-gado"),)}},
        {"units": (unit("1#0", content="I once liked Gado-Gado"),)},
        {"units": (unit("1#0", slot="x", value=("gado-gado",)),)},
        {"asked": request(text="gado-gado please")},
        {"asked": request(asks=(SlotValue("x", "gado-gado"),))},
        {"in_scene": scene(templates=(TextTemplate("x", "en", "gado-gado"),))},
    ],
)
def test_what_is_known_otherwise_does_not_leak(changes):
    """A value that h_t, u_t, units, catalogue or request hold is no secret of a candidate."""
    told, assessment, act = rejected(NO, **changes)

    assert () == find_leaks(told, assessment.assessed, saying(act, "How about gado-gado?"))


def test_a_predicates_own_literal_does_not_leak():
    """What h_t names may be named."""
    told, assessment, act = rejected(predicate("P1", 'slots.dish != "gado-gado"'))

    assert () == find_leaks(told, assessment.assessed, saying(act, "Not gado-gado."))


def test_a_template_that_leaks_is_not_put_out():
    """Values filled into a text count: an act that leaks ends in Abstain without it."""
    told, assessment, act = rejected(NO)
    shown = replace(act, detail="dish: gado-gado")

    assert ("leak",) == check_act(
        told, assessment.assessed, shown, lambda: diagnose(told, assessment, basis())
    )


def test_an_act_whose_delta_is_not_found_again_is_not_put_out():
    """Delta is re-derived; another reason makes the act invalid (spec 5.8)."""
    told, assessment, _ = rejected(NO)

    act = repair(
        told,
        basis(),
        assessment.assessed,
        Finding(Reason.MISSING_EVIDENCE, diagnose(told, assessment, basis()).needs),
        lambda: diagnose(told, assessment, basis()),
    )
    wrong = repair(
        told,
        basis(),
        assessment.assessed,
        Finding(Reason.CONTRACT_CONFLICT),
        lambda: diagnose(told, assessment, basis()),
    )

    assert (Act.ABSTAIN, Reason.QUESTIONS_EXHAUSTED) == (act.act, act.reason)
    assert (Act.ABSTAIN, Reason.VALIDATOR_FAILURE) == (wrong.act, wrong.reason)
    assert wrong.detail.endswith("delta")


def conflict():
    """Return a situation, its assessment and its Recontract."""
    return rejected(predicate("P1", "slots.guests <= 4"), stated={("", "guests"): (state(7),)})


def test_an_act_names_only_what_exists():
    """Predicates and proposals that the situation does not have make an act invalid."""
    told, assessment, act = conflict()

    def problems(**changes):
        changed = replace(act, **changes)
        return check_act(
            told, assessment.assessed, changed, lambda: diagnose(told, assessment, basis())
        )

    ghost = replace(act.conflict[0], predicate_id="ghost")
    other_version = replace(act.conflict[0], version=99)
    strange = replace(act.relaxations[-1], digest=bytes(32))

    assert () == problems()
    assert ("predicate",) == problems(conflict=(ghost,))
    assert ("predicate",) == problems(conflict=(other_version,))
    assert ("proposal",) == problems(relaxations=(strange,))
    assert ("act",) == problems(act=Act.CLARIFY)


def test_a_conflict_carries_its_provenance():
    """Each member says who confirmed it, by which event, in which version."""
    _, _, act = conflict()

    assert [("P1", 1, "user:u", "e1")] == [
        (one.predicate_id, one.version, one.confirmed_by, one.event_id) for one in act.conflict
    ]


def test_texts_come_from_the_catalogue_first():
    """The scene's template goes before the catalogue's, the reason before the act, en first."""
    own = scene(
        templates=(
            TextTemplate("clarify", "en", "ACT {slots}"),
            TextTemplate("missing_evidence", "de", "Bitte {slots}"),
            TextTemplate("missing_evidence", "en", "Need {slots}, {nothing}{slots.__class__}!"),
        ),
        required_slots=("dish",),
    )
    told = over(types=(MEAL,), in_scene=own)
    only_german = replace(own, templates=own.templates[:2])

    assert "Need dish, !" == early(told).text
    assert "Bitte dish" == early(over(types=(MEAL,), in_scene=only_german)).text


def test_a_value_in_braces_is_never_filled_in():
    """What a user states is text, not a template."""
    told = over(
        types=(replace(MEAL, confirm_carried=True, required_slots=("dish",)),),
        slots={("", "dish"): state("{scene}")},
    )

    assert 'Please confirm: slots.dish == "{scene}".' == early(told).text


def test_every_reason_has_a_text():
    """Without templates the built-in English text says what is needed or why nothing is done."""
    for changes, words in (
        ({"incomplete": True}, "history"),
        ({"halted": True}, "operator"),
        ({"in_scene": scene(required_slots=("dish",))}, "dish"),
    ):
        assert words in early(over(types=(MEAL,), **changes)).text


@pytest.mark.parametrize("word", ["missing", "P1", "slot", "drop", "check", "1"])
def test_the_words_of_acts_themselves_give_nothing_away(word):
    """A candidate whose value is a word of our own does not spoil the act."""
    told = over(
        predicate("P1", 'attested("policy-7")'),
        predicate("P2", "slots.guests <= 4"),
        types=(MEAL,),
        units=(unit("1#0", ("x",)),),
    )

    act = decided(told, candidate(dish=word, guests=1))
    asked = decided(told, candidate(dish=word))

    assert (Reason.VALIDATOR_FAILURE, "P1: check policy-7 has no verdict") == (
        act.reason, act.detail
    )  # fmt: skip
    assert Act.CLARIFY is asked.act
