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

_PLACE: Final = re.compile(r"\{([^{}]*)\}")
_SPACES: Final = re.compile(r" {2,}")


def find_template(situation: Situation, keys: Sequence[str]) -> str | None:
    """Return the catalogue's template of the first key that has one: the scene's go first."""
    for templates in (situation.scene.templates, situation.catalogue.templates):
        for key in keys:
            found = _choose(templates, key)
            if found is not None:
                return found
    return None


def find_default(keys: Sequence[str]) -> str:
    """Return the built-in text of the first key that has one."""
    return next((DEFAULTS[key] for key in keys if key in DEFAULTS), "")


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


def _choose(templates: tuple[TextTemplate, ...], key: str) -> str | None:
    found = [item for item in templates if item.key == key]
    if not found:
        return None
    return min(found, key=lambda item: (item.language != LANGUAGE_DEFAULT, item.language)).text
