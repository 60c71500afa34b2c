"""Running a variant through the pipeline: histories in, the generator's answers in, outcomes out.

Each setting has an embedded log of its own; the answers are events on it, so an interrupted run
goes on where it stopped. Labels are unknown here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from infra.appending import append_events
from infra.evaluation.answering import Answer, Generator
from infra.evaluation.chronicle import TENANT
from infra.evaluation.domains import build_catalogue
from infra.evaluation.fixture import Fixture
from infra.evaluation.transcript import read_history
from infra.evaluation.variants.variant import Material, Variant, read_request
from infra.importers.envelope import build_genesis
from infra.records import read_output
from schemas.codec import digest, unframe
from schemas.control import Genesis
from schemas.event import Event, PredicateConfirmed, Principal, PrincipalKind
from schemas.packet import Packet
from schemas.turn import CandidatesProposed, GenerationFailed
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded

Progress = Callable[[int], None]

ANSWERS_PER_APPEND: Final = 60
READ_MANY: Final = 2_000
ANSWERING: Final = Principal(PrincipalKind.GENERATOR, "evaluation")


def open_log(folder: Path, variant: Variant) -> Embedded:
    """Open the log of a variant's setting inside the folder of logs."""
    return Embedded(folder / variant.log, CoreReducer())


def run_variant(
    variant: Variant,
    fixtures: Sequence[Fixture],
    generator: Generator | None,
    folder: Path,
    *,
    tokens_max: int,
    progress: Progress | None = None,
) -> None:
    """Bring the log of this setting to its end: every history told, every turn answered.

    Without a generator the turns are only opened: enough for what concerns packets alone.
    """
    with open_log(folder, variant) as embedded:
        if embedded.log.bounds().end == 0:
            append_events(embedded, _list_events(variant, fixtures))
        embedded.fold_pending()
        if generator is None:
            return
        packets = read_packets(embedded)
        open_turns = _list_unanswered(embedded, variant, fixtures, packets)
        answers = _answer(variant, open_turns, packets, generator, tokens_max)
        done = 0
        # An answer that took a model's time is on disk before the next one is asked for.
        size = ANSWERS_PER_APPEND if generator.simulated else 1
        while chunk := list(islice(answers, size)):
            append_events(embedded, chunk)
            done += len(chunk)
            if progress is not None:
                progress(done)
        embedded.fold_pending()


def read_packets(embedded: Embedded) -> dict[str, Packet]:
    """Return the newest packet of each user."""
    packets = {}
    for output in embedded.outputs("packets"):
        packet = read_output("packets", output.record.value or b"")
        packets[packet.user] = packet
    return packets


def read_answers(embedded: Embedded, fixtures: Sequence[Fixture]) -> Iterator[tuple[int, Event]]:
    """Yield the answers on a log, with their offsets: they stand behind all histories."""
    end = embedded.log.bounds().end
    at = 1 + sum(len(fixture.events) for fixture in fixtures)
    while at < end:
        records = embedded.log.read(at, limit=READ_MANY)
        for record in records:
            event = unframe(Event, record.value or b"")[0]
            if isinstance(event.payload, CandidatesProposed | GenerationFailed):
                yield record.offset, event
        at = records[-1].offset + 1


def build_material(fixture: Fixture, packet: Packet | None) -> Material:
    """Return what a variant may show from."""
    return Material(fixture, read_history(fixture.events), packet)


def _list_events(variant: Variant, fixtures: Sequence[Fixture]) -> Iterator[Event]:
    catalogue = build_catalogue(spared=variant.spared)
    genesis = build_genesis(TENANT, catalogue, at_ms=0, utc_offset_min=0)
    payload = genesis.payload
    assert isinstance(payload, Genesis), "a log begins with genesis"
    yield replace(
        genesis,
        payload=replace(
            payload,
            selector=variant.selector,
            budget_main=variant.budget_main,
            budget_tail=variant.budget_tail,
        ),
    )
    for fixture in fixtures:
        yield from (_compile(event, variant.spared) for event in fixture.events[:-1])
        request = read_request(fixture)
        if variant.score is not None:
            request = replace(request, scores=variant.score(read_history(fixture.events)))
        yield replace(fixture.events[-1], payload=request)


def _compile(event: Event, spared: tuple[str, ...]) -> Event:
    """Return the event as this setting compiles it: a rule keeps no dimension that is spared.

    A predicate whose dimensions a type spares would not bind it at all (spec 3.4); here its rule
    shall bind, and only its evidence be left out.
    """
    payload = event.payload
    if not spared or not isinstance(payload, PredicateConfirmed) or payload.predicate is None:
        return event
    kept = tuple(name for name in payload.predicate.dimensions if name not in spared)
    return replace(
        event, payload=replace(payload, predicate=replace(payload.predicate, dimensions=kept))
    )


def _list_unanswered(
    embedded: Embedded,
    variant: Variant,
    fixtures: Sequence[Fixture],
    packets: dict[str, Packet],
) -> list[Fixture]:
    """Return the fixtures still to be answered.

    A typed interface shows the packet, so it has nothing to answer where the turn ended without
    one; text is answered all the same, since nothing of the pipeline stands before it.
    """
    answered = {event.user for _, event in read_answers(embedded, fixtures)}
    return [
        fixture
        for fixture in fixtures
        if fixture.fixture_id not in answered
        and (fixture.fixture_id in packets or not variant.typed)
    ]


def _answer(
    variant: Variant,
    fixtures: Sequence[Fixture],
    packets: dict[str, Packet],
    generator: Generator,
    tokens_max: int,
) -> Iterator[Event]:
    assert variant.show is not None, "only the oracle shows nothing, and it does not run"
    for fixture in fixtures:
        packet = packets.get(fixture.fixture_id)
        shown = variant.show(build_material(fixture, packet))
        answer = generator.answer(shown, tokens_max=tokens_max)
        yield _write_answer(fixture, packet, answer)


def _write_answer(fixture: Fixture, packet: Packet | None, answer: Answer) -> Event:
    named = None if packet is None else digest(packet)
    payload: CandidatesProposed | GenerationFailed
    if answer.failure is None:
        payload = CandidatesProposed(
            fixture.turn_id, named, answer.candidates, None, answer.decoding, answer.attempts
        )
    else:
        payload = GenerationFailed(
            fixture.turn_id, named, answer.failure, None, answer.decoding, answer.attempts
        )
    request = fixture.events[-1]
    return replace(
        request,
        event_id=f"{fixture.turn_id}/answer",
        occurred_at_ms=request.occurred_at_ms + 1,
        principal=ANSWERING,
        causation_id=request.event_id,
        payload=payload,
    )
