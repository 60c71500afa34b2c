"""What a predicate may look at: one merged commitment and what surrounds it (spec 2.3, 2.4).

A scope is all that an evaluation reads; there is no clock and no store behind it. Exchange
rates are units whose slot is ``rate:FROM/TO`` (two ISO 4217 codes) and whose value is a
positive decimal or whole number: one FROM is that many TO. ``rate:USD/EUR`` of 0.90 turns
95.00 USD into exactly 85.50 EUR. Of several units for one pair the last in order counts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from processors.limits import EVALUATION_STEPS_MAX
from processors.predicates.verdict import Verdict
from schemas.value import Value

RATE_PREFIX: Final = "rate:"


@dataclass(frozen=True, slots=True)
class UnitValue:
    """The typed value of one evidence unit; units stand in log order."""

    unit_id: str
    slot: str
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One candidate's merged commitment and its surroundings.

    ``units`` are the units that the candidate cites, ``evidence`` the valid units of Z* (only
    exchange rates are sought there). ``amended`` is the commitment being amended, else None.
    ``zone`` is the event's IANA name or offset; a predicate's own zone goes first. ``verdicts``
    maps a check's name to pass, fail or error for this candidate.
    """

    slots: Mapping[str, Value]
    state: Mapping[str, Value] | Callable[[str], Value] = field(default_factory=dict)
    units: tuple[UnitValue, ...] = ()
    evidence: tuple[UnitValue, ...] = ()
    amended: Mapping[str, Value] | None = None
    as_of_ms: int | None = None
    zone: str | None = None
    verdicts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an operand has no value: ``missing`` or ``invalid``, and a sentence for people."""

    verdict: Verdict
    reason: str


Note: TypeAlias = tuple[str, str]
"""A remark of an evaluation: (tag, text); tags are ``missing``, ``invalid`` and those below."""


class Notes(list[Note]):
    """The remarks of an evaluation over lists, and how many more items it may look at."""

    __slots__ = ("steps",)

    def __init__(self) -> None:
        """Start without remarks and with all steps left."""
        super().__init__()
        self.steps = EVALUATION_STEPS_MAX


class StepsError(Exception):
    """An evaluation would look at too many items; its verdict is invalid."""


def spend_steps(notes: list[Note], count: int) -> None:
    """Count items looked at.

    Raises:
        StepsError: more than ``EVALUATION_STEPS_MAX`` in all.

    """
    if isinstance(notes, Notes):
        notes.steps -= count
        if notes.steps < 0:
            raise StepsError


VACUOUS: Final = "vacuous"  # A quantifier over an empty list; the text is the list's path.
CITED: Final = "cited"  # An exchange rate was used; the text is its unit id.


class Setting(NamedTuple):
    """What a comparison needs beyond its two values."""

    scope: Scope
    zone: str | None
    notes: list[Note]


def find_rate(setting: Setting, *, source: str, target: str) -> UnitValue | None:
    """Return the last valid unit that states how many ``target`` one ``source`` is."""
    slot = f"{RATE_PREFIX}{source}/{target}"
    for unit in (*reversed(setting.scope.units), *reversed(setting.scope.evidence)):
        if unit.slot == slot:
            return unit
    return None
