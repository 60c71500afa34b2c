"""The fixtures: 360 seeded histories, 60 in each bucket, and their labels.

A bucket has twenty cases, each told at three lengths; the cases are the clusters of the
bootstrap. The same seed gives the same bytes; labels come out beside the histories, never in
them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from infra.evaluation.buckets import BUILDERS, CASES, describe
from infra.evaluation.chronicle import USER, Chronicle
from infra.evaluation.domains import DOMAINS, QUOTE
from infra.evaluation.fixture import Bucket, Fixture, Label
from infra.evaluation.noise import tell_noise
from infra.evaluation.scenario import Scenario, find_feasible, list_needs, open_scenario
from schemas.candidate import SlotValue
from schemas.event import TurnRequested

SEED: Final = 7
TIERS: Final = (("short", 12, 34), ("medium", 40, 120), ("long", 140, 340))
"""Name, least and most events of a history; a case may need a few more than the least."""
EXTENDED: Final = (400, 800, 1_600)
"""Lengths of the long-history variants, for the payload diagnostic."""
EXTENDED_CASES: Final = 2  # Per bucket.

Drawn = tuple[Fixture, Label]


@dataclass(frozen=True, slots=True)
class Place:
    """One fixture before it is drawn: its bucket, its case's number, its length by name."""

    bucket: Bucket
    turn: int
    tier: str
    length: int


def list_places() -> tuple[Place, ...]:
    """Return the places of the 360 fixtures, by bucket, case and length."""
    # Lengths lie evenly on a logarithmic scale, so that every size is there.
    return tuple(
        Place(bucket, turn, name, round(least * (most / least) ** (turn / (CASES - 1))))
        for bucket in Bucket
        for turn in range(CASES)
        for name, least, most in TIERS
    )


def list_extended() -> tuple[Place, ...]:
    """Return those of the long-history variants: first cases of each bucket in much more noise."""
    return tuple(
        Place(bucket, turn, f"extended_{length}", length)
        for bucket in Bucket
        for turn in range(EXTENDED_CASES)
        for length in EXTENDED
    )


def generate_fixtures(seed: int = SEED) -> Iterator[Drawn]:
    """Yield the 360 fixtures with their labels."""
    return (draw_fixture(seed, place) for place in list_places())


def draw_fixture(seed: int, place: Place) -> Drawn:
    """Return one fixture and its label; it depends on the seed and its place alone."""
    case_id = f"{place.bucket.value}-{place.turn:02d}"
    fixture_id = f"{case_id}-{place.tier}"
    domain = DOMAINS[place.turn % len(DOMAINS)]
    scenario = open_scenario(case_id, domain, seed_draw(f"{seed}/{case_id}"))
    BUILDERS[place.bucket](scenario, place.turn)
    chronicle = Chronicle(fixture_id, seed_draw(f"{seed}/{fixture_id}"))
    _weave(scenario, chronicle, place.length)
    _ask(scenario, chronicle)
    fixture = Fixture(fixture_id, tuple(chronicle.events))
    return fixture, _label(scenario, chronicle, place.bucket, place.tier)


def seed_draw(name: str) -> Random:
    """Return a source of chance of its own for this name."""
    return Random(name)  # noqa: S311 - fixtures, no secrets


def _weave(scenario: Scenario, chronicle: Chronicle, length: int) -> None:
    """Tell the beats in their order, with noise between them in proportion to their places."""
    ordered = sorted(enumerate(scenario.beats), key=lambda item: (item[1][0], item[0]))
    noise = max(0, length - len(ordered) - 1)
    told = 0
    for _, (place, beat) in ordered:
        due = math.floor(place * noise)
        for _ in range(due - told):
            tell_noise(chronicle, scenario.domain, scenario.day)
        told = max(told, due)
        beat(chronicle)
    for _ in range(noise - told):
        tell_noise(chronicle, scenario.domain, scenario.day)


def _ask(scenario: Scenario, chronicle: Chronicle) -> None:
    asks = [SlotValue("party", scenario.party), SlotValue("purpose", scenario.purpose)]
    if scenario.asks_day:
        asks.append(SlotValue("day", scenario.day))
    text = describe(scenario)
    for offer in scenario.offers:
        if offer.name == scenario.asked_offer:
            asks.append(SlotValue("offer", offer.record))
            text += f" We would like {offer.name}."
    request = TurnRequested(
        scene=scenario.domain.scene, text=text, asks=tuple(asks), wanted_dimensions=(QUOTE,)
    )
    chronicle.tell(USER, request)


def _label(scenario: Scenario, chronicle: Chronicle, bucket: Bucket, tier: str) -> Label:
    return Label(
        fixture_id=chronicle.fixture_id,
        case_id=scenario.case_id,
        bucket=bucket,
        domain=scenario.domain.name,
        tier=tier,
        history_events=len(chronicle.events),
        expected=scenario.expected,
        checks=tuple(scenario.checks),
        needs=list_needs(scenario.needs),
        witnesses=tuple(scenario.witnesses),
        obligations=list_needs(scenario.obligations),
        feasible=find_feasible(scenario),
        day=scenario.day if scenario.asks_day else "",
        party=scenario.party,
        purpose=scenario.purpose,
        uncompiled=tuple(chronicle.uncompiled),
        intrusive=tuple(chronicle.intrusive),
    )
