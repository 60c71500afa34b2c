"""Numbered rules: what a ruleset fixes, and the ones this build knows (spec 1.7).

A change of behaviour is a new number here, never an edit of an old one: a decision names its
ruleset, and old numbers stay replayable. Bounds that no ruleset changes stand in limits.py.
"""

from dataclasses import dataclass, replace
from typing import Final

from processors.activation.problem import Mode
from processors.limits import PACKETS_PER_TURN_MAX
from schemas.event import Sensitivity


class UnknownRulesetError(Exception):
    """The log has activated rules that this build does not have; its worker stops (spec 1.7)."""

    def __init__(self, number: int) -> None:
        """Name the number that is missing and the remedy."""
        known = ", ".join(str(key) for key in sorted(RULESETS))
        super().__init__(
            f"ruleset {number} is active in the log, this build knows {known}: "
            f"install a release that has ruleset {number}, then start again"
        )
        self.number = number


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """What one number fixes; millionths where an amount is a share of a term of J.

    ``turn_search`` is how a turn in turn mode chooses its evidence (``Mode`` of the selectors).
    ``shows_commitments`` says whether E_t shows the commitments that a turn may amend.
    ``sensitivity_over`` pairs a sensitivity with what showing such a unit costs.
    """

    number: int
    turn_search: Mode
    packets_per_turn: int
    shows_commitments: bool
    sensitivity_over: tuple[tuple[Sensitivity, int], ...]
    unrelated_over: int
    repeated_over: int
    over_max: int


_FIRST: Final = Ruleset(
    number=1,
    turn_search="turn",
    packets_per_turn=PACKETS_PER_TURN_MAX,
    shows_commitments=False,
    sensitivity_over=(
        (Sensitivity.NONE, 0),
        (Sensitivity.LOW, 100_000),
        (Sensitivity.MEDIUM, 400_000),
        (Sensitivity.HIGH, 800_000),
    ),
    unrelated_over=200_000,
    repeated_over=300_000,
    over_max=1_000_000,
)

_SECOND: Final = replace(_FIRST, number=2, turn_search="cover")
"""Greedy covering can leave a requirement open that another set within the budgets covers, and
the user is then asked for what is held. From ruleset 2 on, turn mode searches such a set too,
as result mode always did (cover.py, bounded by COVER_NODES_MAX)."""

_THIRD: Final = replace(_SECOND, number=3, shows_commitments=True)
"""A generator sees the packet only, and packets named no commitment: an amendment could come
from a caller that remembers ids, never from a model. From ruleset 3 on they are units of E_t
(amendable.py). The record Packet keeps its form, so that what is decided keeps its bytes."""

RULESETS: Final[dict[int, Ruleset]] = {one.number: one for one in (_FIRST, _SECOND, _THIRD)}


def find_ruleset(number: int) -> Ruleset:
    """Return the rules of this number.

    Raises:
        UnknownRulesetError: this build lacks them; the caller stops before the next event.

    """
    ruleset = RULESETS.get(number)
    if ruleset is None:
        raise UnknownRulesetError(number)
    return ruleset
