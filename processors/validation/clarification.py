"""Which question a Clarify asks: one, the most useful, never twice for nothing (spec 5.9).

Absent slots go before unconfirmed ones, and all unconfirmed ones go into one question. What is
blocked and why is found by ``diagnosis``; answers are folded by ``processors.compilation``.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from processors.activation.coverage import (
    CONFLICT,
    OBLIGATION,
    PREDICATE,
    PROPOSAL,
    SCENE,
    TYPE,
    VACUOUS,
    WANTED,
    is_held,
)
from processors.limits import QUESTIONS_PER_EPISODE_MAX
from processors.situation import Situation
from processors.validation.fixing import find_proposal, find_stated, fix_slot, is_declined
from schemas.identity import predicate_digest, prefix_lengths
from schemas.outcome import Question, QuestionOption
from schemas.packet import Requirement, RequirementKind
from schemas.predicate import Predicate
from schemas.row import QuestionRow
from schemas.value import Value

Key = tuple[str, str]
"""A blocker: a requirement's kind and argument, or a verdict that no answer repairs."""

_NAMES: Final = (PREDICATE, VACUOUS, CONFLICT, SCENE, TYPE, OBLIGATION, WANTED, PROPOSAL)
"""What names a requirement, the strongest first: the contract, the catalogue, debt, the turn."""

_ON_FILE: Final = (RequirementKind.DIMENSION, RequirementKind.SLOT)
"""Missing though it is held, such a one was left unused, or is over the budget."""

_ABSENT: Final = 0
_UNCONFIRMED: Final = 1
_HELD: Final = 2


@dataclass(frozen=True, slots=True)
class Needs:
    """What an answer could provide, and per candidate all that blocks it.

    ``carried`` holds the values that candidates carry of a slot to be confirmed; they only
    choose among proposals that are already open.
    """

    requirements: tuple[Requirement, ...]
    blockers: tuple[frozenset[Key], ...]
    carried: Mapping[str, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class _Draft:
    """One question that could be asked."""

    rank: int
    subject: str
    requirements: tuple[Requirement, ...]
    slots: tuple[str, ...]
    options: tuple[QuestionOption, ...]


def key_of(requirement: Requirement) -> Key:
    """Return the blocker that a requirement is."""
    return requirement.kind.value, requirement.argument


def choose_question(situation: Situation, needs: Needs) -> Question | None:
    """Return the one question to ask, or None when none may be asked any more.

    Order: absent before unconfirmed; candidates that it alone blocks, candidates that it
    blocks, weight, what names it, catalogue order, id. At most eight are asked per episode.
    """
    if situation.episode.questions >= QUESTIONS_PER_EPISODE_MAX:
        return None
    drafts = [draft for draft in _draft(situation, needs) if may_ask(situation, draft)]
    ranked = [(_rank(situation, needs, draft), draft) for draft in drafts]
    if not ranked:
        return None
    best = min(ranked, key=lambda item: item[0])[1]
    return Question(
        question_id=name_question(situation),
        subject=best.subject,
        requirements=best.requirements,
        slots=best.slots,
        options=best.options,
        unblocks=_count_unblocked(needs, best),
    )


def name_question(situation: Situation) -> str:
    """Return the id of the question of this outcome: position, never content."""
    parts = (
        "question", situation.tenant, situation.user, situation.turn_id, str(situation.seq)
    )  # fmt: skip
    return hashlib.sha256(prefix_lengths(*(part.encode() for part in parts))).hexdigest()


def render_key(situation: Situation, question: Question | _Draft) -> str:
    """Return what makes a question the same again: scene, subject, requirement, digests."""
    requirements = [f"{one.kind.value}:{one.argument}" for one in question.requirements]
    digests = [option.digest.hex() for option in question.options]
    parts = [situation.scene.name, question.subject, requirements, digests]
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def may_ask(situation: Situation, question: Question | _Draft) -> bool:
    """Return whether a question is new, or an accepted event touched it since (spec 5.9).

    A new episode of the scene starts anew.
    """
    key = render_key(situation, question)
    asked = [row for _, row in situation.questions if row.key == key]
    if not asked:
        return True
    last = max(row.asked_seq for row in asked)
    return last < situation.episode.started_seq or _last_touched(situation, question) > last


def list_open_questions(situation: Situation) -> tuple[tuple[str, QuestionRow], ...]:
    """Return the questions that still wait for an answer, oldest first."""
    found = [item for item in situation.questions if item[1].status == "open"]
    return tuple(sorted(found, key=lambda item: (item[1].asked_seq, item[0])))


def make_option(predicate: Predicate, slot: str) -> QuestionOption:
    """Return what the user can confirm: the digest, and the text that it stands for."""
    return QuestionOption(
        digest=predicate_digest(predicate),
        predicate_id=predicate.predicate_id,
        slot=slot,
        expression=render_whole(predicate),
    )


def render_whole(predicate: Predicate) -> str:
    """Return rule and exception as one text."""
    if predicate.unless is None:
        return predicate.expression
    return f"{predicate.expression} unless {predicate.unless}"


def _last_touched(situation: Situation, question: Question | _Draft) -> int:
    subjects = ("", situation.user) if not question.subject else (question.subject,)
    names = dict.fromkeys((*question.slots, *(option.slot for option in question.options)))
    touched = [f"slot:{subject}\0{name}" for subject in subjects for name in names]
    touched += [f"dimension:{name}" for name in names]
    touched += [f"proposal:{option.digest.hex()}" for option in question.options]
    touched.append(f"scene:{situation.scene.name}")
    named = {
        reason.partition(":")[2]
        for one in question.requirements
        for reason in one.reasons
        if reason.startswith(PREDICATE)
    }
    touched += [f"predicate:{name}" for name in sorted(named)]
    seqs = [situation.touches[one].seq for one in touched if one in situation.touches]
    states = [situation.slots.get((subject, name)) for subject in subjects for name in names]
    seqs += [state.seq for state in states if state is not None]
    seqs += [
        item.row.seq for item in situation.contract if item.row.predicate.predicate_id in named
    ]
    return max(seqs, default=0)


def _draft(situation: Situation, needs: Needs) -> Iterator[_Draft]:
    unconfirmed: list[tuple[Requirement, QuestionOption]] = []
    held: list[Requirement] = []
    absent = {one.argument for one in needs.requirements if one.kind is RequirementKind.SLOT}
    for requirement in needs.requirements:
        if requirement.kind is RequirementKind.CONFIRMED:
            option = _find_option(situation, needs, requirement.argument)
            if option is not None:
                unconfirmed.append((requirement, option))
                continue
            if requirement.argument in absent:
                continue  # Asked for as absent already; to ask twice would be two questions.
        if requirement.kind is RequirementKind.RESOLVE:
            yield from _draft_resolution(situation, requirement)
            continue
        if requirement.kind in _ON_FILE and is_held(situation, requirement):
            held.append(requirement)
            continue
        yield _Draft(_ABSENT, "", (requirement,), (read_slot(requirement),), ())
    if held:
        # The user is told, and never asked for what is held (spec 4.4).
        yield _Draft(_HELD, "", tuple(held), (), ())
    if unconfirmed:
        unconfirmed.sort(key=lambda item: (item[1].slot, item[1].digest))
        yield _Draft(
            _UNCONFIRMED,
            "",
            tuple(requirement for requirement, _ in unconfirmed),
            (),
            tuple(option for _, option in unconfirmed),
        )


def read_slot(requirement: Requirement) -> str:
    """Return the slot whose value would meet a requirement.

    A dimension is answered in a slot of its name; ``slots.days[*].tags`` in slot ``days``.
    """
    if requirement.kind is not RequirementKind.NON_EMPTY:
        return requirement.argument
    path = requirement.argument.partition(".")[2] or requirement.argument
    return path.partition(".")[0].partition("[")[0]


def _draft_resolution(situation: Situation, requirement: Requirement) -> Iterator[_Draft]:
    for row in situation.proposals:
        if row.digest.hex() == requirement.argument:
            option = make_option(row.predicate, row.slot)
            subject = row.predicate.subject
            yield _Draft(_UNCONFIRMED, subject, (requirement,), (), (option,))


def _find_option(situation: Situation, needs: Needs, slot: str) -> QuestionOption | None:
    """Return what to confirm of a slot: the value that is stated, else one already proposed."""
    stated = find_stated(situation, slot)
    if stated is not None:
        row = find_proposal(situation, slot, stated.value)
        if row is not None:
            return make_option(row.predicate, slot)
        predicate = fix_slot(situation, slot, stated.value)
        # What was declined is not put again: the slot is then absent, and asked for.
        if predicate is None or is_declined(situation, predicate, stated):
            return None
        return make_option(predicate, slot)
    for value in needs.carried.get(slot, ()):
        row = find_proposal(situation, slot, value)
        if row is not None:
            return make_option(row.predicate, slot)
    return None


def _count_unblocked(needs: Needs, draft: _Draft) -> tuple[int, int]:
    """Return the numbers of candidates that a question alone blocks, and that it blocks."""
    own = {key_of(requirement) for requirement in draft.requirements}
    alone = sum(1 for blockers in needs.blockers if blockers and blockers <= own)
    return alone, sum(1 for blockers in needs.blockers if not blockers.isdisjoint(own))


def _rank(
    situation: Situation, needs: Needs, draft: _Draft
) -> tuple[int, int, int, int, int, int, tuple[Key, ...]]:
    alone, blocks = _count_unblocked(needs, draft)
    return (
        draft.rank,
        -alone,
        -blocks,
        -max(one.weight for one in draft.requirements),
        min(_rank_name(one.reasons) for one in draft.requirements),
        min(_find_place(situation, read_slot(one)) for one in draft.requirements),
        tuple(key_of(one) for one in draft.requirements),
    )


def _rank_name(reasons: Sequence[str]) -> int:
    return min(
        (_NAMES.index(name) for name in _NAMES for reason in reasons if reason.startswith(name)),
        default=len(_NAMES),
    )


def _find_place(situation: Situation, name: str) -> int:
    """Return the place of a slot or dimension in the catalogue; what it does not name is last."""
    scene = situation.scene
    order = [*scene.required_slots, *scene.required_dimensions]
    for type_name in scene.commitment_types:
        order += [*situation.types[type_name].required_slots]
        order += [slot.name for slot in situation.types[type_name].slots]
    return order.index(name) if name in order else len(order)
