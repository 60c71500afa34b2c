"""LCV behind what other systems returned: each recorded list as the one candidate of a turn.

The candidate cites a unit for every belief returned. Everything valid in the case's scope is
activated, so that what the gate refuses is what is withdrawn, expired, out of scope or another
user's, and not what our own selection would have left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from infra.evaluation.memory.beliefs import Belief, Case, MemorySources, Recorded
from infra.evaluation.memory.judging import Context, MemoryRow, judge_case
from infra.evaluation.memory.retrieval import Retrieved, read_retrieved
from infra.evaluation.memory.telling import (
    FACTS,
    PERSONA,
    PROVIDER,
    QUESTIONS,
    SCENE,
    begin_log,
    build_turn,
    list_wanted,
    name_user,
    open_scribe,
    tell_beliefs,
)
from infra.evaluation.recorded.source_log import Progress, name_act, tell_and_fold
from schemas.candidate import Candidate, SlotValue
from schemas.event import CandidatesProposed, Event, Genesis, Principal, PrincipalKind, UnitScore
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded

GATED: Final = "+LCV"
MILLION: Final = 1_000_000
PEER: Final = Principal(PrincipalKind.GENERATOR, "recorded-system")
_STRANGE: Final = ("unknown_evidence:", "not_activated:")


def list_gating_events(sources: MemorySources) -> Iterator[Event]:
    """Yield the log: per case the user's beliefs, then a turn for every other system."""
    genesis = begin_log()
    assert isinstance(genesis.payload, Genesis), "a log begins with genesis"
    # Nothing is left out for want of room: the gate alone is looked at.
    regime = replace(genesis.payload, budget_main=2**40, selector="topk")
    yield replace(genesis, payload=regime)
    for case in sources.cases:
        scribe = open_scribe(case.user, case)
        own = [one for one in sources.beliefs if one.user == case.user]
        yield from tell_beliefs(scribe, own)
        tiers = (FACTS, QUESTIONS, PERSONA)
        wanted = tuple(
            name for tier in tiers[:2] for name in list_wanted(case, sources.beliefs, tier)
        )
        scores = tuple(UnitScore(f"{n}#0", MILLION, 0) for n in range(1, len(own) + 1))
        turn = build_turn(case, tiers, text="", wanted=wanted, budget=None, scores=scores)
        for peer, recorded in sources.peers.items():
            if case.case_id not in recorded:
                continue
            asked = scribe.write(PROVIDER, turn, name=peer)
            yield asked
            listed = _list_returned(recorded[case.case_id])
            yield scribe.write(
                PEER,
                CandidatesProposed(
                    turn_id=asked.event_id,
                    packet_digest=None,
                    candidates=(_build_candidate(listed, own),),
                    raw_output=None,
                    decoding=None,
                    attempts=(),
                ),
                name=f"{peer}/candidates",
            )


def judge_peers(sources: MemorySources, log: Path, progress: Progress) -> list[MemoryRow]:
    """Run every recorded list through LCV and return its rows: as recorded, and gated."""
    if not sources.peers:
        return []
    tell_and_fold(log, list_gating_events(sources), progress)
    with Embedded(log, CoreReducer()) as embedded:
        retrieved = read_retrieved(embedded)
    beliefs = {one.belief_id: one for one in sources.beliefs}
    rows: list[MemoryRow] = []
    for peer, recorded in sources.peers.items():
        for case in sources.cases:
            if case.case_id in recorded:
                rows.extend(
                    _judge_peer(peer, case, recorded[case.case_id], sources, retrieved, beliefs)
                )
    return rows


def _judge_peer(
    peer: str,
    case: Case,
    recorded: Recorded,
    sources: MemorySources,
    retrieved: Retrieved,
    beliefs: Mapping[str, Belief],
) -> Iterator[MemoryRow]:
    prelude = tuple(
        name.removeprefix("pinned:") for name in list_wanted(case, sources.beliefs, PERSONA)
    )
    plain = Context(recorded.pinned, recorded.relevant, recorded.questions, prelude)
    yield judge_case(peer, case, plain, beliefs)
    user = name_user(case.user, case)
    turn_id = f"{user}/{peer}"
    outcome = retrieved.outcomes[user, turn_id]
    refused = {
        reason.partition(":")[2]
        for report in outcome.certificate.candidates
        for reason in report.unsupported
        if reason.startswith(_STRANGE)
    }
    own = [one for one in sources.beliefs if one.user == case.user]
    names = _name_units(own)

    def keep(listed: Sequence[str]) -> tuple[str, ...]:
        return tuple(one for one in listed if names.get(one, _name_strange(one)) not in refused)

    gated = Context(
        keep(recorded.pinned), keep(recorded.relevant), keep(recorded.questions), prelude
    )
    yield judge_case(
        f"{peer} {GATED}",
        case,
        gated,
        beliefs,
        act=name_act(outcome),
        turn_id=turn_id,
        outcome_id=outcome.outcome_id.hex(),
    )


def _list_returned(recorded: Recorded) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*recorded.pinned, *recorded.relevant, *recorded.questions)))


def _name_units(own: Sequence[Belief]) -> dict[str, str]:
    """Return the unit of each of the user's beliefs: they are told in order, one an event."""
    return {belief.belief_id: f"{seq}#0" for seq, belief in enumerate(own, 1)}


def _name_strange(belief_id: str) -> str:
    """Return the id under which a belief of another user, or of nobody, is cited."""
    return f"elsewhere/{belief_id}"


def _build_candidate(listed: Sequence[str], own: Sequence[Belief]) -> Candidate:
    names = _name_units(own)
    return Candidate(
        commitment_type=SCENE,
        slots=(SlotValue("beliefs", tuple(listed)),),
        amends=None,
        patch=(),
        evidence_ids=tuple(names.get(one, _name_strange(one)) for one in listed),
        claimed_predicates=(),
        required_slots=(),
        repair_status="",
        surface_text="",
    )
