"""The first record of a log, with the defaults of spec 1.7."""

from enum import Enum

from schemas.catalogue import Catalogue
from schemas.control import Genesis, PrincipalRights, Weights
from schemas.event import Event, Principal, PrincipalKind
from schemas.identity import catalogue_digest

WEIGHTS = Weights(relevance=1, coverage=2, tail=2, debt=1, over=1)
BUDGET_MAIN = 8_000
BUDGET_TAIL = 2_000
DEADLINE_MS = 900_000


class Authority(Enum):
    """Whether principals are taken at their word, or only a mac that verifies counts."""

    OPEN = "open"
    AUTHENTICATED = "authenticated"


def build_genesis(
    catalogue: Catalogue,
    *,
    operators: tuple[str, ...] = (),
    partitions: int = 1,
    authority: Authority = Authority.OPEN,
) -> Event:
    """Return the genesis event of a log under ruleset 1; ``operators`` may confirm and operate.

    An authenticated log takes only signed events, this one included (spec 1.6).
    """
    return Event(
        event_id="genesis:" + catalogue_digest(catalogue).hex()[:16],
        tenant="",
        user="",
        occurred_at_ms=0,
        utc_offset_min=0,
        zone=None,
        principal=Principal(PrincipalKind.OPERATOR, "genesis"),
        mac=None,
        causation_id=None,
        correlation_id=None,
        derived_from=(),
        source=None,
        source_seq=None,
        payload=Genesis(
            ruleset=1,
            catalogue=catalogue,
            weights=WEIGHTS,
            budget_main=BUDGET_MAIN,
            budget_tail=BUDGET_TAIL,
            selector="two_level",
            partitions=partitions,
            rights=tuple(PrincipalRights(name, confirm=True, operate=True) for name in operators),
            authenticated=authority is Authority.AUTHENTICATED,
            deadline_ms=DEADLINE_MS,
        ),
    )
