"""The six buckets: what goes wrong in each, and how often the right act is a repair.

Each builder takes a case and adds its beats. ``turn`` is the number of the case in its bucket,
0 to 19; the first ones may be committed to, the last ones may not.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from infra.evaluation.chronicle import (
    EXTRACTOR,
    TOOL,
    USER,
    Chronicle,
    build_predicate,
    draft_unit,
)
from infra.evaluation.domains import CLEARANCE, DAYS
from infra.evaluation.fixture import Bucket, Check, Expected, Relation
from infra.evaluation.scenario import (
    Offer,
    Scenario,
    confirm_ban,
    confirm_cap,
    mention_facts,
    raise_prices,
    record_clearance,
    record_offers,
    record_witness,
    revoke_exception,
)
from schemas.candidate import SlotValue
from schemas.event import (
    Alternative,
    CommitmentObserved,
    HintExtracted,
    HintKind,
    ObligationDischarged,
    ObligationOpened,
    ObservationWithdrawn,
    OutcomeObserved,
    UtteranceOrigin,
)
from schemas.predicate import Predicate

CASES: Final = 20


def add_false_hardening(scenario: Scenario, turn: int) -> None:
    """Add a liking that sounds like a rule; every offer that keeps the rules goes against it."""
    _lay_ground(scenario)
    record_clearance(scenario, 0.4, 0.9)
    mild = _find_shared(scenario)
    scenario.at(0.3, 0.6, lambda chronicle: _sigh(chronicle, mild))
    if turn < 16:
        scenario.at(0.6, 0.9, lambda chronicle: _exaggerate(chronicle, mild))
        return
    scenario.expected = Expected.CLARIFY

    def extract(chronicle: Chronicle) -> None:
        said = chronicle.say(f"I think {mild} is something we can't have at all, for this errand.")
        source = chronicle.events[int(said.partition("#")[0]) - 1].event_id
        predicate = build_predicate(
            f"{scenario.domain.name}-soft",
            f'slots.offer.features disjoint_from set("{mild}") and slots.party <= 40',
            scene=scenario.domain.scene,
        )
        hint = HintExtracted(HintKind.CONSTRAINT, "", "", None, predicate, 600_000, (source,))
        chronicle.tell(EXTRACTOR, hint, derived_from=(source,))

    scenario.at(0.6, 0.9, extract)


def add_hidden_exception(scenario: Scenario, turn: int) -> None:
    """Add a cap that is repeated without its exception, and offers that need the exception."""
    domain = scenario.domain
    raise_prices(scenario)
    exception = scenario.purpose
    if turn >= 14 and turn % 2 == 0:
        # The rule stands against the purpose that the user states.
        exception = next(one for one in domain.purposes if one != scenario.purpose)
        scenario.expected = Expected.RECONTRACT
    confirm_cap(scenario, unless_purpose=exception)
    if turn >= 14 and turn % 2:
        scenario.expected = Expected.ABSTAIN
        revoke_exception(scenario)
    confirm_ban(scenario)
    record_offers(scenario)
    record_clearance(scenario, 0.4, 0.9)
    mention_facts(scenario, 1)
    for _ in range(3):
        scenario.at(
            0.4, 0.95,
            lambda chronicle: chronicle.say(
                f"And keep the {domain.noun} within {scenario.cap} euros, as we said."
            ),
        )  # fmt: skip
    if scenario.expected is Expected.RECONTRACT:
        scenario.asked_offer = scenario.offers[0].name


def add_witness_drop(scenario: Scenario, turn: int) -> None:
    """Let the required evidence be one early tail witness, or not be there (any more)."""
    _lay_ground(scenario)
    if turn < 6:
        record_witness(scenario, 0.02, 0.15)
    elif turn < 14:
        record_witness(scenario, 0.02, 0.15)
        record_clearance(scenario, 0.7, 0.95)
    else:
        scenario.expected = Expected.CLARIFY
        scenario.infeasible = True
        if turn < 17:
            record_witness(scenario, 0.02, 0.15)
            scenario.at(0.5, 0.8, lambda chronicle: _withdraw_witness(scenario, chronicle))


def add_infeasible_continuation(scenario: Scenario, turn: int) -> None:
    """Leave nothing to commit to: it failed, it conflicts, nothing fits, or a slot is unknown."""
    if turn in range(13, 17):
        raise_prices(scenario)
        scenario.expected = Expected.ABSTAIN
    _lay_ground(scenario)
    record_clearance(scenario, 0.4, 0.9)
    if turn < 8:
        scenario.expected = Expected.RECONTRACT
        # Last of all: whatever is confirmed after the failure would let it be tried anew.
        scenario.at(1.0, 1.0, lambda chronicle: _fail_last(scenario, chronicle))
    elif turn < 13:
        scenario.expected = Expected.RECONTRACT
        scenario.infeasible = True
        _contradict_days(scenario)
    elif turn >= 17:
        scenario.expected = Expected.CLARIFY
        scenario.infeasible = True
        scenario.asks_day = False


def add_consequence_debt(scenario: Scenario, turn: int) -> None:
    """Add open obligations, some of which block the scene, and one that is settled already."""
    _lay_ground(scenario)
    record_clearance(scenario, 0.4, 0.9)
    debts = scenario.domain.debts
    owed = debts[: 2 + turn % 2]
    for place, debt in enumerate(owed):
        blocks = (scenario.domain.scene,) if place == 0 else ()
        missing = place == 0 and turn >= 14
        _owe(scenario, debt, blocks, missing=missing)
    if turn >= 14:
        scenario.expected = Expected.CLARIFY
        scenario.infeasible = True
    name = scenario.domain.own(debts[-1]) + ":old"
    scenario.at(0.05, 0.1, lambda chronicle: _open_debt(chronicle, name, name, ()))
    scenario.at(0.2, 0.4, lambda chronicle: _close_debt(chronicle, name))


def add_surface_mismatch(scenario: Scenario, turn: int) -> None:
    """Lay plain cases in which what may go wrong is the wording; in the last ones nothing fits."""
    if turn >= 18:
        raise_prices(scenario)
        scenario.expected = Expected.ABSTAIN
    _lay_ground(scenario)
    record_clearance(scenario, 0.4, 0.9)
    mention_facts(scenario, 2)


BUILDERS: Final[Mapping[Bucket, Callable[[Scenario, int], None]]] = MappingProxyType(
    {
        Bucket.FALSE_HARDENING: add_false_hardening,
        Bucket.HIDDEN_EXCEPTION: add_hidden_exception,
        Bucket.WITNESS_DROP: add_witness_drop,
        Bucket.INFEASIBLE_CONTINUATION: add_infeasible_continuation,
        Bucket.CONSEQUENCE_DEBT: add_consequence_debt,
        Bucket.SURFACE_MISMATCH: add_surface_mismatch,
    }
)


def _lay_ground(scenario: Scenario) -> None:
    confirm_cap(scenario)
    confirm_ban(scenario)
    record_offers(scenario)
    mention_facts(scenario, 1)


def _find_shared(scenario: Scenario) -> str:
    """Return a feature of every offer that keeps cap and ban."""
    kept: list[Offer] = [
        offer
        for offer in scenario.offers
        if offer.price <= scenario.cap and scenario.banned not in offer.features
    ]
    return next(one for one in kept[0].features if all(one in offer.features for offer in kept))


def _sigh(chronicle: Chronicle, mild: str) -> None:
    said = chronicle.say(f"I'm not so fond of {mild}, if it can be helped.")
    source = chronicle.events[int(said.partition("#")[0]) - 1].event_id
    hint = HintExtracted(HintKind.PREFERENCE, "", "mood", mild, None, 400_000, (source,))
    chronicle.tell(EXTRACTOR, hint, derived_from=(source,))


def _exaggerate(chronicle: Chronicle, mild: str) -> None:
    chronicle.reply(f"Summary so far: the user never wants {mild}.", UtteranceOrigin.SUMMARY)


def _withdraw_witness(scenario: Scenario, chronicle: Chronicle) -> None:
    seq = int(scenario.witnesses[0].partition("#")[0])
    chronicle.tell(USER, ObservationWithdrawn((chronicle.events[seq - 1].event_id,)))
    scenario.witnesses.clear()
    scenario.needs[CLEARANCE].clear()


def _fail_last(scenario: Scenario, chronicle: Chronicle) -> None:
    scene = scenario.domain.scene
    offer = scenario.offers[0]
    other = next(day for day in DAYS if day != scenario.day)
    chronicle.tell(
        TOOL,
        CommitmentObserved(
            f"{chronicle.fixture_id}:before", scene, scene,
            (SlotValue("offer", offer.record), SlotValue("day", scenario.day)),
        ),
    )  # fmt: skip
    alternative = Alternative((SlotValue("day", other),))
    chronicle.tell(
        TOOL,
        OutcomeObserved(scene, None, succeeded=False, statements=(), alternatives=(alternative,),
                        scopes=()),
    )  # fmt: skip


def _contradict_days(scenario: Scenario) -> None:
    """Confirm two rules about the day that no day keeps."""
    domain = scenario.domain
    dimension = domain.own("days")
    some = scenario.draw.sample(DAYS, 3)
    listed = ", ".join(f'"{day}"' for day in some)
    for place, (name, relation, operator) in enumerate(
        (("these", Relation.ONE_OF, "in"), ("others", Relation.NONE_OF, "not_in"))
    ):
        predicate = build_predicate(
            f"{domain.name}-days-{name}", f"slots.day {operator} [{listed}]", dimension,
            scene=domain.scene,
        )  # fmt: skip
        beat = partial(_confirm_days, scenario, predicate)
        scenario.at(0.1 + 0.4 * place, 0.4 + 0.4 * place, beat)
        scenario.checks.append(Check(predicate.predicate_id, "day", relation, 0, tuple(some), ""))


def _confirm_days(scenario: Scenario, predicate: Predicate, chronicle: Chronicle) -> None:
    unit_id = chronicle.confirm(predicate)
    scenario.needs.setdefault(predicate.dimensions[0], []).append(unit_id)


def _owe(scenario: Scenario, debt: str, blocks: tuple[str, ...], *, missing: bool) -> None:
    dimension = scenario.domain.own(debt)
    words = debt.replace("_", " ")
    scenario.obligations[dimension] = []
    if blocks:
        scenario.needs[dimension] = []
    scenario.at(0.1, 0.5, lambda chronicle: _open_debt(chronicle, dimension, dimension, blocks))

    def record(chronicle: Chronicle) -> None:
        text = f"{words} from the time before: slip {chronicle.draw.randint(1000, 9999)}, unpaid"
        units = chronicle.record(draft_unit(text, dimension))
        scenario.obligations[dimension].extend(units)
        if blocks:
            scenario.needs[dimension].extend(units)

    if not missing:
        scenario.at(0.5, 0.7, record)


def _open_debt(chronicle: Chronicle, name: str, dimension: str, blocks: tuple[str, ...]) -> None:
    chronicle.tell(TOOL, ObligationOpened(name, dimension, None, blocks))


def _close_debt(chronicle: Chronicle, name: str) -> None:
    chronicle.tell(TOOL, ObligationDischarged(name))


def describe(scenario: Scenario) -> str:
    """Return the words in which the user asks for the turn."""
    opening = scenario.draw.choice(("Please arrange", "Could you now arrange", "Go on and arrange"))
    day = f" on {scenario.day}" if scenario.asks_day else ""
    return f"{opening} the {scenario.domain.noun}{day} for {scenario.party}, {scenario.purpose}."
