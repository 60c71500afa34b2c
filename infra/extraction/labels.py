"""Forms in a text: lines of ``label: value`` whose label is the name of a slot."""

import re
from datetime import datetime
from typing import Final

from infra.extraction.lexicon import Lexicon, SlotEntry, SlotKind, split_name
from infra.extraction.mentions import LABELLED, Mention, find_mentions
from infra.extraction.passages import Clause
from infra.extraction.stances import Stance
from schemas.catalogue import SlotType

_LINE: Final = re.compile(r"^(?P<label>[a-z][a-z0-9 _-]{0,40}?)\s*[:=]\s+(?P<value>\S.{0,200})$")


def find_labelled(
    clauses: tuple[Clause, ...], lexicon: Lexicon, today: datetime, text: str
) -> tuple[Mention, ...]:
    """Return the mentions of clauses of the form ``label: value``; a value must read as a whole.

    Free text is taken only for slots of type text without choices, as ``text`` has it; a value
    of another kind that does not read is left out.
    """
    found = []
    for clause in clauses:
        match = _LINE.match(clause.text)
        if match is None:
            continue
        slot = _find_slot(match["label"], lexicon)
        if slot is None:
            continue
        start = clause.start + match.start("value")
        value = Clause(start, match["value"], asked=False, supposed=False)
        mention = read_mention(value, slot, today, text)
        if mention is not None:
            found.append(mention)
    return tuple(found)


def _find_slot(label: str, lexicon: Lexicon) -> SlotEntry | None:
    words = split_name(label)
    fitting = [slot for slot in lexicon.slots if split_name(slot.name) == words]
    return fitting[0] if len(fitting) == 1 else None


def read_mention(value: Clause, slot: SlotEntry, today: datetime, original: str) -> Mention | None:
    """Return what a piece of text says as the value of one slot, if all of it does; else None."""
    text, end = value.text, value.start + len(value.text)
    if slot.kind is SlotKind.FREE and slot.slot_type is SlotType.STRING:
        written = original[value.start : end]
        return Mention(slot, written, Stance.IS, value.start, end, LABELLED)
    if slot.kind is SlotKind.COUNT and re.fullmatch(r"\d{1,4}", text):
        number = int(text) if slot.slot_type is SlotType.INT else text
        return Mention(slot, number, Stance.IS, value.start, end, LABELLED)
    mentions = [
        one
        for one in find_mentions(value, Lexicon((slot,)), today)
        if (one.start, one.end) == (value.start, end)
    ]
    return mentions[0] if len(mentions) == 1 and mentions[0].stance is Stance.IS else None
