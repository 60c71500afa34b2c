"""The surface check: a text says nothing that the slots don't carry (spec 5.11).

It finds numbers, dates, names, addresses and promises, deterministically and without a lexicon
of the world. Where it cannot read a text it refuses it: the template then stands in, so a
doubt costs eloquence and never truth. What words mean beyond that is no part of the guarantee.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Final

from processors.validation.equality import list_leaves
from processors.validation.surface_words import (
    CURRENCIES,
    MONTHS,
    NUMBERS,
    OPENERS,
    PROMISES,
    RELATIVE_DAYS,
    WEEKDAYS,
)
from processors.validation.texts import render_plain
from processors.validation.words import read_words
from schemas.value import Elapsed, Money, Period, Timestamp, Value

MISMATCHES_MAX: Final = 32  # Mismatches recorded of one text.

_TOKEN: Final = re.compile(
    r"\S*(?:@|://|www\.)\S*"  # Addresses, whole.
    r"|\d+(?:[.,:/-]\d+)*%?"  # Numbers, times and dates with their separators.
    r"|[^\W\d_]+(?:['\u2019-][^\W\d_]+)*"  # Words.
    r"|[^\w\s]|_",
)
_SENTENCE_ENDS: Final = frozenset(".!?:;\n")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
_PARTS: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Carried:
    """What the slots carry: words, numbers, dates, currencies, and texts as they stand."""

    words: frozenset[str]
    numbers: frozenset[Decimal]
    times: tuple[time, ...]
    dates: tuple[date, ...]
    currencies: frozenset[str]
    texts: frozenset[str]


def find_mismatches(
    text: str, slots: Mapping[str, Value], vocabulary: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what a text says beyond the slots, as ``kind:token``; empty when it passes.

    Kinds: empty, number, currency, date, name, address, promise, script. ``vocabulary`` are
    texts of the catalogue, such as scene, type and template, whose words may always be used.
    """
    if not text.strip():
        return ("empty",)
    carried = read_carried(slots, vocabulary)
    found: dict[str, None] = {}
    opening = True
    tokens = list(_split(unicodedata.normalize("NFC", text)))
    for at, token in enumerate(tokens):
        kind = _judge(token, carried, opening=opening)
        if kind == "number" and _is_moment(tokens, at, carried):
            kind = ""
        if kind:
            found[f"{kind}:{token}"] = None
        if token in _SENTENCE_ENDS:
            opening = True
        elif token.isalnum() or len(token) > 1:
            opening = False
    return tuple(found)[:MISMATCHES_MAX]


def read_carried(slots: Mapping[str, Value], vocabulary: tuple[str, ...]) -> Carried:
    """Return what the slots carry, in every form that a text may give it."""
    leaves = [leaf for value in slots.values() for leaf in list_leaves(value)]
    plain = [render_plain(leaf) for leaf in leaves]
    names = [word for name in slots for word in re.split(r"[^\w]+|_", name)]
    # The parts of a number or time are no words: "19:30" does not carry thirty of anything.
    spoken = [leaf for leaf in leaves if isinstance(leaf, str)]
    words = {word for text in (*spoken, *names, *vocabulary) for word in read_words(text)}
    words |= {token.casefold() for text in (*plain, *vocabulary) for token in _split(text)}
    dates = [leaf for leaf in leaves if isinstance(leaf, date)]
    return Carried(
        words=frozenset(words),
        numbers=frozenset(number for leaf in leaves for number in _list_numbers(leaf)),
        times=tuple(
            leaf.time() if isinstance(leaf, datetime) else leaf
            for leaf in leaves
            if isinstance(leaf, datetime | time)
        ),
        dates=tuple(one.date() if isinstance(one, datetime) else one for one in dates),
        currencies=frozenset(leaf.currency for leaf in leaves if isinstance(leaf, Money)),
        texts=frozenset(token.casefold() for text in plain for token in text.split()),
    )


def _split(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from _TOKEN.findall(line)
        yield "\n"


def _judge(token: str, carried: Carried, *, opening: bool) -> str:
    """Return the kind of mismatch that a token is, or ""."""
    folded = token.casefold()
    if not token.isascii():
        if any(unicodedata.category(character) in _UNSEEN for character in token):
            return "script"
        if any(character.isnumeric() and not character.isascii() for character in token):
            return "number"
    if "@" in token or "://" in token or folded.startswith("www."):
        return "" if folded.rstrip(".,;:!?)") in carried.texts else "address"
    if token in CURRENCIES:
        return "" if CURRENCIES[token] & carried.currencies else "currency"
    if token[0].isdigit():
        return "" if folded in carried.words or _is_number(token, carried) else "number"
    if not token[0].isalpha():
        return ""
    if folded in carried.words:
        return ""
    return _judge_word(token, folded, carried, opening=opening)


def _judge_word(token: str, folded: str, carried: Carried, *, opening: bool) -> str:
    if folded in NUMBERS:
        return "" if NUMBERS[folded] in carried.numbers else "number"
    if folded in MONTHS and token[0].isupper():
        return "" if any(one.month == MONTHS[folded] for one in carried.dates) else "date"
    if folded in WEEKDAYS:
        return "" if any(one.weekday() == WEEKDAYS[folded] for one in carried.dates) else "date"
    if folded in RELATIVE_DAYS:
        return "date"
    if any(folded.startswith(stem) for stem in PROMISES):
        return "promise"
    if token[0].isupper():
        pronoun = folded == "i" or folded.startswith(("i'", "i\u2019"))
        return "" if pronoun or (opening and folded in OPENERS) else "name"
    # A script without capitals does not show its names.
    return "" if token[0].islower() else "script"


def _is_number(token: str, carried: Carried) -> bool:
    """Return whether a token with digits is a carried number in another form."""
    return any(
        re.fullmatch(r"\d+(\.\d+)?", text) is not None and Decimal(text) in carried.numbers
        for text in (token, token.replace(",", ""))
    )


def _is_moment(tokens: list[str], at: int, carried: Carried) -> bool:
    """Return whether a token with digits is part of a carried date or time as people write it.

    A day needs its month beside it, an hour its half of the day: alone they are any number.
    """
    token = tokens[at]
    if not re.fullmatch(r"[\d.,:/-]+", token) or not token.isascii():
        return False
    parts = [int(part) for part in _PARTS.findall(token)]
    around = [one.casefold() for one in (*tokens[max(0, at - 2) : at], *tokens[at + 1 : at + 3])]
    if len(parts) == 1:
        if any(parts[0] == one.year for one in carried.dates):
            return True
        months = {MONTHS[one] for one in around if one in MONTHS}
        if any(parts[0] == one.day and one.month in months for one in carried.dates):
            return True
    elif any(_is_date(parts, one) for one in carried.dates):
        return True
    following = tokens[at + 1].casefold() if at + 1 < len(tokens) else ""
    return any(_is_time(parts, one, following) for one in carried.times)


def _is_date(parts: list[int], one: date) -> bool:
    return any(
        sorted(parts) in (sorted((one.day, one.month, year)), sorted((one.day, one.month)))
        for year in (one.year, one.year % 100)
    )


def _is_time(parts: list[int], one: time, following: str) -> bool:
    half = following[:1] if following in {"am", "pm", "a", "p"} else ""
    if len(parts) == 1 and not half and following not in {"h", "o'clock"}:
        return False
    if half and (half == "p") != (one.hour >= 12):
        return False
    hours = {one.hour, one.hour % 12 or 12}
    rest = [one.minute, one.second][: max(1, len(parts) - 1)]
    return parts[0] in hours and (parts[1:] or [0]) == rest


def _list_numbers(leaf: Value) -> Iterator[Decimal]:
    if isinstance(leaf, int | Decimal) and not isinstance(leaf, bool):
        yield Decimal(leaf)
    elif isinstance(leaf, Money):
        yield leaf.amount
    elif isinstance(leaf, Period):
        yield from (Decimal(leaf.months), Decimal(leaf.days))
    elif isinstance(leaf, Elapsed):
        # People say minutes and hours; only whole ones are the same duration.
        for unit_ms in (1, 1_000, 60_000, 3_600_000, 86_400_000):
            if leaf.duration_ms % unit_ms == 0:
                yield Decimal(leaf.duration_ms // unit_ms)
    elif isinstance(leaf, Timestamp):
        yield Decimal(leaf.at_ms)
    elif isinstance(leaf, str):
        for digits in re.findall(r"\d+(?:\.\d+)?", leaf):
            if digits.isascii():
                yield Decimal(digits)
