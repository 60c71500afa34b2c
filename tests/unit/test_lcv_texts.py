"""Texts for people in the scene's language: its templates first, then what is built in."""

import re
from dataclasses import replace

import pytest

from processors.validation.texts import BUILT_IN, DEFAULTS
from schemas.catalogue import TextTemplate
from schemas.outcome import Act, Reason
from tests.lcv import candidate, decided, early, over, typed
from tests.situations import predicate, scene, slot

MEAL = typed("meal", slot("dish"))
GREETING = TextTemplate("greeting", "de-AT", "Grüß Gott")


@pytest.mark.parametrize("language", sorted(BUILT_IN))
def test_every_language_has_every_text_with_the_same_places(language):
    """No language lacks a text, and none names a field that another one does not."""
    texts = BUILT_IN[language]

    assert DEFAULTS.keys() == texts.keys()
    for key, text in DEFAULTS.items():
        places = [sorted(re.findall(r"\{[^}]*\}", one)) for one in (text, texts[key])]
        assert places[0] == places[1], key


def test_a_scene_speaks_the_language_of_its_first_template():
    """A German scene asks in German, also where only the built-in text is left."""
    german = scene(templates=(GREETING,), required_slots=("dish",))
    english = replace(german, templates=(replace(GREETING, language="en"), GREETING))
    unknown = replace(german, templates=(replace(GREETING, language="is"),))

    assert "Bitte nennen Sie: dish." == early(over(types=(MEAL,), in_scene=german)).text
    for other in (english, unknown):
        assert "Please tell me: dish." == early(over(types=(MEAL,), in_scene=other)).text


def test_of_several_languages_the_scenes_goes_first():
    """Templates of one key are chosen by the scene's language, then English, then by name."""
    asked = tuple(
        TextTemplate("missing_evidence", language, f"{language}: {{slots}}")
        for language in ("fr", "en", "de-AT")
    )
    for templates, expected in (
        ((GREETING, *asked), "de-AT: dish"),
        ((GREETING, *asked[:2]), "en: dish"),
        ((GREETING, asked[0]), "fr: dish"),
        (asked, "fr: dish"),
    ):
        told = over(types=(MEAL,), in_scene=scene(templates=templates, required_slots=("dish",)))
        assert expected == early(told).text


def test_german_words_of_an_act_give_nothing_away():
    """A candidate whose value is a word of the German texts does not spoil the act."""
    told = over(
        predicate("P1", 'attested("policy-7")'),
        types=(MEAL,),
        in_scene=scene(templates=(GREETING,)),
    )
    act = decided(told, candidate(dish="Prüfung"))

    assert (Act.ABSTAIN, Reason.VALIDATOR_FAILURE) == (act.act, act.reason)
    assert "Eine nötige Prüfung war nicht möglich, deshalb tue ich nichts." == act.text
