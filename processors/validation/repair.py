"""Omega: from delta to the one act that it maps to, and the check of that act (spec 5.7, 5.8).

An act asks, declines or offers a change of the contract; it carries no commitment. Its text is
rendered from its own typed fields.
"""

from collections.abc import Callable
from dataclasses import dataclass

from processors.activation.coverage import meets
from processors.situation import InForce, Situation
from processors.validation.assessment import Assessed
from processors.validation.basis import Basis
from processors.validation.certificate import certify
from processors.validation.clarification import (
    choose_question,
    list_open_questions,
    make_option,
    name_question,
    render_whole,
)
from processors.validation.contradiction import adopt_alternatives
from processors.validation.diagnosis import Finding, choose_act
from processors.validation.leakage import find_leaks
from processors.validation.proposing import list_opened
from processors.validation.texts import fill, find_default, find_template, render_slots
from schemas.identity import outcome_id
from schemas.observation import Alternative
from schemas.outcome import Act, ConflictMember, Question, Reason, Relaxation, RepairAct
from schemas.packet import RequirementKind

Diagnose = Callable[[], Finding | None]
"""Derives delta anew from the assessment, for the check of an act."""


@dataclass(frozen=True, slots=True)
class _Content:
    """The typed fields of an act from which its text is rendered."""

    question: Question | None = None
    conflict: tuple[ConflictMember, ...] = ()
    relaxations: tuple[Relaxation, ...] = ()
    alternatives: tuple[Alternative, ...] = ()


def repair(
    situation: Situation,
    basis: Basis,
    assessed: tuple[Assessed, ...],
    finding: Finding,
    diagnose: Diagnose,
) -> RepairAct:
    """Return the validated act of a finding (spec 5.8).

    A question that may not be asked any more, or an act that fails its own check, ends in
    Abstain: an act that cannot be trusted is never put out.
    """
    act = _build(situation, basis, assessed, finding)
    if act is None:
        return abstain(
            situation, basis, assessed, reason=Reason.QUESTIONS_EXHAUSTED, detail=finding.detail
        )
    problems = check_act(situation, assessed, act, diagnose)
    if problems:
        detail = f"the act was not valid: {', '.join(problems)}"
        return abstain(situation, basis, assessed, reason=Reason.VALIDATOR_FAILURE, detail=detail)
    return act


def abstain(
    situation: Situation,
    basis: Basis,
    assessed: tuple[Assessed, ...],
    *,
    reason: Reason,
    detail: str,
) -> RepairAct:
    """Return the act that does nothing, and says why."""
    return _finish(situation, basis, assessed, Act.ABSTAIN, reason, detail, _Content())


def check_act(
    situation: Situation, assessed: tuple[Assessed, ...], act: RepairAct, diagnose: Diagnose
) -> tuple[str, ...]:
    """Return what is wrong with an act: delta, act, names, or a leak; empty when valid."""
    found = []
    again = diagnose()
    if again is None or again.reason is not act.reason:
        found.append("delta")
    if act.act is not choose_act(situation, act.reason):
        found.append("act")
    in_force = {(one.row.predicate.predicate_id, one.row.seq) for one in situation.contract}
    if any((one.predicate_id, one.version) not in in_force for one in act.conflict):
        found.append("predicate")
    ids = {predicate_id for predicate_id, _ in in_force}
    if any(one.predicate_id not in ids for one in act.relaxations):
        found.append("predicate")
    known = {row.digest for row in situation.proposals if row.status == "open"}
    known |= {row.digest for row in list_opened(situation, act)}
    named = [one.digest for one in act.relaxations if one.digest is not None]
    named += [] if act.question is None else [one.digest for one in act.question.options]
    if any(one not in known for one in named):
        found.append("proposal")
    if find_leaks(situation, assessed, act):
        found.append("leak")
    return tuple(dict.fromkeys(found))


def _build(
    situation: Situation, basis: Basis, assessed: tuple[Assessed, ...], finding: Finding
) -> RepairAct | None:
    act = choose_act(situation, finding.reason)
    content = _Content()
    if finding.reason is Reason.AMBIGUOUS_ANSWER:
        content = _Content(question=_join_questions(situation))
    elif act is Act.CLARIFY:
        question = choose_question(situation, finding.needs)
        if question is None:
            return None
        content = _Content(question=question)
    elif finding.reason is Reason.COMMITMENT_FAILED:
        content = _Content(
            relaxations=adopt_alternatives(situation), alternatives=_list_alternatives(situation)
        )
    elif finding.contradiction is not None:
        content = _Content(
            conflict=tuple(_describe_member(item) for item in finding.contradiction.core),
            relaxations=finding.contradiction.relaxations,
        )
    return _finish(situation, basis, assessed, act, finding.reason, finding.detail, content)


def _finish(
    situation: Situation,
    basis: Basis,
    assessed: tuple[Assessed, ...],
    act: Act,
    reason: Reason,
    detail: str,
    content: _Content,
) -> RepairAct:
    return RepairAct(
        outcome_id=outcome_id(
            tenant=situation.tenant,
            user=situation.user,
            turn_id=situation.turn_id,
            seq=situation.seq,
        ),
        tenant=situation.tenant,
        user=situation.user,
        turn_id=situation.turn_id,
        seq=situation.seq,
        scene=situation.scene.name,
        act=act,
        reason=reason,
        detail=detail,
        question=content.question,
        conflict=content.conflict,
        relaxations=content.relaxations,
        alternatives=content.alternatives,
        text=_render(situation, basis, act, reason, content),
        certificate=certify(situation, basis, assessed),
    )


def _join_questions(situation: Situation) -> Question:
    """Return the one question that takes the place of all open ones (spec 5.9)."""
    rows = [row for _, row in list_open_questions(situation)]
    digests = {digest for row in rows for digest in row.digests}
    options = [
        make_option(row.predicate, row.slot)
        for row in situation.proposals
        if row.status == "open" and row.digest in digests
    ]
    return Question(
        question_id=name_question(situation),
        subject="",
        requirements=(),
        slots=tuple(dict.fromkeys(slot for row in rows for slot in row.slots)),
        options=tuple(sorted(options, key=lambda one: (one.slot, one.digest))),
        unblocks=(0, 0),
    )


def _list_alternatives(situation: Situation) -> tuple[Alternative, ...]:
    row = situation.commitments.get(situation.episode.last_commitment_id or "")
    return () if row is None else row.alternatives


def _describe_member(item: InForce) -> ConflictMember:
    row = item.row
    return ConflictMember(
        predicate_id=row.predicate.predicate_id,
        version=row.seq,
        expression=render_whole(row.predicate),
        confirmed_by=f"{row.principal_kind.value}:{row.principal_id}",
        event_id=row.event_id,
    )


def _render(situation: Situation, basis: Basis, act: Act, reason: Reason, content: _Content) -> str:
    question = content.question
    fields = {
        "scene": situation.scene.name,
        "slots": "" if question is None else ", ".join(question.slots),
        "options": "" if question is None else "; ".join(o.expression for o in question.options),
        "requirements": ""
        if question is None
        else ", ".join(one.argument for one in question.requirements),
        "conflict": "; ".join(member.expression for member in content.conflict),
        "relaxations": "; ".join(f"{r.kind.value} {r.expression}" for r in content.relaxations),
        "alternatives": "; or ".join(
            render_slots({slot.name: slot.value for slot in one.slots})
            for one in content.alternatives
        ),
    }
    keys = [reason.value, act.value]
    last = find_default(situation, keys)
    if act is Act.CLARIFY and reason is not Reason.AMBIGUOUS_ANSWER and question is not None:
        last = find_default(situation, [f"clarify_{_name_form(basis, question)}"])
    elif reason is Reason.COMMITMENT_FAILED and not content.alternatives:
        last = find_default(situation, ["recontract_failed"])
    elif act is Act.FALLBACK:
        keys, last = [act.value], situation.scene.fallback
    template = find_template(situation, keys)
    return fill(last if template is None else template, fields)


def _name_form(basis: Basis, question: Question) -> str:
    """Return what a question is about: slots, options, more budget, or what was left unused."""
    if question.slots:
        return "slots"
    if question.options:
        return "options"
    lost = any(
        one.kind is RequirementKind.DIMENSION and not any(meets(u, one) for u in basis.evidence)
        for one in question.requirements
    )
    return "budget" if lost else "unused"
