"""The order of authority: hint < inferred < observed < asserted < confirmed (spec 1.10).

Whose word is worth what stands here; what a weaker statement does is ``compilation``.
"""

from collections.abc import Iterable
from typing import Final

from schemas.catalogue import Authority
from schemas.event import PrincipalKind

ORDER: Final = (
    Authority.UNKNOWN,
    Authority.HINT,
    Authority.INFERRED,
    Authority.OBSERVED,
    Authority.ASSERTED,
    Authority.CONFIRMED,
)

_RANKS: Final = {authority: place for place, authority in enumerate(ORDER)}

_OF_PRINCIPAL: Final = {
    PrincipalKind.USER: Authority.ASSERTED,
    PrincipalKind.TOOL: Authority.OBSERVED,
    PrincipalKind.OPERATOR: Authority.OBSERVED,
}


def rank(authority: Authority) -> int:
    """Return the place of an authority in the order; unknown is below everything."""
    return _RANKS[authority]


def lowest(authorities: Iterable[Authority]) -> Authority:
    """Return the lowest of these, what a value derived from all of them is worth.

    Of nothing it is ``hint``: what has no known source is worth no more.
    """
    return min(authorities, key=_RANKS.__getitem__, default=Authority.HINT)


def speak(kind: PrincipalKind) -> Authority:
    """Return what a principal's own statement is worth before its sources are looked at."""
    return _OF_PRINCIPAL.get(kind, Authority.HINT)
