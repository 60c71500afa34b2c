"""What a run came to, per fixture: the outcome, what was shown, and where both stand on the log.

Read from a finished log and nothing else; scoring is ``scoring``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.evaluation.fixture import Fixture
from infra.evaluation.running import build_material, open_log, read_answers, read_packets
from infra.evaluation.shown import Shown
from infra.evaluation.variants.variant import Source, Variant
from infra.records import OUTCOME_TOPICS, read_output
from schemas.candidate import SlotValue
from schemas.codec import digest
from schemas.event import Event
from schemas.outcome import Act, Commitment, RepairAct, TurnFailure
from schemas.packet import Packet
from schemas.turn import CandidatesProposed

Outcome = Commitment | RepairAct | TurnFailure

COMMITMENT = "commitment"
REPAIR = "repair"
FAILURE = "failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One turn of one variant, unscored.

    ``kind`` is commitment, repair or failure; ``act`` the repair's act or the failure's kind.
    ``topic`` and ``offset`` are where it stands on the log ``log``: an outcome, or for an
    ungated variant the answer among the events. ``certificate`` digests the log's certificate.
    """

    variant: str
    fixture_id: str
    turn_id: str
    kind: str
    act: str
    reason: str
    slots: tuple[SlotValue, ...]
    cited: tuple[str, ...]
    shown: tuple[str, ...]
    cost: int
    generated: bool
    mismatches: int
    log: str
    topic: str
    offset: int
    outcome_id: str
    packet_digest: str
    contract_digest: str
    evidence_digest: str
    certificate: str


def observe_variant(variant: Variant, fixtures: Sequence[Fixture], folder: Path) -> tuple[Run, ...]:
    """Return the runs of a variant whose log is finished, in the order of the fixtures."""
    with open_log(folder, variant) as embedded:
        packets = read_packets(embedded)
        outcomes: dict[str, tuple[str, int, Outcome]] = {}
        for topic in OUTCOME_TOPICS:
            for output in embedded.outputs(topic):
                record = read_output(topic, output.record.value or b"")
                outcomes[record.user] = (topic, output.offset, record)
        placed = read_answers(embedded, fixtures)
        answers = {event.user: (offset, event) for offset, event in placed}
    runs = []
    for fixture in fixtures:
        name = fixture.fixture_id
        shown = _show(variant, fixture, packets.get(name))
        answer = answers.get(name)
        if variant.source is Source.ANSWER and answer is not None:
            runs.append(_observe_answer(variant, fixture, shown, answer, outcomes.get(name)))
        elif name in outcomes:
            runs.append(_observe_outcome(variant, fixture, shown, outcomes[name], answer))
    return tuple(runs)


def measure_costs(
    variants: Sequence[Variant], fixtures: Sequence[Fixture], folder: Path
) -> Iterator[tuple[str, str, int]]:
    """Yield (variant, fixture, cost units shown) from the packets of one log.

    Fixtures whose turn ended without a packet are left out for all, so that the same are compared.
    """
    full = next(variant for variant in variants if variant.typed)
    with open_log(folder, full) as embedded:
        packets = read_packets(embedded)
    for fixture in fixtures:
        packet = packets.get(fixture.fixture_id)
        for variant in variants if packet is not None else ():
            shown = _show(variant, fixture, packet)
            assert shown is not None, "there is a packet, so every interface shows something"
            yield variant.name, fixture.fixture_id, shown.cost


def _show(variant: Variant, fixture: Fixture, packet: Packet | None) -> Shown | None:
    if variant.show is None or (variant.typed and packet is None):
        return None
    return variant.show(build_material(fixture, packet))


def _observe_outcome(
    variant: Variant,
    fixture: Fixture,
    shown: Shown | None,
    placed: tuple[str, int, Outcome],
    answer: tuple[int, Event] | None,
) -> Run:
    topic, offset, outcome = placed
    kind, act, reason = _name_outcome(outcome, repairs=variant.repairs)
    certificate = outcome.certificate
    committed = outcome if isinstance(outcome, Commitment) else None
    return Run(
        variant=variant.name,
        fixture_id=fixture.fixture_id,
        turn_id=fixture.turn_id,
        kind=kind,
        act=act,
        reason=reason,
        slots=() if committed is None else committed.slots,
        cited=() if committed is None else committed.evidence_ids,
        # Z* as certified: it is known also where the turn ended before anything was shown.
        shown=certificate.evidence_ids,
        cost=0 if shown is None else shown.cost,
        generated=answer is not None,
        mismatches=0 if committed is None else len(committed.surface_mismatches),
        log=variant.log,
        topic=topic,
        offset=offset,
        outcome_id=outcome.outcome_id.hex(),
        packet_digest=(certificate.packet_digest or b"").hex(),
        contract_digest=certificate.contract_digest.hex(),
        evidence_digest=certificate.evidence_digest.hex(),
        certificate=digest(certificate).hex(),
    )


def _observe_answer(
    variant: Variant,
    fixture: Fixture,
    shown: Shown | None,
    placed: tuple[int, Event],
    outcome: tuple[str, int, Outcome] | None,
) -> Run:
    """Return what the generator said, as it stands; the log's own outcome certifies the rest."""
    offset, event = placed
    payload = event.payload
    kind, act = FAILURE, ""
    slots: tuple[SlotValue, ...] = ()
    cited: tuple[str, ...] = ()
    if not isinstance(payload, CandidatesProposed):
        act = getattr(payload, "kind").value  # noqa: B009 - the only other answer has a kind
    elif not payload.candidates:
        kind, act = REPAIR, Act.ABSTAIN.value
    elif payload.candidates[0].repair_status:
        kind, act = REPAIR, payload.candidates[0].repair_status
    else:
        kind, act = COMMITMENT, ""
        slots, cited = payload.candidates[0].slots, payload.candidates[0].evidence_ids
    certificate = None if outcome is None else outcome[2].certificate
    return Run(
        variant=variant.name,
        fixture_id=fixture.fixture_id,
        turn_id=fixture.turn_id,
        kind=kind,
        act=act,
        reason="",
        slots=slots,
        cited=cited,
        shown=() if shown is None else tuple(line.unit_id for line in shown.lines if line.unit_id),
        cost=0 if shown is None else shown.cost,
        generated=True,
        mismatches=0,
        log=variant.log,
        topic="events",
        offset=offset,
        outcome_id="" if outcome is None else outcome[2].outcome_id.hex(),
        packet_digest="" if certificate is None else (certificate.packet_digest or b"").hex(),
        contract_digest="" if certificate is None else certificate.contract_digest.hex(),
        evidence_digest="" if certificate is None else certificate.evidence_digest.hex(),
        certificate="" if certificate is None else digest(certificate).hex(),
    )


def _name_outcome(outcome: Outcome, *, repairs: bool) -> tuple[str, str, str]:
    match outcome:
        case Commitment():
            return COMMITMENT, "", ""
        case RepairAct():
            act = outcome.act if repairs else Act.ABSTAIN
            return REPAIR, act.value, outcome.reason.value
        case TurnFailure():
            return FAILURE, outcome.kind.value, ""
