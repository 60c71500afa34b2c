"""How a clause means what it says: about whom, affirmed or denied, how strictly, at most or least.

Words decide, nothing is guessed: what the rules here do not know counts as a plain statement of
the user only where no other person is named.
"""

import re
from enum import StrEnum
from typing import Final

PERSONS: Final = (
    "flatmate|roommate|housemate|wife|husband|spouse|partner|girlfriend|boyfriend|friend|mother|"
    "father|mom|mum|dad|son|daughter|sister|brother|aunt|uncle|cousin|grandmother|grandfather|"
    "grandma|grandpa|boss|manager|colleague|coworker|assistant|guest|neighbour|neighbor|kid|"
    "child|baby|parents|kids|children|friends|guests|client|customer|doctor|landlord|nephew|niece"
)
_OTHER: Final = re.compile(
    rf"^(?:(?:and|so|because|since|also|but|well|yes|no),?\s+)?(?:my|our|a|the|his|her|their)\s+"
    rf"(?:\w+\s+)?(?P<who>{PERSONS})\b(?!\s+and\s+(?:i|me)\b)(?:'s\b)?"
)
_PRONOUN: Final = re.compile(
    r"^(?:(?:and|so|because|since|also|but),?\s+)?(?P<who>he|she|they|it|his|her|their|you)\b"
)
_NAME: Final = re.compile(
    r"^(?P<who>[A-Z][\w'-]{1,30})\s+(?:is|isn't|can't|cannot|can not|doesn't|does not|won't|hates|"
    r"loves|likes|dislikes|prefers|must|never|has|wants|needs|said|says|thinks)\b"
)
_NOT_NAMES: Final = frozenset(
    {"I", "We", "It", "That", "This", "There", "What", "Who", "He", "She", "They", "You", "Please",
     "Everything", "Nothing", "Something", "Anything", "Nobody", "Everyone", "Someone"}
)  # fmt: skip
_DENIED: Final = re.compile(
    r"(?:\b(?:not|never|without|cannot|nor|neither|no|avoid|except|instead of|rather than|"
    r"other than|anything but)|n't)\b"
)
_ANSWER_NO: Final = re.compile(r"^(?:no|nope|nah|not really|not that one)\b(?=\s*(?:,|$))")
_STRICT: Final = re.compile(
    r"\b(?:never|must|mustn't|always|cannot|can't|can not|under no circumstances|no more than"
    r"|not more than|at most|at least|no less than|maximum|minimum|no later than|no earlier than|"
    r"absolutely|strictly|don't ever|do not ever|not exceed)\b"
)
_ALWAYS: Final = re.compile(r"\b(?:always|every time|each time|without exception)\b")
_COMPARED: Final = re.compile(
    r"\b(?:(?P<le>at most|no more than|not more than|up to|a maximum of|maximum(?: of)?|max|within|"
    r"no later than|not exceed|budget (?:is|of)|limit (?:is|of))"
    r"|(?P<ge>at least|no less than|not less than|a minimum of|minimum(?: of)?|no earlier than|"
    r"not before)"
    r"|(?P<lt>under|below|less than|cheaper than|fewer than|before|earlier than)"
    r"|(?P<gt>over|above|more than|exceed|later than|after))\s+(?:the\s+|about\s+)?$"
)
_FLIPPED: Final = {"lt": "ge", "gt": "le", "le": "gt", "ge": "lt"}
NEAR_CHARACTERS: Final = 40
"""A denial reaches this far ahead within its clause, and never over a comma."""


class Stance(StrEnum):
    """What a clause says of a value: it is so, it is not, or a bound."""

    IS = "=="
    IS_NOT = "!="
    AT_MOST = "<="
    AT_LEAST = ">="
    BELOW = "<"
    ABOVE = ">"


_STANCES: Final = {
    "le": Stance.AT_MOST, "ge": Stance.AT_LEAST, "lt": Stance.BELOW, "gt": Stance.ABOVE
}  # fmt: skip


def find_subject(clause: str, original: str) -> str | None:
    """Return "" for the user, the name of another person, or None for a pronoun's unknown one.

    ``original`` is the clause with its capitals: names of people have them.
    """
    other = _OTHER.match(clause)
    if other is not None:
        return other["who"]
    if _PRONOUN.match(clause) is not None:
        return None if not clause.startswith(("you ", "it ")) else ""
    named = _NAME.match(original)
    if named is not None and named["who"] not in _NOT_NAMES:
        return named["who"]
    return ""


def is_strict(clause: str) -> bool:
    """Return whether a clause is worded as a rule and not as a wish."""
    return _STRICT.search(clause) is not None


def is_standing(clause: str) -> bool:
    """Return whether a plain statement is worded as one for every time."""
    return _ALWAYS.search(clause) is not None


def is_denied(clause: str, start: int) -> bool:
    """Return whether a denial stands before a place of the clause, near it and not over a comma."""
    before = clause[max(0, start - NEAR_CHARACTERS) : start].rpartition(",")[2]
    return _DENIED.search(_ANSWER_NO.sub("", before)) is not None


def judge(clause: str, start: int) -> Stance:
    """Return what the words before a place say of the value that stands there."""
    before = clause[:start]
    bound = _COMPARED.search(before)
    denied = is_denied(clause, bound.start() if bound is not None else start)
    if bound is None:
        return Stance.IS_NOT if denied else Stance.IS
    name = str(bound.lastgroup)
    return _STANCES[_FLIPPED[name] if denied else name]
