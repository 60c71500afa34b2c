"""Events of a user with the canary in every field of every payload that can hold text.

Each payload comes filled in all its fields, then the plausible ones of ``told_by`` once more for
each field, that field filled: what is refused for one field is still seen with the others.
"""

import typing
from dataclasses import is_dataclass, replace
from enum import StrEnum

from schemas.event import UserPayload
from schemas.observation import ErasureRequested
from schemas.record import branches, hints, is_value
from schemas.value import RecordValue, build_set
from tests.canary import CANARY, told_by
from tests.given import event

SPEAKERS = ("user", "generator", "tool")
PLAIN = {str: CANARY, int: 1, bool: True, bytes: bytes(32)}
VALUE = RecordValue(((CANARY, (CANARY, build_set(CANARY), RecordValue(((CANARY, CANARY),)))),))
"""A value of every type that can hold a word; a currency is three letters."""


def told_in_every_field(user):
    """Return what a user told, then every payload with the canary wherever text can stand."""
    told = told_by(user)
    kinds = [kind for kind in typing.get_args(UserPayload) if kind is not ErasureRequested]
    filled = [(fill(kind), speaker) for kind in kinds for speaker in SPEAKERS]
    filled += [
        (replace(one.payload, **{name: fill(hint)}), one.principal.kind.value)
        for one in told
        for name, hint in hints(type(one.payload)).items()
        if list_texts(fill(hint))
    ]
    return told + [
        event(payload, by=f"{speaker}:{user}", user=user, event_id=f"f{number}", minute=30)
        for number, (payload, speaker) in enumerate(filled)
    ]


def fill(annotation):
    """Return a value of an annotation with the canary in every text of it."""
    if annotation in PLAIN:
        return PLAIN[annotation]
    if is_value(annotation):
        return VALUE
    if members := branches(annotation):  # Bounds that are set refuse more than they carry.
        return None if members[0] in {int, bytes} else fill(members[0])
    if typing.get_origin(annotation) is tuple:
        return (fill(typing.get_args(annotation)[0]),)
    if issubclass(annotation, StrEnum):
        return list(annotation)[-1]
    assert is_dataclass(annotation), annotation
    return annotation(**{name: fill(hint) for name, hint in hints(annotation).items()})


def list_texts(value):
    """Return every text in a record or value, enumerations aside."""
    if isinstance(value, str):
        return [] if isinstance(value, StrEnum) else [value]
    if isinstance(value, tuple):
        return [text for item in value for text in list_texts(item)]
    if not is_dataclass(value):
        return []
    return [text for name in hints(type(value)) for text in list_texts(getattr(value, name))]
