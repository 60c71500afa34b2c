"""The words of a catalogue: which slots there are, what kind of value each takes, and its names.

A catalogue that declares types is believed; where all slots are texts, names and choices tell
the kind. Nothing here knows a domain beyond the common words for people, nights and rooms.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from schemas.catalogue import Catalogue, SlotDeclaration, SlotRole, SlotType
from schemas.value import Money


class SlotKind(StrEnum):
    """What a slot's value looks like in a text."""

    DATE = "date"
    TIME = "time"
    MONEY = "money"
    COUNT = "count"
    CHOICE = "choice"
    FLAG = "flag"
    CONTENTS = "contents"
    FREE = "free"


class Place(StrEnum):
    """Which end of a stretch of time a slot is, by its name."""

    START = "start"
    END = "end"
    NONE = "none"


_TYPED: Final = {
    SlotType.DATE: SlotKind.DATE,
    SlotType.TIME: SlotKind.TIME,
    SlotType.MONEY: SlotKind.MONEY,
    SlotType.INT: SlotKind.COUNT,
    SlotType.BOOL: SlotKind.FLAG,
    SlotType.LIST: SlotKind.CONTENTS,
    SlotType.SET: SlotKind.CONTENTS,
}
_MONEY_WORDS: Final = frozenset({"amount", "price", "fare", "cost", "budget", "rent", "fee"})
_FAMILIES: Final = (
    frozenset({"person", "people", "adult", "guest", "traveler", "traveller", "passenger",
               "rider", "diner", "ticket", "seat", "us", "party"}),
    frozenset({"day", "night", "stay", "length"}),
    frozenset({"bed", "bedroom"}),
    frozenset({"bath", "bathroom"}),
    frozenset({"bag", "luggage", "suitcase"}),
)  # fmt: skip
PEOPLE: Final = _FAMILIES[0]
_EMPTY_WORDS: Final = frozenset(
    {"number", "of", "the", "has", "is", "for", "good", "new", "type", "name", "date", "time",
     "allowed", "range", "class", "checked", "price", "options", "in", "out"}
)  # fmt: skip
_START_WORDS: Final = frozenset(
    {"departure", "leaving", "pickup", "start", "check", "checkin", "from", "begin", "outbound"}
)
_END_WORDS: Final = frozenset({"return", "dropoff", "end", "checkout", "until", "inbound"})
_BOOLEANS: Final = ({"true", "false"}, {"yes", "no"})
_SUFFIX: Final = re.compile(r"(?:ings?|ures?|ed|es|s|e)$")


@dataclass(frozen=True, slots=True)
class SlotEntry:
    """One slot as texts name it; ``words`` are stems of its name that tell it from others."""

    name: str
    kind: SlotKind
    slot_type: SlotType
    role: SlotRole
    place: Place
    nouns: frozenset[str]
    words: frozenset[str]
    choices: tuple[tuple[str, str], ...]
    currency: str


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The slots of the scenes in question, sorted by name, each once."""

    slots: tuple[SlotEntry, ...]

    def list_kind(self, *kinds: SlotKind) -> tuple[SlotEntry, ...]:
        """Return the slots of these kinds."""
        return tuple(slot for slot in self.slots if slot.kind in kinds)


EMPTY: Final = Lexicon(())


def build_lexicon(catalogue: Catalogue | None, scenes: Iterable[str] = ()) -> Lexicon:
    """Return the lexicon of some scenes of a catalogue; of all of them when none is named.

    A slot that two types declare in different ways is no help, and is left out.
    """
    if catalogue is None:
        return EMPTY
    named = frozenset(scenes)
    types = {
        type_name
        for scene in catalogue.scenes
        if not named or scene.name in named
        for type_name in scene.commitment_types
    }
    found: dict[str, SlotEntry] = {}
    clashes: set[str] = set()
    for declared in catalogue.types:
        if declared.name not in types:
            continue
        for slot in declared.slots:
            entry = _describe(slot)
            if found.setdefault(slot.name, entry) != entry:
                clashes.add(slot.name)
    return Lexicon(tuple(found[name] for name in sorted(found) if name not in clashes))


def stem(word: str) -> str:
    """Return a word without its ending, so that "leaving" and "leave" are one."""
    cut = _SUFFIX.sub("", word)
    return cut if len(cut) >= 3 else word


def singular(word: str) -> str:
    """Return a counted noun in the singular."""
    return word[:-1] if word.endswith("s") and len(word) > 2 and word != "us" else word


def split_name(name: str) -> tuple[str, ...]:
    """Return the words of a slot's name, lower case."""
    parted = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return tuple(word for word in re.split(r"[^a-z0-9]+", parted.lower()) if word)


def _describe(slot: SlotDeclaration) -> SlotEntry:
    words = split_name(slot.name)
    kind = _find_kind(slot, words)
    nouns = {singular(word) for word in words} - _EMPTY_WORDS
    for family in _FAMILIES:
        if nouns & family:
            nouns |= family
    choices = sorted((choice.casefold(), choice) for choice in slot.choices)
    bound = slot.high if isinstance(slot.high, Money) else slot.low
    return SlotEntry(
        name=slot.name,
        kind=kind,
        slot_type=slot.slot_type,
        role=slot.role,
        place=_find_place(words),
        nouns=frozenset(nouns),
        words=frozenset(stem(word) for word in words if word not in _EMPTY_WORDS),
        choices=tuple(choices),
        currency=bound.currency if isinstance(bound, Money) else "",
    )


def _find_kind(slot: SlotDeclaration, words: tuple[str, ...]) -> SlotKind:
    typed = _TYPED.get(slot.slot_type)
    if typed is not None:
        return typed
    if slot.slot_type is SlotType.DECIMAL and _MONEY_WORDS & frozenset(words):
        return SlotKind.MONEY
    if slot.slot_type is not SlotType.STRING:
        return SlotKind.FREE
    choices = {choice.casefold() for choice in slot.choices}
    if choices:
        if choices in _BOOLEANS:
            return SlotKind.FLAG
        plain = all(choice.isdecimal() and len(choice) < 4 for choice in choices)
        return SlotKind.COUNT if plain else SlotKind.CHOICE
    if "date" in words:
        return SlotKind.DATE
    if "time" in words:
        return SlotKind.TIME
    if _MONEY_WORDS & frozenset(words):
        return SlotKind.MONEY
    if "number" in words[:1] or words[-1:] in (("days",), ("nights",), ("length",)):
        return SlotKind.COUNT
    return SlotKind.FREE


def _find_place(words: tuple[str, ...]) -> Place:
    if _END_WORDS & frozenset(words):
        return Place.END
    return Place.START if _START_WORDS & frozenset(words) else Place.NONE
