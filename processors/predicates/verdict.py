"""The four verdicts of a predicate and how they combine (spec 2.4).

Only ``holds`` satisfies a hard predicate. No value, no text and no scope is read here.
"""

from enum import StrEnum
from typing import Final


class Verdict(StrEnum):
    """What a predicate says about one candidate."""

    HOLDS = "holds"
    FAILS = "fails"
    MISSING = "missing"
    INVALID = "invalid"


HOLDS: Final = Verdict.HOLDS
FAILS: Final = Verdict.FAILS
MISSING: Final = Verdict.MISSING
INVALID: Final = Verdict.INVALID

# The greater rank wins a conjunction; in a disjunction holds and fails change places.
_AND_RANK: Final = {HOLDS: 0, MISSING: 1, INVALID: 2, FAILS: 3}
_OR_RANK: Final = {FAILS: 0, MISSING: 1, INVALID: 2, HOLDS: 3}


def combine_and(first: Verdict, second: Verdict) -> Verdict:
    """Return the conjunction: fails over invalid over missing over holds."""
    return first if _AND_RANK[first] >= _AND_RANK[second] else second


def combine_or(first: Verdict, second: Verdict) -> Verdict:
    """Return the disjunction: holds over invalid over missing over fails."""
    return first if _OR_RANK[first] >= _OR_RANK[second] else second


def negate(verdict: Verdict) -> Verdict:
    """Return the negation: holds and fails change places, the others stay."""
    if verdict is HOLDS:
        return FAILS
    return HOLDS if verdict is FAILS else verdict
