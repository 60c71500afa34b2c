"""Names in a clause: places and titles, told by their capitals and by the words before them.

Free text has no form of its own, so only a name that a word introduces ("from", "called",
"directed by") and that one slot alone can take is read. Who money, messages or access go to is
never read here: a recipient, account or address is the user's to state.
"""

import re
from collections.abc import Iterator
from typing import Final

from infra.extraction.lexicon import Lexicon, SlotEntry, SlotKind, split_name
from infra.extraction.mentions import TYPED, Mention
from infra.extraction.passages import Clause, lower
from infra.extraction.stances import judge
from schemas.catalogue import SlotRole, SlotType

_PLACES: Final = frozenset({"city", "town", "location", "area", "destination", "origin"})
_CITIES: Final = frozenset({"city", "town"})
_ORIGINS: Final = frozenset({"from", "origin", "departure"})
_ENDS: Final = frozenset({"to", "destination", "dropoff"})
_GUARDED: Final = frozenset({"recipient", "account", "payee", "email", "url", "address", "phone"})
_PART: Final = r"(?!I\b)[A-Z][\w'&-]*(?:\.(?=\w)[\w'&-]+)*"
_OF: Final = r"(?:(?:of|de|la|del|du|los|las|da|van|von)\s+)?"
_NAME: Final = rf"(?P<name>{_PART}(?:\s+{_OF}{_PART}){{0,3}})"
_PERSON: Final = rf"(?P<name>{_PART}(?:\s+[A-Z]\.)?(?:\s+{_OF}{_PART}){{1,3}}(?:(?<=Jr)\.)?)"
_TITLE: Final = (
    rf"(?P<name>{_PART}(?:,?\s+(?:(?:of|the|de|la|and|in|a|&)\s+){{0,2}}(?:{_PART}|\d+)){{0,7}})"
)
_IN: Final = re.compile(rf"(?:\b(?:in|near|around)(?:\s+the)?|^(?:In|Near))\s+{_NAME}")
_FROM: Final = re.compile(rf"(?:\b(?:from|leaving|departing|out of)|^From)\s+{_NAME}")
_TO: Final = re.compile(rf"(?:\b(?:to|towards|visit|visiting)|^To)\s+{_NAME}")
_CALLED: Final = re.compile(
    rf"\b(?:called|named|titled|call it|name it|by the name of|name is|name as)\s+{_TITLE}"
)
_AT: Final = re.compile(
    rf"\b(?:table|reservation|room|stay|eat|dine|dinner|lunch|tickets?)(?:\s+for\s+\w+)?\s+at\s+"
    rf"(?:the\s+)?{_TITLE}"
)
_ACTOR: Final = re.compile(
    rf"(?:\b(?:starring|stars|starred by|acted by|actor)|(?<!go )(?<!ahead )\bwith)\s+{_PERSON}"
)
_INTRODUCED: Final = {
    "director": re.compile(
        rf"\b(?:(?:directed|movies?|films?|something|anything|one) by|director(?: is)?)\s+{_PERSON}"
    ),
    "actor": _ACTOR,
    "actors": _ACTOR,
    "starring": _ACTOR,
    "artist": re.compile(
        rf"\b(?:(?:songs?|music|tracks?|something|anything|sung|performed) by|artist)\s+{_NAME}"
    ),
    "album": re.compile(rf"\b(?:album called|the album|album is|album)\s+{_TITLE}"),
}
_BEGINNINGS: Final = re.compile(
    r"(?:San|Santa|Los|Las|El|La|New|St|Saint|Fort|Mount|Palo|Long|North|South|East|West|The)$"
)
"""What only begins a name: the rest of it was typed without a capital."""
_NO_NAMES: Final = re.compile(
    r"(?:I|I'm|I'd|I'll|I've|Ok|Okay|Yes|No|January|February|March|April|May|June|July|August|"
    r"September|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|"
    r"Sunday|English|AM|PM)\b"
)


def find_names(clause: Clause, original: str, lexicon: Lexicon) -> tuple[Mention, ...]:
    """Return the names that a clause introduces; ``original`` is its text with capitals."""
    slots = [
        slot
        for slot in lexicon.list_kind(SlotKind.FREE)
        if slot.slot_type is SlotType.STRING
        and slot.role is SlotRole.PLAIN
        and not _GUARDED & frozenset(split_name(slot.name))
    ]
    found = [*_find_places(clause, original, slots), *_find_titles(clause, original, slots)]
    # Two readings of the same words are none.
    return tuple(
        one
        for one in sorted(found, key=lambda one: (one.start, one.end, one.slot.name))
        if not any(other is not one and _overlap(one, other) for other in found)
    )


def _find_places(clause: Clause, original: str, slots: list[SlotEntry]) -> Iterator[Mention]:
    places = {slot: frozenset(split_name(slot.name)) for slot in slots}
    named = [slot for slot, words in places.items() if words & (_PLACES | _ORIGINS | _ENDS)]
    origins = [slot for slot in named if places[slot] & _ORIGINS]
    ends = [slot for slot in named if places[slot] & _ENDS and slot not in origins]
    plain = [slot for slot in named if slot not in origins and slot not in ends]
    # Without an origin "in" and "to" name the same place; with one they may be two journeys.
    at = plain or ([] if origins else ends)
    if len(at) > 1:
        at = [slot for slot in at if places[slot] & _CITIES]
    for pattern, fitting in ((_FROM, origins), (_TO, ends), (_IN, at)):
        yield from _place(pattern, clause, original, fitting)


def _find_titles(clause: Clause, original: str, slots: list[SlotEntry]) -> Iterator[Mention]:
    called = [slot for slot in slots if "name" in split_name(slot.name)]
    yield from _place(_CALLED, clause, original, called)
    yield from _place(_AT, clause, original, called)
    for slot in slots:
        for word in split_name(slot.name):
            if word in _INTRODUCED:
                yield from _place(_INTRODUCED[word], clause, original, [slot])


def _place(
    pattern: re.Pattern[str], clause: Clause, original: str, fitting: list[SlotEntry]
) -> Iterator[Mention]:
    """Yield what a pattern finds, if one slot alone fits and the words are the user's own."""
    if len(fitting) != 1:
        return
    for match in pattern.finditer(original):
        start, end = match.span("name")
        own = clause.text[start:end] == lower(match["name"])
        name = match["name"]
        if own and not _NO_NAMES.match(name) and not _BEGINNINGS.match(name):
            yield Mention(
                fitting[0], name, judge(clause.text, start),
                clause.start + start, clause.start + end, TYPED,
            )  # fmt: skip


def _overlap(one: Mention, other: Mention) -> bool:
    return one.start < other.end and other.start < one.end
