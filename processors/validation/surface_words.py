"""The words by which the surface check knows numbers, dates, promises and sentence openers.

English and closed; a word that is not here is judged by its capital letter alone.
"""

from decimal import Decimal
from typing import Final

_UNITS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

NUMBERS: Final[dict[str, Decimal]] = {
    # "one" is left out: more often it is no number.
    **{word: Decimal(value) for value, word in enumerate(_UNITS) if word != "one"},
    **{word: Decimal(10 * tens) for tens, word in enumerate(_TENS, start=2)},
    **{
        f"{word}-{unit}": Decimal(10 * tens + value)
        for tens, word in enumerate(_TENS, start=2)
        for value, unit in enumerate(_UNITS[:10])
        if value
    },
    "hundred": Decimal(100),
    "thousand": Decimal(1_000),
    "million": Decimal(1_000_000),
    "dozen": Decimal(12),
    "once": Decimal(1),
    "twice": Decimal(2),
    "half": Decimal("0.5"),
    "double": Decimal(2),
}

_MONTH_NAMES: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
MONTHS: Final[dict[str, int]] = {
    **{name: month for month, name in enumerate(_MONTH_NAMES, start=1)},
    **{name[:3]: month for month, name in enumerate(_MONTH_NAMES, start=1)},
}

_DAY_NAMES: Final = (
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
)  # fmt: skip
WEEKDAYS: Final[dict[str, int]] = {
    **{name: day for day, name in enumerate(_DAY_NAMES)},
    **{f"{name}s": day for day, name in enumerate(_DAY_NAMES)},
}

RELATIVE_DAYS: Final = frozenset(
    {"today", "tonight", "tomorrow", "yesterday", "noon", "midnight", "weekend", "daily", "weekly"}
)

PROMISES: Final = (
    "guarant", "promis", "assur", "ensur", "warrant", "refund", "reimburs", "free", "compliment",
    "discount", "bonus", "upgrad", "waive", "insur", "always", "never", "forever", "definitely",
    "certainly", "absolutely", "surely", "undoubtedly", "unlimited", "lifetime", "risk-free",
    "vow", "pledg", "swear",
)  # fmt: skip
"""Stems of words that bind: what they say must be carried by a slot."""

CURRENCIES: Final[dict[str, frozenset[str]]] = {
    "$": frozenset({"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "ARS", "CLP", "COP", "TWD"}),
    "\u20ac": frozenset({"EUR"}),
    "\u00a3": frozenset({"GBP"}),
    "\u00a5": frozenset({"JPY", "CNY"}),
    "\u20b9": frozenset({"INR"}),
    "\u20a9": frozenset({"KRW"}),
    "\u20bd": frozenset({"RUB"}),
    "\u20ba": frozenset({"TRY"}),
}

OPENERS: Final = frozenset(
    {
        "a", "added", "after", "all", "an", "and", "any", "arranged", "as", "ask", "at",
        "before", "booked", "both", "bought", "bring", "but", "by", "call", "cancelled",
        "changed", "check", "come", "confirmed", "contact", "done", "each", "enjoy", "every",
        "everything", "find", "for", "from", "give", "good", "great", "have", "hello", "here",
        "hi", "how", "i", "i'll", "i'm", "i've", "if", "in", "it", "it's", "its", "just", "keep",
        "let", "look", "meet", "moved", "no", "noted", "of", "ok", "okay", "on", "ordered",
        "our", "paid", "please", "ready", "remember", "reserved", "scheduled", "see", "send",
        "sent", "set", "show", "so", "sorry", "sure", "take", "tell", "thank", "thanks", "that",
        "that's", "the", "their", "then", "there", "these", "they", "this", "those", "to",
        "transferred", "understood", "updated", "use", "visit", "we", "we'll", "we've",
        "welcome", "what", "when", "where", "which", "with", "write", "yes", "you", "you'll",
        "you're", "you've", "your",
    }
)  # fmt: skip
"""Words that may open a sentence with a capital without being a name."""
