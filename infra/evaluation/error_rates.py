"""The simulated generator's error rates: every probability by name, with what it stands for.

They are chosen, not measured. Two kinds of interface differ in them: text, where rules have to
be found and told apart from talk, and typed packets, where they are listed.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """Probabilities of one interface, each drawn apart."""

    overlook: float  # A line is not taken in, with 16 lines shown ...
    overlook_per_doubling: float  # ... and so much more for each doubling of the lines.
    overlook_max: float
    lose_exception: float  # A rule is taken in without its exception.
    harden: float  # A dislike is taken for a rule.
    push: float  # A commitment is made though no offer seems right.
    slip: float  # A value is carried over wrongly.
    cite_required: float  # What must be cited, and is listed as such, is cited.
    cite_guess: float  # Evidence that nothing marks as required is cited.
    cite_rule: float  # A rule that was taken in is cited.
    cite_offer: float  # The chosen offer's record is cited.
    cite_marked: float  # A unit marked as witness or as evidence of a debt is cited.
    cite_personal: float  # Something personal that was taken in is cited.
    embellish: float  # The text promises more than the slots carry.
    invent_slot: float  # A value that nobody gave is made up.


TEXT: Final = ErrorRates(
    overlook=0.05, overlook_per_doubling=0.035, overlook_max=0.35, lose_exception=0.25,
    harden=0.35, push=0.45, slip=0.03, cite_required=0.0, cite_guess=0.40, cite_rule=0.60,
    cite_offer=0.90, cite_marked=0.50, cite_personal=0.60, embellish=0.20, invent_slot=0.40,
)  # fmt: skip
TYPED: Final = ErrorRates(
    overlook=0.02, overlook_per_doubling=0.005, overlook_max=0.05, lose_exception=0.02,
    harden=0.10, push=0.45, slip=0.03, cite_required=0.95, cite_guess=0.20, cite_rule=0.80,
    cite_offer=0.97, cite_marked=0.90, cite_personal=0.05, embellish=0.20, invent_slot=0.40,
)  # fmt: skip

FAIL_ATTEMPT: Final = 0.03  # An attempt gives no usable answer (timeout, parse failure, ...).
THINKING_TOKENS: Final = (60, 260, 1_400)  # Least, usual and greatest length before the answer.
"""An answer that does not end within the output budget is a partial output."""
