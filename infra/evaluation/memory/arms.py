"""The two arms: what our pipeline returns for each case, told with structure or as text alone.

Structured: pins, scopes, supersession and resolution are events and fields of events. Text-only:
the provider contract, in which a text and its user are all there is; the tiers of pinned
beliefs and questions are then those that the public harness lists from its own seed.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from infra.evaluation.memory.beliefs import Belief, Case, MemorySources
from infra.evaluation.memory.judging import Context, MemoryRow, expand_relations, judge_case
from infra.evaluation.memory.provider import MemoryProvider, Text
from infra.evaluation.memory.retrieval import Retrieved, read_retrieved
from infra.evaluation.memory.telling import (
    FACTS,
    PERSONA,
    PROVIDER,
    QUESTIONS,
    begin_log,
    build_turn,
    list_wanted,
    name_user,
    open_scribe,
    tell_beliefs,
)
from infra.evaluation.recorded.source_log import Progress, tell_and_fold
from schemas.event import Event
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded

STRUCTURED: Final = "structured"
TEXT_ONLY: Final = "text-only"


def list_structured_events(sources: MemorySources) -> Iterator[Event]:
    """Yield the log of the structured arm: every user's beliefs and three turns, per case."""
    yield begin_log()
    for case in sources.cases:
        for user in list_users(sources, case):
            own = [one for one in sources.beliefs if one.user == user]
            scribe = open_scribe(user, case)
            yield from tell_beliefs(scribe, own)
            if user != case.user:
                continue
            for tier, text, budget in (
                (FACTS, case.query, case.max_beliefs),
                (QUESTIONS, "", case.max_questions),
                (PERSONA, "", None),
            ):
                wanted = list_wanted(case, sources.beliefs, tier)
                turn = build_turn(case, (tier,), text=text, wanted=wanted, budget=budget)
                yield scribe.write(PROVIDER, turn, name=tier)


def list_users(sources: MemorySources, case: Case) -> tuple[str, ...]:
    """Return the users of the seed and the case's own, each once."""
    return tuple(dict.fromkeys((*(one.user for one in sources.beliefs), case.user)))


def judge_structured(sources: MemorySources, log: Path, progress: Progress) -> list[MemoryRow]:
    """Run the structured arm on a log and return its judged cases."""
    tell_and_fold(log, list_structured_events(sources), progress)
    with Embedded(log, CoreReducer()) as embedded:
        retrieved = read_retrieved(embedded)
    beliefs = {one.belief_id: one for one in sources.beliefs}
    return [_judge_case(sources, case, retrieved, beliefs) for case in sources.cases]


def _judge_case(
    sources: MemorySources, case: Case, retrieved: Retrieved, beliefs: Mapping[str, Belief]
) -> MemoryRow:
    user = name_user(case.user, case)
    own = [one.belief_id for one in sources.beliefs if one.user == case.user]

    def read(tier: str) -> tuple[str, ...]:
        units = retrieved.list_units((user, f"{user}/{tier}"))
        return tuple(own[int(unit.partition("#")[0]) - 1] for unit in units)

    wanted = list_wanted(case, sources.beliefs, FACTS)
    facts = read(FACTS)
    pinned = tuple(one for one in facts if f"pinned:{one}" in wanted)
    relevant = tuple(one for one in facts if one not in pinned)
    added = expand_relations(relevant, case, beliefs, facts)
    room = max(0, case.max_beliefs - len(facts))
    context = Context(pinned, relevant + added[:room], read(QUESTIONS), read(PERSONA))
    turn_id = f"{user}/{FACTS}"
    outcome = retrieved.outcomes.get((user, turn_id))
    return judge_case(
        STRUCTURED,
        case,
        context,
        beliefs,
        turn_id=turn_id,
        outcome_id="" if outcome is None else outcome.outcome_id.hex(),
    )


def judge_text_only(sources: MemorySources, folder: Path, progress: Progress) -> list[MemoryRow]:
    """Run the text-only arm through the provider contract and return its judged cases."""
    beliefs = {one.belief_id: one for one in sources.beliefs}
    rows = []
    provider = MemoryProvider(folder)
    try:
        for done, case in enumerate(sources.cases, 1):
            # One copy of the seed per case: what one search showed must not weigh on the next.
            provider.add_all(
                [
                    Text(text=one.text, user=name_user(one.user, case), memory_id=one.belief_id)
                    for one in sources.beliefs
                ]
            )
            rows.append(judge_case(TEXT_ONLY, case, _search(provider, case, beliefs), beliefs))
            progress(done, len(sources.cases) - done)
    finally:
        provider.close()
    return rows


def _search(provider: MemoryProvider, case: Case, beliefs: Mapping[str, Belief]) -> Context:
    pinned = list_pinned(case, beliefs, questions=False)[: case.max_beliefs]
    found = provider.search(
        query=case.query, user=name_user(case.user, case), limit=case.max_beliefs
    )
    relevant = tuple(one.memory_id for one in found if one.memory_id not in pinned)
    relevant += expand_relations(relevant, case, beliefs, (*pinned, *relevant))
    room = max(0, case.max_beliefs - len(pinned))
    questions = list_pinned(case, beliefs, questions=True)[: case.max_questions]
    # The prelude is the harness's own text; nothing was retrieved for it.
    prelude = tuple(
        one.belief_id for one in beliefs.values()
        if one.user == case.user and one.pinned and not {*one.scopes} & {*case.scopes}
        and case.holds(one)
    )  # fmt: skip
    return Context(pinned, relevant[:room], questions, prelude)


def list_pinned(case: Case, beliefs: Mapping[str, Belief], *, questions: bool) -> tuple[str, ...]:
    """Return the live pinned beliefs of a case's user and scope, in the order of the seed."""
    return tuple(
        one.belief_id
        for one in beliefs.values()
        if one.user == case.user
        and one.pinned
        and one.is_question is questions
        and not one.superseded_by
        and one.ended_at is None
        and {*one.scopes} & {*case.scopes}
    )
