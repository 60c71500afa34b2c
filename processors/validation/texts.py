"""Texts for people, rendered from typed fields by templates; nothing else reaches a text.

The catalogue's templates go first: the scene's, then its own. Those here are the last resort
and count as part of the catalogue where leaks are sought. A ``{field}`` that a text names and
that has no value is left out; nothing of a template is ever executed.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Final

from processors.situation import Situation
from schemas.catalogue import TextTemplate
from schemas.value import Elapsed, Money, Period, RecordValue, StringSet, Timestamp, Value
from schemas.value_json import render_decimal, render_local, render_period, render_time

LANGUAGE_DEFAULT: Final = "en"

DEFAULTS: Final[dict[str, str]] = {
    "commitment": "Done: {type}. {slots}",
    "clarify": "I need to know more before I can decide.",
    "clarify_slots": "Please tell me: {slots}.",
    "clarify_options": "Please confirm: {options}.",
    "clarify_budget": "More is needed than fits into this turn: {requirements}. Allow it more.",
    "clarify_unused": "What is on file was left out: {requirements}. Please have it included.",
    "ambiguous_answer": "Several questions are open. Which one did you mean? {slots} {options}",
    "recontract": "What you confirmed leaves no way forward. Please change it.",
    "contract_conflict": "These cannot all be kept: {conflict}. You could: {relaxations}.",
    "recontract_failed": "That did not work out. Please say what to change.",
    "commitment_failed": "That did not work out. You could choose: {alternatives}.",
    "abstain": "I cannot decide this, so I do nothing.",
    "history_incomplete": "Part of your history is not available, so I do nothing.",
    "user_halted": "Your data needs a check by an operator, so I do nothing.",
    "validator_failure": "A required check could not be made, so I do nothing.",
    "unsupported": "I found nothing that I may commit to, so I do nothing.",
    "questions_exhausted": "I have asked what I could and still cannot decide, so I do nothing.",
    "outcome_too_large": "The answer would be too large, so I do nothing.",
    "fallback": "I cannot decide this here.",
}
"""The built-in texts by key, in English."""

GERMAN: Final[dict[str, str]] = {
    "commitment": "Erledigt: {type}. {slots}",
    "clarify": "Ich muss noch mehr wissen, bevor ich entscheiden kann.",
    "clarify_slots": "Bitte nennen Sie: {slots}.",
    "clarify_options": "Bitte bestätigen Sie: {options}.",
    "clarify_budget": "Nötig ist mehr, als hier Platz hat: {requirements}. Lassen Sie mehr zu.",
    "clarify_unused": "Bekannt, aber nicht beachtet: {requirements}. Lassen Sie es beachten.",
    "ambiguous_answer": "Mehrere Fragen sind offen. Welche meinten Sie? {slots} {options}",
    "recontract": "Was Sie bestätigt haben, lässt keinen Weg offen. Bitte ändern Sie es.",
    "contract_conflict": "Das geht nicht alles zugleich: {conflict}. Möglich wäre: {relaxations}.",
    "recontract_failed": "Das hat nicht geklappt. Bitte sagen Sie, was sich ändern soll.",
    "commitment_failed": "Das hat nicht geklappt. Zur Wahl stünde: {alternatives}.",
    "abstain": "Das kann ich nicht entscheiden, deshalb tue ich nichts.",
    "history_incomplete": "Ein Teil Ihrer Angaben ist nicht verfügbar, deshalb tue ich nichts.",
    "user_halted": "Ihre Daten müssen erst geprüft werden, deshalb tue ich nichts.",
    "validator_failure": "Eine nötige Prüfung war nicht möglich, deshalb tue ich nichts.",
    "unsupported": "Ich habe nichts gefunden, was ich zusagen darf, deshalb tue ich nichts.",
    "questions_exhausted": "Ich habe gefragt, was ich konnte, und weiß zu wenig; ich tue nichts.",
    "outcome_too_large": "Die Antwort wäre zu lang, deshalb tue ich nichts.",
    "fallback": "Das kann ich hier nicht entscheiden.",
}
"""The same in German."""

BUILT_IN: Final[dict[str, dict[str, str]]] = {LANGUAGE_DEFAULT: DEFAULTS, "de": GERMAN}

_PLACE: Final = re.compile(r"\{([^{}]*)\}")
_SPACES: Final = re.compile(r" {2,}")


def find_language(situation: Situation) -> str:
    """Return the language of the scene: that of its first template, else of the catalogue's."""
    for templates in (situation.scene.templates, situation.catalogue.templates):
        if templates:
            return templates[0].language
    return LANGUAGE_DEFAULT


def find_template(situation: Situation, keys: Sequence[str]) -> str | None:
    """Return the catalogue's template of the first key that has one: the scene's go first.

    Of several languages the scene's is chosen, then English, then the first by name.
    """
    language = find_language(situation)
    for templates in (situation.scene.templates, situation.catalogue.templates):
        for key in keys:
            found = _choose(templates, key, language)
            if found is not None:
                return found
    return None


def list_built_in(situation: Situation) -> Mapping[str, str]:
    """Return the built-in texts in the scene's language; in English where there are none."""
    return BUILT_IN.get(find_language(situation).partition("-")[0], DEFAULTS)


def find_default(situation: Situation, keys: Sequence[str]) -> str:
    """Return the built-in text of the first key that has one."""
    texts = list_built_in(situation)
    return next((texts[key] for key in keys if key in texts), "")


def fill(template: str, fields: Mapping[str, str]) -> str:
    """Return a template with its places filled; a place without value is left out."""
    text = _PLACE.sub(lambda place: fields.get(place[1], ""), template)
    return _SPACES.sub(" ", text).strip()


def render_slots(slots: Mapping[str, Value]) -> str:
    """Return carried slots as one line, in their order; null slots are left out."""
    return ", ".join(
        f"{name}: {render_plain(value)}" for name, value in slots.items() if value is not None
    )


def render_plain(value: Value) -> str:
    """Return a value as people write it; digits and units stay exact."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case str():
            return value
        case int():
            return str(value)
        case Decimal():
            return render_decimal(value)
        case Money():
            return f"{render_decimal(value.amount)} {value.currency}".rstrip()
        case datetime():
            return render_local(value).replace("T", " ")
        case date():
            return value.isoformat()
        case time():
            return render_time(value)
        case Timestamp():
            return f"{value.at_ms} ms"
        case Elapsed():
            return f"{value.duration_ms} ms"
        case Period():
            return render_period(value)
        case StringSet():
            return ", ".join(value.items)
        case RecordValue():
            return ", ".join(f"{name} {render_plain(item)}" for name, item in value.fields)
        case tuple():
            return "; ".join(render_plain(item) for item in value)


def _choose(templates: tuple[TextTemplate, ...], key: str, language: str) -> str | None:
    found = [item for item in templates if item.key == key]
    if not found:
        return None
    order = (language, LANGUAGE_DEFAULT)
    return min(
        found, key=lambda item: (*(item.language != one for one in order), item.language)
    ).text
