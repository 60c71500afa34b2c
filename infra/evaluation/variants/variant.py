"""The one shape of all variants: how a log is set up, and what the generator is shown.

A variant's file states these fields and the function that shows; it contains no rule.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from infra.evaluation.domains import list_dimensions
from infra.evaluation.fixture import Fixture
from infra.evaluation.shown import Line, Shown
from schemas.event import TurnRequested, UnitScore
from schemas.packet import Packet

BUDGET_MAIN: Final = 1_100
BUDGET_TAIL: Final = 500
BUDGET: Final = BUDGET_MAIN + BUDGET_TAIL
"""Cost units of evidence: the same for every variant but long context."""
WITHOUT_LIMIT: Final = 2**40

MILLION: Final = 1_000_000


class Source(StrEnum):
    """Where a variant's outcome comes from."""

    LABEL = "label"  # The oracle's own, written by the scorer; nothing runs.
    ANSWER = "answer"  # The generator's first candidate as it stands.
    PIPELINE = "pipeline"  # What the log put out.


@dataclass(frozen=True, slots=True)
class Material:
    """What a variant may show from: the history as lines, and the packet of its log, if any."""

    fixture: Fixture
    lines: tuple[Line, ...]
    packet: Packet | None


Show = Callable[[Material], Shown]
Score = Callable[[tuple[Line, ...]], tuple[UnitScore, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One comparison interface.

    ``log`` names the log it runs on: variants that differ in their gate alone share one, and
    with it every candidate. ``spared`` are dimensions that its catalogue never binds; ``typed``
    interfaces show the packet; without ``repairs`` every repair act counts as Abstain.
    """

    name: str
    log: str
    source: Source
    show: Show | None
    selector: str = "topk"
    budget_main: int = BUDGET_MAIN
    budget_tail: int = BUDGET_TAIL
    score: Score | None = None
    spared: tuple[str, ...] = ()
    typed: bool = False
    repairs: bool = True


ALL_DIMENSIONS: Final = list_dimensions()


def show_text(material: Material, lines: tuple[Line, ...]) -> Shown:
    """Return a text-only interface: the request as it was said, and these lines."""
    request = read_request(material.fixture)
    return Shown(
        material.fixture.fixture_id, request.scene, request.text or "", request.asks, lines
    )


def read_request(fixture: Fixture) -> TurnRequested:
    """Return the request that a fixture ends with."""
    payload = fixture.events[-1].payload
    assert isinstance(payload, TurnRequested), "a fixture ends with its request"
    return payload


def score_by_recency(lines: tuple[Line, ...]) -> tuple[UnitScore, ...]:
    """Return each unit's place in time as its relevance, and no penalty."""
    units = [line.unit_id for line in lines if line.unit_id]
    count = max(1, len(units))
    return tuple(
        UnitScore(unit_id, MILLION * place // count, 0) for place, unit_id in enumerate(units, 1)
    )
