"""Mentions: a value that a clause names, the slot it belongs to, and its span in the utterance.

A value goes to a slot only when one slot alone can take it; where two could and no word tells
them apart, it goes nowhere.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Final

from infra.extraction.amounts import DOLLARS, Amount, Counted, find_counts, find_money
from infra.extraction.lexicon import PEOPLE, Lexicon, Place, SlotEntry, SlotKind, singular, stem
from infra.extraction.moments import Moment, find_dates, find_times
from infra.extraction.passages import Clause
from infra.extraction.stances import Stance, is_denied, judge
from schemas.catalogue import SlotType
from schemas.value import Money, Value
from schemas.value_json import render_decimal, render_time

_ENDS: Final = re.compile(
    r"\b(?:(?P<end>until|untill?|till?|through|return(?:ing|s)?|back|drop(?:ping|ped)?|check(?:ing)?"
    r"[ -]?out)|(?P<start>from|starting|leav(?:e|ing)|depart(?:ing|ure)?|check(?:ing)?[ -]?in|pick"
    r"(?:ing)?|going))\b"
)
_TO: Final = re.compile(r"\bto\s+(?:the\s+)?$")
_PARTY: Final = re.compile(r"\b(?:for|party of|table of)\s+(?:just\s+|about\s+)?$")
_NO_NOUNS: Final = frozenset(
    {"at", "on", "in", "from", "please", "and", "to", "tomorrow", "around", "this", "next", "with"}
)
_SENT: Final = re.compile(r"\b(?:to|into|send|transfer)\b")
_OWN: Final = re.compile(r"\b(?:my|from)\s+(?:\w+\s+)?$")
_OTHERS: Final = re.compile(r"(?:'s|\b(?:his|her|their|someone's))\s+(?:\w+\s+)?$")
_REQUESTED: Final = re.compile(
    r"(?:\w+,? ){0,3}(?:can|could|would|will) you (?:please |also )*(?:find|get|look|search|show|"
    r"book|reserve|help me (?:find|locate|get))\b"
)
_WORD: Final = re.compile(r"[a-z0-9][a-z0-9'-]*")
_CHANNELS: Final = {
    "phone": r"\b(?:call|phone|ring)(?:\s+(?:me|us))?\b",
    "sms": r"\b(?:text|sms)\s+(?:me|us)\b",
    "email": r"\be-?mail(?:\s+(?:me|us))?\b",
}


@dataclass(frozen=True, slots=True)
class Mention:
    """``slot`` said to be, not to be, or bounded by ``value``, at [start, end) of the utterance."""

    slot: SlotEntry
    value: Value
    stance: Stance
    start: int
    end: int
    confidence: int


LABELLED: Final = 900_000
"""Confidence of what stands behind its own label, a choice, or a word of the slot's name ..."""
TYPED: Final = 800_000
"""... and of what only one slot can take by its kind."""


def find_mentions(clause: Clause, lexicon: Lexicon, today: datetime) -> tuple[Mention, ...]:
    """Return the mentions of a clause in order of place; spans do not overlap."""
    text = clause.text
    dates, times = find_dates(text, today), find_times(text)
    money = find_money(text)
    taken = [(one.start, one.end) for one in (*dates, *times)]
    taken += [(one.start, one.end) for one in money]
    counts = tuple(one for one in find_counts(text) if not _overlaps(one.start, one.end, taken))
    found = [
        *_place_moments(text, lexicon, SlotKind.DATE, dates),
        *_place_moments(text, lexicon, SlotKind.TIME, times),
        *_place_money(text, lexicon, money),
        *_place_counts(text, lexicon, counts),
        *find_choices(text, lexicon),
        *(() if clause.questioned and not _REQUESTED.match(text) else _find_flags(text, lexicon)),
    ]
    found.sort(key=lambda one: (one.start, -one.end, one.slot.name))
    return tuple(
        Mention(one.slot, one.value, one.stance, clause.start + one.start,
                clause.start + one.end, one.confidence)
        for one in found
    )  # fmt: skip


def find_choices(text: str, lexicon: Lexicon) -> tuple[Mention, ...]:
    """Return the labels of choices that stand in a lower-case text as whole words."""
    found: list[Mention] = []
    labels = [
        (label, choice, slot)
        for slot in lexicon.list_kind(SlotKind.CHOICE)
        for label, choice in slot.choices
    ]
    labels.sort(key=lambda item: (-len(item[0]), item[0], item[2].name))
    taken: list[tuple[int, int, str]] = []
    for label, choice, slot in labels:
        for match in re.finditer(_pattern(label), text):
            start, end = match.span()
            covered = any(
                start < other_end and other_start < end and words != label
                for other_start, other_end, words in taken
            )
            rivals = [other for words, _, other in labels if words == label]
            if covered or not _is_meant(text, slot, rivals, start):
                continue
            taken.append((start, end, label))
            found.append(Mention(slot, choice, judge(text, start), start, end, LABELLED))
    return tuple(found)


def _pattern(label: str) -> str:
    channel = _CHANNELS.get(label)
    if channel is not None:
        return channel
    words = [re.escape(word) for word in re.split(r"[\s_-]+", label)]
    return r"(?<![\w'])" + r"[\s_-]+".join(words) + r"s?(?![\w'])"


def _is_meant(text: str, slot: SlotEntry, rivals: list[SlotEntry], start: int) -> bool:
    """Return whether a label that several slots know is this slot's.

    Of two slots the one with fewer words in its name is meant, unless the other's own words
    stand there, or the thing is said to be somebody else's.
    """
    if len(rivals) == 1:
        return True
    present = {stem(word) for word in _WORD.findall(text)}
    named = [one for one in rivals if one.words & present - slot.words or one is slot]
    if len(named) > 1:
        return False
    others = [one for one in rivals if one is not slot]
    plain = all(slot.words <= one.words for one in others)
    return bool(slot.words & present) and (
        all(slot.words & present - one.words for one in others) or (plain and _is_own(text, start))
    )


def _is_own(text: str, start: int) -> bool:
    before = text[:start]
    if _OTHERS.search(before) is not None:
        return False
    return _SENT.search(text) is None or _OWN.search(before) is not None


def _place_moments(
    text: str, lexicon: Lexicon, kind: SlotKind, moments: Iterable[Moment]
) -> Iterator[Mention]:
    slots = lexicon.list_kind(kind)
    listed = list(moments)
    for number, moment in enumerate(listed):
        before = text[: moment.start]
        place = _find_place(before[listed[number - 1].end if number else 0 :], follows=number > 0)
        slot = _choose(slots, text, place)
        if slot is not None:
            value = _express_moment(slot, moment.value)
            stance = judge(text, moment.start)
            yield Mention(slot, value, stance, moment.start, moment.end, _confidence(slots))


def _find_place(before: str, *, follows: bool) -> Place:
    """Return which end of a stretch the words since the last moment name; the nearest counts."""
    if follows and _TO.search(before):
        return Place.END
    last = None
    for match in _ENDS.finditer(before):
        last = match
    return Place.NONE if last is None else Place(str(last.lastgroup))


def _choose(slots: tuple[SlotEntry, ...], text: str, place: Place) -> SlotEntry | None:
    """Return the only slot that fits, by the end of the stretch it names or by its own words."""
    if place is Place.END and any(slot.place is Place.END for slot in slots):
        fitting = [slot for slot in slots if slot.place is Place.END]
    elif any(slot.place is Place.END for slot in slots):
        fitting = [slot for slot in slots if slot.place is not Place.END]
    else:
        fitting = list(slots)
    if len(fitting) > 1:
        present = {stem(word) for word in _WORD.findall(text)}
        fitting = [slot for slot in fitting if slot.words & present]
    return fitting[0] if len(fitting) == 1 else None


def _place_money(text: str, lexicon: Lexicon, amounts: Iterable[Amount]) -> Iterator[Mention]:
    slots = lexicon.list_kind(SlotKind.MONEY)
    for amount in amounts:
        slot = _choose(slots, text, Place.NONE)
        if slot is not None:
            value = _express_money(slot, amount.value)
            stance = judge(text, amount.start)
            yield Mention(slot, value, stance, amount.start, amount.end, _confidence(slots))


def _place_counts(text: str, lexicon: Lexicon, counts: Iterable[Counted]) -> Iterator[Mention]:
    slots = lexicon.list_kind(SlotKind.COUNT)
    for counted in counts:
        noun, fitting = _match_noun(slots, counted)
        bare = not counted.words or counted.words[0] in _NO_NOUNS
        if not noun and bare and _PARTY.search(text[: counted.start]):
            fitting = [slot for slot in slots if slot.nouns & PEOPLE]
        if len(fitting) != 1:
            continue
        slot = fitting[0]
        value: Value = counted.value if slot.slot_type is SlotType.INT else str(counted.value)
        if slot.choices and str(counted.value) not in {choice for _, choice in slot.choices}:
            continue
        stance = judge(text, counted.start)
        yield Mention(slot, value, stance, counted.start, counted.end, LABELLED if noun else TYPED)


def _match_noun(slots: tuple[SlotEntry, ...], counted: Counted) -> tuple[str, list[SlotEntry]]:
    for word in counted.words:
        fitting = [slot for slot in slots if singular(word) in slot.nouns]
        if fitting:
            return word, fitting
    return "", []


def _find_flags(text: str, lexicon: Lexicon) -> Iterator[Mention]:
    words = [(match.start(), match.end(), match[0]) for match in _WORD.finditer(text)]
    for slot in lexicon.list_kind(SlotKind.FLAG):
        if not slot.words:
            continue
        hits = [(start, end) for start, end, word in words if stem(word) in slot.words]
        seen = {stem(text[start:end]) for start, end in hits}
        if seen != slot.words or is_denied(text, hits[0][0]) or "non-" in text:
            continue
        yes = next((choice for label, choice in slot.choices if label in {"true", "yes"}), None)
        value: Value = True if slot.slot_type is SlotType.BOOL else yes
        yield Mention(slot, value, Stance.IS, hits[0][0], hits[-1][1], TYPED)


def _express_moment(slot: SlotEntry, value: date | time) -> Value:
    if slot.slot_type is not SlotType.STRING:
        return value
    return render_time(value) if isinstance(value, time) else value.isoformat()


def _express_money(slot: SlotEntry, money: Money) -> Value:
    if slot.slot_type is SlotType.STRING:
        return render_decimal(money.amount)
    if slot.slot_type is SlotType.DECIMAL:
        return money.amount
    if not money.currency and slot.currency in DOLLARS:
        return Money(money.amount, slot.currency)
    return money


def _confidence(slots: tuple[SlotEntry, ...]) -> int:
    return TYPED if len(slots) == 1 else LABELLED


def _overlaps(start: int, end: int, taken: list[tuple[int, int]]) -> bool:
    return any(start < other_end and other_start < end for other_start, other_end in taken)
