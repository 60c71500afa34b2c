"""The rest of a life: events between those that matter, some of them close to the request.

Distractors share words with the request and outrank control evidence by relevance; other
domains' rules, forms and records are typed and irrelevant; a few units are intrusive.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from infra.evaluation.chronicle import (
    EXTRACTOR,
    TOOL,
    USER,
    Chronicle,
    build_predicate,
    draft_unit,
)
from infra.evaluation.domains import DAYS, DOMAINS, Domain
from schemas.event import (
    HintExtracted,
    HintKind,
    ObligationDischarged,
    ObligationOpened,
    PredicateConfirmed,
    Sensitivity,
    UtteranceOrigin,
)
from schemas.value import Value

_TOPICS: Final = (
    "the garden fence", "a crossword", "my cousin's move", "the choir", "the new bicycle",
    "the tax form", "a lost umbrella", "the neighbour's cat", "the football score", "a cake recipe",
)  # fmt: skip
_MOODS: Final = ("went well", "took all day", "was a mess", "made me laugh", "is still open")
_DIARY: Final = (
    "blood pressure reading and the pills of that week",
    "argument with the sister about the inheritance",
    "bank balance after the rent and the overdraft",
    "counselling notes of the second session",
)
_FACTS: Final = (
    "my aunt {name} comes along and walks with a cane",
    "{name} from the office may join a little later",
    "we found the entrance behind {name} street confusing",
    "{name} asked me to keep the receipts in one place",
)
_NAMES: Final = ("Imre", "Odile", "Tarek", "Wilma", "Jonas", "Salma", "Pavel", "Greta")


def tell_noise(chronicle: Chronicle, domain: Domain, day: str) -> None:
    """Append one event that decides nothing."""
    kinds: tuple[tuple[int, Callable[[Chronicle, Domain, str], None]], ...] = (
        (24, _chat), (16, _answer), (18, _distract), (10, _note), (8, _fill_elsewhere),
        (5, _prefer), (5, _rule_elsewhere), (6, _owe_elsewhere), (4, _intrude),
        (4, _mention),
    )  # fmt: skip
    weights = [weight for weight, _ in kinds]
    _, kind = chronicle.draw.choices(kinds, weights)[0]
    kind(chronicle, domain, day)


def mention_fact(chronicle: Chronicle, domain: Domain) -> None:
    """Append a fact about the errand that nothing compiles: what the shadow oracle looks for."""
    text = chronicle.draw.choice(_FACTS).format(name=chronicle.draw.choice(_NAMES))
    chronicle.uncompiled.append(chronicle.say(f"About the {domain.noun}: {text}."))


def _chat(chronicle: Chronicle, _domain: Domain, _day: str) -> None:
    draw = chronicle.draw
    chronicle.say(
        f"By the way, {draw.choice(_TOPICS)} {draw.choice(_MOODS)} this {_pick_day(draw)}."
    )


def _answer(chronicle: Chronicle, _domain: Domain, _day: str) -> None:
    draw = chronicle.draw
    chronicle.reply(f"Noted: {draw.choice(_TOPICS)} {draw.choice(_MOODS)}. Anything else?")


def _distract(chronicle: Chronicle, domain: Domain, day: str) -> None:
    """Speak of an errand like the one that will be asked for."""
    draw = chronicle.draw
    purpose = draw.choice(domain.purposes)
    once = draw.choice(("Last year", "Once", "Back then", "At the old firm"))
    chronicle.say(f"{once} we had the {domain.noun} on {day} for {draw.randint(2, 12)}, {purpose}.")


def _note(chronicle: Chronicle, _domain: Domain, _day: str) -> None:
    draw = chronicle.draw
    chronicle.record(
        draft_unit(f"parcel {draw.randint(100, 999)} left at the side door", "parcel"),
    )


def _fill_elsewhere(chronicle: Chronicle, _domain: Domain, _day: str) -> None:
    draw = chronicle.draw
    name = draw.choice(("newsletter", "contact_hour", "language", "paper_bill"))
    value: Value = draw.choice(("yes", "no", "morning", "evening"))
    chronicle.fill(None, **{name: value})


def _prefer(chronicle: Chronicle, _domain: Domain, _day: str) -> None:
    draw = chronicle.draw
    source = chronicle.events[-1].event_id if chronicle.events else ""
    hint = HintExtracted(
        HintKind.PREFERENCE, "", "day", _pick_day(draw), None, draw.randint(200_000, 700_000),
        (source,) if source else (),
    )  # fmt: skip
    chronicle.tell(EXTRACTOR, hint, derived_from=hint.source_event_ids)


def _rule_elsewhere(chronicle: Chronicle, domain: Domain, _day: str) -> None:
    """Confirm a rule of another scene."""
    draw = chronicle.draw
    other = draw.choice([one for one in DOMAINS if one is not domain])
    predicate = build_predicate(
        f"{other.name}-cap", f"slots.offer.price <= {draw.randrange(60, 400, 10)}",
        other.own("budget"),
        scene=other.scene,
    )  # fmt: skip
    chronicle.tell(USER, PredicateConfirmed(None, predicate, ()))


def _owe_elsewhere(chronicle: Chronicle, domain: Domain, _day: str) -> None:
    """Open an errand of another domain, or close one that is open."""
    draw = chronicle.draw
    other = draw.choice([one for one in DOMAINS if one is not domain])
    name = f"elsewhere:{other.own(draw.choice(other.debts))}"
    if draw.random() < 0.5:
        chronicle.tell(TOOL, ObligationDischarged(name))
    else:
        chronicle.tell(TOOL, ObligationOpened(name, name, None, (other.scene,)))


def _intrude(chronicle: Chronicle, domain: Domain, day: str) -> None:
    """Record something sensitive that shares words with the request."""
    text = f"{chronicle.draw.choice(_DIARY)}; the {domain.noun} on {day} was on my mind"
    units = chronicle.record(draft_unit(text, "diary", sensitivity=Sensitivity.HIGH))
    chronicle.intrusive.extend(units)


def _mention(chronicle: Chronicle, domain: Domain, _day: str) -> None:
    if chronicle.draw.random() < 0.5:
        mention_fact(chronicle, domain)
    else:
        chronicle.reply(
            f"Summary so far: the user always avoids {chronicle.draw.choice(domain.features)}.",
            UtteranceOrigin.SUMMARY,
        )


def _pick_day(draw: Random) -> str:
    return draw.choice(DAYS)
