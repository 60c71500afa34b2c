"""Seeded histories for the benchmarks: Zipf-distributed users, small observations, some turns."""

import random
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path

from infra.genesis import build_genesis
from infra.importers.sgd import import_sgd
from schemas.candidate import Candidate, SlotValue
from schemas.catalogue import (
    Authority,
    Catalogue,
    CommitmentType,
    Scene,
    SlotDeclaration,
    SlotType,
)
from schemas.event import (
    CandidatesProposed,
    Event,
    EvidenceRecorded,
    FormSubmitted,
    PredicateConfirmed,
    PredicateProposed,
    Principal,
    PrincipalKind,
    ProposalDeclined,
    SlotStatement,
    TurnRequested,
    UtteranceObserved,
    UtteranceOrigin,
)

BEGIN_MS = 1_767_225_600_000
TEXT = (
    "vegan dinner near the river on friday for two please no peanuts quiet table window seat "
    "later than eight train ticket return monday cheaper hotel with breakfast and late checkout"
)
WORDS = tuple(TEXT.split())
OBSERVED = (UtteranceObserved, FormSubmitted, EvidenceRecorded)
CONTRACTED = (PredicateProposed, PredicateConfirmed, ProposalDeclined)


def build_catalogue() -> Catalogue:
    """Return a small action space: one scene, one type, two required slots."""
    slots = tuple(
        SlotDeclaration(
            name=name,
            slot_type=SlotType.STRING,
            optional=name == "note",
            min_authority=Authority.HINT,
        )
        for name in ("city", "diet", "note")
    )
    kind = CommitmentType("booking", slots, ("city", "diet"), False, (), (), ())
    scene = Scene("book", ("booking",), ("city",), (), (), (), "")
    return Catalogue("bench", (scene,), (kind,), (), ())


def build_event(user: str, number: int, payload: object, kind: PrincipalKind) -> Event:
    """Return an event of the benchmark's tenant at its place in time."""
    return Event(
        event_id=f"{user}-{number}", tenant="bench", user=user,
        occurred_at_ms=BEGIN_MS + number * 1_000, utc_offset_min=0, zone=None,
        principal=Principal(kind, user), mac=None, causation_id=None, correlation_id=None,
        derived_from=(), source=None, source_seq=None, payload=payload,
    )  # fmt: skip


def build_observation(rng: random.Random) -> tuple[object, PrincipalKind]:
    """Return a form, two times in three, or an utterance."""
    if rng.random() < 0.66:
        slot = rng.choice(("city", "diet", "note", "budget", "seat"))
        statement = SlotStatement("", slot, rng.choice(WORDS), None, None)
        return FormSubmitted("book", (statement,), ()), PrincipalKind.USER
    text = " ".join(rng.choices(WORDS, k=8))
    return UtteranceObserved(text, UtteranceOrigin.SAID, None, ()), PrincipalKind.USER


def build_turn(user: str, number: int) -> tuple[Event, Event]:
    """Return a request and the candidate that answers it."""
    request = TurnRequested(scene="book", text="a table please")
    asked = build_event(user, number, request, PrincipalKind.USER)
    candidate = Candidate(
        "booking", (SlotValue("city", "river"), SlotValue("diet", "vegan")), None, (), (), (), (),
        "", "",
    )  # fmt: skip
    answer = CandidatesProposed(asked.event_id, None, (candidate,), None, None, ())
    return asked, build_event(user, number + 1, answer, PrincipalKind.GENERATOR)


def zipf_history(
    *, events: int, users: int, turns: int = 0, seed: int = 1, exponent: float = 1.1
) -> Iterator[Event]:
    """Yield genesis, then observations of Zipf-distributed users with turns strewn in evenly."""
    rng = random.Random(seed)
    weights = [1 / (rank + 1) ** exponent for rank in range(users)]
    drawn = rng.choices(range(users), weights, k=events)
    every = events // turns if turns else events + 1
    yield build_genesis(build_catalogue())
    for number, rank in enumerate(drawn):
        user = f"user-{rank}"
        payload, kind = build_observation(rng)
        yield build_event(user, 4 * number, payload, kind)
        if number % every == every - 1:
            yield from build_turn(user, 4 * number + 1)


def dialogue_history(*, events: int, payloads: tuple[type, ...] = OBSERVED) -> Iterator[Event]:
    """Yield genesis, then at least so many events: the shipped dialogues, told over again.

    Each time they are told by other users. Of each dialogue only these payloads are told;
    confirmations that take a new value's place after a commitment are left out.
    """
    sample = Path(str(resources.files("infra") / "sample"))
    genesis, *told = import_sgd([sample], frozenset())
    observed = [
        event
        for event in told
        if isinstance(event.payload, payloads) and not getattr(event.payload, "replaces", ())
    ]
    yield genesis
    for copy in range(-(-events // len(observed))):
        for event in observed:
            user = f"{event.user}~{copy}"
            by = replace(event.principal, id=user) if event.principal.id == event.user else None
            yield replace(event, user=user, principal=by or event.principal)
