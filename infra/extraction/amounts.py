"""Amounts of money and counted things in a clause, with their spans.

price-parser reads amounts, text2num reads number words. A dollar sign names no currency: there
are many dollars, so the amount stays without one unless the words or the slot say which.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from price_parser import Price
from text_to_num import text2num

from schemas.value import DECIMAL_DIGITS_MAX, Money

WORDS_AFTER_MAX: Final = 4
"""So many words behind a number may name what is counted: "4 premium economy class tickets"."""

_UNITS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    "hundred", "thousand",
)  # fmt: skip
_WORD_NUMBER: Final = rf"(?:{'|'.join(_UNITS)})(?:(?:\s+|-|\s+and\s+)(?:{'|'.join(_UNITS)})){{0,7}}"
_DIGITS: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d{1,9}(?:\.\d{1,2})?"
_CURRENCIES: Final = {
    "$": "", "dollars": "", "dollar": "", "bucks": "", "€": "EUR", "£": "GBP", "eur": "EUR",
    "euro": "EUR", "euros": "EUR", "usd": "USD", "gbp": "GBP", "pounds": "GBP", "chf": "CHF",
    "us dollars": "USD",
}  # fmt: skip
_MONEY: Final = re.compile(
    rf"(?<![\w.,])(?:(?P<sign>[$€£])\s?(?P<amount>{_DIGITS})(?![\w%]|[.,]\d)"
    rf"(?:\s?(?P<code>usd|eur|gbp|chf)\b)?"
    rf"|(?P<number>{_DIGITS}|{_WORD_NUMBER})\s?"
    r"(?P<unit>us dollars|dollars?|bucks|usd|eur|euros?|gbp|pounds|chf|€|£)(?!\w))"
)
_COUNT: Final = re.compile(
    rf"(?<![\w.,:$€£/#-])(?:(?P<digits>\d{{1,4}})|(?P<word>{_WORD_NUMBER}))(?![\w:/%$€£]|[.,]\d)"
    r"(?P<rest>(?:[ \t-]+[a-z][a-z']*){0,4})"
)
DOLLARS: Final = frozenset({"USD", "CAD", "AUD", "NZD", "SGD", "HKD"})


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of money at [start, end) of a clause; currency "" is a dollar of some kind."""

    start: int
    end: int
    value: Money


@dataclass(frozen=True, slots=True)
class Counted:
    """A whole number at [start, end) and the words behind it, one of which names the thing."""

    start: int
    end: int
    value: int
    words: tuple[str, ...]


def find_money(text: str) -> tuple[Amount, ...]:
    """Return the amounts of money of a lower-case clause."""
    found = []
    for match in _MONEY.finditer(text):
        amount = _read_amount(match["amount"] or match["number"])
        if amount is None:
            continue
        unit = match["code"] or match["unit"] or match["sign"]
        found.append(Amount(match.start(), match.end(), Money(amount, _CURRENCIES[unit])))
    return tuple(found)


def find_counts(text: str) -> tuple[Counted, ...]:
    """Return the whole numbers of a lower-case clause with what stands behind each."""
    found = []
    place = 0
    while (match := _COUNT.search(text, place)) is not None:
        number = int(match["digits"]) if match["digits"] else read_words(match["word"])
        end = match.end("digits") if match["digits"] else match.end("word")
        if number is not None and not match["rest"].lstrip(" -").startswith("way"):
            words = tuple(re.findall(r"[a-z][a-z']*", match["rest"]))[:WORDS_AFTER_MAX]
            found.append(Counted(match.start(), end, number, words))
        place = end
    return tuple(found)


def read_words(words: str) -> int | None:
    """Return the number that words spell, or None when they spell none or several."""
    try:
        return int(text2num(words.replace("-", " ").replace(" and ", " "), "en"))
    except ValueError:
        return None


def _read_amount(text: str) -> Decimal | None:
    if text[0].isdigit():
        amount = Price.fromstring(text, decimal_separator=".").amount
        if amount is None or len(amount.as_tuple().digits) > DECIMAL_DIGITS_MAX:
            return None
        return Decimal(amount)
    number = read_words(text)
    return None if number is None else Decimal(number)
