"""Attitudes and facts of a clause: what somebody cannot have, dislikes, likes, or has begun.

Each pattern names whose attitude it is; a friend's dislike is the friend's.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Final

from infra.extraction.moments import find_dates
from infra.extraction.passages import Clause
from infra.extraction.stances import PERSONS, find_subject, is_denied


class AttitudeKind(StrEnum):
    """What is held about a thing; ``avoid`` is a limit, the others are tastes."""

    AVOID = "avoid"
    DISLIKE = "dislike"
    LIKE = "like"


@dataclass(frozen=True, slots=True)
class Attitude:
    """``subject`` ("" = the user) and the thing, at [start, end) of the utterance."""

    kind: AttitudeKind
    subject: str
    thing: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fact:
    """A slot of the user that a sentence states in so many words, with its span."""

    slot: str
    value: str | date | tuple[str, ...]
    start: int
    end: int


_THING: Final = r"(?P<thing>[^\W\d_][\w' -]{1,60})"
_STOP: Final = re.compile(
    r"\s*(?:,|\b(?:any ?more|anymore|any longer|because|since|so|when|while|it|which|that|at all|"
    r"very much|a lot|too|either|for|with|in|on|at|please|unless|except|if)\b).*$"
)
_LEAD: Final = re.compile(r"^(?:(?:any|some|the|a|an|my|eating|to eat|having|of)\s+)+")
_EXCEPTION: Final = re.compile(r"\b(?:unless|except|other than|apart from|only if|but not)\b")
_ANAPHORA: Final = frozenset(
    {"it", "that", "this", "them", "those", "these", "one", "ones", "you", "him", "her", "me",
     "there", "here", "what", "everything", "anything", "something", "nothing", "do", "be"}
)  # fmt: skip
_AVOID: Final = (
    re.compile(rf"\b(?:can't|cannot|can not|mustn't|must not|may not|never)\s+(?:eat|have|drink|"
               rf"tolerate|touch|digest)\s+{_THING}"),
    re.compile(rf"\b(?:am|i'm|is|are|he's|she's)\s+(?:\w+ly\s+)?allergic\s+to\s+{_THING}"),
    re.compile(rf"\ballergy\s+to\s+{_THING}"),
)  # fmt: skip
_ILL: Final = re.compile(
    r"^(?P<thing>[^\W\d_][\w' -]{1,40}?)\s+makes?\s+(?P<whom>me|us|my\s+(?:\w+\s+)?(?:"
    + PERSONS
    + r"))\s+(?:really\s+|very\s+)?(?:ill|sick|unwell)\b"
)
_DISLIKE: Final = (
    re.compile(rf"\b(?:can't|cannot|can not)\s+stand\s+{_THING}"),
    re.compile(rf"\b(?:hates?|dislikes?|detests?|loathes?)\s+{_THING}"),
    re.compile(rf"\b(?:don't|do not|doesn't|does not)\s+(?:like|enjoy)\s+{_THING}"),
)
_LIKE: Final = (
    re.compile(rf"\b(?:loves?|adores?|enjoys?|likes?|prefers?)\s+(?!to\b){_THING}"),
    re.compile(
        r"^(?P<thing>[^\W\d_][\w' -]{1,40}?)\s+(?:is|are)\s+my\s+(?:absolute\s+)?favou?rite"
    ),
)
_WISH: Final = re.compile(r"\b(?:would|'d|i'll|will)\s+(?:really\s+|also\s+)?$")
_BEGAN: Final = re.compile(
    r"\bi\s+(?:have\s+)?(?:started|began|begun|joined)\s+(?:the\s+|a\s+|an\s+|my\s+)?"
    r"(?P<what>[a-z][a-z-]+)\s+(?P<head>diet|job|course|treatment|medication|programme|program)\b"
)
_SIDE: Final = re.compile(
    r"\bi\s+also\s+(?:run|manage|lead|organi[sz]e|edit|chair)\s+(?:the\s+|a\s+|an\s+|my\s+|our\s+)?"
    r"(?:[\w-]+'s\s+)?(?P<what>[a-z][a-z-]+(?:\s+[a-z][a-z-]+)?)$"
)


def find_attitudes(clause: Clause, original: str) -> tuple[Attitude, ...]:
    """Return the attitudes of a clause; ``original`` is its text with capitals.

    A question, a condition, and a clause with an exception state none: without its exception an
    attitude would be wider than what was said.
    """
    text = clause.text
    if clause.asked or clause.supposed or _EXCEPTION.search(text):
        return ()
    subject = find_subject(text, original)
    if subject is None:
        return ()
    ill = _ILL.match(text)
    if ill is not None:
        whom = ill["whom"]
        hurt = "" if whom in {"me", "us"} else whom.rpartition(" ")[2]
        return tuple(_list_things(clause, AttitudeKind.AVOID, hurt, ill, ill["thing"]))
    for kind, patterns in (
        (AttitudeKind.AVOID, _AVOID), (AttitudeKind.DISLIKE, _DISLIKE), (AttitudeKind.LIKE, _LIKE)
    ):  # fmt: skip
        for pattern in patterns:
            match = pattern.search(text)
            if match is None or _is_turned(kind, text, match):
                continue
            whose = "" if match["thing"] == text[: match.end("thing")] else subject
            return tuple(_list_things(clause, kind, whose, match, match["thing"]))
    return ()


def find_facts(clause: Clause, today: datetime) -> tuple[Fact, ...]:
    """Return the facts that a clause states of the user; a day of the past is meant."""
    text = clause.text
    if clause.asked or clause.supposed:
        return ()
    found = []
    began = _BEGAN.search(text)
    if began is not None and not is_denied(text, began.start("what")):
        days = find_dates(text, today, past=True)
        if len(days) == 1 and isinstance(days[0].value, date):
            name = f"{began['head']}.{began['what'].replace('-', '_')}.since"
            start, end = min(began.start(), days[0].start), max(began.end(), days[0].end)
            found.append(Fact(name, days[0].value, clause.start + start, clause.start + end))
    side = _SIDE.search(text)
    if side is not None:
        start, end = side.span("what")
        found.append(Fact("side_roles", (side["what"],), clause.start + start, clause.start + end))
    return tuple(found)


def _is_turned(kind: AttitudeKind, text: str, match: re.Match[str]) -> bool:
    """Return whether the words before turn an attitude into a wish or its opposite."""
    if kind is AttitudeKind.LIKE:
        return bool(_WISH.search(text[: match.start()])) or is_denied(text, match.start("thing"))
    return kind is AttitudeKind.AVOID and bool(
        re.search(r"\b(?:not|n't|never)\s+(?:\w+\s+)?$", text[: match.start()])
    )


def _list_things(
    clause: Clause, kind: AttitudeKind, subject: str, match: re.Match[str], text: str
) -> Iterator[Attitude]:
    """Yield one attitude for each thing of a list; words that only point elsewhere are none."""
    base = match.start("thing")
    cut = _STOP.sub("", text)
    for part in re.finditer(r"(?:(?!\s+(?:and|or)\s+).)+", cut):
        body = re.sub(r"^\s*(?:and|or)\s+", "", part[0])
        start = base + part.start() + len(part[0]) - len(body)
        thing = _LEAD.sub("", body.strip())
        start += body.find(thing) if thing else 0
        if not thing or len(thing.split()) > 4 or _ANAPHORA & set(thing.split()):
            continue
        yield Attitude(
            kind, subject, thing, clause.start + start, clause.start + start + len(thing)
        )
