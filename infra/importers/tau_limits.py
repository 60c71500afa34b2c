"""A recorded user's own limits: asserted when said, a predicate only when agreed to in words.

A limit is an amount or a time of day beside a word of limit. The agent's message that repeats
it proposes the predicate, and only a user's yes right after that message confirms it.
"""

import re
from dataclasses import dataclass
from datetime import time
from decimal import Decimal
from typing import Final

from infra.importers.tau_catalogue import BOOK, FLIGHTS
from processors.predicates.rendering import render
from processors.predicates.text import parse
from schemas.identity import predicate_digest
from schemas.predicate import Predicate, PredicateScope
from schemas.value import Money, Value
from schemas.value_json import render_time

_LIMIT: Final = (
    r"budget|limit|up to|at most|no more than|not more than|(?:not|n.t) exceed|within|under"
    r"|less than|below|maximum"
)
_LIMIT_WORD: Final = re.compile(rf"\b(?:{_LIMIT})\b", re.IGNORECASE)
_AMOUNT: Final = re.compile(r"\$\s?(\d{1,6})(?:\.00)?\b(?![.,]\d)")
_EARLIEST: Final = re.compile(
    r"(?:n.t (?:want to )?fly before|not (?:want to )?fly before|departs? after|leaves? after"
    r"|fly after)\s+(\d{1,2})\s?(am|pm)",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(r"\b(\d{1,2})(?::00)?\s?(am|pm)\b", re.IGNORECASE)
_YES: Final = re.compile(
    r"\s*(?:yes|yeah|yep|oui|sure|correct|that's (?:right|correct)|i confirm|confirm)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit that a user stated; ``slot`` is the state slot that holds it."""

    slot: str
    value: Value
    predicate: Predicate

    @property
    def digest(self) -> bytes:
        """What the user confirms."""
        return predicate_digest(self.predicate)


def find_limits(text: str) -> tuple[Limit, ...]:
    """Return the limits that a user's message states, amounts first.

    A message that only prefers states none: a preference is no limit.
    """
    if re.search(r"\bprefer", text, re.IGNORECASE):
        return ()
    found: list[Limit] = []
    if _LIMIT_WORD.search(text):
        found.extend(_limit_charge(int(match[1])) for match in _AMOUNT.finditer(text))
    found.extend(
        _limit_departure(_read_hour(match[1], match[2])) for match in _EARLIEST.finditer(text)
    )
    return tuple({limit.slot: limit for limit in found}.values())


def repeats(text: str, limit: Limit) -> bool:
    """Return whether an agent's message restates the limit in words of limit."""
    if isinstance(limit.value, Money):
        amounts = [Decimal(match[1]) for match in _AMOUNT.finditer(text)]
        return limit.value.amount in amounts and _LIMIT_WORD.search(text) is not None
    clocks = [_read_hour(match[1], match[2]) for match in _CLOCK.finditer(text)]
    return limit.value in clocks and re.search(r"\b(?:after|before)\b", text) is not None


def says_yes(text: str) -> bool:
    """Return whether a user's message begins with a plain yes."""
    return _YES.match(text) is not None


def _limit_charge(dollars: int) -> Limit:
    expression = f'slots.charge <= money("{dollars} USD")'
    money = Money(Decimal(dollars), "USD")
    return Limit("limit_charge", money, _build("own.limit_charge", expression, (BOOK, FLIGHTS)))


def _limit_departure(earliest: time) -> Limit:
    expression = (
        "all f in slots.flights: any o in state.offers:"
        f' o.leg == f.leg and o.departs >= time("{render_time(earliest)}")'
    )
    predicate = _build("own.limit_departure", expression, (BOOK, FLIGHTS))
    return Limit("limit_departure", earliest, predicate)


def _build(predicate_id: str, expression: str, scenes: tuple[str, ...]) -> Predicate:
    return Predicate(
        predicate_id=predicate_id,
        expression=render(parse(expression)),
        unless=None,
        scenes=scenes,
        subject="",
        scope=PredicateScope.STANDING,
        valid_from_ms=None,
        valid_to_ms=None,
        dimensions=(),
        zone=None,
    )


def _read_hour(hour: str, half: str) -> time:
    return time(int(hour) % 12 + (12 if half.lower() == "pm" else 0))
