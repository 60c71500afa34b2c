"""One case in the making: its offers, rules and beats, and what the label will say of them.

A beat is an event that matters, with its place in the history (0 the first, 1 the last). The
same case is told at several lengths; only the noise between the beats differs.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from infra.evaluation.chronicle import Chronicle, build_predicate, draft_unit
from infra.evaluation.domains import CLEARANCE, DAYS, QUOTE, Domain
from infra.evaluation.fixture import Check, Expected, Need, Relation, Terms
from infra.evaluation.noise import mention_fact
from schemas.value import RecordValue, build_record

OFFERS: Final = 5

_NAMES: Final = (
    "Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Gorse", "Hazel", "Ivy", "Juniper",
    "Kapok", "Larch", "Maple", "Nettle", "Oak", "Pine", "Quince", "Rowan", "Spruce", "Tamarack",
    "Umbra", "Viburnum", "Willow", "Yew", "Zelkova",
)  # fmt: skip

Beat = Callable[[Chronicle], object]


@dataclass(frozen=True, slots=True)
class Offer:
    """What can be committed to."""

    name: str
    price: int
    features: tuple[str, ...]

    @property
    def record(self) -> RecordValue:
        """The typed value that a commitment carries."""
        return build_record(name=self.name, price=self.price, features=self.features)

    @property
    def text(self) -> str:
        """The words in which a tool records it."""
        return f"{self.name}: {self.price} euros; {', '.join(self.features) or 'plain'}"


@dataclass(slots=True)
class Scenario:
    """A case: everything but the noise. ``draw`` is the case's own source of chance."""

    case_id: str
    domain: Domain
    draw: Random
    day: str
    party: int
    purpose: str
    offers: list[Offer]
    cap: int
    banned: str
    expected: Expected = Expected.COMMIT
    beats: list[tuple[float, Beat]] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    needs: dict[str, list[str]] = field(default_factory=dict)
    witnesses: list[str] = field(default_factory=list)
    obligations: dict[str, list[str]] = field(default_factory=dict)
    asks_day: bool = True
    asked_offer: str = ""
    infeasible: bool = False

    def at(self, low: float, high: float, beat: Beat) -> None:
        """Place a beat somewhere between two points of the history."""
        self.beats.append((self.draw.uniform(low, high), beat))


def open_scenario(case_id: str, domain: Domain, draw: Random) -> Scenario:
    """Return a case with offers of which two keep both the cap and the ban."""
    names = draw.sample(_NAMES, OFFERS)
    cap = draw.randrange(120, 300, 10)
    banned, liked, *others = draw.sample(domain.features, 4)
    offers = [
        Offer(names[0], cap - draw.randint(5, 30), (liked,)),
        Offer(names[1], cap - draw.randint(5, 40), (liked, others[0])),
        Offer(names[2], cap - draw.randint(20, 60), (banned, others[0])),
        Offer(names[3], cap + draw.randint(10, 60), (others[1],)),
        Offer(names[4], cap + draw.randint(20, 90), (banned,)),
    ]
    draw.shuffle(offers)
    scenario = Scenario(
        case_id, domain, draw, draw.choice(DAYS), draw.randint(2, 12),
        draw.choice(domain.purposes), offers, cap, banned,
    )  # fmt: skip
    scenario.needs[CLEARANCE] = []  # Required by every scene, held or not.
    return scenario


def confirm_cap(scenario: Scenario, *, unless_purpose: str = "") -> None:
    """Confirm the cap early, after an older cap that it replaces."""
    domain = scenario.domain
    predicate_id = f"{domain.name}-cap"
    dimension = domain.own("budget")
    old = scenario.cap + scenario.draw.choice((-80, 90))
    unless = f'slots.purpose == "{unless_purpose}"' if unless_purpose else None

    def begin(chronicle: Chronicle) -> None:
        chronicle.confirm(
            build_predicate(
                predicate_id, f"slots.offer.price <= {old}", dimension, scene=domain.scene
            )
        )

    def settle(chronicle: Chronicle) -> None:
        unit_id = chronicle.confirm(
            build_predicate(
                predicate_id,
                f"slots.offer.price <= {scenario.cap}",
                dimension,
                scene=domain.scene,
                unless=unless,
            )
        )
        scenario.needs[dimension] = [unit_id]
        if unless is not None:
            scenario.witnesses.append(unit_id)

    scenario.at(0.0, 0.05, begin)
    scenario.at(0.08, 0.3, settle)
    scenario.checks.append(
        Check(predicate_id, "offer.price", Relation.AT_MOST, scenario.cap, (), unless_purpose)
    )


def revoke_exception(scenario: Scenario) -> None:
    """Confirm the cap anew, later and without its exception."""
    domain = scenario.domain
    dimension = domain.own("budget")
    predicate = build_predicate(
        f"{domain.name}-cap", f"slots.offer.price <= {scenario.cap}", dimension,
        scene=domain.scene,
    )  # fmt: skip

    def settle(chronicle: Chronicle) -> None:
        scenario.needs[dimension] = [chronicle.confirm(predicate)]
        scenario.witnesses.clear()

    scenario.at(0.4, 0.6, settle)
    scenario.checks = [replace(check, unless_purpose="") for check in scenario.checks]


def confirm_ban(scenario: Scenario) -> None:
    """Confirm early what no offer may have."""
    domain = scenario.domain
    dimension = domain.own("exclusion")
    predicate_id = f"{domain.name}-ban"

    def settle(chronicle: Chronicle) -> None:
        predicate = build_predicate(
            predicate_id, f'slots.offer.features disjoint_from set("{scenario.banned}")',
            dimension, scene=domain.scene,
        )  # fmt: skip
        scenario.needs[dimension] = [chronicle.confirm(predicate)]

    scenario.at(0.1, 0.5, settle)
    scenario.checks.append(
        Check(predicate_id, "offer.features", Relation.NONE_OF, 0, (scenario.banned,), "")
    )


def record_offers(scenario: Scenario) -> None:
    """Record the offers late, each as an event of its own."""

    def record(offer: Offer) -> Beat:
        def beat(chronicle: Chronicle) -> None:
            draft = draft_unit(offer.text, QUOTE, slot="offer", value=offer.record)
            scenario.needs.setdefault(QUOTE, []).extend(chronicle.record(draft))

        return beat

    for offer in scenario.offers:
        scenario.at(0.7, 0.98, record(offer))


def record_clearance(scenario: Scenario, low: float, high: float) -> None:
    """Record the scene's required evidence as an ordinary unit."""
    domain = scenario.domain

    def record(chronicle: Chronicle) -> None:
        draft = draft_unit(f"{domain.clearance} seen, number {len(chronicle.events)}", CLEARANCE)
        scenario.needs[CLEARANCE].extend(chronicle.record(draft))

    scenario.at(low, high, record)


def record_witness(scenario: Scenario, low: float, high: float) -> None:
    """Record the rare decisive evidence: one long tail witness, in other words than the turn's."""
    domain = scenario.domain
    # Long enough that by gain per cost nothing but its reserve would keep it, short enough to
    # fit that reserve.
    text = (
        f"Scanned once at the registry: {domain.clearance}, issued to the household, with the "
        "remark that its holder must be heard before anything is agreed, that copies without a "
        "stamp are void, that the paper lapses when the holder moves, that whoever relies on it "
        "has to name the shelf and the year of issue, that whoever doubts it may ask the registry "
        "to read it out, and that an extract is given out on Thursdays only, in person, "
        f"against a fee; archive shelf {scenario.draw.randint(10, 99)}"
    )

    def record(chronicle: Chronicle) -> None:
        units = chronicle.record(draft_unit(text, CLEARANCE, tail_witness=True))
        scenario.needs[CLEARANCE].extend(units)
        scenario.witnesses.extend(units)

    scenario.at(low, high, record)


def mention_facts(scenario: Scenario, count: int) -> None:
    """Mention visible facts that nothing compiles."""
    for _ in range(count):
        scenario.at(0.3, 0.95, lambda chronicle: mention_fact(chronicle, scenario.domain))


def find_feasible(scenario: Scenario) -> tuple[Terms, ...]:
    """Return F* by the case's own arithmetic, not by any check that a runtime has."""
    if scenario.infeasible:
        return ()
    capped = not any(check.unless_purpose == scenario.purpose for check in scenario.checks)
    return tuple(
        Terms(offer.name, offer.price, offer.features)
        for offer in sorted(scenario.offers, key=lambda one: one.name)
        if scenario.banned not in offer.features and (offer.price <= scenario.cap or not capped)
    )


def list_needs(needs: dict[str, list[str]]) -> tuple[Need, ...]:
    """Return needs sorted by name."""
    return tuple(Need(name, tuple(units)) for name, units in sorted(needs.items()))


def raise_prices(scenario: Scenario) -> None:
    """Make every offer cost more than the cap."""
    scenario.offers = [
        replace(offer, price=max(offer.price, scenario.cap + scenario.draw.randint(10, 80)))
        for offer in scenario.offers
    ]
